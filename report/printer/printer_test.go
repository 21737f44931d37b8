package printer_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/report/printer"
	"github.com/elenchus-go/debate/transcript"
)

var (
	ada = transcript.Key{Run: 1, Round: 1, Phase: "respond", Actor: "Ada"}
	jo  = transcript.Key{Run: 1, Round: 1, Phase: "assess", Actor: "Jo"}
)

func stored(seq int64) debate.EventMeta { return debate.EventMeta{Seq: seq} }

func chunk(k transcript.Key, offset int, text string) debate.Event {
	return debate.Chunk{EventMeta: &debate.EventMeta{Live: true}, Attempt: &debate.Attempt{Key: k}, Offset: offset, Text: text}
}

func failed(message string, again time.Duration) debate.Event {
	return debate.TurnFailed{EventMeta: debate.EventMeta{Live: true}, Attempt: &debate.Attempt{Key: ada}, Message: message, RetryIn: again}
}

func turn(seq int64, k transcript.Key, contract, data, text string, flags ...transcript.Flag) debate.Event {
	return debate.TurnDone{EventMeta: stored(seq), Turn: transcript.Turn{
		Key: k, Contract: contract, Data: []byte(data), Text: text, Flags: flags, Usage: transcript.Usage{Output: 7}, Ended: time.Time{}.Add(time.Second),
	}}
}

const scored = `{"participants": [{"name": "Ada", "score": 7.251}], "reasoning": "Figures.", "recommendations": ["Name a cost."]}`

func printed(p printer.Printer, events ...debate.Event) string {
	var b bytes.Buffer
	p.Output = &b
	for _, ev := range events {
		p.Show(ev)
	}
	return b.String()
}

func TestWhatIsPrinted(t *testing.T) {
	cause := `network: call model: Post "http://127.0.0.1:1/v1": ` + strings.Repeat("dial ", 60) + "refused"
	config := debate.ConfigChanged{EventMeta: stored(1), Config: []byte(`{"participants": [{"name": "Ada", "side": "for"}]}`)}
	round := debate.PhaseStarted{EventMeta: stored(2), Stage: transcript.Speech, Round: 1, Rounds: 2}
	for name, test := range map[string]struct {
		p      printer.Printer
		events []debate.Event
		want   string
	}{
		"a turn": {
			printer.Printer{},
			[]debate.Event{config, round, chunk(ada, 0, "Yes"), turn(3, ada, "", "", "Yes.\n\nIt is\t\x1b[2J so.\n")},
			"== round 1 of 2 ==\n\nAda · for · respond · 7 tokens, 1.0s\n  Yes.\n\n  It is    [2J so.\n",
		},
		"a live turn": {
			printer.Printer{Live: true},
			[]debate.Event{round, chunk(ada, 0, "Yes.\n"), chunk(ada, 5, "\nIt"), chunk(ada, 8, " is."), turn(3, ada, "", "", "Yes.\n\nIt is.")},
			"== round 1 of 2 ==\n\nAda · respond\n  Yes.\n\n  It is.\n",
		},
		"a live turn with flags": {
			printer.Printer{Live: true},
			[]debate.Event{round, chunk(ada, 0, "I can't."), turn(3, ada, "", "", "I can't.", transcript.Reasked, transcript.Refused)},
			"== round 1 of 2 ==\n\nAda · respond\n  I can't.\nAda · respond · reasked, refused\n",
		},
		"a failed live turn": {
			printer.Printer{Live: true},
			[]debate.Event{chunk(ada, 0, "Ye"), failed("cut", time.Second), chunk(ada, 0, "Yes."), turn(3, ada, "", "", "Yes.")},
			"Ada · respond\n  Ye\nrespond: Ada failed, retrying in 1s: cut\n\nAda · respond\n  Yes.\n",
		},
		"a silent turn": {
			printer.Printer{},
			[]debate.Event{round, debate.TurnDone{EventMeta: stored(3), Turn: transcript.Turn{Key: ada, Kind: transcript.Silence}}},
			"== round 1 of 2 ==\n\nAda · respond · silent in this fork\n",
		},
		"a parallel phase": {printer.Printer{Live: true}, []debate.Event{debate.PhaseStarted{EventMeta: stored(1), Stage: transcript.Setup, Parallel: true}, chunk(ada, 0, "Ye")}, "== setup ==\n"},
		"a judge": {
			printer.Printer{Live: true},
			[]debate.Event{chunk(jo, 0, ` {"participants"`), turn(1, jo, "assessment/1", scored, "?")},
			"Jo · assess · 7 tokens, 1.0s\n  Figures.\n  Next: Name a cost.\n  Ada  7.25 of 10\n",
		},
		"a default":    {printer.Printer{}, []debate.Event{turn(1, jo, "assessment/1", scored, "There is none.", transcript.Defaulted)}, "Jo · assess · 7 tokens, 1.0s, defaulted\n  There is none.\n"},
		"hidden":       {printer.Printer{HideTexts: true, Live: true}, []debate.Event{chunk(ada, 0, "Y"), turn(1, ada, "", "", "Yes."), turn(2, jo, "assessment/1", scored, "?")}, "Ada · respond · 7 tokens, 1.0s\n\nJo · assess · 7 tokens, 1.0s\n"},
		"what repeats": {printer.Printer{}, []debate.Event{turn(1, ada, "", "", "Yes."), turn(1, ada, "", "", "Yes.")}, "Ada · respond · 7 tokens, 1.0s\n  Yes.\n"},
		"failures": {
			printer.Printer{},
			[]debate.Event{failed(cause, 0), failed(cause, 1500*time.Millisecond), failed(cause, time.Minute), failed(cause, -1)},
			"respond: Ada failed, retrying: " + cause + "\nrespond: Ada failed, retrying in 2s: " + cause + "\nrespond: Ada failed in the same way, retrying in 1m0s\nrespond: Ada failed: " + cause + "\n",
		},
		"a contradiction": {
			printer.Printer{},
			[]debate.Event{debate.TurnFailed{EventMeta: debate.EventMeta{Live: true}, Attempt: &debate.Attempt{Key: jo}, Doubtful: true, Message: "the reply is doubtful: so; asked once more"}},
			"assess: Jo: the reply is doubtful: so; asked once more\n",
		},
		"the end": {printer.Printer{}, []debate.Event{
			debate.Warning{EventMeta: debate.EventMeta{Live: true}, Text: "mind\nthe gap"},
			debate.Dropped{EventMeta: stored(1), Name: "Bo", Failure: &debate.Failure{Key: ada, Message: "no key"}},
			debate.StateChanged{EventMeta: stored(2), To: fsm.Paused},
			debate.StateChanged{EventMeta: stored(3), Ending: transcript.Ending{Outcome: transcript.RoundLimit, Evidence: "2 rounds were held"}},
		}, "warning: mind the gap\nBo dropped out: run step respond of Ada in round 1: no key\npaused\n\nthe debate ends: round limit: 2 rounds were held\n"},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, test.want, printed(test.p, test.events...)) })
	}
}

func TestThePastIsNotPrinted(t *testing.T) {
	var b bytes.Buffer
	p := printer.Printer{Output: &b}
	p.Skip(debate.PhaseStarted{EventMeta: stored(1), Stage: transcript.Speech, Round: 1})
	p.Skip(turn(2, ada, "", "", "Yes."))
	p.Notef("resuming: %s\x1b", "round 1")
	p.Show(turn(2, ada, "", "", "Yes."))
	p.Show(debate.PhaseStarted{EventMeta: stored(3), Stage: transcript.Speech, Round: 1})
	p.Show(turn(4, jo, "", "", "No."))
	require.Equal(t, "resuming: round 1\n\nJo · assess · 7 tokens, 1.0s\n  No.\n", b.String())
}

func TestScores(t *testing.T) {
	for contract, data := range map[string]string{"assessment/1": scored, "judgment/1": `{"participants": [{"name": "Ada", "score": 7.251}], "summary": "Figures."}`} {
		list, why, ok := printer.Scores(&transcript.Turn{Contract: contract, Data: []byte(data)})
		require.True(t, ok, contract)
		require.Equal(t, []printer.Score{{Name: "Ada", Value: 7.251}}, list)
		require.Contains(t, why, "Figures.")
	}
	for _, other := range []transcript.Turn{{Text: "Yes."}, {Contract: "assessment/1", Data: []byte("[")}, {Contract: "vote/1", Data: []byte("{}")}} {
		_, _, ok := printer.Scores(&other)
		require.False(t, ok)
	}
}

type full struct{ bytes.Buffer }

func (*full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestSafeWriter(t *testing.T) {
	var b bytes.Buffer
	n, err := printer.SafeWriter{Writer: &b}.Write([]byte("a\x1b[2J\tb\u202e\n"))
	require.NoError(t, err)
	require.Equal(t, 11, n)
	require.Equal(t, "a[2J\tb\n", b.String())
	_, err = printer.SafeWriter{Writer: &full{}}.Write([]byte("a"))
	require.Error(t, err)
}
