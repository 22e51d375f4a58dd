package demo

import (
	"context"

	"github.com/dnsteer/dnsteer/internal/web"
)

// levers lets one do from the dashboard what the keys do.
type levers struct{ *demo }

// keysOfLevers are what Pull takes, in the order of the page.
const keysOfLevers = "12345678bhmlre"

// Title is the page's name.
func (levers) Title() string { return "Break things" }

// Levers lists what can be broken, and how it is.
func (l levers) Levers() []web.Lever {
	var list []web.Lever
	add := func(id byte, what string, broken bool, fine, bad, breaks, mends string) {
		v := web.Lever{ID: string(id), What: what, State: fine, Does: breaks, Broken: broken}
		if broken {
			v.State, v.Does = bad, mends
		}
		list = append(list, v)
	}
	for i, n := range l.nodes {
		add(keysOfLevers[i], n.site.name+"/"+n.name, !n.running(), "runs", "is stopped", "Stop", "Start")
	}
	for _, p := range l.places {
		add(p.name[0], p.name, p.lost() != nil, "can be reached", "is cut off", "Cut off", "Reconnect")
	}
	first := l.places[0]
	add('r', "resolver of "+first.name, first.isDeaf(), "answers", "is silent", "Silence", "Wake")
	add('e', "a record at "+l.router.site.name+"'s router", l.router.edited(), "is as dnsteer wrote it", "was edited", "Edit", "Edit again")
	return list
}

// Pull does what a key does.
func (l levers) Pull(id string) (text string, ok bool) {
	if len(id) != 1 {
		return "", false
	}
	switch key := id[0]; key {
	case '1', '2', '3', '4', '5', '6', '7', '8':
		text = l.toggle(context.Background(), l.nodes[key-'1'])
	case 'b':
		text = l.cut(l.places[0])
	case 'h':
		text = l.cut(l.places[1])
	case 'm':
		text = l.cut(l.places[2])
	case 'l':
		text = l.cut(l.places[3])
	case 'r':
		text = l.silence(l.places[0])
	case 'e':
		text = l.router.edit()
	default:
		return "", false
	}
	l.screen.printf("-- %s\n", text)
	return text, true
}
