package app

import (
	"testing"

	"github.com/dnsteer/dnsteer/sites"
)

// Who mistypes a name at night must see the right one.
func TestNotThere(t *testing.T) {
	cfg := &sites.Config{Sites: []sites.Site{
		{Name: "north", Nodes: []sites.Node{{Name: "a"}, {Name: "b"}}}, {Name: "south"},
	}}
	for what, want := range map[string]string{
		"north/c": `Site north has no node or pool "c". Its nodes are a, b.`,
		"nroth":   `There is no site, node, pool or host "nroth". Name SITE, SITE/NODE, SITE/POOL or a host name. The sites are north, south.`,
		"east/a":  `There is no site, node, pool or host "east/a". Name SITE, SITE/NODE, SITE/POOL or a host name.`,
	} {
		if got := notThere(cfg, what); got != want {
			t.Errorf("%s: %s\nwant %s", what, got, want)
		}
	}
}
