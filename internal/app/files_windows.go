package app

// openFiles is how many files this process may have open: there is no limit to
// speak of.
func openFiles() int { return noBound }
