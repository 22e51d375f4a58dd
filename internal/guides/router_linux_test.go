package guides

import (
	"regexp"
	"strings"
)

// words are the arguments of a line of RouterOS, where a value may be quoted or
// in brackets.
var words = regexp.MustCompile(`\[[^]]*\]|[^\s"\[]*"[^"]*"|[^\s\[]+`)

// console types the commands of a guide at the console of its first router. The
// simulated one has no users, certificates, services, firewall and scripts; what
// stands there about them is held against what is known to be right.
func (r *reader) console(s *step) {
	r.t.Helper()
	for line := range strings.Lines(s.text) {
		line = strings.TrimSpace(line)
		w := words.FindAllString(line, -1)
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "/ip dns static add "):
			args := make([]string, 0, len(w))
			for _, a := range w[4:] {
				args = append(args, strings.ReplaceAll(a, `"`, ""))
			}
			for _, router := range r.router {
				if _, err := router.Do("/ip/dns/static/add", args...); err != nil {
					r.t.Errorf("%s:%d: %s: %v", r.page, s.line, line, err)
				}
			}
		case strings.HasPrefix(line, "/user group add "):
			r.has(s, line, "policy=read,write,api") // no more, and no less
		case strings.HasPrefix(line, "/user add "):
			r.has(s, line, "name=dnsteer")
			r.has(s, line, `password="`+password+`"`)
			r.has(s, line, "address="+r.controller+"/32")
		case strings.HasPrefix(line, "/ip service set api-ssl "):
			r.has(s, line, "address="+r.controller+"/32")
		case strings.HasPrefix(line, "/ip firewall filter add "):
			r.has(s, line, "src-address="+r.controller)
		case regexp.MustCompile(`^/(certificate (add|sign)|ip service enable|ip dns set|tool netwatch (add|remove)) `).MatchString(line):
		default:
			r.t.Errorf("%s:%d: nobody knows the command %q", r.page, s.line, line)
		}
	}
}

func (r *reader) has(s *step, line, want string) {
	r.t.Helper()
	if !strings.Contains(line+" ", want+" ") {
		r.t.Errorf("%s:%d: %s: not with %s", r.page, s.line, line, want)
	}
}
