package protocol_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// permutations returns all orders of the numbers below n.
func permutations(n int) (all [][]int) {
	if n == 0 {
		return [][]int{{}}
	}
	for _, p := range permutations(n - 1) {
		for i := range n {
			all = append(all, slices.Insert(slices.Clone(p), i, n-1))
		}
	}
	return all
}

// Turns are sorted by phase and Order, whatever the order of their arrival.
func TestTurnsStandInTheOrderOfTheirSteps(t *testing.T) {
	actors := []string{"a", "b", "c", "d"}
	for _, arrival := range permutations(len(actors)) {
		t.Run(fmt.Sprint(arrival), func(t *testing.T) {
			j := in(transcript.Speech, 1)
			j.run(phases(sequential("open", "b", "a")))
			p := phases(parallel("respond", actors...))
			j.begin("respond")
			open := protocol.Next(p, &j.Record)
			for _, i := range arrival {
				require.True(t, j.say(open[i]))
			}
			j.run(phases(sequential("close", "d", "c")))
			require.Equal(t, []string{"b", "a", "a", "b", "c", "d", "d", "c"}, order(j.Turns))
			for _, want := range j.Turns {
				got, ok := j.Find(want.Key)
				require.True(t, ok)
				require.Equal(t, want, got)
			}
		})
	}
}

func TestATurnIsAppliedOnce(t *testing.T) {
	j := in(transcript.Speech, 1)
	j.begin("respond")
	open := protocol.Next(phases(parallel("respond", "a", "b")), &j.Record)
	require.True(t, j.say(open[1]))
	require.True(t, j.say(open[0]))
	turns, seq := slices.Clone(j.Turns), j.Seq

	again := open[1]
	again.Order, again.Kind = 7, transcript.Remark // only the key counts
	require.False(t, j.say(again))
	require.Equal(t, turns, j.Turns)
	require.Equal(t, seq, j.Seq)
}

func TestAPhaseThatGoesOnKeepsItsHorizon(t *testing.T) {
	p := phases(parallel("respond", "a", "b"))
	j := in(transcript.Speech, 1)
	j.begin("respond") // entry 2
	require.Equal(t, transcript.Cursor{Run: 1, Round: 1, Stage: transcript.Speech, Phase: "respond", PhaseSeq: 2}, j.Cursor)
	require.EqualValues(t, 2, j.Seq)
	j.say(protocol.Next(p, &j.Record)[1])

	j.move("", 1)                // failure
	j.move(transcript.Speech, 1) // retry
	require.EqualValues(t, 5, j.Cursor.PhaseSeq)
	j.begin("respond") // entry 6
	require.EqualValues(t, 6, j.Seq)
	require.Equal(t, []string{"respond/a/ 0 2"}, plan(protocol.Next(p, &j.Record)), "what it may see is what it saw")

	j.move(transcript.Speech, 2)
	j.begin("respond") // entry 8
	require.Equal(t, []string{"respond/a/ 0 8", "respond/b/ 1 8"}, plan(protocol.Next(p, &j.Record)), "a new round starts again")
	j.Cursor.Run = 2
	j.begin("respond") // entry 9
	require.Equal(t, []string{"respond/a/ 0 9", "respond/b/ 1 9"}, plan(protocol.Next(p, &j.Record)), "another run, too")
}

func TestThePreludeKeepsItsHorizonInALaterRound(t *testing.T) {
	j := in(transcript.Setup, 0)
	j.begin("personas") // entry 2
	j.move(transcript.Setup, 3)
	j.begin("personas")
	require.EqualValues(t, 2, j.Cursor.PhaseSeq)
}

// Letters are steps of a parallel phase of a, b and c, numbers are remarks, and a bar is an interruption: the debate fails
// and is retried.
func TestRemarksStandBehindTheStepThatTheyCameAfter(t *testing.T) {
	for _, tt := range []struct{ name, arrival, want string }{
		{"without remarks", "cab", "abc"},
		{"before all steps", "1abc", "1abc"},
		{"several keep their order", "1a23b4c5", "1a23b4c5"},
		{"after a late step: early ones go before it", "c1ab", "abc1"},
		{"after each of two, that arrived the wrong way round", "b1a2c", "ab12c"},
		{"between the phases", "abc|1", "abc1"},
		{"in an interruption, when one is missing", "ac|1|b", "abc1"},
		{"in an interruption, when the first is missing", "c|12|ba", "abc12"},
		{"in an interruption, and after it", "c|1|2b3a", "abc123"},
		{"before all steps and in an interruption", "1|2|a3cb", "12a3bc"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := phases(parallel("respond", "a", "b", "c"))
			j := in(transcript.Speech, 1)
			j.remark("0")
			interrupted := true
			resume := func() {
				if interrupted {
					j.move(transcript.Speech, 1)
					j.begin("respond")
				}
				interrupted = false
			}
			resume()
			for _, x := range tt.arrival {
				switch {
				case x == '|' && interrupted:
					resume()
				case x == '|':
					j.move("", 1)
					interrupted = true
				case x >= 'a':
					open := protocol.Next(p, &j.Record)
					require.True(t, j.say(open[slices.IndexFunc(open, func(s protocol.Step) bool { return s.Actor == string(x) })]))
				default:
					j.remark(string(x))
				}
			}
			got := ""
			for i, name := range order(j.Turns) {
				got += name
				at, ok := j.Find(j.Turns[i].Key)
				require.True(t, ok)
				require.Equal(t, j.Turns[i], at)
			}
			require.Equal(t, "0"+tt.want, got)
		})
	}
}

func TestPlaceOfARemark(t *testing.T) {
	j := in(transcript.Speech, 1)
	require.Equal(t, -1, j.RemarkOrder(), "nothing was said")
	j.begin("respond")
	require.Equal(t, -1, j.RemarkOrder(), "nothing was said in the phase")
	open := protocol.Next(phases(parallel("respond", "a", "b", "c")), &j.Record)
	j.say(open[1])
	require.Equal(t, 1, j.RemarkOrder())
	j.say(open[0])
	require.Equal(t, 1, j.RemarkOrder(), "one that came before its time changes nothing")
	j.remark("hm")
	require.Equal(t, 1, j.RemarkOrder())
	j.move(transcript.Assessment, 1)
	require.Equal(t, -1, j.RemarkOrder(), "the phase is over")
}

// TestTurnsStandInOrderWhateverHappens generates debates of parallel and sequential phases with remarks and interruptions,
// and compares the order of turns with a simple sort.
func TestTurnsStandInOrderWhateverHappens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		j := in(transcript.Speech, 1)
		remarks := 0
		var want []transcript.Key // in the order of the steps
		for round := 1; round <= 2; round++ {
			j.move(transcript.Speech, round)
			for n := range rapid.IntRange(1, 2).Draw(t, "phases") {
				p := rapid.SampledFrom([]func(string, ...string) protocol.Phase{sequential, parallel}).Draw(t, "kind")(fmt.Sprint("phase", n), "a", "b", "c", "d")
				for i := range p.Steps {
					want = append(want, transcript.Key{Run: 1, Round: round, Phase: p.Name, Actor: p.Steps[i].Actor})
				}
				var horizon int64
				for open := protocol.Next(phases(p), &j.Record); len(open) > 0; open = protocol.Next(phases(p), &j.Record) {
					if j.Cursor.Phase != p.Name {
						j.begin(p.Name)
						continue
					}
					if horizon == 0 {
						horizon = j.Cursor.PhaseSeq
					}
					switch rapid.SampledFrom([]string{"say", "say", "say", "remark", "interrupt"}).Draw(t, "next") {
					case "remark":
						remarks++
						j.remark(fmt.Sprint(remarks))
					case "interrupt":
						j.move("", round)
						if rapid.Bool().Draw(t, "remark meanwhile") {
							remarks++
							j.remark(fmt.Sprint(remarks))
						}
						j.move(transcript.Speech, round)
					default:
						s := rapid.SampledFrom(open).Draw(t, "step")
						if p.Parallel {
							require.Equal(t, horizon, s.VisibleSeq, "all steps of a parallel phase have one VisibleSeq")
						}
						require.True(t, j.say(s))
					}
				}
			}
		}
		var got []transcript.Key
		var last string
		for i, turn := range j.Turns {
			found, ok := j.Find(turn.Key)
			require.True(t, ok)
			require.Equal(t, j.Turns[i], found)
			if turn.Kind == transcript.Speech {
				got = append(got, turn.Key)
			} else {
				last = max(last, fmt.Sprintf("%03s", turn.Target))
				require.Equal(t, last, fmt.Sprintf("%03s", turn.Target), "remarks keep their order")
			}
		}
		require.Equal(t, want, got)
		require.Len(t, j.Turns, len(want)+remarks)
	})
}

func TestFindAndAt(t *testing.T) {
	j := in(transcript.Speech, 2)
	critique := protocol.Phase{Name: "critique", Steps: []protocol.Step{{Key: transcript.Key{Actor: "a", Target: "b"}}}}
	j.run(phases(critique))
	for _, tt := range []struct {
		name                 string
		phase, actor, target string
		want                 bool
	}{
		{"what was said", "critique", "a", "b", true},
		{"about another", "critique", "a", "c", false},
		{"by another", "critique", "b", "b", false},
		{"in another phase", "respond", "a", "b", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			at, ok := j.FindCurrent(tt.phase, tt.actor, tt.target)
			require.Equal(t, tt.want, ok)
			found, ok := j.Find(transcript.Key{Run: 1, Round: 2, Phase: tt.phase, Actor: tt.actor, Target: tt.target})
			require.Equal(t, tt.want, ok)
			require.Equal(t, at, found)
			if tt.want {
				require.Equal(t, "text of a", at.Text)
			} else {
				require.Zero(t, at)
			}
		})
	}
	for _, k := range []transcript.Key{
		{Run: 2, Round: 2, Phase: "critique", Actor: "a", Target: "b"},
		{Run: 1, Round: 1, Phase: "critique", Actor: "a", Target: "b"},
	} {
		_, ok := j.Find(k)
		require.False(t, ok, "%v", k)
	}
	j.move(transcript.Assessment, 2)
	_, ok := j.FindCurrent("critique", "a", "b")
	require.True(t, ok, "a later stage of the round reads it")
	j.move(transcript.Speech, 3)
	_, ok = j.FindCurrent("critique", "a", "b")
	require.False(t, ok, "a later round has its own")
	_, ok = new(protocol.Record).FindCurrent("critique", "a", "b")
	require.False(t, ok)
}

func TestSinceARound(t *testing.T) {
	none := in(transcript.Speech, 1)
	require.Empty(t, none.TurnsFrom(0))
	require.Empty(t, none.TurnsFrom(1))

	j := in(transcript.Setup, 0)
	j.run(phases(sequential("personas", protocol.PersonaAssigner)))
	for _, round := range []int{1, 2, 4} { // round 3 has no turns
		j.move(transcript.Speech, round)
		j.begin("respond")
		open := protocol.Next(phases(parallel("respond", "a", "b")), &j.Record)
		j.say(open[1])
		j.remark(fmt.Sprint("remark ", round))
		j.say(open[0])
	}
	first := []string{"personas", "a", "b", "remark 1"}
	second, fourth := []string{"a", "b", "remark 2"}, []string{"a", "b", "remark 4"}
	for _, tt := range []struct {
		name  string
		round int
		want  []string
	}{
		{"setup: all turns", 0, slices.Concat(first, second, fourth)},
		{"a round that there is not: all", -1, slices.Concat(first, second, fourth)},
		{"the first", 1, slices.Concat(first[1:], second, fourth)},
		{"the second", 2, slices.Concat(second, fourth)},
		{"one that nothing was said in", 3, fourth},
		{"the last", 4, fourth},
		{"one that is to come", 5, []string{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, order(j.TurnsFrom(tt.round)))
		})
	}
}

func TestDropTakesOneOut(t *testing.T) {
	names := func(r protocol.Record) (list []string) {
		for _, s := range r.Participants {
			list = append(list, s.Name)
		}
		return list
	}
	for _, tt := range []struct {
		name string
		drop []string
		want []string
	}{
		{"the first", []string{"a"}, []string{"b", "c"}},
		{"the last", []string{"c"}, []string{"a", "b"}},
		{"one after the other", []string{"b", "a"}, []string{"c"}},
		{"a stranger", []string{"z"}, []string{"a", "b", "c"}},
		{"a judge", []string{"judge"}, []string{"a", "b", "c"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := in(transcript.Speech, 1).Record
			other := r
			for _, name := range tt.drop {
				other.Drop(name)
			}
			require.Equal(t, tt.want, names(other))
			require.Equal(t, []string{"a", "b", "c"}, names(r), "a copy of the record stays as it is")
			require.Equal(t, slices.Contains(tt.drop, "judge"), len(other.Judges) == 0)
			require.Equal(t, []string{"judge"}, r.Judges)
		})
	}
}

// A copy of the record, on which the engine tries a drop, shares nothing that the drop changes.
func TestDroppedParticipantsAreListed(t *testing.T) {
	r := protocol.Record{Participants: []transcript.Profile{{Name: "Ada"}, {Name: "Bo"}, {Name: "Cy"}}, Judges: []string{"Jo"}}
	r.Drop("Bo")
	for _, name := range []string{"Ada", "Cy"} {
		other := r
		other.Drop(name)
		require.Equal(t, []string{"Bo", name}, other.Dropped)
	}
	r.Drop("Jo")
	r.Drop("nobody")
	r.Drop("Bo")
	require.Equal(t, []string{"Bo"}, r.Dropped, "only participants, each once")
	require.Empty(t, r.Judges)
}

// What a protocol is asked with supposed turns leaves no trace.
func TestSupposedTurnsAreTakenBack(t *testing.T) {
	said := func(actor string, seq int64) transcript.Turn {
		return transcript.Turn{Key: transcript.Key{Run: 1, Round: 1, Phase: "talk", Actor: actor}, Kind: transcript.Speech, Seq: seq}
	}
	r := &protocol.Record{Cursor: transcript.Cursor{Run: 1, Round: 1, Stage: transcript.Speech}}
	require.True(t, r.Apply(said("A", 1)))
	r.Suppose(said("A", 0), said("B", 0))
	r.Suppose(said("C", 0))
	r.Suppose()
	require.Len(t, r.Turns, 3, "a turn that exists is not supposed")
	require.EqualValues(t, 3, r.Seq)
	b, ok := r.FindCurrent("talk", "B", "")
	require.True(t, ok)
	require.EqualValues(t, 2, b.Seq)
	require.Len(t, r.TurnsFrom(1), 3)
	next := said("A", 0)
	next.Round = 3
	r.Suppose(next)
	require.Len(t, r.TurnsFrom(2), 1)
	r.TakeBack()
	require.Len(t, r.Turns, 1)
	require.Empty(t, r.TurnsFrom(2))
	require.EqualValues(t, 1, r.Seq)
	_, ok = r.FindCurrent("talk", "B", "")
	require.False(t, ok)
	require.True(t, r.Apply(said("B", 2)))
	require.Len(t, r.TurnsFrom(1), 2)
	r.TakeBack()
	require.Len(t, r.Turns, 2, "no turn is supposed")
}

// While a phase is hidden, the record is as it was when the phase began.
func TestAPhaseIsHiddenForAWhile(t *testing.T) {
	for _, earlier := range []bool{false, true} {
		r := &protocol.Record{Cursor: transcript.Cursor{Run: 1, Stage: transcript.Speech, Round: 1}}
		said := func(phase, actor string, seq int64, order int) transcript.Turn {
			return transcript.Turn{Key: transcript.Key{Run: 1, Round: 1, Phase: phase, Actor: actor}, Kind: transcript.Speech, Seq: seq, Order: order}
		}
		if earlier {
			r.StartPhase("opening", 1)
			require.True(t, r.Apply(said("opening", "A", 2, 0)))
		}
		r.StartPhase("talk", 3)
		require.True(t, r.Apply(said("talk", "B", 4, 1)))
		require.True(t, r.Apply(said("talk", "A", 5, 0)))
		all := slices.Clone(r.Turns)

		hidden, show := r.HidePhase()
		require.Equal(t, all[len(all)-2:], hidden)
		require.Equal(t, all[:len(all)-2], r.Turns)
		require.Len(t, r.TurnsFrom(1), len(all)-2)
		_, found := r.FindCurrent("talk", "A", "")
		require.False(t, found)
		r.Suppose(said("talk", "A", 0, 0), said("next", "A", 0, 0))
		require.Len(t, r.TurnsFrom(1), len(all))
		r.TakeBack()
		show()

		require.Equal(t, all, r.Turns)
		require.Len(t, r.TurnsFrom(1), len(all))
		for _, turn := range all {
			got, found := r.Find(turn.Key)
			require.True(t, found)
			require.Equal(t, turn, got)
		}
		_, found = r.FindCurrent("next", "A", "")
		require.False(t, found)
		hidden, show = r.HidePhase()
		require.Len(t, hidden, 2)
		show()
	}
}
