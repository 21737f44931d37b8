package view

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/readmodel"
	"github.com/elenchus-go/debate/internal/test/golden"
	"github.com/elenchus-go/debate/report/printer"
	"github.com/elenchus-go/debate/transcript"
)

// story makes events with consecutive sequence numbers.
type story struct{ seq int64 }

func (s *story) stored() debate.EventMeta {
	s.seq++
	return debate.EventMeta{Seq: s.seq}
}

func (s *story) live() debate.EventMeta { return debate.EventMeta{Seq: s.seq, Live: true} }

func key(round int, phase, actor, target string) transcript.Key {
	return transcript.Key{Run: 1, Round: round, Phase: phase, Actor: actor, Target: target}
}

func (s *story) config() debate.Event {
	return debate.ConfigChanged{EventMeta: s.stored(), Config: []byte(`{"participants": [{"name": "Ada", "side": "for"}, {"name": "Bo"}], "judges": [{"name": "Jo"}]}`)}
}

func (s *story) phase(stage transcript.Kind, round int, name string, steps int) debate.Event {
	return debate.PhaseStarted{EventMeta: s.stored(), Stage: stage, Round: round, Rounds: 3, Phase: name, Steps: steps}
}

func (s *story) started(k transcript.Key, kind transcript.Kind) debate.Event {
	return debate.TurnStarted{EventMeta: s.live(), Attempt: &debate.Attempt{Key: k, Kind: kind, Number: 1}}
}

func (s *story) chunk(k transcript.Key, offset int, text string) debate.Event {
	return debate.Chunk{EventMeta: new(s.live()), Attempt: &debate.Attempt{Key: k}, Offset: offset, Text: text}
}

func (s *story) failed(k transcript.Key, message string, retry time.Duration) debate.Event {
	return debate.TurnFailed{EventMeta: s.live(), Attempt: &debate.Attempt{Key: k}, Message: message, RetryIn: retry}
}

func (s *story) turn(k transcript.Key, kind transcript.Kind, contract, data, text string, flags ...transcript.Flag) debate.Event {
	began := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	meta := s.stored()
	return debate.TurnDone{EventMeta: meta, Turn: transcript.Turn{
		Key: k, Kind: kind, Seq: meta.Seq, Text: text, Contract: contract, Data: []byte(data), Flags: flags,
		Usage: transcript.Usage{Input: 1200, Output: 300, Cost: 0.0123}, Started: began, Ended: began.Add(1500 * time.Millisecond),
	}}
}

const (
	argument   = "A parked car takes 12 m² of a street, 23 hours of 24. 停车的汽车整天占用街道的空间,而行人没有地方。 Where Ghent closed its centre to through traffic, cycling rose by a quarter.\n\n- It was quiet.\n- It was \x1b[31mclean\x1b[0m.\n"
	assessment = `{"participants": [{"name": "Ada", "criteria": [], "score": 7.25}, {"name": "Bo", "criteria": [], "score": 6}], "reasoning": "Ada had figures.", "quality": 7, "should_continue": true, "recommendations": ["Name a cost."]}`
)

// tale returns the events of a debate that stops in the middle of the second round.
func tale() []debate.Event {
	var s story
	ada := key(1, "argue", "Ada", "")
	bo := key(1, "argue", "Bo", "Ada")
	jo := key(1, "assess", "Jo", "")
	jay := key(1, "assess", "Jay", "")
	adaAgain, boAgain := key(2, "argue", "Ada", ""), key(2, "argue", "Bo", "")
	return []debate.Event{
		s.config(),
		debate.Warning{EventMeta: s.live(), Text: "mind\nthe gap"},
		s.phase(transcript.Speech, 1, "argue", 2),
		s.started(ada, transcript.Speech),
		s.chunk(ada, 0, argument[:60]),
		s.chunk(ada, 60, argument[60:]),
		s.failed(ada, "the service is busy"+strings.Repeat(" and busy", 20), 2*time.Second),
		s.turn(ada, transcript.Speech, "", "", argument),
		s.turn(bo, transcript.Speech, "", "", "People need them.", transcript.Truncated),
		s.phase(transcript.Assessment, 1, "assess", 2),
		s.turn(jo, transcript.Assessment, "assessment/1", assessment, "..."),
		s.turn(jay, transcript.Assessment, "assessment/1", `{}`, "There is no valid assessment.", transcript.Defaulted),
		debate.Dropped{EventMeta: s.stored(), Name: "Cy", Failure: &debate.Failure{Key: key(1, "argue", "Cy", ""), Message: "no key", AttemptDetails: []transcript.Attempt{{Usage: transcript.Usage{Input: 10}}}}},
		s.phase(transcript.Speech, 2, "argue", 2),
		s.started(boAgain, transcript.Speech),
		s.started(adaAgain, transcript.Speech),
		s.chunk(boAgain, 0, "Buses are rare outside of the city, and nobody can carry a wardrobe on a bicycle, whatever the figures say."),
		s.chunk(adaAgain, 0, `{"answer": "Space is scarce, and `),
		debate.Asked{EventMeta: s.stored(), Key: key(2, "argue", "Di", "")},
		debate.StateChanged{EventMeta: s.stored(), Ending: transcript.Ending{Outcome: transcript.JudgeDecided, Evidence: "Jo: Ada had figures."}},
	}
}

// watchTale returns what remains and what changes after the events on a terminal.
func watchTale(events []debate.Event, columns, rows int, hidden bool) (lines, frame []string) {
	if columns == 0 {
		var b strings.Builder
		p := printer.Printer{Output: &b}
		for _, ev := range events {
			p.Show(ev)
		}
		return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n"), nil
	}
	b := board{Teller: readmodel.Teller{HideTexts: hidden}}
	b.resize(textColumns(columns))
	c := canvas{board: b}
	for _, ev := range events {
		lines = append(lines, c.record(ev)...)
	}
	return lines, c.board.frame(frameRows(rows), status{turn: 3, elapsed: 65 * time.Second, currency: "USD", hint: "Ctrl-C pauses"})
}

func TestTheTranscriptAndTheFrame(t *testing.T) {
	for _, tt := range []struct {
		name          string
		columns, rows int
		hidden        bool
	}{
		{"80x24", 80, 24, false},
		{"120x40", 120, 40, false},
		{"40x10", 40, 10, false},
		{"20x5", 20, 5, false},
		{"plain", 0, 0, false},
		{"hidden", 80, 24, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var lines, frame []string
			synctest.Test(t, func(*testing.T) { lines, frame = watchTale(tale(), tt.columns, tt.rows, tt.hidden) }) // the frame shows times
			require.LessOrEqual(t, len(frame), frameRows(tt.rows))
			for _, l := range append(lines, frame...) {
				if tt.columns > 0 {
					require.Less(t, ansi.StringWidth(l), tt.columns, "%q", l)
				}
			}
			text := strings.Join(lines, "\n") + "\n" + strings.Repeat("=", 20) + "\n" + strings.Join(frame, "\n") + "\n"
			golden.Require(t, "testdata/"+tt.name+".txt", ansi.Strip(text))
		})
	}
}

// Each speaker has one colour: in the transcript, in the frame and in the scores.
func TestEachSpeakerHasAColour(t *testing.T) {
	lines, frame := watchTale(tale(), 80, 24, false)
	all := strings.Join(append(lines, frame...), "\n")
	for name, color := range map[string]string{"Ada": "36", "Bo": "35", "Jo": "32"} {
		require.Contains(t, all, "\x1b["+color+";1m"+name, "in headings")
	}
	require.Contains(t, all, "\x1b[36m│ \x1b[mA parked car")
	require.Contains(t, all, "\x1b[36mAda  7.25 of 10")
	require.Contains(t, strings.Join(frame, "\n"), "\x1b[35m│ \x1b[mBuses are rare")
	var b board
	colours := map[string]bool{}
	for i := range len(colors) {
		colours[fmt.Sprint(b.style(fmt.Sprint("speaker ", i)))] = true
	}
	require.Len(t, colours, len(colors))
}

func TestTheFrameFollowsTheEvents(t *testing.T) { synctest.Test(t, testTheFrameFollowsTheEvents) }

func testTheFrameFollowsTheEvents(t *testing.T) {
	t.Helper()
	var s story
	var b board
	b.resize(79)
	show := func(ev debate.Event) string {
		require.True(t, b.IsNew(ev))
		b.record(ev)
		lines := b.frame(12, status{})
		return strings.TrimSpace(ansi.Strip(strings.Join(lines, "\n")))
	}
	ada, di := key(1, "argue", "Ada", ""), key(1, "argue", "Di", "")
	failure := &debate.Failure{Key: ada, At: time.Unix(1, 0), AttemptDetails: []transcript.Attempt{{Usage: transcript.Usage{Input: 100}}}}
	for _, step := range []struct {
		ev   debate.Event
		want string
	}{
		{s.config(), ""},
		{s.phase(transcript.Setup, 0, "persona", 1), "⠋ setup · persona 0/1 · 0:00"},
		{s.phase(transcript.Speech, 1, "argue", 3), "⠋ round 1 of 3 · argue 0/3 · 0:00"},
		{s.started(ada, transcript.Speech), "Ada · for · argue · thinking, 0s\n⠋ round 1 of 3 · argue 0/3 · 0:00"},
		{s.chunk(ada, 0, "Spa"), "Ada · for · argue\n│ Spa\n⠋ round 1 of 3 · argue 0/3 · 0:00"},
		{s.failed(ada, "busy", time.Second), "Ada · for · argue · waiting to try again\n│ Spa\n⠋ round 1 of 3 · argue 0/3 · 0:00"},
		{debate.TurnStarted{EventMeta: s.live(), Attempt: &debate.Attempt{Key: ada, Number: 2}}, "Ada · for · argue · thinking, 0s, attempt 2\n⠋ round 1 of 3 · argue 0/3 · 0:00"},
		{s.failed(ada, "busy", -1), "⠋ round 1 of 3 · argue 0/3 · 0:00"},
		{debate.StateChanged{EventMeta: s.stored(), Question: &debate.Question{Failure: failure}}, "⠋ round 1 of 3 · argue 0/3 · 0:00 · 100 tokens"},
		{debate.Dropped{EventMeta: s.stored(), Name: "Ada", Failure: failure}, "⠋ round 1 of 3 · argue 0/3 · 0:00 · 100 tokens"},
		{debate.Asked{EventMeta: s.stored(), Key: di}, "Di · argue · waiting for the reply\n⠋ round 1 of 3 · argue 0/3 · 0:00 · 100 tokens"},
		{debate.StateChanged{EventMeta: s.stored(), To: fsm.Paused}, "Di · argue · waiting for the reply\n⠋ round 1 of 3 · argue 0/3 · 0:00 · 100 tokens"},
		{s.turn(di, transcript.Speech, "", "", "No."), "⠋ round 1 of 3 · argue 1/3 · 0:00 · cost 0.0123 · 1600 tokens"},
		{s.phase(transcript.Conclusion, 1, "judge", 1), "⠋ conclusion · judge 0/1 · 0:00 · cost 0.0123 · 1600 tokens"},
		{
			s.turn(key(1, "judge", "Jo", ""), transcript.Conclusion, "judgment/1", `{"summary": "So.", "participants": [{"name": "Ada", "score": 8}]}`, "So."),
			"round 1: Ada 8\n⠋ conclusion · judge 1/1 · 0:00 · cost 0.0246 · 3100 tokens",
		},
		{debate.StateChanged{EventMeta: s.stored(), On: fsm.Reset}, ""},
	} {
		require.Equal(t, step.want, show(step.ev), "%T", step.ev)
	}
	require.False(t, b.IsNew(debate.Dropped{EventMeta: debate.EventMeta{Seq: s.seq}}), "it was recorded before")
}

// turnOf returns the turn of an event.
func turnOf(ev debate.Event) *transcript.Turn {
	turn := ev.(debate.TurnDone).Turn
	return &turn
}

func TestTheScoresAreMeansOfTheRound(t *testing.T) {
	var s scores
	var tell story
	turn := func(round int, judge string, score float64) {
		ev := tell.turn(key(round, "assess", judge, ""), transcript.Assessment, "assessment/1",
			fmt.Sprintf(`{"participants": [{"name": "Ada", "score": %v}]}`, score), "")
		s.add(turnOf(ev))
	}
	turn(1, "Jo", 7)
	turn(1, "Jay", 8)
	require.Equal(t, "Ada 7.5", s.String())
	turn(2, "Jo", 3)
	require.Equal(t, "Ada 3", s.String())
	ev := tell.turn(key(2, "judge", "Jo", ""), transcript.Conclusion, "judgment/1", `{"participants": [{"name": "Ada", "score": 5}]}`, "")
	s.add(turnOf(ev))
	require.Equal(t, "Ada 5", s.String())
	ev = tell.turn(key(2, "judge", "Jay", ""), transcript.Conclusion, "judgment/1", `{"participants": [{"name": "Ada", "score": 6}]}`, "")
	s.add(turnOf(ev))
	require.Equal(t, "Ada 5.5", s.String())
	require.Equal(t, []string{"", "▏", "█", "██████████", strings.Repeat("█", barColumns)}, []string{bar(-1), bar(0.06), bar(0.5), bar(5), bar(11)})
}

func TestNumbersAreShort(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0:00", 65 * time.Second: "1:05", 3605 * time.Second: "1:00:05"} {
		require.Equal(t, want, formatElapsed(d))
	}
	for u, want := range map[transcript.Usage]string{
		{}: "", {Cost: 0.01234}: "0.0123 USD", {Cost: 12.345}: "12.35 USD", {Cost: 1, Unpriced: true}: "at least 1.00 USD", {Unpriced: true}: "",
	} {
		require.Equal(t, want, formatCost(u, "USD"))
	}
	for n, want := range map[int]string{0: "", 9999: "9999 tokens", 12_345: "12k tokens", 12_345_678: "12M tokens"} {
		require.Equal(t, want, formatTokens(transcript.Usage{Input: n}))
	}
}
