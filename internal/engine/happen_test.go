package engine_test

import (
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// happen lets one random thing happen.
func (w *world) happen(c chooser) {
	s := &w.cfg.Sites[c.pick("site", len(w.cfg.Sites))]
	n := &s.Nodes[c.pick("node", len(s.Nodes))]
	name := s.Name + "/" + n.Name
	toggle := func(marks map[string]bool, key string) {
		marks[key] = !marks[key]
		w.say("%s: %t", key, marks[key])
	}
	switch c.pick("what happens", 22) {
	case 0:
	case 1, 2, 3, 4:
		w.say("node down")
		toggle(w.down, name)
	case 5, 6:
		if len(s.Witnesses) > 0 {
			w.say("witness silent")
			toggle(w.silent, s.Name+" "+s.Witnesses[c.pick("witness", len(s.Witnesses))].Name)
		}
	case 7, 8:
		w.say("cut")
		toggle(w.cut, s.Name+among(c, "line", "", "", " IPv4", " IPv6"))
	case 9:
		all := !w.cut[s.Name]
		w.say("cut all: %t", all)
		for i := range w.cfg.Sites {
			w.cut[w.cfg.Sites[i].Name] = all
		}
	case 10:
		w.say("unknown")
		toggle(w.unknown, name)
	case 11:
		w.say("probe fails")
		toggle(w.failing, name+" "+n.Probes[c.pick("probe", len(n.Probes))].Name)
	case 12:
		w.say("sleep")
		w.sleep(among(c, "sleep", 30*time.Second, 3*time.Second, 10*time.Minute))
	case 13:
		w.say("restart")
		w.restart(among(c, "off", 0, time.Second, 5*time.Minute))
	case 14:
		w.say("reload")
		w.reload(another(c, w.cfg))
	case 15:
		w.wallShift += among(c, "jump", time.Hour, -time.Hour, 10*time.Second, -time.Minute)
		w.say("the wall clock jumps: %s", w.wallShift)
	case 16:
		w.suspect = !w.suspect
		w.say("suspect %t", w.suspect)
	case 17, 18:
		w.work[name] = c.pick("work", 3)
		w.say("%s works: %d", name, w.work[name])
	default:
		w.operate(c, s, n)
	}
}

// operate has the operator say something.
func (w *world) operate(c chooser, s *sites.Site, n *sites.Node) {
	cmd := &sites.Command{
		Verb: among(c, "verb", sites.Maintenance, sites.MaintenanceEnd, sites.Disable, sites.Enable,
			sites.FailbackNow, sites.Pause, sites.Resume, sites.Switch, sites.Drill, sites.DrillEnd, sites.Release),
		Site: s.Name, Node: n.Name, By: "operator",
		Force: sometimes(c, "force", 4),
		For:   among(c, "for", 0, 0, time.Minute, time.Second),
	}
	switch cmd.Verb {
	case sites.FailbackNow:
		cmd.Node = ""
	case sites.Pause, sites.Resume:
		cmd.Node, cmd.Pool = "", among(c, "pool", "", sites.DefaultPool, "other")
		if sometimes(c, "everywhere", 4) {
			cmd.Site, cmd.Pool = "", ""
		}
	case sites.Switch:
		cmd.Pool = among(c, "pool", "", sites.DefaultPool, "other")
	case sites.Drill:
		cmd.For = among(c, "for", time.Minute, time.Second, 3*time.Minute)
	case sites.Release:
		cmd.Site, cmd.Node = "", ""
	case sites.Disable, sites.DrillEnd:
	default:
		if sometimes(c, "whole site", 4) {
			cmd.Node = ""
		}
	}
	reply := w.turn(cmd)
	w.say("%s %s/%s%s force=%t for=%s: %+v", cmd.Verb, cmd.Site, cmd.Node, cmd.Pool, cmd.Force, cmd.For, reply)
}
