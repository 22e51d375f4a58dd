package sites

import (
	"reflect"
	"testing"
	"time"
)

// Whoever follows the events by their IDs, as alerts do, would take an event that comes
// behind one with a higher ID for one that he has had, and tell nobody of it.
func TestEventsComeInTheOrderOfTheirIDs(t *testing.T) {
	for _, script := range []string{
		allFail + `2h tick`,
		`60s down berlin/a
			100s restart 10s
			3m up berlin/a
			20m restart 10s
			21m tick`,
		`60s switch hamburg b
			90s down hamburg/b
			2m pause berlin
			2m down berlin/a
			10m resume berlin
			10m failback hamburg
			15m tick`,
	} {
		d := newDriver(t, usual(braked))
		d.play(script)
		last := uint64(0)
		for _, e := range d.all {
			if e.ID != last+1 {
				t.Errorf("event %d (%s) comes after %d", e.ID, e.Kind, last)
			}
			last = max(last, e.ID)
		}
	}
}

// An ID that is kept and not given anew with its event would have the end of one thing
// told as that of another.
func TestEveryKeptEventIsNumbered(t *testing.T) {
	d := newDriver(t, usual(func(c *Config) {
		for i := range c.Sites {
			for j := range c.Sites[i].Nodes {
				c.Sites[i].Nodes[j].Quarantine = Quarantine{Outages: 3, Within: time.Hour, Hold: time.Hour}
			}
		}
	}))
	d.play(`60s tick`)
	saved := Saved{Global: d.m.Global()}
	for i := range d.m.sites {
		saved.Sites = append(saved.Sites, d.m.Saved(i))
	}
	fill(reflect.ValueOf(&saved).Elem())
	saved.Global.LastEvent = 0
	m := New(d.instant(), d.cfg, saved)
	m.eachEvent(func(id *uint64) { *id += 1000 })
	after := Saved{Global: m.Global()}
	for i := range m.sites {
		after.Sites = append(after.Sites, m.Saved(i))
	}
	after.Global.LastEvent = 1001
	numbered := 0
	each(reflect.ValueOf(after), "", func(at string, id uint64) {
		if numbered++; id != 1001 {
			t.Errorf("%s is %d", at, id)
		}
	})
	if numbered < 60 {
		t.Errorf("%d IDs", numbered)
	}
}

// fill has every number of an event be 1, and everything be there that can have one.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Uint64:
		v.SetUint(1)
	case reflect.Pointer:
		if t := v.Type().Elem(); v.IsNil() && t.Kind() == reflect.Struct && t != reflect.TypeFor[SavedLine]() {
			v.Set(reflect.New(t))
		}
		if !v.IsNil() && v.Elem().Kind() == reflect.Struct && v.Type() != reflect.TypeFor[*time.Location]() {
			fill(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i))
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			x := reflect.New(v.Type().Elem()).Elem()
			x.Set(v.MapIndex(k))
			fill(x)
			v.SetMapIndex(k, x)
		}
	default:
	}
}

// each gives every number.
func each(v reflect.Value, at string, f func(at string, id uint64)) {
	switch v.Kind() {
	case reflect.Uint64:
		f(at, v.Uint())
	case reflect.Pointer:
		if !v.IsNil() {
			each(v.Elem(), at, f)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if t := v.Type().Field(i); t.IsExported() {
				each(v.Field(i), at+"."+t.Name, f)
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			each(v.Index(i), at, f)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			each(v.MapIndex(k), at, f)
		}
	default:
	}
}
