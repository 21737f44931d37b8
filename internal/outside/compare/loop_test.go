package compare

import (
	"strings"
	"testing"
)

type message struct{ role, text string }

// bareLoop makes the calls without a framework.
func bareLoop(testing.TB) func(*work) error {
	return func(w *work) error {
		var history []struct{ who, text, told string }
		call := func(who, task string, each func(string)) {
			messages := make([]message, 0, len(history)+2)
			messages = append(messages, message{"system", systemOf(who)})
			for _, h := range history {
				if h.who == who {
					messages = append(messages, message{"assistant", h.text})
				} else {
					messages = append(messages, message{"user", h.told})
				}
			}
			messages = append(messages, message{"user", task})
			bytes := 0
			for _, m := range messages {
				bytes += len(m.text)
			}
			for _, piece := range w.piecesFor(who, bytes) {
				each(piece)
			}
		}
		for range rounds {
			for _, who := range []string{"ada", "bo"} {
				var text strings.Builder
				call(who, "Speak.", func(piece string) {
					w.chunks++
					text.WriteString(piece)
				})
				history = append(history, struct{ who, text, told string }{who, text.String(), who + ": " + text.String()})
			}
			var text strings.Builder
			call("judge", "Score the round.", func(piece string) { text.WriteString(piece) })
			if err := w.decode(text.String()); err != nil {
				return err
			}
		}
		return nil
	}
}
