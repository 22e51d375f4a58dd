package store

func systemRoles() map[string]func(dir string) error { return nil }
