package entrylist_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/entrylist"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// key returns the key of the step of an actor in round 2 of run 1.
func key(actor string) transcript.Key {
	return transcript.Key{Run: 1, Round: 2, Phase: "speech", Actor: actor}
}

// stepOf returns the step of an actor that sees everything up to a seq.
func stepOf(actor string, visible int64) protocol.Step {
	return protocol.Step{Key: key(actor), Kind: transcript.Speech, Contract: "claim", Order: 1, VisibleSeq: visible}
}

// turn returns the turn of a step, as entry 6.
func turn(actor string, visible int64) transcript.Turn {
	return transcript.Turn{
		Key: key(actor), Kind: transcript.Speech, Contract: "claim", Order: 1, VisibleSeq: visible, Seq: 6,
		Attempts: []transcript.Attempt{{Usage: transcript.Usage{Input: 3}}, {Usage: transcript.Usage{Output: 4}}},
		Usage:    transcript.Usage{Input: 3, Output: 4},
	}
}

// points returns the points after entries 4 and 5. After entry 4, Ann's step sees entry 4 and Bob's step cannot run; after
// entry 5, both see entry 5.
func points(known bool) (before, last *entrylist.Point) {
	var plans entrylist.Plans
	r := &protocol.Record{Seq: 4, Cursor: transcript.Cursor{Run: 1, Round: 2, Stage: transcript.Speech, Phase: "speech"}}
	before = plans.At(r, []protocol.Step{stepOf("Ann", 4)}, known)
	r = &protocol.Record{Seq: 5, Cursor: r.Cursor}
	return before, plans.At(r, []protocol.Step{stepOf("Ann", 5), stepOf("Bob", 5)}, known)
}

func TestATurnHasTheValuesOfItsStep(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(t *transcript.Turn)
		prompt int64
		want   string // empty if the turn is right
	}{
		{"of the last plan", func(t *transcript.Turn) { t.VisibleSeq = 5 }, 5, ""},
		{"of the plan that its prompt was made from", func(t *transcript.Turn) { t.VisibleSeq = 4 }, 4, ""},
		{"of any plan since what it saw, if no prompt_seq is there", func(t *transcript.Turn) { t.VisibleSeq = 4 }, 0, ""},
		{"of a later plan, if no prompt_seq is there", func(t *transcript.Turn) { t.VisibleSeq = 5 }, 0, ""},
		{"of a negative visible_seq without a prompt_seq", func(t *transcript.Turn) { t.VisibleSeq = -1 }, 0, "its visible_seq is -1, want 5"},
		{"of another plan", func(t *transcript.Turn) { t.VisibleSeq = 5 }, 4, "its visible_seq is 5, want 4"},
		{"of a plan in which it could not run", func(t *transcript.Turn) { t.VisibleSeq = 3 }, 3, "its prompt_seq is 3, but the step could not run then"},
		{"given by a person", func(t *transcript.Turn) { t.VisibleSeq, t.Attempts, t.Usage = 5, nil, transcript.Usage{} }, 2, ""},
		{"given by a person who saw less", func(t *transcript.Turn) { t.VisibleSeq, t.Attempts, t.Usage = 4, nil, transcript.Usage{} }, 4, "its visible_seq is 4, want 5"},
		{"from the future", func(*transcript.Turn) {}, 6, "its prompt_seq is 6, want at most 5"},
		{"with a negative prompt_seq", func(*transcript.Turn) {}, -1, "its prompt_seq is -1, want at most 5"},
		{"of nobody's step", func(t *transcript.Turn) { t.Actor = "Eve" }, 5, "it is the turn of a step that could not run"},
		{"with another seq", func(t *transcript.Turn) { t.Seq = 7 }, 5, "its seq is 7, want 6"},
		{"of another kind", func(t *transcript.Turn) { t.Kind = transcript.Setup }, 5, "its kind is setup, want speech"},
		{"of another order", func(t *transcript.Turn) { t.Order = 2 }, 5, "its order is 2, want 1"},
		{"with another contract", func(t *transcript.Turn) { t.Contract = "vote" }, 5, "its contract is vote, want claim"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, last := points(true)
			is := turn("Ann", 5)
			tt.change(&is)
			requireProblem(t, tt.want, last.Turn(&is, 6, tt.prompt))
		})
	}
	_, last := points(true)
	is := turn("Ann", 5)
	is.Usage.Output = 5
	require.ErrorContains(t, last.Turn(&is, 6, 5), "its usage is", "the usage of a turn is that of its attempts")
}

func TestATurnOfAnUnknownProtocolHasAPlace(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(t *transcript.Turn)
		prompt int64
		want   string
	}{
		{"of a step that nobody knows", func(t *transcript.Turn) { t.Actor = "Eve" }, 5, ""},
		{"that saw what its prompt cannot have", func(*transcript.Turn) {}, 4, "its visible_seq is 5, want at most 4"},
		{"that saw what does not exist", func(t *transcript.Turn) { t.VisibleSeq = 6 }, 0, "its visible_seq is 6, want at most 5"},
		{"of another round", func(t *transcript.Turn) { t.Round = 1 }, 5, "its round is 1, want 2"},
		{"of another phase", func(t *transcript.Turn) { t.Phase = "end" }, 5, "its phase is end, want speech"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, last := points(false)
			is := turn("Ann", 5)
			tt.change(&is)
			requireProblem(t, tt.want, last.Turn(&is, 6, tt.prompt))
		})
	}
}

func TestARemarkHasNoStep(t *testing.T) {
	_, last := points(true)
	is := transcript.Turn{Key: transcript.Key{Run: 1, Phase: "remark", Actor: "guest", Target: "1"}, Kind: transcript.Remark, Order: -1, Seq: 6, VisibleSeq: 5}
	require.NoError(t, last.Turn(&is, 6, 0))
	is.VisibleSeq = 4
	require.EqualError(t, last.Turn(&is, 6, 0), "its visible_seq is 4, want 5")
	is.VisibleSeq, is.Round = 5, 2
	require.EqualError(t, last.Turn(&is, 6, 0), "its round is 2, want 0")
}

func TestOnlyAStepThatCanRunIsAskedAndDeclined(t *testing.T) {
	before, last := points(true)
	require.NoError(t, last.Asked(key("Bob"), transcript.Speech, "claim"))
	require.EqualError(t, last.Asked(key("Bob"), transcript.Setup, "claim"), "its kind is setup, want speech")
	require.EqualError(t, last.Asked(key("Bob"), transcript.Speech, ""), "its contract is , want claim")
	require.EqualError(t, before.Asked(key("Bob"), transcript.Speech, "claim"), "nobody can be asked for the step 1/2/speech/Bob/: it could not run")
	require.NoError(t, last.Declined(key("Bob")))
	require.EqualError(t, before.Declined(key("Bob")), "the step 1/2/speech/Bob/ cannot be declined: it could not run")
	before, _ = points(false)
	require.NoError(t, before.Asked(key("Bob"), transcript.Speech, "claim"), "nobody knows which steps can run")
	require.NoError(t, before.Declined(key("Bob")))
}

func TestFailuresAndEndingsAreOfTheCurrentRound(t *testing.T) {
	_, last := points(true)
	require.NoError(t, last.Failed(key("Eve")))
	require.NoError(t, last.Failed(transcript.Key{}), "of a hook")
	require.EqualError(t, last.Failed(transcript.Key{Run: 1}), "the failure is of run 1, round 0, but the debate is in run 1, round 2")
	require.EqualError(t, last.Failed(transcript.Key{Run: 2, Round: 2}), "the failure is of run 2, round 2, but the debate is in run 1, round 2")
	require.NoError(t, last.Ending(transcript.Ending{}))
	require.NoError(t, last.Ending(transcript.Ending{Outcome: transcript.Stopped, Round: 2}))
	require.EqualError(t, last.Ending(transcript.Ending{Outcome: transcript.Stopped, Round: 1}), "the ending is of round 1, but the debate is in round 2")

	var plans entrylist.Plans
	setup := plans.At(&protocol.Record{Seq: 3, Cursor: transcript.Cursor{Run: 1, Round: 2, Stage: transcript.Setup}}, nil, true)
	require.NoError(t, setup.Failed(transcript.Key{Run: 1}), "the setup has round 0, even after a retry in a later round")
}

func TestTheFirstDifferenceIsNamed(t *testing.T) {
	type entry map[string]any
	for _, tt := range []struct {
		want, is any
		text     string
	}{
		{entry{"type": "state", "to": "ready"}, entry{"type": "state", "to": "ready", "rules": 1}, ""},
		{entry{"type": "state", "to": "ready"}, entry{"type": "turn"}, `its type is "turn"`},
		{entry{"type": "state", "to": "ready", "x": 1}, entry{"type": "state", "to": "error", "x": 2}, `its to is "error", want "ready"`},
		{entry{"round": 1}, entry{}, "its round is missing, want 1"},
		{entry{}, entry{"round": 1}, "its round is 1, want missing"},
		{entry{"f": func() {}}, entry{}, "its error is missing, want json: unsupported type: func()"},
	} {
		require.Equal(t, tt.text, entrylist.Difference(tt.want, tt.is))
	}
	long := entrylist.Difference(entry{"text": ""}, entry{"text": string(make([]rune, 500))})
	require.Less(t, len(long), 200, "long values are cut")
	require.Contains(t, long, "…")
}

// requireProblem requires an error with a text, or none if the text is empty.
func requireProblem(t *testing.T, want string, err error) {
	t.Helper()
	if want == "" {
		require.NoError(t, err)
		return
	}
	require.EqualError(t, err, want)
}
