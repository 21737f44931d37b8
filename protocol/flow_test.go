package protocol_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// table returns a protocol with an opening by the sides, an answer by all from round 2 on, and a verdict.
func table() protocol.Flow {
	return protocol.Flow{
		Title: "table/1",
		Seats: protocol.Seats{Participants: protocol.Range{Least: 2, Most: 3}, Judges: protocol.Range{Least: 1, Most: 1}},
		Stages: []protocol.Stage{
			{
				Kind: transcript.Speech, Name: "open", Prompt: "opening", Who: protocol.Pair("pro", "con"), If: firstRound,
				Each: func(_ *protocol.Record, s *protocol.Step) {
					s.Vars = map[string]string{"side": []string{"pro", "con"}[s.Order]}
				},
			},
			{Kind: transcript.Speech, Name: "answer", Prompt: "answering", Parallel: true, If: laterRound},
			{Kind: transcript.Conclusion, Name: "verdict", Prompt: "verdict", Contract: judge.VerdictContract, Blind: true, Decides: true},
		},
	}
}

func firstRound(r *protocol.Record) bool { return r.Cursor.Round == 1 }
func laterRound(r *protocol.Record) bool { return r.Cursor.Round > 1 }

func TestATableHasThePhasesOfItsStages(t *testing.T) {
	j := in(transcript.Speech, 1)
	require.Empty(t, table().Phases(&j.Record), "there are three participants, and the sides are two")
	j.Participants = []transcript.Profile{{Name: "a", Role: "con"}, {Name: "b", Role: "pro"}}
	phases := table().Phases(&j.Record)
	require.Len(t, phases, 1)
	require.False(t, phases[0].Parallel)
	require.Equal(t, "pro", phases[0].Steps[0].Vars["side"])
	require.Equal(t, []string{"open/b/ 0 1"}, plan(protocol.Next(table(), &j.Record)))
	j.run(table())
	j.move(transcript.Speech, 2)
	require.Equal(t, []string{"answer/a/ 0 5", "answer/b/ 1 5"}, plan(protocol.Next(table(), &j.Record)), "all speak at once")
	j.run(table())
	j.move(transcript.Assessment, 2)
	require.Empty(t, table().Phases(&j.Record))
	j.move(transcript.Conclusion, 2)
	verdict := table().Phases(&j.Record)[0].Steps[0]
	require.Equal(t, []string{"judge", "verdict", judge.VerdictContract.Name()}, []string{verdict.Actor, verdict.Prompt, verdict.Contract})
	require.True(t, verdict.Blind)
	require.Equal(t, []string{"verdict"}, table().Deciding())
	require.Zero(t, table().End(&j.Record), "only the limits end it")
	require.Zero(t, table().Answer(&j.Record))
	j.run(table())
	last := protocol.Answer{Text: "text of judge", Type: judge.VerdictContract.Name()}
	require.Equal(t, last, table().Answer(&j.Record), "the last turn of the conclusion")
	require.Zero(t, table().Outcome(&j.Record, table().Answer(&j.Record)), "it follows from the answer")
	j.Judges = nil
	require.Empty(t, table().Phases(&j.Record), "nobody concludes without a judge")
}

// Phases that depend on turns are known before there are any.
func TestATableListsTheStepsThatDependOnACondition(t *testing.T) {
	j := in(transcript.Speech, 1)
	var prompts []string
	for _, s := range table().Steps(&j.Record) {
		prompts = append(prompts, s.Phase+" "+s.Prompt+" of "+s.Actor)
	}
	require.Equal(t, []string{"answer answering of a", "answer answering of b", "answer answering of c"}, prompts)
}

func TestATableChecksItsSeats(t *testing.T) {
	own := protocol.Seats{
		Participants: protocol.Range{Least: 2, Most: 2, Takes: "a duel takes 2"},
		Judges:       protocol.Range{Least: 2, Most: 5},
		Rules: func(r *protocol.Record) []protocol.Problem {
			return []protocol.Problem{protocol.Problemf("participants", "%d are never enough", len(r.Participants))}
		},
	}
	open := protocol.Seats{Participants: protocol.Range{Least: 1}, Judges: protocol.Range{Least: 1}}
	for _, tt := range []struct {
		name         string
		seats        protocol.Seats
		people, jury int
		want         []string
	}{
		{"right", table().Seats, 2, 1, nil},
		{"too few", table().Seats, 1, 1, []string{"participants: 1 enabled, the protocol takes 2 to 3"}},
		{"too many", table().Seats, 4, 1, []string{"participants: 4 enabled, the protocol takes 2 to 3"}},
		{"no judge", table().Seats, 3, 0, []string{"judges: none, the protocol takes 1"}},
		{"another judge", table().Seats, 3, 2, []string{
			`judges[1]: "j1" has no task, the protocol takes one judge; move a replacement for "j0" to substitutes`,
		}},
		{"own text", own, 3, 1, []string{"participants: 3 enabled, a duel takes 2", "judges: 1, the protocol takes 2 to 5"}},
		{
			"own rules, if the number is right", own, 2, 6,
			[]string{"participants: 2 are never enough", "judges: 6, the protocol takes 2 to 5"},
		},
		{"no limit", open, 99, 99, nil},
		{"nobody", open, 0, 0, []string{
			"participants: 0 enabled, the protocol takes 1 or more",
			"judges: none, the protocol takes 1 or more",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &protocol.Record{}
			for i := range tt.people {
				r.Participants = append(r.Participants, transcript.Profile{Name: string(rune('a' + i))})
			}
			for i := range tt.jury {
				r.Judges = append(r.Judges, "j"+string(rune('0'+i)))
			}
			var got []string
			for _, p := range (protocol.Flow{Seats: tt.seats}).Check(r) {
				got = append(got, p.String())
			}
			require.Equal(t, tt.want, got)
		})
	}
}

// A table is stored by its name. Its functions decide, answer and say what was found.
func TestATableIsStoredByItsName(t *testing.T) {
	f := table()
	f.Settings = protocol.Defaults{MaxRounds: 4}
	f.Ends = func(*protocol.Record) transcript.Ending { return transcript.Ending{Outcome: transcript.EarlyStop} }
	f.Answers = func(*protocol.Record) protocol.Answer { return protocol.Answer{Text: "42"} }
	f.Finds = func(_ *protocol.Record, a protocol.Answer) protocol.Outcome { return protocol.Outcome{Answer: a.Text} }
	b, err := json.Marshal(f)
	require.NoError(t, err)
	require.Equal(t, "{}", string(b))
	r := &protocol.Record{}
	require.Equal(t, "table/1", f.Name())
	require.Equal(t, 4, f.Defaults().MaxRounds)
	require.Equal(t, transcript.EarlyStop, f.End(r).Outcome)
	require.Equal(t, "42", f.Outcome(r, f.Answer(r)).Answer)
}
