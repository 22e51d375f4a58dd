package alert

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/dnsteer/dnsteer/sites"
)

// pastKey is the key under which is stored what a channel did last: past/CHANNEL.
const pastKey = "past/"

// maxPast bounds the messages of one channel that are remembered.
const maxPast = 50

// Delivered is what became of a message that waits no more.
type Delivered struct {
	ID       string         `json:"id"`
	Time     time.Time      `json:"time"`
	Phase    Phase          `json:"phase"`
	Severity sites.Severity `json:"severity"`
	Subject  string         `json:"subject"`
	// Left is when the channel took it or, with an Error, when it was given up.
	Left  time.Time `json:"left"`
	Error string    `json:"error,omitempty"`
}

// remember notes what became of messages, the newest first. why is empty for those
// that were taken. The caller holds mu.
func (e *Engine) remember(channel string, list []*delivery, why string) {
	past := e.past[channel]
	for _, d := range list {
		past = slices.Insert(past, 0, Delivered{
			d.Message.ID, d.Message.Time, d.Message.Phase, d.Message.Severity, d.Message.Title(), time.Now().Round(0), why,
		})
	}
	past = past[:min(len(past), maxPast)]
	e.past[channel] = past
	if data, err := json.Marshal(past); err == nil { // texts and times: it does not fail
		e.left[pastKey+channel] = data
	}
}

// recall takes over what is stored of a channel; of one that is configured no more
// it leaves the store.
func (e *Engine) recall(key string, value []byte, fail func(string, error)) {
	name := strings.TrimPrefix(key, pastKey)
	if !e.cfg.has(name) {
		e.left[key] = nil
		return
	}
	var past []Delivered
	if err := json.Unmarshal(value, &past); err != nil {
		fail(key, err)
	}
	e.past[name] = past
}
