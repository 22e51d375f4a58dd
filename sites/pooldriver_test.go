package sites

import "strings"

// emergencies names sites that step in, as "berlin>hamburg" a word.
func emergencies(list string) func(*Config) {
	return func(c *Config) {
		for pair := range strings.FieldsSeq(list) {
			site, stands, _ := strings.Cut(pair, ">")
			for i := range c.Sites {
				if c.Sites[i].Name == site {
					c.Sites[i].EmergencySite = stands
				}
			}
		}
	}
}
