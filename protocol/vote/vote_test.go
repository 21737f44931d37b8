package vote_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/transcript"
)

var (
	_ protocol.Protocol  = vote.Protocol{}
	_ protocol.Defaulter = vote.Protocol{}
	_ protocol.Answerer  = vote.Protocol{}
)

func ExampleProtocol() {
	p := vote.Protocol{Topology: vote.Ring, Unanimity: vote.Stop, Extract: "number"}
	r := &protocol.Record{Participants: []transcript.Profile{{Name: "Ann"}, {Name: "Bob"}}, MaxRounds: p.Defaults().MaxRounds}
	r.Cursor = transcript.Cursor{Run: 1, Stage: transcript.Speech}
	for r.Cursor.Round = 1; r.Cursor.Round <= r.MaxRounds; r.Cursor.Round++ {
		for _, s := range protocol.Next(p, r) {
			fmt.Println(s.Key, s.Prompt, s.Contract)
		}
	}
	// Output:
	// 1/1/answer/Ann/ vote-answer vote/1
	// 1/1/answer/Bob/ vote-answer vote/1
	// 1/2/revise/Ann/ vote-revise vote/1
	// 1/2/revise/Bob/ vote-revise vote/1
}

func own(transcript.Turn) string { return "mine" }

// samplesTakeNo returns the problems of parameters that have no effect on samples.
func samplesTakeNo(fields ...string) (list []string) {
	for _, f := range fields {
		list = append(list, "protocol."+f+": it has no effect on samples, which have no revisions and no judges; leave it out")
	}
	return list
}

func TestCheckSaysAllThatIsWrong(t *testing.T) {
	const extracts = `use one of ["boxed" "letter" "number" "text"], or set the Extractor of that name`
	many := strings.Fields(strings.Repeat("x ", 17))
	for i := range many {
		many[i] = fmt.Sprint("a", i)
	}
	for _, tt := range []struct {
		name  string
		p     vote.Protocol
		names string
		want  []string
	}{
		{"the zero vote of two", vote.Protocol{}, "a b", nil},
		{"sixteen", vote.Protocol{}, strings.Join(many[:16], " "), nil},
		{"seventeen", vote.Protocol{}, strings.Join(many, " "), []string{"participants: 17 enabled, a vote takes 2 to 16, or 1 with protocol.samples"}},
		{"one", vote.Protocol{}, "a", []string{"participants: 1 enabled, a vote takes 2 to 16, or 1 with protocol.samples"}},
		{"a judge that may break ties", vote.Protocol{}, "a b j*", nil},
		{"a judge that decides", vote.Protocol{Decision: vote.Judge}, "a b j*", nil},
		{"no judge to decide", vote.Protocol{Decision: vote.Judge}, "a b", []string{`judges: none, the decision "judge" needs one`}},
		{
			"unknown words",
			vote.Protocol{Decision: "dice", Unanimity: "cheer", Topology: "blob", Extract: "gist"},
			"a b",
			[]string{
				`protocol.decision: "dice" is unknown, use one of ["majority" "confidence" "judge"]`,
				`protocol.unanimity: "cheer" is unknown, use one of ["stop" "prevent"]`,
				`protocol.topology: "blob" is unknown, use one of ["full" "ring" "star" "groups" "graph"]`,
				`protocol.extract: "gist" is unknown, ` + extracts,
			},
		},
		{"an extractor with a name", vote.Protocol{Extract: "mine", Extractor: own}, "a b", nil},
		{
			"an extractor without one",
			vote.Protocol{Extractor: own},
			"a b",
			[]string{`protocol.extract: "" is the name of a built-in extractor, use another name for your Extractor`},
		},
		{"the edges of agreement", vote.Protocol{Agreement: new(0.0)}, "a b", nil},
		{"all agreement", vote.Protocol{Agreement: new(1.0)}, "a b", nil},
		{"too little agreement", vote.Protocol{Agreement: new(-0.1)}, "a b", []string{"protocol.agreement: -0.1, use 0 to 1"}},
		{"too much agreement", vote.Protocol{Agreement: new(1.1)}, "a b", []string{"protocol.agreement: 1.1, use 0 to 1"}},
		{"no number", vote.Protocol{Agreement: new(math.NaN())}, "a b", []string{"protocol.agreement: NaN, use 0 to 1"}},
		{"the edges of the filter", vote.Protocol{Filter: new(0.0), Conditional: true, Unanimity: vote.Stop}, "a b", nil},
		{"too much of the filter", vote.Protocol{Filter: new(1.1)}, "a b", []string{"protocol.filter: 1.1, use 0 to 1"}},
		{
			"conditional, and only round 1 counts",
			vote.Protocol{Conditional: true, Unanimity: vote.Prevent},
			"a b",
			[]string{`protocol.conditional: it ends the debate after any unanimous round, do not use it with the unanimity "prevent"`},
		},
		{"convincing", vote.Protocol{Convincing: map[string][]string{"a": {"because"}}}, "a b", nil},
		{
			"a stranger was convinced",
			vote.Protocol{Convincing: map[string][]string{"z": {"because"}}},
			"a b",
			[]string{`protocol.convincing: "z" is not a participant, the participants are ["a" "b"]`},
		},
		{"samples of one", vote.Protocol{Samples: 2, Rescale: true, Decision: vote.Confidence}, "a", nil},
		{"most samples", vote.Protocol{Samples: 100}, "a b", nil},
		{"one sample", vote.Protocol{Samples: 1}, "a", nil},
		{"too many samples", vote.Protocol{Samples: 101}, "a", []string{"protocol.samples: 101, use 1 to 100, or 0 for debates"}},
		{"samples of nobody", vote.Protocol{Samples: 2}, "", []string{"participants: 0 enabled, samples take 1 to 16"}},
		{
			"samples in a debate",
			vote.Protocol{
				Samples: 2, Decision: vote.Judge, Unanimity: vote.Stop, Topology: vote.Ring, Agreement: new(0.5), Grouped: true, Filter: new(0.5), Conditional: true,
			},
			"a j*",
			samplesTakeNo("agreement", "conditional", "decision", "filter", "grouped", "topology", "unanimity"),
		},
		{"a judge of samples", vote.Protocol{Samples: 2}, "a j*", []string{`judges: "j" has no task, the samples decide`}},
		{"two groups of two", vote.Protocol{Topology: vote.Groups}, "a b c d", nil},
		{"three groups of two", vote.Protocol{Topology: vote.Groups, Groups: 3}, "a b c d e f", nil},
		{
			"two groups of three",
			vote.Protocol{Topology: vote.Groups},
			"a b c",
			[]string{"protocol.groups: 2 of 3 participants, use 2 or more groups of at least 2 each"},
		},
		{
			"one group",
			vote.Protocol{Topology: vote.Groups, Groups: 1},
			"a b c",
			[]string{"protocol.groups: 1 of 3 participants, use 2 or more groups of at least 2 each"},
		},
		{
			"very many groups",
			vote.Protocol{Topology: vote.Groups, Groups: math.MaxInt},
			"a b c d",
			[]string{"protocol.groups: 9223372036854775807 of 4 participants, use 2 or more groups of at least 2 each"},
		},
		{
			"groups without the topology",
			vote.Protocol{Groups: 2},
			"a b c d",
			[]string{`protocol.groups: 2, use it only with the topology "groups"`},
		},
		{"a graph", vote.Protocol{Topology: vote.Graph, Graph: map[string][]string{"a": {"b"}, "b": nil}}, "a b c", nil},
		{
			"strangers in a graph",
			vote.Protocol{Topology: vote.Graph, Graph: map[string][]string{"z": {"a"}, "a": {"b", "y"}}},
			"a b",
			[]string{`protocol.graph: "y" is not a participant, the participants are ["a" "b"]`, `protocol.graph: "z" is not a participant, the participants are ["a" "b"]`},
		},
		{
			"a topology without its graph",
			vote.Protocol{Topology: vote.Graph},
			"a b",
			[]string{`protocol.graph: it has 0 entries, use it with the topology "graph" and no other`},
		},
		{
			"a graph without its topology",
			vote.Protocol{Graph: map[string][]string{"a": {"b"}}},
			"a b",
			[]string{`protocol.graph: it has 1 entries, use it with the topology "graph" and no other`},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, p := range tt.p.Check(&convene(t, tt.p, strings.Fields(tt.names)...).Record) {
				got = append(got, p.String())
			}
			require.Equal(t, tt.want, got)
		})
	}
}

func TestPreventionNeedsRoundOneToBeEnough(t *testing.T) {
	h := convene(t, vote.Protocol{Unanimity: vote.Prevent}, "a", "b")
	require.Empty(t, h.p.Check(&h.Record))
	h.MinRounds = 2
	require.Equal(t, []protocol.Problem{{
		Field: "limits.min_rounds", Reason: `2, the unanimity "prevent" needs 1: it ends the debate with round 1`,
	}}, h.p.Check(&h.Record))
	h.p.Unanimity = vote.Stop
	require.Empty(t, h.p.Check(&h.Record))
}

// A vote stays valid when a participant drops out.
func TestAVoteGoesOnWithTwo(t *testing.T) {
	for _, p := range []vote.Protocol{
		{},
		{Topology: vote.Groups},
		{Topology: vote.Graph, Graph: map[string][]string{"a": {"d"}, "d": {"a"}}},
	} {
		h := convene(t, p, "a", "b", "c", "d")
		h.Cursor.Round = 1
		h.Drop("d")
		require.Empty(t, p.Check(&h.Record))
		h.Drop("c")
		require.Empty(t, p.Check(&h.Record))
		h.Drop("b")
		require.NotEmpty(t, p.Check(&h.Record))
	}
}

// Parameters are stored with the debate, and stored parameters are checked like new ones.
func TestParametersAreStoredInThisForm(t *testing.T) {
	for _, tt := range []struct {
		name string
		p    vote.Protocol
		json string
	}{
		{"defaults", vote.Protocol{}, `{}`},
		{
			"all given",
			vote.Protocol{
				Decision: vote.Confidence, Unanimity: vote.Stop, Topology: vote.Graph, Groups: 3, Graph: map[string][]string{"a": {"b"}},
				Agreement: new(0.0), Extract: "letter",
			},
			`{"decision":"confidence","unanimity":"stop","topology":"graph","groups":3,"graph":{"a":["b"]},"agreement":0,"extract":"letter"}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, err := json.Marshal(tt.p)
			require.NoError(t, err)
			require.JSONEq(t, tt.json, string(b))
			var back vote.Protocol
			require.NoError(t, json.Unmarshal(b, &back))
			require.Equal(t, tt.p, back)
		})
	}
	b, err := json.Marshal(vote.Protocol{Extract: "mine", Extractor: own})
	require.NoError(t, err)
	require.JSONEq(t, `{"extract":"mine"}`, string(b), "a function is no data, but its name is")
	require.Equal(t, "vote/1", vote.Protocol{}.Name())
}

func TestStagesOfAVote(t *testing.T) {
	h := convene(t, vote.Protocol{Extract: "number", Agreement: new(0.9)}, "a", "b", "j*")
	for _, stage := range []transcript.Kind{transcript.Setup, transcript.Assessment, transcript.Remark, ""} {
		h.enter(stage)
		require.Empty(t, h.p.Phases(&h.Record), stage)
	}
	h.Cursor.Round = 1
	h.enter(transcript.Speech)
	phases := h.p.Phases(&h.Record)
	require.Len(t, phases, 1)
	require.True(t, phases[0].Parallel)
	require.Equal(t, "answer", phases[0].Name)
	require.Equal(t, map[string]string{"extract": "number", "agreement": "90", "stance": "yielding"}, phases[0].Steps[0].Vars)
	require.Equal(t, 2, vote.Protocol{Topology: vote.Ring}.Defaults().MaxRounds)
	require.Equal(t, 3, vote.Protocol{Topology: vote.Groups}.Defaults().MaxRounds)
}

func TestTheStanceFollowsTheAgreement(t *testing.T) {
	for agreement, want := range map[float64]string{0: "firm", 0.25: "firm", 0.26: "open", 0.5: "open", 0.74: "open", 0.75: "yielding", 1: "yielding"} {
		h := convene(t, vote.Protocol{Agreement: new(agreement)}, "a", "b")
		h.Cursor.Round = 1
		h.enter(transcript.Speech)
		require.Equal(t, want, h.Next()[0].Vars["stance"], agreement)
	}
}

func TestUnanimityEndsOrPreventsADebate(t *testing.T) {
	for _, tt := range []struct {
		name      string
		unanimity vote.Unanimity
		rounds    []string
		want      string // outcome of each round; "-" if the debate continues
	}{
		{"it is not listened to", "", []string{"4 4 4", "4 4 4"}, "- -"},
		{"it stops in round 1", vote.Stop, []string{"4 4.0 4"}, "unanimous"},
		{"it stops later", vote.Stop, []string{"4 4 5", "4 4 4"}, "- unanimous"},
		{"it prevents", vote.Prevent, []string{"4 4 4"}, "unanimous"},
		{"it does not prevent what has begun", vote.Prevent, []string{"4 4 5", "4 4 4"}, "- -"},
		{"no answer agrees with nothing", vote.Stop, []string{"4 4 -", "- - -"}, "- -"},
		{"nor does a default", vote.Stop, []string{"4 4 !"}, "-"},
		{"who dropped out is not missed", vote.Stop, []string{"4 4 x"}, "unanimous"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := convene(t, vote.Protocol{Unanimity: tt.unanimity, Extract: "number"}, "a", "b", "c")
			var got []string
			for _, words := range tt.rounds {
				h.round(words)
				e := h.p.End(&h.Record)
				if e.Outcome == "" {
					e.Outcome = "-"
				} else {
					require.Equal(t, h.Cursor.Round, e.Round)
					require.Contains(t, e.Evidence, `answer "4"`)
				}
				got = append(got, string(e.Outcome))
			}
			require.Equal(t, tt.want, strings.Join(got, " "))
		})
	}
}
