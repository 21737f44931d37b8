package rejudging_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/rejudging"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

var judging = rejudging.Place{State: fsm.Judging, Round: 1}

// key returns the key of a step in round 1.
func key(phase, name string) transcript.Key {
	return transcript.Key{Run: 1, Round: 1, Phase: phase, Actor: name}
}

func move(seq int64, on fsm.Event, from, to fsm.State, round int) rejudging.Entry {
	return rejudging.Entry{Kind: rejudging.Transition, Seq: seq, On: on, From: from, To: to, Round: round}
}

// parent returns the entries after the first five of a debate: judges decide, the debate pauses and comes back, Bob drops out, a
// participant calls a tool and speaks, and a summary is made for the judges who decide at the end.
func parent() []rejudging.Entry {
	return []rejudging.Entry{
		{Kind: rejudging.Phase, Seq: 6, Phase: "verdict"},
		{Kind: rejudging.Turn, Seq: 7, Phase: "verdict", Key: key("verdict", "Jo")},
		move(8, fsm.Pause, fsm.Judging, fsm.Paused, 1),
		{Kind: rejudging.Phase, Seq: 9, Phase: "lost"},
		move(10, fsm.Resume, fsm.Paused, fsm.Judging, 1),
		move(11, fsm.Assessed, fsm.Judging, fsm.RoundComplete, 1),
		{Kind: rejudging.Drop, Seq: 12, Name: "Bob"},
		{Kind: rejudging.Phase, Seq: 13, Phase: "speech"},
		{Kind: rejudging.Calls, Seq: 14, Phase: "speech"},
		{Kind: rejudging.Turn, Seq: 15, Phase: "speech", Key: key("speech", "Ann")},
		{Kind: rejudging.Phase, Seq: 16, Phase: "verdict"},
		{Kind: rejudging.Phase, Seq: 17, Phase: "summary", Summary: true},
		{Kind: rejudging.Turn, Seq: 18, Phase: "summary", Summary: true, Key: key("summary", "summarizer")},
		{Kind: rejudging.Calls, Seq: 19, Phase: "verdict"},
		{Seq: 20},
	}
}

func nobody(string) bool { return false }

func newCourse(omit rejudging.Omission) *rejudging.Course {
	return rejudging.New(rejudging.Plan{From: 5, Omit: omit, Swap: true, Phases: []string{"verdict"}}, parent())
}

func TestTheCourseIsRepeated(t *testing.T) {
	c := newCourse(rejudging.Omission{})
	all := func(string) bool { return true }
	require.False(t, c.Leads())
	require.False(t, c.Follow(&rejudging.Entry{Seq: 4}, judging))
	require.False(t, c.Follow(&rejudging.Entry{Seq: 5}, judging), "no document is left out")
	require.True(t, c.Begun())
	require.True(t, c.GoesOn(judging))
	require.False(t, c.GoesOn(rejudging.Place{State: fsm.Judging, Round: 2}))
	require.True(t, c.Asks(nobody))

	var seqs []int64
	own := int64(5)
	for c.Leads() {
		i := c.Next(all)
		if i < 0 {
			break
		}
		x := parent()[i]
		seqs = append(seqs, x.Seq)
		own += 2 // the judges reply in between
		x.Seq, x.Repeats = own, x.Seq
		c.Follow(&x, rejudging.Place{State: fsm.Judging, Round: 1})
	}
	require.Equal(t, []int64{11, 12, 13, 14, 15}, seqs, "neither the judges' phases, turns, calls and summary, nor the pause")
	require.True(t, c.Asks(nobody), "they decide at the end")
	require.Equal(t, int64(3), c.SeqOf(3))
	require.Equal(t, int64(5), c.SeqOf(10), "nothing is repeated between the first entries and entry 10")
	require.Equal(t, int64(15), c.SeqOf(18))
	require.Nil(t, c.Summary(nil))
	require.Equal(t, &window.SummaryPlan{Base: 4, Covers: []int64{7, 15}}, c.Summary(&window.SummaryPlan{Base: 4, Covers: []int64{11, 15}}))
	c.Follow(&rejudging.Entry{Kind: rejudging.Transition, Seq: 90, On: fsm.Stop}, judging)
	require.False(t, c.Leads(), "somebody has stopped the debate elsewhere")
}

func TestOnlyParticipantsAreDropped(t *testing.T) {
	c := newCourse(rejudging.Omission{})
	c.Follow(&rejudging.Entry{Seq: 5}, judging)
	x := parent()[5]
	x.Seq, x.Repeats = 6, 11
	c.Follow(&x, judging)
	i := c.Next(func(name string) bool { return name != "Bob" })
	require.Equal(t, "speech", parent()[i].Phase, "Bob was dropped before")
}

// A remark or a summary that the debate has already, with the same key, is not repeated.
func TestTurnsThatTheDebateHasAreNotRepeated(t *testing.T) {
	remark, summary := transcript.Key{Run: 1, Phase: "remark", Target: "cost"}, key("summary", "summarizer")
	kept := func(has ...rejudging.Entry) (seqs []int64) {
		c := rejudging.New(rejudging.Plan{From: 5, Phases: []string{"verdict"}}, []rejudging.Entry{
			move(6, fsm.Assessed, fsm.Judging, fsm.RoundComplete, 1),
			{Kind: rejudging.Turn, Seq: 7, Phase: "remark", Key: remark},
			{Kind: rejudging.Phase, Seq: 8, Phase: "summary", Summary: true},
			{Kind: rejudging.Turn, Seq: 9, Phase: "summary", Summary: true, Key: summary},
			{Kind: rejudging.Phase, Seq: 10, Phase: "summary", Summary: true},
			{Kind: rejudging.Turn, Seq: 11, Phase: "summary", Summary: true, Key: key("summary", "other")},
			{Kind: rejudging.Turn, Seq: 12, Phase: "speech", Key: key("speech", "Ann")},
		})
		c.Follow(&rejudging.Entry{Seq: 5}, judging)
		own := int64(5)
		for _, x := range has {
			own++
			x.Kind, x.Seq = rejudging.Turn, own
			c.Follow(&x, judging)
		}
		seqOf := map[int]int64{0: 6, 1: 7, 2: 8, 3: 9, 4: 10, 5: 11, 6: 12}
		for c.Leads() {
			own++
			seq := seqOf[c.Next(func(string) bool { return true })]
			seqs = append(seqs, seq)
			c.Follow(&rejudging.Entry{Seq: own, Repeats: seq}, judging)
		}
		if len(has) == 2 {
			require.Equal(t, &window.SummaryPlan{Base: 7, Covers: []int64{6, 8, 11}}, c.Summary(&window.SummaryPlan{Base: 9, Covers: []int64{7, 6, 12}}))
		}
		return seqs
	}
	require.Equal(t, []int64{6, 7, 8, 9, 10, 11, 12}, kept())
	require.Equal(t, []int64{6, 8, 9, 10, 11, 12}, kept(rejudging.Entry{Key: remark}))
	require.Equal(t, []int64{6, 10, 11, 12}, kept(rejudging.Entry{Key: remark}, rejudging.Entry{Key: summary, Summary: true}))
}

func TestAFailureWithoutAReturnStays(t *testing.T) {
	c := rejudging.New(rejudging.Plan{From: 5}, []rejudging.Entry{move(6, fsm.Fail, fsm.Judging, fsm.Error, 1)})
	c.Follow(&rejudging.Entry{Seq: 5}, judging)
	require.Equal(t, 0, c.Next(nil))
	require.Equal(t, -1, rejudging.New(rejudging.Plan{}, nil).Next(nil))
}

// A judge who dropped out just before others decide is asked again, and the others are too.
func TestJudgesDecideAfterADrop(t *testing.T) {
	c := rejudging.New(rejudging.Plan{From: 5, Phases: []string{"verdict"}}, []rejudging.Entry{
		{Kind: rejudging.Drop, Seq: 6, Name: "Jo"}, {Kind: rejudging.Phase, Seq: 7, Phase: "verdict"}, move(8, fsm.Assessed, fsm.Judging, fsm.RoundComplete, 1),
	})
	c.Follow(&rejudging.Entry{Seq: 5}, judging)
	require.True(t, c.Asks(nobody))
	require.False(t, c.Asks(func(name string) bool { return name == "Jo" }), "a drop that is repeated comes first")
	none := rejudging.New(rejudging.Plan{From: 5, Phases: []string{"verdict"}}, []rejudging.Entry{{Kind: rejudging.Drop, Seq: 6, Name: "Jo"}})
	none.Follow(&rejudging.Entry{Seq: 5}, judging)
	require.False(t, none.Asks(nobody))
}

func TestOtherJudgesDepart(t *testing.T) {
	c := newCourse(rejudging.Omission{})
	c.Follow(&rejudging.Entry{Seq: 5}, judging)
	stop := transcript.Ending{Outcome: transcript.EarlyStop}
	limit := transcript.Ending{Outcome: transcript.RoundLimit}
	require.Nil(t, c.Instead(1, stop, stop))
	require.Nil(t, c.Instead(1, transcript.Ending{}, limit))
	require.Equal(t, &transcript.Ending{Outcome: transcript.RoundLimit, Round: 1}, c.Instead(1, stop, limit))
	require.Nil(t, c.Instead(1, limit, transcript.Ending{}))
	require.Equal(t, &transcript.Ending{Round: 1}, c.Instead(1, stop, transcript.Ending{}))
	x := move(9, fsm.Assessed, fsm.Judging, fsm.RoundComplete, 1)
	x.Repeats, x.Ending, x.Instead = 11, transcript.Ending{}, &stop
	c.Follow(&x, rejudging.Place{Round: 1})
	require.Nil(t, c.Instead(1, stop, transcript.Ending{}), "they have departed in this round")
	c.Follow(&rejudging.Entry{Kind: rejudging.Turn, Seq: 10, Key: key("verdict", "Jo"), Remains: true}, judging)
	require.Equal(t, []string{
		"round 1: the new judges would have had the debate end it with early_stop; the course, which was to go on, is kept",
		"round 1, verdict of Jo: the prompt has words of a turn that was left out",
	}, c.Warnings())
	var none *rejudging.Course
	require.Equal(t, int64(5), c.Before(9))
	require.Equal(t, int64(9), none.Before(9))
	require.Nil(t, none.Warnings())
	require.False(t, none.Leads())
}

func TestWhatJudgesDoNotSee(t *testing.T) {
	said := "Buses need less room than any number of cars, on every street."
	r := &protocol.Record{Turns: []transcript.Turn{
		{Key: key("speech", "Ann"), Kind: transcript.Speech, Text: said},
		{Key: key("speech", "Bob"), Kind: transcript.Speech, Text: "No."},
		{Key: key("note", "Jo"), Kind: transcript.Assessment},
	}}
	c := newCourse(rejudging.Omission{Seats: []string{"Ann"}, Documents: []string{"a.txt"}})
	phases := []protocol.Phase{
		{Name: "speech", Steps: []protocol.Step{{Key: key("speech", "Ann")}}},
		{Name: "verdict", Steps: []protocol.Step{
			{Key: key("verdict", "Jo"), Blind: true},
			{Key: key("verdict", "Lee"), Blind: true},
			{Key: key("verdict", "Lee"), Blind: true, Swap: true},
			{Key: key("verdict", "Pat"), Show: func(t *transcript.Turn) bool { return t.Kind == transcript.Assessment }},
		}},
	}
	require.Equal(t, len(phases), len(c.Adapt(r, phases)))
	require.Nil(t, c.Adapt(r, phases)[1].Steps[0].Show, "the debate does not have the first entries yet")
	require.True(t, c.Follow(&rejudging.Entry{Seq: 5}, judging), "documents are left out from here on")
	is := c.Adapt(r, phases)
	require.Nil(t, is[0].Steps[0].Show)
	require.True(t, is[1].Steps[0].Swap)
	require.False(t, is[1].Steps[1].Swap, "the judge is asked twice")
	require.False(t, phases[1].Steps[0].Swap, "the phases of the protocol do not change")
	shows := func(s protocol.Step) (seen []bool) {
		for i := range r.Turns {
			seen = append(seen, s.Show(&r.Turns[i]))
		}
		return seen
	}
	require.Equal(t, []bool{false, true, false}, shows(is[1].Steps[0]))
	require.Equal(t, []bool{false, false, true}, shows(is[1].Steps[3]))

	prompt := []providers.Message{{Text: said}}
	hide := func(text string) string { return strings.ReplaceAll(text, "Buses", "Debater A") }
	require.True(t, c.RemainsIn(r, &is[1].Steps[0], prompt, nil, hide))
	require.True(t, c.RemainsIn(r, &is[1].Steps[0], []providers.Message{{Text: "debater a need less room than any number"}}, nil, hide))
	require.False(t, c.RemainsIn(r, &is[1].Steps[0], []providers.Message{{Text: "Debater B need less room than any number"}}, nil, hide))
	require.False(t, c.RemainsIn(r, &is[0].Steps[0], prompt, nil, hide), "Ann does not decide")
	require.False(t, c.RemainsIn(r, &is[1].Steps[0], []providers.Message{{Text: "No."}}, nil, hide))
	require.True(t, c.RemainsIn(r, &is[1].Steps[0], []providers.Message{{Text: "the first word of a long document is this one"}}, []string{"The first word of a long document is this one."}, hide))
}

func TestWhatCanBeLeftOut(t *testing.T) {
	turns := map[transcript.Key]transcript.Turn{key("speech", "Ann"): {Kind: transcript.Speech}, key("verdict", "Jo"): {Kind: transcript.Assessment}}
	find := func(k transcript.Key) (transcript.Turn, bool) { t, ok := turns[k]; return t, ok }
	good := rejudging.Omission{Turns: []transcript.Key{key("speech", "Ann")}, Seats: []string{"Ann"}, Documents: []string{"a.txt"}}
	require.Empty(t, good.Check(find, []string{"Ann"}, []string{"a.txt"}))
	bad := rejudging.Omission{Turns: []transcript.Key{key("speech", "Eve"), key("verdict", "Jo")}, Seats: []string{"Eve"}, Documents: []string{"b.txt"}}
	require.Equal(t, []protocol.Problem{
		{Field: "omit.turns[0]", Reason: "the debate has no turn 1/1/speech/Eve/"},
		{Field: "omit.turns[1]", Reason: "1/1/verdict/Jo/ is no speech or remark, but a turn of kind assessment"},
		{Field: "omit.seats[0]", Reason: `"Eve" is not a participant`},
		{Field: "omit.documents[0]", Reason: `the debate has no document or attachment "b.txt"`},
	}, bad.Check(find, []string{"Ann"}, []string{"a.txt"}))
}

func TestTheFirstDecision(t *testing.T) {
	p := &rejudging.Plan{Phases: []string{"verdict"}}
	entries := []rejudging.Entry{
		{Kind: rejudging.Phase, Phase: "speech"},
		{Kind: rejudging.Phase, Phase: "verdict"},
		{Kind: rejudging.Transition, On: fsm.Reset},
		{Kind: rejudging.Phase, Phase: "verdict", Summary: true},
		{Kind: rejudging.Phase, Phase: "verdict"},
		{Kind: rejudging.Phase, Phase: "verdict"},
	}
	require.Equal(t, 4, rejudging.FirstDecision(entries, p))
	require.Zero(t, rejudging.FirstDecision(entries[:3], p))
}
