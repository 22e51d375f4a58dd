package sites

import (
	"time"

	"github.com/robfig/cron/v3"
)

// window gives berlin a window in UTC for the nodes named by their indices; for
// the whole site with none.
func window(schedule string, duration time.Duration, nodes ...int) func(*Config) {
	return func(c *Config) {
		c.Sites[0].Windows = append(c.Sites[0].Windows, Window{
			Nodes: nodes, Schedule: cronSchedule(schedule), Text: schedule, Duration: duration, Location: time.UTC,
		})
	}
}

func cronSchedule(text string) Schedule {
	s, err := cron.ParseStandard(text)
	if err != nil {
		panic(err)
	}
	return s
}
