package protocol_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// duel is a protocol in which two participants speak in parallel, and then each answers in turn.
type duel struct{}

func (duel) Name() string { return "duel/1" }

func (duel) Check(r *protocol.Record) (problems []protocol.Problem) {
	if len(r.Participants) != 2 {
		problems = append(problems, protocol.Problemf("participants", "%d enabled, a duel takes 2", len(r.Participants)))
	}
	return problems
}

func (duel) Phases(r *protocol.Record) []protocol.Phase {
	if r.Cursor.Stage != transcript.Speech {
		return nil
	}
	claim, answer := protocol.Phase{Name: "claim", Parallel: true}, protocol.Phase{Name: "answer"}
	for _, s := range r.Participants {
		claim.Steps = append(claim.Steps, protocol.Step{Key: transcript.Key{Actor: s.Name}, Prompt: "claim"})
		answer.Steps = append(answer.Steps, protocol.Step{Key: transcript.Key{Actor: s.Name}, Prompt: "answer"})
	}
	return []protocol.Phase{claim, answer}
}

func (duel) End(*protocol.Record) transcript.Ending { return transcript.Ending{} }

func ExampleNext() {
	r := &protocol.Record{Participants: []transcript.Profile{{Name: "Ann"}, {Name: "Bob"}}}
	r.Cursor = transcript.Cursor{Run: 1, Round: 1, Stage: transcript.Speech}
	fmt.Println("problems:", duel{}.Check(r))

	for steps := protocol.Next(duel{}, r); len(steps) > 0; steps = protocol.Next(duel{}, r) {
		if steps[0].Phase != r.Cursor.Phase {
			r.StartPhase(steps[0].Phase, r.Seq+1)
			continue
		}
		fmt.Print("may run now:")
		for _, s := range steps {
			fmt.Print(" ", s.Key)
		}
		fmt.Println()
		s := steps[len(steps)-1] // any order is possible: here the last step finishes first
		if !r.Apply(transcript.Turn{Key: s.Key, Kind: s.Kind, Order: s.Order, Seq: r.Seq + 1}) {
			panic("it stands already")
		}
	}
	for _, t := range r.Turns {
		fmt.Println("transcript: ", t.Key)
	}
	// Output:
	// problems: []
	// may run now: 1/1/claim/Ann/ 1/1/claim/Bob/
	// may run now: 1/1/claim/Ann/
	// may run now: 1/1/answer/Ann/
	// may run now: 1/1/answer/Bob/
	// transcript:  1/1/claim/Ann/
	// transcript:  1/1/claim/Bob/
	// transcript:  1/1/answer/Ann/
	// transcript:  1/1/answer/Bob/
}

func TestNextOfASequence(t *testing.T) {
	p := phases(sequential("respond", "a", "b", "c"))
	j := in(transcript.Speech, 1) // entry 1
	require.Equal(t, []string{"respond/a/ 0 1"}, plan(protocol.Next(p, &j.Record)))
	j.begin("respond") // entry 2
	require.Equal(t, []string{"respond/a/ 0 2"}, plan(protocol.Next(p, &j.Record)))
	j.say(protocol.Next(p, &j.Record)[0]) // entry 3
	require.Equal(t, []string{"respond/b/ 1 3"}, plan(protocol.Next(p, &j.Record)), "it sees the one before")
	j.remark("hm") // entry 4
	require.Equal(t, []string{"respond/b/ 1 4"}, plan(protocol.Next(p, &j.Record)), "and remarks")
	j.run(p)
	require.Empty(t, protocol.Next(p, &j.Record))
}

func TestNextOfAParallelPhase(t *testing.T) {
	p := phases(parallel("respond", "a", "b", "c"))
	j := in(transcript.Speech, 1)
	j.begin("respond") // entry 2
	steps := protocol.Next(p, &j.Record)
	require.Equal(t, []string{"respond/a/ 0 2", "respond/b/ 1 2", "respond/c/ 2 2"}, plan(steps))
	j.say(steps[1])
	j.remark("hm")
	require.Equal(t, []string{"respond/a/ 0 2", "respond/c/ 2 2"}, plan(protocol.Next(p, &j.Record)), "later turns are not visible")
	j.say(steps[2])
	j.say(steps[0])
	require.Empty(t, protocol.Next(p, &j.Record))
}

func TestNextGoesThroughThePhasesInOrder(t *testing.T) {
	p := phases(parallel("propose", "a", "b"), protocol.Phase{Name: "nobody"}, sequential("refine", "a", "b"))
	j := in(transcript.Speech, 1)
	var seen []string
	for steps := protocol.Next(p, &j.Record); len(steps) > 0; steps = protocol.Next(p, &j.Record) {
		if steps[0].Phase != j.Cursor.Phase {
			j.begin(steps[0].Phase)
			continue
		}
		seen = append(seen, plan(steps)...)
		require.True(t, j.say(steps[0]))
	}
	require.Equal(t, []string{
		"propose/a/ 0 2", "propose/b/ 1 2", // both may run
		"propose/b/ 1 2",
		"refine/a/ 0 5",
		"refine/b/ 1 6",
	}, seen)
}

func TestNextIsEmptyWhereNothingIsToBeDone(t *testing.T) {
	for _, tt := range []struct {
		name string
		p    protocol.Protocol
	}{
		{"no phases", phases()},
		{"a phase without steps", phases(protocol.Phase{Name: "nobody"}, protocol.Phase{Name: "nobody else", Parallel: true})},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Nil(t, protocol.Next(tt.p, &in(transcript.Speech, 1).Record))
		})
	}
}

func TestStepsOfDifferentTargetsAreDifferent(t *testing.T) {
	critique := protocol.Phase{Name: "critique", Parallel: true}
	for _, k := range []transcript.Key{{Actor: "a", Target: "b"}, {Actor: "a", Target: "c"}, {Actor: "b", Target: "a"}} {
		critique.Steps = append(critique.Steps, protocol.Step{Key: k})
	}
	j := in(transcript.Speech, 1)
	j.begin("critique")
	steps := protocol.Next(phases(critique), &j.Record)
	require.Equal(t, []string{"critique/a/b 0 2", "critique/a/c 1 2", "critique/b/a 2 2"}, plan(steps))
	j.say(steps[1])
	require.Equal(t, []string{"critique/a/b 0 2", "critique/b/a 2 2"}, plan(protocol.Next(phases(critique), &j.Record)))
}

func TestNextNamesTheStep(t *testing.T) {
	only := func(turn *transcript.Turn) bool { return turn.Actor == "b" }
	own := protocol.Step{
		Key:    transcript.Key{Run: 9, Round: 9, Phase: "mine", Actor: "a", Target: "b"}, // Next overwrites the first three
		Kind:   transcript.Remark,
		Order:  9,
		Prompt: "attack", Contract: "critique/1", Vars: map[string]string{"level": "2"}, Show: only, VisibleSeq: 9,
	}
	for _, tt := range []struct {
		name  string
		stage transcript.Kind
		round int
		want  transcript.Key
	}{
		{"in the setup stage", transcript.Setup, 0, transcript.Key{Run: 3, Phase: "p", Actor: "a", Target: "b"}},
		{"in the setup stage, repeated in a later round", transcript.Setup, 2, transcript.Key{Run: 3, Phase: "p", Actor: "a", Target: "b"}},
		{"in a round", transcript.Speech, 2, transcript.Key{Run: 3, Round: 2, Phase: "p", Actor: "a", Target: "b"}},
		{"after a round", transcript.Assessment, 2, transcript.Key{Run: 3, Round: 2, Phase: "p", Actor: "a", Target: "b"}},
		{"at the end", transcript.Conclusion, 2, transcript.Key{Run: 3, Round: 2, Phase: "p", Actor: "a", Target: "b"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j := in(tt.stage, tt.round)
			j.Cursor.Run = 3
			steps := protocol.Next(phases(protocol.Phase{Name: "p", Steps: []protocol.Step{own}}), &j.Record)
			require.Len(t, steps, 1)
			s := steps[0]
			require.Equal(t, tt.want, s.Key)
			require.Equal(t, tt.stage, s.Kind)
			require.Equal(t, 0, s.Order)
			require.Equal(t, j.Seq, s.VisibleSeq)
			require.Equal(t, own.Prompt, s.Prompt)
			require.Equal(t, own.Contract, s.Contract)
			require.Equal(t, own.Vars, s.Vars)
			require.True(t, s.Show(&transcript.Turn{Key: transcript.Key{Actor: "b"}}))
			require.False(t, s.Show(&transcript.Turn{Key: transcript.Key{Actor: "c"}}))
		})
	}
	require.Equal(t, "mine", own.Phase, "the protocol's own step stays as it is")
}

func TestThePreludeIsNotDoneAgain(t *testing.T) {
	p := phases(sequential("personas", protocol.PersonaAssigner))
	j := in(transcript.Setup, 0)
	j.run(p)
	require.Equal(t, []string{"personas"}, order(j.Turns))

	j.move(transcript.Setup, 2) // a debate that failed in round 2 passes through
	require.Empty(t, protocol.Next(p, &j.Record))
	turn, ok := j.FindCurrent("personas", protocol.PersonaAssigner, "")
	require.True(t, ok)
	require.Equal(t, 0, turn.Round)
}

func TestEachRoundAndRunIsDone(t *testing.T) {
	p := phases(sequential("respond", "a", "b"))
	j := in(transcript.Speech, 1)
	j.run(p)
	j.move(transcript.Speech, 2)
	require.Equal(t, []string{"respond/a/ 0 5"}, plan(protocol.Next(p, &j.Record)), "another round")
	j.move(transcript.Speech, 1)
	require.Empty(t, protocol.Next(p, &j.Record), "the same round once more")
	j.Cursor.Run = 2
	require.Equal(t, []string{"respond/a/ 0 6"}, plan(protocol.Next(p, &j.Record)), "another run")
}

// A moderator picks each speaker: the steps of a phase depend on the turn of the previous phase.
func TestPhasesMayDependOnEarlierOnes(t *testing.T) {
	moderated := script(func(r *protocol.Record) (list []protocol.Phase) {
		for i := range 2 {
			pick := fmt.Sprint("pick-", i)
			list = append(list, sequential(pick, "judge"))
			turn, ok := r.FindCurrent(pick, "judge", "")
			if !ok {
				break
			}
			list = append(list, sequential(fmt.Sprint("speak-", i), r.Participants[int(turn.Seq)%len(r.Participants)].Name))
		}
		return list
	})
	j := in(transcript.Speech, 1)
	j.run(moderated)
	require.Equal(t, []string{"judge", "a", "judge", "b"}, order(j.Turns))
	require.Equal(t, "speak-1", j.Cursor.Phase)
}

func TestWhoDropsOutIsNotAsked(t *testing.T) {
	seated := func(together bool) script {
		return func(r *protocol.Record) []protocol.Phase {
			var names []string
			for _, s := range r.Participants {
				names = append(names, s.Name)
			}
			p := sequential("respond", names...)
			p.Parallel = together
			return []protocol.Phase{p}
		}
	}
	for _, tt := range []struct {
		name     string
		together bool
		said     []int // indexes of steps
		drop     string
		want     []string
	}{
		{"if the next speaker drops out, the one after it speaks", false, nil, "a", []string{"respond/b/ 0 2"}},
		{"after a turn of the participant, the others continue", false, []int{0}, "a", []string{"respond/b/ 0 3"}},
		{"the last one, and the phase is done", false, []int{0, 1}, "c", []string{}},
		{"in a parallel phase, the others continue", true, []int{2}, "a", []string{"respond/b/ 0 2"}},
		{"in a parallel phase, the last one missing", true, []int{0, 2}, "b", []string{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, j := seated(tt.together), in(transcript.Speech, 1)
			j.begin("respond")
			first := protocol.Next(seated(true), &j.Record)
			for _, i := range tt.said {
				require.True(t, j.say(first[i]))
			}
			j.Drop(tt.drop)
			require.Equal(t, tt.want, plan(protocol.Next(p, &j.Record)))
		})
	}
}

func TestProblemsReadAsAFieldAndAReason(t *testing.T) {
	p := protocol.Problemf("participants[1].name", "%q is taken by %s", "Ann", "participants[0]")
	require.Equal(t, protocol.Problem{Field: "participants[1].name", Reason: `"Ann" is taken by participants[0]`}, p)
	require.Equal(t, `participants[1].name: "Ann" is taken by participants[0]`, p.String())
}

func TestUnknownNames(t *testing.T) {
	r := &protocol.Record{Participants: []transcript.Profile{{Name: "Ada"}, {Name: "Bo"}}}
	require.Equal(t, []string{"Ada", "Bo"}, r.ParticipantNames())
	require.Empty(t, r.UnknownNames("protocol.graph", "Bo", "Ada"))
	require.Equal(t, []protocol.Problem{
		{Field: "protocol.graph", Reason: `"Cy" is not a participant, the participants are ["Ada" "Bo"]`},
		{Field: "protocol.graph", Reason: `"ada" is not a participant, the participants are ["Ada" "Bo"]`},
	}, r.UnknownNames("protocol.graph", "Cy", "Bo", "ada"))
}
