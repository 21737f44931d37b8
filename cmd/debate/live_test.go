package main

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/progress"
	"github.com/elenchus-go/debate/transcript"
)

func key(phase, actor, target string) transcript.Key {
	return transcript.Key{Run: 1, Round: 2, Phase: phase, Actor: actor, Target: target}
}

func started(k transcript.Key) debate.Event {
	return debate.TurnStarted{EventMeta: debate.EventMeta{Live: true}, Attempt: &debate.Attempt{Key: k}}
}

func chunk(k transcript.Key, offset int, text string) debate.Event {
	return debate.Chunk{EventMeta: debate.EventMeta{Live: true}, Attempt: &debate.Attempt{Key: k}, Offset: offset, Text: text}
}

func turn(seq int64, k transcript.Key, flags ...transcript.Flag) debate.Event {
	began := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	return debate.TurnDone{EventMeta: debate.EventMeta{Seq: seq}, Turn: transcript.Turn{
		Key: k, Usage: transcript.Usage{Output: 7}, Flags: flags, Started: began, Ended: began.Add(1500 * time.Millisecond),
	}}
}

func TestLinesAndFrameFollowTheEvents(t *testing.T) {
	ab, ba := key("critique", "Ann", "Bo"), key("critique", "Bo", "Ann")
	p := &tracker{}
	for _, step := range []struct {
		event debate.Event
		lines []string
		frame string
	}{
		{
			debate.PhaseStarted{EventMeta: debate.EventMeta{Seq: 1}, Stage: transcript.Speech, Round: 2, Rounds: 3, Phase: "critique", Steps: 2, Parallel: true},
			[]string{"== round 2 of 3 ==", "critique (steps: 2, in parallel)"},
			"round 2 of 3 | critique 0/2",
		},
		{started(ab), nil, "round 2 of 3 | critique 0/2\n  critique, Ann (Bo): "},
		{started(ba), nil, "round 2 of 3 | critique 0/2\n  critique, Ann (Bo): \n  critique, Bo (Ann): "},
		{chunk(ab, 0, "It\x1b[2J"), nil, "round 2 of 3 | critique 0/2\n  critique, Ann (Bo): It[2J\n  critique, Bo (Ann): "},
		{chunk(ab, 2, " is\nso"), nil, "round 2 of 3 | critique 0/2\n  critique, Ann (Bo): It is so\n  critique, Bo (Ann): "},
		{chunk(ba, 0, `{"a": 1`), nil, "round 2 of 3 | critique 0/2\n  critique, Ann (Bo): It is so\n  critique, Bo (Ann): writing data, 7 bytes"},
		{
			debate.TurnFailed{EventMeta: debate.EventMeta{Live: true}, Attempt: &debate.Attempt{Key: ab}, Message: "no\x07\nand " + strings.Repeat("no ", 40), RetryIn: 2 * time.Second},
			[]string{"  critique: Ann (Bo) failed, retrying in 2s: no and no no no no no no no no no…"}, // one line of 80 columns
			"round 2 of 3 | critique 0/2\n  critique, Ann (Bo): It is so\n  critique, Bo (Ann): writing data, 7 bytes",
		},
		{started(ab), nil, "round 2 of 3 | critique 0/2\n  critique, Bo (Ann): writing data, 7 bytes\n  critique, Ann (Bo): "},
		{turn(2, ba, transcript.Defaulted), []string{"  critique 1/2: Bo (Ann), 7 tokens, 1.5s, defaulted"}, "round 2 of 3 | critique 1/2\n  critique, Ann (Bo): "},
		{
			debate.TurnFailed{EventMeta: debate.EventMeta{Live: true}, Attempt: &debate.Attempt{Key: ab}, Message: "no", RetryIn: -1},
			[]string{"  critique: Ann (Bo) failed: no"},
			"round 2 of 3 | critique 1/2",
		},
		{
			debate.Dropped{EventMeta: debate.EventMeta{Seq: 3}, Name: "Ann", Failure: &debate.Failure{Key: ab, Message: "no"}},
			[]string{"Ann dropped out: run step critique of Ann in round 2: no"},
			"round 2 of 3 | critique 1/2",
		},
		{debate.StateChanged{EventMeta: debate.EventMeta{Seq: 4}, To: fsm.Paused}, []string{"paused"}, "round 2 of 3 | critique 1/2"},
		{debate.Warning{EventMeta: debate.EventMeta{Live: true}, Text: "mind\nthe gap"}, []string{"warning: mind the gap"}, "round 2 of 3 | critique 1/2"},
		{
			debate.PhaseStarted{EventMeta: debate.EventMeta{Seq: 5}, Stage: transcript.Assessment, Round: 2, Rounds: 3, Phase: "assess", Steps: 1},
			[]string{"assess (steps: 1)"},
			"round 2 of 3 | critique 1/2, assess 0/1",
		},
		{
			debate.StateChanged{EventMeta: debate.EventMeta{Seq: 6}, Ending: transcript.Ending{Outcome: transcript.RoundLimit, Evidence: "3 rounds were held"}},
			[]string{"the debate ends: round_limit: 3 rounds were held"},
			"round 2 of 3 | critique 1/2, assess 0/1",
		},
		{
			debate.PhaseStarted{EventMeta: debate.EventMeta{Seq: 7}, Stage: transcript.Conclusion, Round: 3, Rounds: 3, Phase: "verdict", Steps: 1},
			[]string{"== conclusion ==", "verdict (steps: 1)"},
			"conclusion | verdict 0/1",
		},
		{
			debate.PhaseStarted{EventMeta: debate.EventMeta{Seq: 8}, Stage: transcript.Conclusion, Round: 3, Rounds: 3, Phase: "verdict", Steps: 1},
			[]string{"verdict (steps: 1)"},
			"conclusion | verdict 0/1", // again, after an error
		},
		{turn(9, key("summary", "summarizer", "")), []string{"  summary: summarizer, 7 tokens, 1.5s"}, "conclusion | verdict 0/1"},
	} {
		require.Equal(t, step.lines, p.observe(step.event))
		require.Equal(t, step.frame, p.frame().text(80))
	}
}

func TestAFrameFitsItsTerminal(t *testing.T) {
	f := frame{title: "round 1 of 1", phases: []progress.Update{{Phase: "respond", Steps: 9}}}
	for range 9 {
		f.speakers = append(f.speakers, speakerLine{"Ann", strings.Repeat("long 語 ", 100) + "end"})
	}
	lines := strings.Split(f.text(40), "\n")
	require.Len(t, lines, 8)
	require.Equal(t, "  and 3 more", lines[7])
	for _, l := range lines {
		require.LessOrEqual(t, displayWidth(l), 40)
	}
	require.True(t, strings.HasPrefix(lines[1], "  Ann: …") && strings.HasSuffix(lines[1], "end"), lines[1])
	require.Equal(t, "…", truncateLeft("text", 0))
}

func TestTheScreenShowsTheLastFrame(t *testing.T) {
	var m tea.Model = frameModel{width: 24}
	require.Nil(t, m.Init())
	require.Empty(t, m.View().Content)
	m, cmd := m.Update(frame{title: "round 1 of 2", speakers: []speakerLine{{"Ann", strings.Repeat("x", 200)}}})
	require.Nil(t, cmd)
	require.Equal(t, "round 1 of 2 | \n  Ann: …"+strings.Repeat("x", 15), m.View().Content)
	m, _ = m.Update(tea.WindowSizeMsg{Width: 30, Height: 24})
	require.Equal(t, "round 1 of 2 | \n  Ann: …"+strings.Repeat("x", 21), m.View().Content)
	m, _ = m.Update(frame{})
	require.Empty(t, m.View().Content)
	require.False(t, m.View().AltScreen, "it is inline")
}

// On a terminal, replies appear word by word, and the lines of finished steps remain above.
func TestLiveProgress(t *testing.T) {
	folder(t)
	synctest.Test(t, func(t *testing.T) {
		var stdout output
		var stderr terminal
		code := run(t.Context(), nil, []string{topic, "--rounds", "1"}, strings.NewReader(""), &stdout, &stderr, environment("TERM", "xterm"))
		require.Equal(t, 0, code, stderr.String())
		seen := stderr.String()
		for _, want := range []string{"round 1 of 1 | respond 0/2", "respond, Ada:", "Keeping things as they are", "  respond 1/2: Ada, ", "  verdict 1/1: Judge, ", "completed in round 1"} {
			require.Contains(t, seen, want)
		}
		require.Contains(t, seen, "\x1b[?25h", "the cursor is visible again")
		require.NotRegexp(t, `\x1b\[2\dA`, seen, "only the frame is overwritten")
		require.NotContains(t, seen, "summary", "the frame does not show the judge's JSON")
		printable(t, stdout.String())
	})
}

func TestATerminalIsLiveUnlessToldOtherwise(t *testing.T) {
	for _, tt := range []struct {
		name  string
		p     program
		plain bool
	}{
		{"a terminal", program{terminal: &terminal{}, env: environment("TERM", "xterm")}, false},
		{"no terminal", program{terminal: &output{}, env: environment("TERM", "xterm")}, true},
		{"--plain", program{terminal: &terminal{}, env: environment("TERM", "xterm"), options: options{plain: true}}, true},
		{"a terminal that can do nothing", program{terminal: &terminal{}, env: environment("TERM", "dumb")}, true},
	} {
		require.Equal(t, !tt.plain, tt.p.isLive(), tt.name)
	}
}
