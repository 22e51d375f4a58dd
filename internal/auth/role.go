// Package auth says who somebody is and what they may do: users with passwords,
// tokens for programs, and the sessions of browsers.
//
// Passwords are kept as argon2id or bcrypt, tokens and sessions as SHA-256 of
// secrets of 256 random bits. Nothing here can give a secret back, and hashes
// print as <secret>. A [Gate] lets nobody guess: failures cost time that grows,
// per user and per source, and never lock anybody out for good.
package auth

import "fmt"

// Role is what somebody may do. Each includes those before it.
type Role uint8

// The roles.
const (
	// Nobody is who has not said who they are.
	Nobody Role = iota
	// Viewer reads.
	Viewer
	// Operator gives commands.
	Operator
	// Admin has the configuration read again and changes what belongs to other
	// machines.
	Admin
)

// Roles lists the words for roles that can be given, in rising order.
func Roles() []string { return []string{"viewer", "operator", "admin"} }

func (r Role) String() string {
	if r == Nobody {
		return "nobody"
	}
	return Roles()[r-1]
}

// ParseRole reads a role's word.
func ParseRole(text string) (Role, error) {
	for i, word := range Roles() {
		if word == text {
			return Role(i + 1), nil
		}
	}
	return Nobody, fmt.Errorf("there is no role %q; there are viewer, operator and admin", text)
}

// User logs in with a password.
type User struct {
	Name     string
	Role     Role
	Password PasswordHash
}
