package forktest_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/derivedtest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/report/archive"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// speeches returns the speeches in free text of a debate.
func speeches(t testing.TB, d *debate.Debate) (list []transcript.Turn) {
	t.Helper()
	for _, turn := range debatetest.Result(t, d).Turns {
		if turn.Kind == transcript.Speech && turn.Contract == "" {
			list = append(list, turn)
		}
	}
	return list
}

// marked makes each speech of a recorder's debate tell its step.
func marked(m *recorder) {
	m.alter = func(k transcript.Key, _ int, reply *scripted.Reply) {
		if !strings.HasPrefix(reply.Text, "{") {
			reply.Text += " Mark " + mark(k)
		}
	}
}

func mark(k transcript.Key) string {
	return fmt.Sprintf("%s-%d-%s-%s.", k.Phase, k.Round, k.Actor, k.Target)
}

// requireSilent requires that a turn is empty, and that nobody was asked for it or has seen another version of it.
func requireSilent(t *testing.T, d *debate.Debate, m *recorder, k transcript.Key) {
	t.Helper()
	r := debatetest.Result(t, d)
	at := slices.IndexFunc(r.Turns, func(x transcript.Turn) bool { return x.Key == k })
	require.GreaterOrEqual(t, at, 0, "%s is done", k)
	turn := r.Turns[at]
	require.Equal(t, transcript.Silence, turn.Kind)
	require.Empty(t, turn.Text+turn.Contract+turn.By)
	require.Empty(t, turn.Data)
	require.Empty(t, turn.Attempts)
	require.Zero(t, turn.Usage)
	require.NotContains(t, m.calls, k)
	for key, list := range m.calls {
		for _, request := range list {
			for _, message := range request.Messages {
				require.NotContains(t, message.Text, mark(k), "%s", key)
			}
		}
	}
	_, err := d.PromptOf(t.Context(), k)
	require.ErrorContains(t, err, "nobody was asked for it")
}

// A debate of each preset goes on without each of its speeches: the step is done, empty, and shown to nobody.
func TestADebateGoesOnWithoutATurn(t *testing.T) {
	tried := 0
	for name, cfg := range enginetest.PresetConfigs() {
		t.Run(name, func(t *testing.T) {
			e, m := newEngine(t, cfg)
			marked(m)
			parent := create(t, e, cfg)
			run(t, parent)
			sample := enginetest.NewSample(t, 12)
			for n, said := range speeches(t, parent) {
				if !sample.Tries(said.Phase) {
					continue
				}
				tried++
				m.take()
				d := fork(t, e, 0, debate.Edits{ID: fmt.Sprint("silent-", n), Silent: debate.Omission{Turns: []transcript.Key{said.Key}}})
				require.Less(t, debatetest.Status(t, d).Parent.Seq, said.Seq)
				run(t, d)
				require.Equal(t, fsm.Completed, debatetest.Status(t, d).State)
				requireSilent(t, d, m, said.Key)
				derivedtest.RequireAll(t, d)
				again := m.take()
				for k := range again {
					old, was := find(t, parent, k)
					require.True(t, !was || old.Seq > said.Seq, "%s was said before", k)
				}
				// A fork of the fork is silent, too, wherever it begins.
				for seq := int64(1 + n%13); seq <= debatetest.Status(t, d).Seq; seq += 13 {
					second := debatetest.Fork(t, e, d.ID(), seq, debate.Edits{ID: fmt.Sprint(d.ID(), "-", seq)})
					derivedtest.Require(t, second)
					run(t, second)
					if seq >= debatetest.Status(t, d).Parent.Seq { // else the speakers before it speak anew
						require.Equal(t, outcome(t, d), outcome(t, second))
					}
					requireSilent(t, second, m, said.Key)
					m.take()
				}
			}
		})
	}
	require.Greater(t, tried, 20)
}

// find returns the turn of a debate with a key.
func find(t testing.TB, d *debate.Debate, k transcript.Key) (turn transcript.Turn, ok bool) {
	t.Helper()
	list := debatetest.Result(t, d).Turns
	at := slices.IndexFunc(list, func(x transcript.Turn) bool { return x.Key == k })
	if at < 0 {
		return turn, false
	}
	return list[at], true
}

// three returns a debate of three participants whose speeches follow one another, or are made at once.
func three(mode panel.Mode) debate.Config {
	c := enginetest.PresetConfigs()["panel"]
	c.Protocol = panel.Protocol{Mode: mode}
	c.Limits.MaxRounds = 3
	return c
}

// firstOf returns the seq of the first speech of a participant.
func firstOf(t testing.TB, d *debate.Debate, name string) int64 {
	t.Helper()
	first := int64(1 << 62)
	for _, turn := range speeches(t, d) {
		if turn.Actor == name {
			first = min(first, turn.Seq)
		}
	}
	return first
}

// A seat is silent in each round, also after a restart and in parallel phases. With the journal of the fork alone, everything
// is derived.
func TestASeatIsSilent(t *testing.T) {
	for name, mode := range map[string]panel.Mode{"sequential": "", "parallel": panel.Simultaneous} {
		for _, seat := range []string{"A", "B", "C"} {
			t.Run(name+" "+seat, func(t *testing.T) {
				cfg, st := three(mode), store.Memory()
				e, m := newEngine(t, cfg, func(o *debate.Options) { o.Store = st })
				marked(m)
				parent := create(t, e, cfg)
				run(t, parent)
				m.take()
				first := firstOf(t, parent, seat)
				d := fork(t, e, first-1, debate.Edits{ID: "silent", Silent: debate.Omission{Seats: []string{seat}}})
				run(t, d)
				count := 0
				for _, turn := range debatetest.Result(t, d).Turns {
					if turn.Actor == seat {
						count++
						requireSilent(t, d, m, turn.Key)
					}
				}
				require.Equal(t, 3, count)
				require.Len(t, speeches(t, d), 6)
				asked := m.take()

				fork(t, e, first-1, debate.Edits{ID: "interrupted", Silent: debate.Omission{Seats: []string{seat}}})
				for range 100 { // a process for each event
					e, m := newEngine(t, cfg, func(o *debate.Options) { o.Store = st })
					marked(m)
					other := debatetest.Open(t, e, "interrupted")
					if debatetest.Status(t, other).State == fsm.Completed {
						break
					}
					for ev, err := range other.Run(t.Context()) {
						require.NoError(t, err)
						if _, done := ev.(debate.TurnDone); done {
							break
						}
					}
					for k := range m.take() {
						require.Contains(t, asked, k)
					}
				}
				other := debatetest.Open(t, e, "interrupted")
				require.Equal(t, outcome(t, d), outcome(t, other))
				derivedtest.RequireAll(t, other)

				f, err := archive.Record(t.Context(), e, "silent")
				require.NoError(t, err)
				r, err := archive.Verify(t.Context(), f, debate.Options{})
				require.NoError(t, err)
				require.Zero(t, r.Count(debate.EntryWrong)+r.Count(debate.EntryNotDerivable))
			})
		}
	}
}

// A silent turn in a journal that another fork does not have is found.
func TestSilenceThatNobodyAskedForIsWrong(t *testing.T) {
	cfg, origin := three(""), store.Memory()
	e, _ := newEngine(t, cfg, func(o *debate.Options) { o.Store = origin })
	parent := create(t, e, cfg)
	run(t, parent)
	said := speeches(t, parent)[4]
	d := fork(t, e, 0, debate.Edits{ID: "silent", Silent: debate.Omission{Turns: []transcript.Key{said.Key}}})
	run(t, d)
	for name, change := range map[string]func(text string) string{
		"another turn": func(text string) string {
			return strings.Replace(text, `"turns":[{"run":1,"round":2,`, `"turns":[{"run":1,"round":3,`, 1)
		},
		"later": func(text string) string {
			return strings.Replace(text, `"silent":[{"from":17,`, `"silent":[{"from":20,`, 1)
		},
		"a speech": func(text string) string { return strings.Replace(text, `"kind":"silence"`, `"kind":"speech"`, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			j, err := archive.Export(t.Context(), origin, "silent")
			require.NoError(t, err)
			text := debatetest.Encode(t, j)
			changed := change(text)
			require.NotEqual(t, text, changed)
			var forged archive.Journal
			require.NoError(t, json.Unmarshal([]byte(changed), &forged))
			require.ErrorContains(t, archive.Import(t.Context(), store.Memory(), &forged), "verify debate silent: read entry 18 of debate silent: its kind is ")
		})
	}
}

// Judges can be asked again about a debate that has gone on without a turn. The reverse is refused.
func TestASilentDebateIsJudgedAgain(t *testing.T) {
	cfg := three("")
	e, m := newEngine(t, cfg)
	marked(m)
	parent := create(t, e, cfg)
	run(t, parent)
	said := speeches(t, parent)[3]
	silent := debate.Omission{Turns: []transcript.Key{said.Key}}
	d := fork(t, e, 0, debate.Edits{ID: "silent", Silent: silent})
	run(t, d)
	m.take()
	again := rejudge(t, e, "silent", debate.Rejudge{ID: "again"})
	run(t, again)
	requireSilent(t, again, m, said.Key)
	require.Equal(t, outcome(t, d), outcome(t, again))
	_, err := e.Fork(t.Context(), "again", 0, debate.Edits{Silent: silent})
	require.ErrorContains(t, err, "its course stays")
}

// A person who is silent is not asked, and the debate does not wait.
func TestASilentPersonIsNotAsked(t *testing.T) {
	for name, mode := range map[string]panel.Mode{"sequential": "", "parallel": panel.Simultaneous} {
		t.Run(name, func(t *testing.T) {
			cfg := three(mode)
			cfg.Participants[1] = debate.Participant{Name: "B", Human: true}
			e, m := newEngine(t, cfg)
			parent := create(t, e, cfg)
			run(t, parent)
			require.Equal(t, []string{"B"}, debatetest.Status(t, parent).Waiting)
			d := fork(t, e, 0, debate.Edits{ID: "silent", Silent: debate.Omission{Seats: []string{"B"}}})
			require.Empty(t, debatetest.Status(t, d).Waiting)
			run(t, d)
			require.Equal(t, fsm.Completed, debatetest.Status(t, d).State)
			for _, turn := range debatetest.Result(t, d).Turns {
				if turn.Actor == "B" {
					requireSilent(t, d, m, turn.Key)
				}
			}
		})
	}
}

// A person who has declined a step that is then silent does not drop out.
func TestADeclinedStepIsSilent(t *testing.T) {
	cfg := three("")
	cfg.Participants[1] = debate.Participant{Name: "B", Human: true}
	e, m := newEngine(t, cfg)
	parent := create(t, e, cfg)
	run(t, parent)
	waiting := debatetest.Waiting(t, parent)
	require.NoError(t, parent.Decline(t.Context(), waiting[0].Key, "I am out.", ""))
	var declined int64
	for moment, err := range parent.Replay(t.Context()) {
		require.NoError(t, err)
		if ev, ok := moment.Event.(debate.Decided); ok {
			declined = ev.Seq
		}
	}
	d := fork(t, e, declined, debate.Edits{ID: "silent", Silent: debate.Omission{Seats: []string{"B"}}})
	run(t, d)
	require.Equal(t, fsm.Completed, debatetest.Status(t, d).State)
	require.NotContains(t, fmt.Sprint(debatetest.Result(t, d).Warnings), "dropped")
	requireSilent(t, d, m, waiting[0].Key)
}

// Budgets reserve nothing for silent steps.
func TestBudgetsReserveNothingForSilentSteps(t *testing.T) {
	cfg := three(panel.Simultaneous)
	cfg.Participants[0].MaxTokens, cfg.Limits.OutputTokens = 20_000, 24_000
	for i := range 2 {
		cfg.Participants[i+1].MaxTokens, cfg.Judges[i].MaxTokens = 1000, 300
	}
	e, m := newEngine(t, cfg)
	m.alter = func(_ transcript.Key, _ int, reply *scripted.Reply) {
		reply.Usage = transcript.Usage{Input: 10, Output: 250}
	}
	parent := create(t, e, cfg)
	run(t, parent)
	ending := debatetest.Result(t, parent).Ending
	require.Equal(t, transcript.TokenBudget, ending.Outcome, ending.Evidence)
	for name, c := range map[string]struct {
		silent debate.Omission
		round  int
	}{"seat": {debate.Omission{Seats: []string{"A"}}, 3}, "turn": {debate.Omission{Turns: []transcript.Key{{Run: 1, Round: 1, Phase: "respond", Actor: "A"}}}, ending.Round}} {
		t.Run(name, func(t *testing.T) {
			d := fork(t, e, firstOf(t, parent, "A")-1, debate.Edits{ID: name, Silent: c.silent})
			run(t, d)
			is := debatetest.Result(t, d).Ending
			require.Equal(t, c.round, is.Round, is.Evidence)
			if name == "seat" {
				require.Equal(t, transcript.RoundLimit, is.Outcome, is.Evidence)
			}
		})
	}
}

// An edited configuration says who can be silent.
func TestSilentParticipantsOfAnEditedConfiguration(t *testing.T) {
	cfg := three("")
	e, _ := newEngine(t, cfg)
	parent := create(t, e, cfg)
	run(t, parent)
	other := cfg
	other.Participants = []debate.Participant{{Name: "D", Position: "d"}, {Name: "E", Position: "e"}, {Name: "F", Position: "f"}}
	d := fork(t, e, 1, debate.Edits{ID: "other", Config: &other, Silent: debate.Omission{Seats: []string{"D"}}})
	run(t, d)
	require.Len(t, speeches(t, d), 6)
	_, err := e.Fork(t.Context(), "d", 1, debate.Edits{Config: &other, Silent: debate.Omission{Seats: []string{"A"}}})
	require.ErrorContains(t, err, `"A" is not a participant`)
	two := cfg
	two.Participants = cfg.Participants[:2]
	_, err = e.Fork(t.Context(), "d", 1, debate.Edits{Config: &two, Silent: debate.Omission{Seats: []string{"A"}}})
	require.ErrorContains(t, err, "at least two participants must remain, but there are 1")
}

// What cannot be silent is refused, field by field.
func TestWhatCannotBeSilent(t *testing.T) {
	cfg := three("")
	e, _ := newEngine(t, cfg)
	parent := create(t, e, cfg)
	run(t, parent)
	var assessed transcript.Key
	for _, turn := range debatetest.Result(t, parent).Turns {
		if turn.Kind == transcript.Assessment {
			assessed = turn.Key
		}
	}
	votes := enginetest.PresetConfigs()["vote"]
	votes.ID = "votes"
	other, _ := newEngine(t, votes)
	ballots := create(t, other, votes)
	run(t, ballots)
	var ballot transcript.Key
	for _, turn := range debatetest.Result(t, ballots).Turns {
		if turn.Contract != "" && turn.Kind == transcript.Speech {
			ballot = turn.Key
		}
	}
	for says, x := range map[string]struct {
		engine *debate.Engine
		id     string
		edits  debate.Edits
	}{
		"silent.turns[0]: the debate has no turn":                    {e, "d", debate.Edits{Silent: debate.Omission{Turns: []transcript.Key{{Run: 1, Round: 9}}}}},
		"silent.turns[0]: " + assessed.String() + " is no speech":    {e, "d", debate.Edits{Silent: debate.Omission{Turns: []transcript.Key{assessed}}}},
		"silent.seats[0]: \"X\" is not a participant":                {e, "d", debate.Edits{Silent: debate.Omission{Seats: []string{"X"}}}},
		"silent.seats: at least two participants must remain":        {e, "d", debate.Edits{Silent: debate.Omission{Seats: []string{"A", "B"}}}},
		"silent.documents: documents cannot be silent":               {e, "d", debate.Edits{Silent: debate.Omission{Documents: []string{"a.md"}}}},
		"silent.turns[0]: " + ballot.String() + " has the contract ": {other, "votes", debate.Edits{Silent: debate.Omission{Turns: []transcript.Key{ballot}}}},
		"silent.seats[0]: \"A\" replies with the contract":           {other, "votes", debate.Edits{Silent: debate.Omission{Seats: []string{"A"}}}},
		"is silent in this fork, so it cannot have a reply": {e, "d", debate.Edits{
			Turn: speeches(t, parent)[2].Key, Reply: "But no.", Silent: debate.Omission{Turns: []transcript.Key{speeches(t, parent)[2].Key}},
		}},
	} {
		_, err := x.engine.Fork(t.Context(), x.id, 10, x.edits)
		require.ErrorContains(t, err, says)
		var problems *debate.Problems
		require.ErrorAs(t, err, &problems)
	}
}
