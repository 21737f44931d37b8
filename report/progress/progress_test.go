package progress_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/report/progress"
	"github.com/elenchus-go/debate/transcript"
)

const (
	assessment = `{"participants": [%s, %s], "quality": 7, "should_continue": true}`
	score      = `{"name": %q, "criteria": [{"criterion": "logical_consistency", "score": 7}, {"criterion": "evidence", "score": 7},
		{"criterion": "engagement", "score": 7}, {"criterion": "novelty", "score": 7}, {"criterion": "persuasiveness", "score": 7},
		{"criterion": "relevance", "score": 7}]}`
)

// model answers requests of debaters, and judges A and B. Its second call fails if fail is not nil.
func model(fail error) *scripted.Provider {
	calls := 0
	return &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
		switch calls++; {
		case fail != nil && calls == 2:
			return scripted.Reply{Err: fail}
		case r.SchemaName == "assessment/1":
			return scripted.Reply{Text: fmt.Sprintf(assessment, fmt.Sprintf(score, "A"), fmt.Sprintf(score, "B"))}
		case r.SchemaName == "verdict/1":
			return scripted.Reply{Text: `{"summary": "A draw.", "quality": 70}`}
		}
		return scripted.Reply{Text: "So it is."}
	}}
}

func config(p protocol.Protocol) debate.Config {
	return debate.Config{
		ID: "d", Topic: "Cats?", Protocol: p, Limits: debate.Limits{MaxRounds: 2},
		Participants: []debate.Participant{{Name: "A"}, {Name: "B"}}, Judges: []debate.Participant{{Name: "J"}},
	}
}

// book records updates and checks that each start has one end.
type book struct {
	*testing.T
	marks []progress.Update
	open  map[what]bool
}

type what struct {
	what  string
	round int
	phase string
	key   transcript.Key
}

func (b *book) note(m progress.Update) {
	b.Helper()
	this := what{m.Scope, m.Round, m.Phase, m.Key}
	require.Equal(b, m.End, b.open[this], "%s", m)
	b.open[this] = !m.End
	if m.Key.Actor != "" {
		require.True(b, b.open[what{what: "phase", round: m.Round, phase: m.Phase}], "%s, in no phase", m)
		require.NotEqual(b, b.open[what{what: "round", round: m.Round}], b.open[what{what: "synthesis", round: m.Round}], "%s, in no round", m)
	}
	b.marks = append(b.marks, m)
}

// list returns the updates since the last call.
func (b *book) list() (list []string) {
	for _, m := range b.marks {
		list = append(list, m.String())
	}
	b.marks = nil
	return list
}

// hooks returns hooks that record all updates.
func (b *book) hooks() progress.Hooks {
	return progress.Hooks{Round: b.note, Phase: b.note, Agent: b.note, Summary: b.note, Synthesis: b.note}
}

func newBook(t *testing.T) *book { return &book{T: t, open: map[what]bool{}} }

// drive runs a debate until it ends, pauses or fails, and checks that everything that started has ended.
func (b *book) drive(d *debate.Debate, h *progress.Hooks) {
	b.Helper()
	for ev, err := range d.Run(b.Context()) {
		if err == nil {
			h.Observe(ev)
		}
	}
	for what, open := range b.open {
		require.False(b, open, what)
	}
}

// told runs a debate and returns its updates.
func told(t *testing.T, d *debate.Debate) []string {
	t.Helper()
	b := newBook(t)
	h := b.hooks()
	b.drive(d, &h)
	return b.list()
}

func open(t *testing.T, c debate.Config, m providers.Provider) *debate.Debate {
	t.Helper()
	d, err := debate.New(t.Context(), c, debate.Options{Providers: map[string]providers.Provider{"m": m}})
	require.NoError(t, err)
	return d
}

func TestMarksOfAPanel(t *testing.T) {
	require.Equal(t, []string{
		"round 1 of 2 starts",
		"respond 0/2 starts", "respond 0/2: A starts", "respond 1/2: A ends", "respond 1/2: B starts", "respond 2/2: B ends", "respond 2/2 ends",
		"assess 0/1 starts", "assess 0/1: J starts", "assess 1/1: J ends", "assess 1/1 ends",
		"round 1 of 2 ends",
		"round 2 of 2 starts",
		"respond 0/2 starts", "respond 0/2: A starts", "respond 1/2: A ends", "respond 1/2: B starts", "respond 2/2: B ends", "respond 2/2 ends",
		"assess 0/1 starts", "assess 0/1: J starts", "assess 1/1: J ends", "assess 1/1 ends",
		"round 2 of 2 ends",
		"the synthesis starts", "verdict 0/1 starts", "verdict 0/1: J starts", "verdict 1/1: J ends", "verdict 1/1 ends", "the synthesis ends",
	}, told(t, open(t, config(panel.Protocol{}), model(nil))))
}

// An error ends everything that has started. It starts again when the debate continues.
func TestAFailureEndsWhatIsOpen(t *testing.T) {
	d, b := open(t, config(panel.Protocol{}), model(&providers.Error{Kind: providers.Authentication, Err: errors.New("no key")})), newBook(t)
	h := b.hooks()
	b.drive(d, &h)
	require.Equal(t, []string{
		"round 1 of 2 starts", "respond 0/2 starts", "respond 0/2: A starts", "respond 1/2: A ends", "respond 1/2: B starts", "respond 1/2: B ends",
		"respond 1/2 ends", "round 1 of 2 ends",
	}, b.list())
	require.NoError(t, d.Retry(t.Context()))
	b.drive(d, &h)
	require.Equal(t, []string{"round 1 of 2 starts", "respond 1/2 starts", "respond 1/2: B starts", "respond 2/2: B ends", "respond 2/2 ends"}, b.list()[:5])
}

// paused returns a panel that was paused during its nth call. The reply to that call was committed.
func paused(t *testing.T, n int, h *progress.Hooks) *debate.Debate {
	t.Helper()
	var d *debate.Debate
	calls, answers := 0, model(nil)
	d = open(t, config(panel.Protocol{}), &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
		calls++
		if calls == n {
			require.NoError(t, d.Pause(context.Background()))
		}
		return answers.Func(r)
	}})
	for ev, err := range d.Run(t.Context()) {
		require.NoError(t, err)
		h.Observe(ev)
	}
	require.NoError(t, d.Resume(t.Context()))
	return d
}

func TestWhatGoesOnAfterAPauseStartsAgain(t *testing.T) {
	b := newBook(t)
	h := b.hooks()
	d := paused(t, 4, &h)
	require.Equal(t, []string{
		"round 2 of 2 starts", "respond 0/2 starts", "respond 0/2: A starts", "respond 0/2: A ends", "respond 0/2 ends", "round 2 of 2 ends",
	}, b.list()[12:])
	b.drive(d, &h)
	require.Equal(t, []string{
		"round 2 of 2 starts", "respond 1/2 starts", "respond 1/2: B starts", "respond 2/2: B ends", "respond 2/2 ends",
		"assess 0/1 starts", "assess 0/1: J starts", "assess 1/1: J ends", "assess 1/1 ends", "round 2 of 2 ends",
	}, b.list()[:10])
}

// If the pause came in the last step of a phase, Resume starts the next phase, and Run does not yield that event.
func TestAReplayShowsWhatNoRunDoes(t *testing.T) {
	for _, tt := range []struct {
		paused   int // in this call
		replayed bool
		want     []string
	}{
		{2, false, []string{"round 1 of 2 starts", "assess 0/0 starts", "assess 0/0: J starts", "assess 1/0: J ends", "assess 1/0 ends"}},
		{2, true, []string{"round 1 of 2 starts", "assess 0/1 starts", "assess 0/1: J starts", "assess 1/1: J ends", "assess 1/1 ends"}},
		{3, false, []string{"round 2 of 2 starts", "respond 0/0 starts", "respond 0/0: A starts", "respond 1/0: A ends", "respond 1/0: B starts"}},
		{3, true, []string{"round 2 of 2 starts", "respond 0/2 starts", "respond 0/2: A starts", "respond 1/2: A ends", "respond 1/2: B starts"}},
	} {
		t.Run(fmt.Sprintf("paused in call %d, replayed: %v", tt.paused, tt.replayed), func(t *testing.T) {
			b := newBook(t)
			h := b.hooks()
			d := paused(t, tt.paused, &h)
			b.list()
			if tt.replayed {
				replay(t, d, &h)
			}
			b.drive(d, &h)
			require.Equal(t, tt.want, b.list()[:5])
		})
	}
}

func replay(t *testing.T, d *debate.Debate, h *progress.Hooks) {
	t.Helper()
	for m, err := range d.Replay(t.Context()) {
		require.NoError(t, err)
		h.Observe(m.Event)
	}
}

// In another process, hooks that are set after a replay report only what is new, with the right counts, wherever the
// first process stopped.
func TestHooksOfAnotherProcessGoOn(t *testing.T) {
	for started, want := range map[int][]string{
		1: {"round 1 of 2 starts", "respond 0/2 starts", "respond 0/2: A starts", "respond 1/2: A ends", "respond 1/2: B starts"},
		2: {"round 1 of 2 starts", "respond 1/2 starts", "respond 1/2: B starts", "respond 2/2: B ends", "respond 2/2 ends"},
		5: {"round 2 of 2 starts", "respond 1/2 starts", "respond 1/2: B starts", "respond 2/2: B ends", "respond 2/2 ends"},
		6: {"round 2 of 2 starts", "assess 0/1 starts", "assess 0/1: J starts", "assess 1/1: J ends", "assess 1/1 ends"},
		7: {"the synthesis starts", "verdict 0/1 starts", "verdict 0/1: J starts", "verdict 1/1: J ends", "verdict 1/1 ends"},
	} {
		t.Run(fmt.Sprint("after the start of step ", started), func(t *testing.T) {
			d, count := open(t, config(panel.Protocol{}), model(nil)), 0
			for ev, err := range d.Run(t.Context()) {
				require.NoError(t, err)
				if _, starts := ev.(debate.TurnStarted); starts {
					count++
				}
				if count == started {
					break
				}
			}
			b := newBook(t)
			var h progress.Hooks
			replay(t, d, &h)
			h.Round = b.note
			h.Phase = b.note
			h.Agent = b.note
			h.Synthesis = b.note
			b.drive(d, &h)
			require.Equal(t, want, b.list()[:5])
		})
	}
}

// A replay reports rounds and phases, but no agents.
func TestAReplayIsOfRoundsAndPhases(t *testing.T) {
	d := open(t, config(panel.Protocol{}), model(nil))
	all, b := told(t, d), newBook(t)
	h := b.hooks()
	replay(t, d, &h)
	require.Equal(t, slices.DeleteFunc(all, func(mark string) bool { return strings.Contains(mark, ": ") }), b.list())
	replay(t, d, &h)
	require.Empty(t, b.list(), "the events were observed before")
}

// If a model finally fails, its step produces a default, or no turn if the participant drops out.
func TestAMarkHasTheTurn(t *testing.T) {
	c := config(panel.Protocol{})
	c.Participants = append(c.Participants, debate.Participant{Name: "C"})
	c.Limits.MaxRounds, c.Retries = 1, map[providers.ErrorKind]int{providers.Network: 0}
	calls, b := 0, newBook(t)
	h := b.hooks()
	b.drive(open(t, c, &scripted.Provider{Func: func(providers.Request) scripted.Reply {
		calls++
		if calls == 2 {
			return scripted.Reply{Err: &providers.Error{Kind: providers.Network, Err: errors.New("down")}}
		}
		return scripted.Reply{Text: "So it is."} // an assessment gets its default
	}}), &h)
	came := map[string]bool{}
	for _, m := range b.marks {
		if m.Scope == "agent" && m.End {
			came[m.String()] = m.Turn != nil
		}
	}
	require.Equal(t, map[string]bool{
		"respond 1/3: A ends": true, "respond 1/3: B ends": false, "respond 2/3: C ends": true, "assess 1/1: J ends": true, "verdict 1/1: J ends": true,
	}, came)
}

// A summary comes between the steps of a phase. The phase continues after it.
func TestASummaryInterruptsAPhase(t *testing.T) {
	b := newBook(t)
	h, seq := b.hooks(), int64(0)
	stamp := func() debate.EventMeta {
		seq++
		return debate.EventMeta{Seq: seq}
	}
	phase := func(name string, steps int) {
		h.Observe(debate.PhaseStarted{EventMeta: stamp(), Stage: transcript.Speech, Round: 1, Rounds: 1, Phase: name, Steps: steps})
	}
	step := func(phase, actor, target string) {
		k := transcript.Key{Round: 1, Phase: phase, Actor: actor, Target: target}
		h.Observe(debate.TurnStarted{EventMeta: debate.EventMeta{Seq: seq, Live: true}, Attempt: &debate.Attempt{Key: k}})
		h.Observe(debate.TurnDone{EventMeta: stamp(), Turn: transcript.Turn{Key: k}})
	}
	phase("respond", 2)
	step("respond", "A", "")
	for _, covered := range []string{"a", "b"} {
		phase("summary", 1)
		step("summary", protocol.Summarizer, covered)
	}
	phase("respond", 2)
	step("respond", "B", "")
	require.Equal(t, []string{
		"round 1 of 1 starts", "respond 0/2 starts", "respond 0/2: A starts", "respond 1/2: A ends", "respond 1/2 ends",
		"summary 0/1 starts", "summary 0/1: summarizer starts", "summary 1/1: summarizer ends", "summary 1/1 ends",
		"summary 0/1 starts", "summary 0/1: summarizer starts", "summary 1/1: summarizer ends", "summary 1/1 ends",
		"respond 1/2 starts", "respond 1/2: B starts", "respond 2/2: B ends", "respond 2/2 ends",
	}, b.list())
	var phases []string
	for _, m := range h.Phases() {
		phases = append(phases, fmt.Sprintf("%s %d/%d", m.Phase, m.Done, m.Steps))
	}
	require.Equal(t, []string{"respond 2/2", "summary 1/1"}, phases)
}

// Phases returns the phases of the current round at any time.
func TestPhasesAreThoseOfTheCurrentRound(t *testing.T) {
	c := config(panel.Protocol{})
	var h progress.Hooks // no function is set
	require.Empty(t, h.Phases())
	d := open(t, c, model(nil))
	var list []string
	for ev, err := range d.Run(t.Context()) {
		require.NoError(t, err)
		h.Observe(ev)
		now := ""
		for _, m := range h.Phases() {
			require.Equal(t, "phase", m.Scope)
			now += fmt.Sprintf("%s %d of %d: %s %d/%d; ", m.Stage, m.Round, m.Rounds, m.Phase, m.Done, m.Steps)
		}
		if len(list) == 0 || list[len(list)-1] != now {
			list = append(list, now)
		}
	}
	first := []string{
		"", "speech 1 of 2: respond 0/2; ", "speech 1 of 2: respond 1/2; ", "speech 1 of 2: respond 2/2; ",
		"speech 1 of 2: respond 2/2; assessment 1 of 2: assess 0/1; ", "speech 1 of 2: respond 2/2; assessment 1 of 2: assess 1/1; ",
		"speech 2 of 2: respond 0/2; ",
	}
	require.Equal(t, first, list[:len(first)])
	require.Equal(t, []string{"conclusion 2 of 2: verdict 0/1; ", "conclusion 2 of 2: verdict 1/1; "}, list[len(list)-2:])

	var again progress.Hooks
	replay(t, d, &again)
	require.Equal(t, h.Phases(), again.Phases(), "a replay leads to the same")
}

// A reset clears the counts, and a remark is not a step.
func TestAResetBeginsAnew(t *testing.T) {
	d, b := open(t, config(panel.Protocol{}), model(&providers.Error{Kind: providers.Authentication, Err: errors.New("no key")})), newBook(t)
	h := b.hooks()
	b.drive(d, &h)
	require.NoError(t, d.Reset(t.Context()))
	require.NoError(t, d.Inject(t.Context(), debate.Remark{From: "Pat", Text: "Be brief."}))
	require.NotEmpty(t, h.Phases())
	replay(t, d, &h)
	require.Empty(t, h.Phases())
	b.list()
	b.drive(d, &h)
	require.Equal(t, []string{"round 1 of 2 starts", "respond 0/2 starts", "respond 0/2: A starts"}, b.list()[:3])
}

// A second attempt belongs to the same step.
func TestAttemptsAreOneStep(t *testing.T) {
	c := config(panel.Protocol{})
	c.Limits.MaxRounds = 1
	list := told(t, open(t, c, model(&providers.Error{Kind: providers.InvalidResponse, Err: errors.New("nothing")})))
	count := 0
	for _, mark := range list {
		if mark == "respond 1/2: B starts" {
			count++
		}
	}
	require.Equal(t, 1, count)
}

// Phases of pairs and of the summarizer are reported like others. The judge's digest is a summary, too.
func TestMarksOfRefinement(t *testing.T) {
	c, b := config(refine.Protocol{SummaryPolicy: refine.SummaryPolicy{Threshold: 10}, FinalSummaryPolicy: refine.SummaryPolicy{Threshold: 10}}), newBook(t)
	h := b.hooks()
	b.drive(open(t, c, &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
		return scripted.Reply{Text: "What there is to say."} // structured replies get their defaults
	}}), &h)
	what := map[string]string{}
	for _, m := range b.marks {
		what[m.String()] = m.Scope
	}
	for mark, is := range map[string]string{
		"critique 0/2 starts": "phase", "critique 2/2 ends": "phase",
		"summarize 0/2: summarizer starts": "summary", "summarize 2/2: summarizer ends": "summary",
		"the synthesis starts": "synthesis", "digest 0/1 starts": "phase", "digest 0/1: J starts": "summary", "digest 1/1: J ends": "summary",
		"synthesize 0/1: J starts": "agent", "the synthesis ends": "synthesis",
	} {
		require.Equal(t, is, what[mark], mark)
	}
}
