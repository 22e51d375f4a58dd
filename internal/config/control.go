package config

// StatePath gives the folder of the store and of the control socket that the
// configuration at path names. What is wrong with the rest of it does not
// matter: a controller that runs with an earlier state of the file must still be
// found. It is "" where the file cannot be read as YAML.
func StatePath(path string) string {
	l := newLoader(Options{})
	_, _ = l.load(path)
	if len(l.parts) == 0 {
		return ""
	}
	whole := l.combine()
	l.known.fill(&whole.State, true)
	return relative(whole.State.Path)
}
