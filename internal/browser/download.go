package browser

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	cdpbrowser "github.com/chromedp/cdproto/browser"
)

// Download clicks the first link that a selector names, and gives the file that comes of
// it and the name that it was given.
func (b *Tab) Download(selector string) (name string, data []byte) {
	b.t.Helper()
	dir := b.t.TempDir()
	call(b, cdpbrowser.SetDownloadBehavior, cdpbrowser.SetDownloadBehaviorParams{Behavior: cdpbrowser.SetDownloadBehaviorBehaviorAllow, DownloadPath: dir})
	b.Click(selector)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(Patience); time.Now().Before(end); <-tick.C {
		found, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			b.t.Fatal(err)
		}
		for _, path := range found {
			if strings.HasSuffix(path, ".crdownload") || strings.HasPrefix(filepath.Base(path), ".") { // it is on its way
				continue
			}
			if data, err = os.ReadFile(path); err != nil {
				b.t.Fatal(err)
			}
			return filepath.Base(path), data
		}
	}
	b.t.Fatalf("a click on %s brought no file", selector)
	return "", nil
}
