package adguardsim

// Profile is a version of AdGuard Home, by what it does otherwise than others.
type Profile struct {
	// Version as /control/status gives it.
	Version string
	// switches: each rewrite, and all of them, can be switched off (from
	// v0.107.68).
	switches bool
	// validates: an answer that is no address must be a host name (from
	// v0.107.79).
	validates bool
	// newAuth: missing or wrong credentials give 401, and wrong ones of Basic
	// count for the lock-out (from v0.107.65). Otherwise 403, and they do not.
	newAuth bool
	// countsFirst: a try counts as failed while its password is being checked
	// (v0.107.65 alone).
	countsFirst bool
}

// The versions whose behaviour differs.
var (
	V52 = Profile{Version: "v0.107.52"}
	V65 = Profile{Version: "v0.107.65", newAuth: true, countsFirst: true}
	V68 = Profile{Version: "v0.107.68", newAuth: true, switches: true}
	V79 = Profile{Version: "v0.107.79", newAuth: true, switches: true, validates: true}
)

// Profiles gives all of them, oldest first.
func Profiles() []Profile { return []Profile{V52, V65, V68, V79} }
