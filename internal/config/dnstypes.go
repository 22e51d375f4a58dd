package config

import "net/netip"

// tsigKeys is a key for TSIG.
type tsigKeys struct {
	At         Pos
	Name       Value[host]       `yaml:"name" doc:"The key's name, the same on both sides." required:"yes" example:"secondary.example.lan"`
	Algorithm  Value[string]     `yaml:"algorithm" doc:"How messages are signed." enum:"hmac-sha256|hmac-sha512" default:"hmac-sha256"`
	Secret     Value[secretText] `yaml:"secret" doc:"The secret in base64. It is better kept in secret_file." example:"\"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=\""`
	SecretFile Value[string]     `yaml:"secret_file" doc:"A file with nothing but the secret in base64, not readable by all users. Relative to this file." example:"secondary.key"`
}

// transferKeys says who may take a zone.
type transferKeys struct {
	At    Pos
	Allow List[Value[netip.Prefix]] `yaml:"allow" doc:"The secondaries' addresses." required:"yes" nonempty:"yes" example:"[10.1.0.54]"`
	TSIG  List[Value[string]]       `yaml:"tsig" doc:"Names of tsig_keys. One of them must have signed the request, beside the address that must be allowed." nonempty:"yes" otherwise:"the address is enough" example:"[secondary.example.lan]"`
	Site  Value[string]             `yaml:"site" doc:"The site whose answers secondaries get, with the TTL of quiet times." otherwise:"dns.default_site" rule:"A9" example:"berlin"`
}

// notifyKeys is a secondary that is told of changes.
type notifyKeys struct {
	Address Value[endpoint] `yaml:"address" short:"yes" doc:"Address, with a port unless it is 53." required:"yes" example:"10.1.0.54"`
	TSIG    Value[string]   `yaml:"tsig" doc:"The key that signs the message." otherwise:"the first of transfer.tsig" example:"secondary.example.lan"`
}

// rateLimitKeys bounds answers.
type rateLimitKeys struct {
	At        Pos
	Word      Value[string] `yaml:"-" short:"yes" doc:"off" enum:"off"`
	PerSecond Value[int]    `yaml:"per_second" doc:"Answers in a second, and in one burst." default:"50" min:"1" max:"100000"`
	Slip      Value[int]    `yaml:"slip" doc:"Which of the answers over the limit is sent truncated, so that a real client asks again over TCP: 2 for each second, 0 for none." default:"2" min:"0" max:"100"`
	DryRun    Value[bool]   `yaml:"dry_run" doc:"Only count what would be held back." default:"false"`
}

// queryLogKeys says which queries are logged.
type queryLogKeys struct {
	Every   Value[int]  `yaml:"every" short:"yes" doc:"How many queries there are to one that is logged; 1 for all." required:"yes" min:"1" max:"1000000000" example:"1000"`
	Clients Value[bool] `yaml:"addresses_of_clients" doc:"Whether the address of who asked is logged too." default:"false"`
}
