package refine_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/transcript"
)

var contracts = map[string]*reply.Contract{
	"peer-critique/1": refine.CritiqueContract, "refine-summary/1": refine.SummaryContract, "solution/1": refine.SolutionContract,
}

func ExampleProtocol() {
	p := refine.Protocol{}
	r := &protocol.Record{
		Participants: []transcript.Profile{{Name: "Ann", Role: "architect"}, {Name: "Bob", Role: "security"}},
		Judges:       []string{"Judge"}, MaxRounds: 3,
	}
	r.Cursor = transcript.Cursor{Run: 1, Round: 1, Stage: transcript.Speech}
	for _, phase := range p.Phases(r) {
		for _, s := range phase.Steps {
			fmt.Printf("%s: %s>%s\n", phase.Name, s.Actor, s.Target)
		}
	}
	// Output:
	// propose: Ann>
	// propose: Bob>
	// critique: Ann>Bob
	// critique: Bob>Ann
	// refine: Ann>
	// refine: Bob>
}

// table runs a debate without an engine.
type table struct {
	t *testing.T
	p refine.Protocol
	r *protocol.Record
	// size is the length of each turn. By default, the text of a turn names its step.
	size map[string]int
	fail map[string]bool // phases without a valid reply
}

func sit(t *testing.T, p refine.Protocol, names ...string) *table {
	t.Helper()
	r := &protocol.Record{Judges: []string{"J"}, MinRounds: 1, MaxRounds: 3, Cursor: transcript.Cursor{Run: 1}}
	for _, n := range names {
		r.Participants = append(r.Participants, transcript.Profile{Name: n})
	}
	return &table{t: t, p: p, r: r, size: map[string]int{}, fail: map[string]bool{}}
}

// begin enters a stage of a round.
func (x *table) begin(stage transcript.Kind, round int) *table {
	x.r.Cursor.Stage = stage
	x.r.Cursor.Round = round
	x.r.Cursor.Phase = ""
	return x
}

// next returns the steps that may run now.
func (x *table) next() []protocol.Step {
	steps := protocol.Next(x.p, x.r)
	if len(steps) > 0 && steps[0].Phase != x.r.Cursor.Phase {
		x.r.StartPhase(steps[0].Phase, x.r.Seq+1)
		steps = protocol.Next(x.p, x.r)
	}
	return steps
}

// say commits a step.
func (x *table) say(s protocol.Step) {
	x.t.Helper()
	text := fmt.Sprintf("%s %d", brief(s.Key), s.Round)
	turn := transcript.Turn{
		Key: s.Key, Kind: s.Kind, Order: s.Order, VisibleSeq: s.VisibleSeq, Seq: x.r.Seq + 1, Contract: s.Contract,
		Text: text + strings.Repeat("ä", max(x.size[s.Phase]-len(text), 0)),
	}
	if c := contracts[s.Contract]; c != nil && x.fail[s.Phase] {
		safe, ok := c.Default([]string{"A", "B", "C"})
		require.True(x.t, ok)
		turn.Text = safe.Text
		turn.Data = safe.Data
		turn.Flags = []transcript.Flag{transcript.Defaulted}
	} else if s.Phase == "synthesize" {
		good, err := c.Parse(`{"description":"D","implementation":["I"],"trade_offs":["T"],"recommendations":["R"],"confidence":80}`, nil)
		require.NoError(x.t, err)
		turn.Text, turn.Data = good.Text, good.Data
	}
	require.True(x.t, x.r.Apply(turn))
}

// phase commits all steps that may run now, and returns them.
func (x *table) phase() (said []string) {
	x.t.Helper()
	for _, s := range x.next() {
		x.say(s)
		said = append(said, brief(s.Key))
	}
	return said
}

// play commits all steps of a stage of a round.
func (x *table) play(stage transcript.Kind, round int) *table {
	x.t.Helper()
	x.begin(stage, round)
	for len(x.phase()) > 0 {
	}
	return x
}

func brief(k transcript.Key) string {
	if k.Target == "" {
		return k.Phase + " " + k.Actor
	}
	return k.Phase + " " + k.Actor + ">" + k.Target
}

// sees returns the turns that a step shows, with their rounds.
func (x *table) sees(s protocol.Step) (list []string) {
	for i := range x.r.Turns {
		if t := &x.r.Turns[i]; t.Seq <= s.VisibleSeq && s.Show(t) {
			list = append(list, fmt.Sprintf("%d %s", t.Round, brief(t.Key)))
		}
	}
	return list
}

// of returns the step of an actor among those that may run now.
func (x *table) of(actor, target string) protocol.Step {
	x.t.Helper()
	for _, s := range x.next() {
		if s.Actor == actor && s.Target == target {
			return s
		}
	}
	require.Failf(x.t, "no such step", "%s>%s", actor, target)
	return protocol.Step{}
}

func (x *table) answer() (string, refine.Result) {
	x.t.Helper()
	a := x.p.Answer(x.r)
	var res refine.Result
	require.NoError(x.t, json.Unmarshal(a.Data, &res))
	return a.Text, res
}

func TestARoundIsProposalsThenCritiquesThenRefinements(t *testing.T) {
	x := sit(t, refine.Protocol{}, "A", "B", "C")
	for round := 1; round <= 3; round++ {
		x.begin(transcript.Speech, round)
		require.Equal(t, []string{"propose A", "propose B", "propose C"}, x.phase())
		require.Equal(t, []string{"critique A>B", "critique A>C", "critique B>A", "critique B>C", "critique C>A", "critique C>B"}, x.phase())
		require.Equal(t, []string{"refine A", "refine B", "refine C"}, x.phase())
		require.Empty(t, x.next())
		require.Empty(t, x.begin(transcript.Assessment, round).next(), "no judge in between")
		require.Zero(t, x.p.End(x.r), "only the limits end the debate")
	}
	x.begin(transcript.Conclusion, 3)
	require.Equal(t, []string{"synthesize J"}, x.phase())
	require.Empty(t, x.next())
	require.Empty(t, x.begin(transcript.Setup, 0).next())
}

func TestAllPhasesOfARoundAreParallel(t *testing.T) {
	x := sit(t, refine.Protocol{SummaryPolicy: refine.SummaryPolicy{Threshold: 1}}, "A", "B")
	x.play(transcript.Speech, 1).begin(transcript.Speech, 2)
	phases := x.p.Phases(x.r)
	require.Len(t, phases, 4)
	for _, p := range phases {
		require.True(t, p.Parallel, p.Name)
	}
}

func TestStepsNameTheirPromptsAndContracts(t *testing.T) {
	x := sit(t, refine.Protocol{SummaryPolicy: refine.SummaryPolicy{Threshold: 1}, FinalSummaryPolicy: refine.SummaryPolicy{Threshold: 1}}, "A", "B")
	x.play(transcript.Speech, 1)
	var got []string
	for _, stage := range []transcript.Kind{transcript.Speech, transcript.Conclusion} {
		x.begin(stage, 2)
		for _, p := range x.p.Phases(x.r) {
			got = append(got, strings.TrimSpace(p.Name+" "+p.Steps[0].Prompt+" "+p.Steps[0].Contract))
		}
		x.play(stage, 2)
	}
	require.Equal(t, []string{
		"summarize refine-summary refine-summary/1", "propose refine-propose", "critique refine-critique peer-critique/1",
		"refine refine-refine", "digest refine-digest refine-summary/1", "synthesize refine-synthesis solution/1",
	}, got)
}

// A budget reserves enough for every possible step before the lengths of texts are known.
func TestBeforeAnythingIsSaidThePhasesAreAllThereCanBe(t *testing.T) {
	phases := func(x *table) (list []string) {
		for _, p := range x.p.Phases(x.r) {
			for _, s := range p.Steps {
				list = append(list, brief(transcript.Key{Phase: p.Name, Actor: s.Actor, Target: s.Target}))
			}
		}
		return list
	}
	first := []string{"propose A", "propose B", "critique A>B", "critique B>A", "refine A", "refine B"}
	for name, tt := range map[string]struct {
		p         refine.Protocol
		due, ends []string
	}{
		"by default": {refine.Protocol{}, []string{"summarize summarizer>A", "summarize summarizer>B"}, []string{"digest J", "synthesize J"}},
		"without any": {
			refine.Protocol{SummaryPolicy: refine.SummaryPolicy{Disabled: true}, FinalSummaryPolicy: refine.SummaryPolicy{Disabled: true}},
			nil,
			[]string{"synthesize J"},
		},
		"without one's": {
			refine.Protocol{AgentSummaryPolicies: map[string]refine.SummaryPolicy{"A": {Disabled: true}}},
			[]string{"summarize summarizer>B"},
			[]string{"digest J", "synthesize J"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := sit(t, tt.p, "A", "B")
			require.Equal(t, first, phases(x.begin(transcript.Speech, 1)), "no agent has a view before round 1")
			require.Equal(t, slices.Concat(tt.due, first), phases(x.begin(transcript.Speech, 2)))
			require.Equal(t, tt.ends, phases(x.begin(transcript.Conclusion, 3)))
			x.play(transcript.Speech, 1)
			require.Equal(t, first, phases(x.begin(transcript.Speech, 2)), "then it goes by what was said")
			require.Equal(t, []string{"synthesize J"}, phases(x.begin(transcript.Conclusion, 2)))
		})
	}
}

func TestWhatAStepShowsWithoutTheFullHistory(t *testing.T) {
	x := sit(t, refine.Protocol{}, "A", "B", "C").begin(transcript.Speech, 1)
	require.Empty(t, x.sees(x.of("A", "")))
	x.phase()
	require.Equal(t, []string{"1 propose B"}, x.sees(x.of("A", "B")), "only what is criticized")
	x.phase()
	all := []string{"1 critique A>B", "1 critique A>C", "1 critique B>A", "1 critique B>C", "1 critique C>A", "1 critique C>B"}
	require.Equal(t, append([]string{"1 propose A"}, all...), x.sees(x.of("A", "")), "all critiques")
	x.phase()

	x.begin(transcript.Speech, 2)
	memory := []string{"1 propose A", "1 critique B>A", "1 critique C>A", "1 refine A"}
	require.Equal(t, memory, x.sees(x.of("A", "")), "its own perspective")
	x.phase()
	require.Equal(t, append(memory[:4:4], "2 propose C"), x.sees(x.of("A", "C")))
	x.phase()
	require.Equal(t, append(memory[:4:4], "2 propose A", "2 critique A>B", "2 critique A>C", "2 critique B>A", "2 critique B>C", "2 critique C>A", "2 critique C>B"), x.sees(x.of("A", "")))
}

func TestWhatAStepShowsWithTheFullHistory(t *testing.T) {
	x := sit(t, refine.Protocol{FullHistory: true}, "A", "B").play(transcript.Speech, 1).begin(transcript.Speech, 2)
	first := []string{"1 propose A", "1 propose B", "1 critique A>B", "1 critique B>A", "1 refine A", "1 refine B"}
	require.Equal(t, first, x.sees(x.of("B", "")))
	x.phase()
	require.Equal(t, append(first[:6:6], "2 propose A", "2 propose B"), x.sees(x.of("B", "A")))
	x.phase()
	x.phase()
	x.begin(transcript.Conclusion, 2)
	require.Len(t, x.sees(x.of("J", "")), 12)
}

func TestNoStepSeesItsOwnPhase(t *testing.T) {
	for _, full := range []bool{false, true} {
		x := sit(t, refine.Protocol{FullHistory: full}, "A", "B").begin(transcript.Speech, 1)
		for range 3 {
			steps := x.next()
			for _, s := range steps {
				x.say(s)
				for _, seen := range x.sees(steps[len(steps)-1]) {
					require.NotContains(t, seen, s.Phase)
				}
			}
		}
	}
}

func TestRemarksAreShownToAll(t *testing.T) {
	remark := &transcript.Turn{Key: transcript.Key{Run: 1, Round: 1, Phase: "remark", Actor: "user"}, Kind: transcript.Remark}
	x := sit(t, refine.Protocol{FinalSummaryPolicy: refine.SummaryPolicy{Threshold: 1}}, "A", "B").begin(transcript.Speech, 1)
	for len(x.next()) > 0 {
		require.True(t, x.next()[0].Show(remark))
		x.phase()
	}
	x.begin(transcript.Conclusion, 1)
	require.True(t, x.next()[0].Show(remark))
	x.phase()
	require.True(t, x.next()[0].Show(remark), "beside the digest as well")
}

// The sizes: a proposal, the one critique that an agent of two receives, and a refinement.
func TestAMemoryIsSummedUpAboveItsLimit(t *testing.T) {
	for _, tt := range []struct {
		name    string
		p       refine.Protocol
		size    int // of each of the three turns
		limit   string
		summary []string // expected in round 2
	}{
		{"nothing to do at the limit", refine.Protocol{SummaryPolicy: refine.SummaryPolicy{Threshold: 300}}, 100, "", nil},
		{"above it", refine.Protocol{SummaryPolicy: refine.SummaryPolicy{Threshold: 299}}, 100, "150", []string{"summarize summarizer>A", "summarize summarizer>B"}},
		{"to a length of one's own", refine.Protocol{SummaryPolicy: refine.SummaryPolicy{Threshold: 299, TargetLength: 20}}, 100, "20", []string{"summarize summarizer>A", "summarize summarizer>B"}},
		{"5,000 characters are not above the default", refine.Protocol{}, 1666, "", nil},
		{"more than 5,000 are", refine.Protocol{}, 1667, "2500", []string{"summarize summarizer>A", "summarize summarizer>B"}},
		{"off for all", refine.Protocol{SummaryPolicy: refine.SummaryPolicy{Disabled: true}}, 9000, "", nil},
		{"off for one", refine.Protocol{AgentSummaryPolicies: map[string]refine.SummaryPolicy{"A": {Disabled: true}}}, 9000, "2500", []string{"summarize summarizer>B"}},
		{"on for one", refine.Protocol{SummaryPolicy: refine.SummaryPolicy{Disabled: true}, AgentSummaryPolicies: map[string]refine.SummaryPolicy{"A": {}}}, 9000, "2500", []string{"summarize summarizer>A"}},
		{"another limit for one", refine.Protocol{AgentSummaryPolicies: map[string]refine.SummaryPolicy{"B": {Threshold: 100, TargetLength: 50}}}, 100, "50", []string{"summarize summarizer>B"}},
		{"the same with the full history", refine.Protocol{FullHistory: true}, 1667, "2500", []string{"summarize summarizer>A", "summarize summarizer>B"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x := sit(t, tt.p, "A", "B")
			x.size = map[string]int{"propose": tt.size, "critique": tt.size, "refine": tt.size}
			x.begin(transcript.Speech, 1)
			require.Equal(t, []string{"propose A", "propose B"}, x.phase(), "no agent has a view before round 1")
			x.play(transcript.Speech, 1).begin(transcript.Speech, 2)
			if tt.summary == nil {
				require.Equal(t, []string{"propose A", "propose B"}, x.phase())
				return
			}
			steps := x.next()
			require.Equal(t, tt.limit, steps[0].Vars["limit"])
			require.Equal(t, tt.summary, x.phase())
			require.Equal(t, []string{"propose A", "propose B"}, x.phase())
		})
	}
}

func TestASummaryStandsInThePlaceOfWhatItCovers(t *testing.T) {
	x := sit(t, refine.Protocol{AgentSummaryPolicies: map[string]refine.SummaryPolicy{"B": {Disabled: true}}}, "A", "B")
	x.size["propose"], x.size["summarize"] = 6000, 100
	x.play(transcript.Speech, 1).begin(transcript.Speech, 2)

	perspective := []string{"1 propose A", "1 critique B>A", "1 refine A"}
	require.Equal(t, perspective, x.sees(x.of("summarizer", "A")), "nothing of the others' own work")
	x.phase()
	require.Equal(t, []string{"1 refine A", "2 summarize summarizer>A"}, x.sees(x.of("A", "")), "it starts from its last refinement all the same")
	require.Equal(t, []string{"1 propose B", "1 critique A>B", "1 refine B"}, x.sees(x.of("B", "")), "B has no summary and does not see A's")
	x.phase()
	require.Equal(t, []string{"2 summarize summarizer>A", "2 propose B"}, x.sees(x.of("A", "B")))
	x.play(transcript.Speech, 2).begin(transcript.Speech, 3)

	require.Equal(t, []string{"2 summarize summarizer>A", "2 propose A", "2 critique B>A", "2 refine A"}, x.sees(x.of("summarizer", "A")), "the last summary is summed up again")
	x.phase()
	require.Equal(t, []string{"2 refine A", "3 summarize summarizer>A"}, x.sees(x.of("A", "")))
}

func TestASummaryHoldsUntilTheNextOne(t *testing.T) {
	x := sit(t, refine.Protocol{SummaryPolicy: refine.SummaryPolicy{Threshold: 200}}, "A", "B")
	x.size["propose"] = 300
	x.play(transcript.Speech, 1)
	x.size["propose"] = 0
	x.play(transcript.Speech, 2).begin(transcript.Speech, 3)
	require.Equal(t, []string{"2 summarize summarizer>A", "2 propose A", "2 critique B>A", "2 refine A"}, x.sees(x.of("A", "")))
}

func TestWithTheFullHistoryASummaryCoversOnesOwnPartAlone(t *testing.T) {
	x := sit(t, refine.Protocol{FullHistory: true}, "A", "B")
	x.size["propose"] = 6000
	x.play(transcript.Speech, 1).begin(transcript.Speech, 2)
	x.phase()
	require.Equal(t, []string{"1 propose B", "1 critique A>B", "1 refine A", "1 refine B", "2 summarize summarizer>A"}, x.sees(x.of("A", "")))
}

func TestASummaryThatFailedCoversNothing(t *testing.T) {
	x := sit(t, refine.Protocol{}, "A", "B")
	x.size["propose"], x.fail["summarize"] = 6000, true
	x.play(transcript.Speech, 1).begin(transcript.Speech, 2)
	require.Equal(t, []string{"summarize summarizer>A", "summarize summarizer>B"}, x.phase())
	require.Equal(t, []string{"1 propose A", "1 critique B>A", "1 refine A"}, x.sees(x.of("A", "")))
	x.play(transcript.Speech, 2).begin(transcript.Speech, 3)
	require.Len(t, x.sees(x.of("summarizer", "A")), 6, "both rounds are to be summed up now")

	_, res := x.answer()
	require.Equal(t, refine.SummarySize{Agent: "A", Round: 2, Before: res.Summaries[0].Before, After: res.Summaries[0].Before}, res.Summaries[0])
}

func TestTheJudgeSeesTheFinalRound(t *testing.T) {
	x := sit(t, refine.Protocol{}, "A", "B").play(transcript.Speech, 1).play(transcript.Speech, 2).begin(transcript.Conclusion, 2)
	require.Equal(t, []string{"2 propose A", "2 propose B", "2 critique A>B", "2 critique B>A", "2 refine A", "2 refine B"}, x.sees(x.of("J", "")))
}

func TestAStoppedRoundIsCompletedByTheLastSolutions(t *testing.T) {
	x := sit(t, refine.Protocol{}, "A", "B").play(transcript.Speech, 1).begin(transcript.Speech, 2)
	x.say(x.of("B", ""))
	x.begin(transcript.Conclusion, 2)
	require.Equal(t, []string{"1 refine A", "2 propose B"}, x.sees(x.of("J", "")))
}

func TestTheJudgeSumsUpAnOverlongFinalRound(t *testing.T) {
	// six turns of 1,000 characters
	for _, tt := range []struct {
		name   string
		final  refine.SummaryPolicy
		limit  string
		failed bool
		sees   []string // nil for the whole round
	}{
		{"at the limit", refine.SummaryPolicy{Threshold: 6000}, "", false, nil},
		{"above it", refine.SummaryPolicy{Threshold: 5999}, "3000", false, []string{"1 digest J"}},
		{"to a length of one's own", refine.SummaryPolicy{Threshold: 5999, TargetLength: 7}, "7", false, []string{"1 digest J"}},
		{"never", refine.SummaryPolicy{Disabled: true, Threshold: 1}, "", false, nil},
		{"it failed", refine.SummaryPolicy{Threshold: 5999}, "3000", true, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x := sit(t, refine.Protocol{FinalSummaryPolicy: tt.final}, "A", "B")
			x.size = map[string]int{"propose": 1000, "critique": 1000, "refine": 1000, "digest": 42}
			x.fail["digest"] = tt.failed
			x.play(transcript.Speech, 1).begin(transcript.Conclusion, 1)
			whole := []string{"1 propose A", "1 propose B", "1 critique A>B", "1 critique B>A", "1 refine A", "1 refine B"}
			require.Equal(t, whole, x.sees(x.of("J", "")), "the first step has it all")
			if tt.limit != "" {
				require.Equal(t, tt.limit, x.next()[0].Vars["limit"])
				require.Equal(t, []string{"digest J"}, x.phase())
			}
			if tt.sees == nil {
				tt.sees = whole
			}
			require.Equal(t, tt.sees, x.sees(x.of("J", "")))
			require.Equal(t, []string{"synthesize J"}, x.phase())

			_, res := x.answer()
			switch {
			case tt.limit == "":
				require.Empty(t, res.Summaries)
			case tt.failed:
				require.Equal(t, []refine.SummarySize{{Round: 1, Before: 6000, After: 6000}}, res.Summaries)
			default:
				require.Equal(t, []refine.SummarySize{{Round: 1, Before: 6000, After: 42}}, res.Summaries)
			}
		})
	}
	x := sit(t, refine.Protocol{}, "A", "B")
	x.size["propose"] = 8000
	x.play(transcript.Speech, 1).begin(transcript.Conclusion, 1)
	require.Equal(t, "8000", x.next()[0].Vars["limit"], "by default above 16,000 characters")
}

func TestWhoDroppedOutIsCriticizedNoMore(t *testing.T) {
	x := sit(t, refine.Protocol{}, "A", "B", "C").begin(transcript.Speech, 1)
	x.phase()
	x.say(x.of("A", "B"))
	x.r.Drop("B")
	require.Equal(t, []string{"critique A>C", "critique C>A"}, x.phase())
	require.Equal(t, []string{"refine A", "refine C"}, x.phase())
	require.Empty(t, x.p.Check(x.r), "two agents can continue")
	x.begin(transcript.Conclusion, 1)
	require.Contains(t, x.sees(x.of("J", "")), "1 propose B", "turns of the final round stay visible")
	x.r.Drop("J")
	require.Empty(t, x.next(), "no judge can conclude")
}

func TestThePhasesOfAStageDoNotChangeWhileItGoesOn(t *testing.T) {
	x := sit(t, refine.Protocol{SummaryPolicy: refine.SummaryPolicy{Threshold: 10}, FinalSummaryPolicy: refine.SummaryPolicy{Threshold: 10}}, "A", "B", "C")
	outline := func() (list []string) {
		for _, p := range x.p.Phases(x.r) {
			for _, s := range p.Steps {
				list = append(list, fmt.Sprint(p.Name, s.Actor, s.Target, s.Prompt, s.Vars))
			}
		}
		return list
	}
	walk := func(stage transcript.Kind, round int) {
		x.begin(stage, round)
		want := outline()
		for len(x.next()) > 0 {
			x.say(x.next()[0])
			require.Equal(t, want, outline())
		}
	}
	walk(transcript.Speech, 1)
	walk(transcript.Speech, 2)
	walk(transcript.Speech, 3)
	walk(transcript.Conclusion, 3)
}
