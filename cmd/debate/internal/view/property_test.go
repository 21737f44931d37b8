package view

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/transcript"
)

// eventsOf returns the events of a debate.
func eventsOf(t *testing.T, c debate.Config) []debate.Event {
	t.Helper()
	model := &scripted.Provider{DiscardCalls: true, Func: func(r providers.Request) scripted.Reply {
		return scripted.Reply{Text: enginetest.PresetReply(c, r), Chunks: 5}
	}}
	d := debatetest.New(t, c, debate.Options{Providers: map[string]providers.Provider{"m": model}})
	var events []debate.Event
	for m, err := range d.Replay(t.Context()) {
		require.NoError(t, err)
		events = append(events, m.Event)
	}
	run := debatetest.Finish(t, d)
	return append(events, run...)
}

// Whatever the order of live events, whatever is shown again, and however the terminal's size changes: each committed turn
// is printed once and in order, no line is too wide, and the frame is not too high.
func TestEachTurnIsPrintedOnce(t *testing.T) {
	for name, c := range enginetest.PresetConfigs() {
		if c.Embedder.Provider != "" {
			continue // needs another model
		}
		events := eventsOf(t, c)
		for seed := range 10 {
			t.Run(fmt.Sprintf("%s, seed %d", name, seed), func(t *testing.T) {
				random := rand.New(rand.NewPCG(uint64(seed), 1))
				shuffled := events
				if seed > 0 {
					shuffled = shuffleLive(random, events)
				}
				requirePrintedOnce(t, random, shuffled)
			})
		}
	}
}

// shuffleLive changes the order of the live events.
func shuffleLive(random *rand.Rand, events []debate.Event) []debate.Event {
	events = append([]debate.Event(nil), events...)
	var at []int
	for i, ev := range events {
		if ev.Meta().Live {
			at = append(at, i)
		}
	}
	random.Shuffle(len(at), func(i, j int) { events[at[i]], events[at[j]] = events[at[j]], events[at[i]] })
	return events
}

func requirePrintedOnce(t *testing.T, random *rand.Rand, events []debate.Event) {
	t.Helper()
	var c canvas
	columns, rows := 80, 24
	c.resize(columns, rows)
	var want, got []string
	show := func(ev debate.Event) {
		lines := c.record(ev)
		for _, l := range lines {
			require.Less(t, ansi.StringWidth(l), columns, "%q", l)
			require.NotContains(t, l, "\n")
		}
		frame := c.draw()
		require.LessOrEqual(t, len(frame), max(rows/2, 1))
		for _, l := range frame {
			require.Less(t, ansi.StringWidth(l), columns, "%q", l)
		}
		if turn, ok := ev.(debate.TurnDone); ok && len(lines) > 0 {
			require.Contains(t, strings.Join(lines, ""), turn.Turn.Actor)
			got = append(got, turn.Turn.Key.String())
		}
	}
	for i, ev := range events {
		if random.IntN(10) == 0 {
			columns, rows = 20+random.IntN(120), 3+random.IntN(50)
			c.resize(columns, rows)
		}
		show(ev)
		if turn, ok := ev.(debate.TurnDone); ok {
			want = append(want, turn.Turn.Key.String())
		}
		if random.IntN(20) == 0 { // a replay
			for _, again := range events[:i] {
				if !again.Meta().Live {
					show(again)
				}
			}
		}
	}
	require.NotEmpty(t, want)
	require.Equal(t, want, got)
}

var styles = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// Whatever models, services and configurations say, lines have only the view's own escape sequences and fit.
func FuzzView(f *testing.F) {
	f.Add("Ada", "Space is scarce.", "busy", 80, 24, false)
	f.Add("\x1b[2JAda\n\u202e", "\x1b]52;c;x\x07 \u2066 文字 👩\u200d👩\u200d👧", "no\r\n\x9b", 40, 10, false)
	f.Add(strings.Repeat("Ada ", 50), strings.Repeat("\u0301", 500), "", 12, 4, true)
	f.Fuzz(func(t *testing.T, name, text, message string, columns, rows int, hidden bool) {
		columns, rows = 10+int(uint(columns)%150), 1+int(uint(rows)%60)
		c := canvas{board: board{hidden: hidden}}
		c.resize(columns, rows)
		var s story
		k := key(1, name, name, text)
		for _, ev := range []debate.Event{
			s.phase(transcript.Speech, 1, name, 2), s.started(k, transcript.Speech), s.chunk(k, 0, text), s.chunk(k, len(text)/2, text),
			s.started(key(1, name, text, ""), transcript.Assessment), s.failed(k, message, time.Second),
			debate.Warning{EventMeta: s.live(), Text: message},
			debate.Asked{EventMeta: s.stored(), Key: k},
			s.turn(k, transcript.Speech, "", "", text),
			s.turn(k, transcript.Assessment, "assessment/1", debatetest.Encode(t, map[string]any{"participants": []any{map[string]any{"name": name, "score": 7}}, "reasoning": text}), text),
		} {
			lines := c.record(ev)
			frame := c.draw()
			require.LessOrEqual(t, len(frame), max(rows/2, 1))
			for _, l := range append(lines, frame...) {
				l = styles.ReplaceAllString(l, "")
				require.NotContains(t, l, "\x1b")
				require.False(t, strings.ContainsFunc(l, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }), "%q", l)
				require.Less(t, textWidth(l), columns, "%q", l)
			}
		}
	})
}
