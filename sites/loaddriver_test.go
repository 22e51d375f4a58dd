package sites

import (
	"strconv"
	"strings"
)

// load gives a node figures from now on, as "berlin/a load=0.4 sessions=12
// bytes=50000"; what is left out is not known.
func (d *driver) load(about string) {
	d.t.Helper()
	f := strings.Fields(about)
	figures := &Figures{}
	for _, word := range f[1:] {
		name, value, _ := strings.Cut(word, "=")
		x, err := strconv.ParseFloat(value, 64)
		if err != nil {
			d.t.Fatalf("load %s: %v", about, err)
		}
		switch n := int64(x); name {
		case "load":
			figures.Load = &x
		case "sessions":
			figures.Sessions = &n
		case "bytes":
			figures.BytesPerSecond = &x
		default:
			d.t.Fatalf("load %s: %s?", about, name)
		}
	}
	d.work[f[0]] = figures
}
