package procon_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/golden"
	"github.com/elenchus-go/debate/internal/test/protocoltest"
	"github.com/elenchus-go/debate/judge/decision"
	"github.com/elenchus-go/debate/prompts"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/transcript"
)

var _ protocol.Defaulter = procon.Protocol{}

var (
	ann = transcript.Profile{Name: "Ann", Position: "Cities should ban private cars."}
	bob = transcript.Profile{Name: "Bob", Position: "Cities should not ban private cars."}
)

// duel returns a debate without turns.
func duel(seats ...transcript.Profile) *protocol.Record {
	return &protocol.Record{Participants: seats, Judges: []string{"Jo"}, MinRounds: 1, MaxRounds: 3, Cursor: transcript.Cursor{Run: 1}}
}

// enter begins a stage.
func enter(r *protocol.Record, stage transcript.Kind) {
	r.Seq++
	r.Cursor.Stage = stage
	r.Cursor.Phase = ""
	r.Cursor.PhaseSeq = r.Seq
}

// hold runs the current stage and returns its steps, up to a maximum.
func hold(t *testing.T, r *protocol.Record, most int) (steps []protocol.Step) {
	t.Helper()
	for len(steps) < most {
		next := protocol.Next(procon.Protocol{}, r)
		if len(next) == 0 {
			break
		}
		require.Len(t, next, 1, "one speaks after the other")
		s := next[0]
		if s.Phase != r.Cursor.Phase {
			r.StartPhase(s.Phase, r.Seq+1)
			s = protocol.Next(procon.Protocol{}, r)[0]
		}
		require.True(t, r.Apply(transcript.Turn{Key: s.Key, Kind: s.Kind, Order: s.Order, VisibleSeq: s.VisibleSeq, Contract: s.Contract, Seq: r.Seq + 1}))
		steps = append(steps, s)
	}
	return steps
}

func ExampleProtocol() {
	r := duel(ann, bob)
	r.Cursor.Stage = transcript.Speech
	for r.Cursor.Round = 1; r.Cursor.Round <= r.MaxRounds; r.Cursor.Round++ {
		fmt.Println(protocol.Next(procon.Protocol{}, r)[0].Key)
	}
	// Output:
	// 1/1/argue/Ann/
	// 1/2/argue/Ann/
	// 1/3/close/Ann/
}

func TestCheckSaysAllThatIsWrong(t *testing.T) {
	with := func(s transcript.Profile, side, position string) transcript.Profile {
		s.Side, s.Position = side, position
		return s
	}
	for _, tt := range []struct {
		name  string
		seats []transcript.Profile
		judge bool
		want  []string
	}{
		{"two with opposite positions", []transcript.Profile{ann, bob}, true, nil},
		{"two sides", []transcript.Profile{with(ann, "pro", "Yes."), with(bob, "con", "No.")}, true, nil},
		{"no judge", []transcript.Profile{ann, bob}, false, []string{"judges: none, procon needs one"}},
		{"one", []transcript.Profile{ann}, true, []string{"participants: 1 enabled, procon takes 2"}},
		{"three", []transcript.Profile{ann, bob, with(bob, "", "Maybe.")}, true, []string{"participants: 3 enabled, procon takes 2"}},
		{
			"a position is missing",
			[]transcript.Profile{ann, with(bob, "", " \n")},
			true,
			[]string{`participants: "Bob" has no position, give each participant its own, or the sides "pro" and "con"`},
		},
		{
			"equal positions, in another spelling",
			[]transcript.Profile{with(ann, "", "Ban cars"), with(bob, "", " ban \n CARS ")},
			true,
			[]string{`participants: "Ann" and "Bob" both have the position "Ban cars", give them opposite ones`},
		},
		{
			"one side",
			[]transcript.Profile{with(ann, "Pro", "Yes."), with(bob, "pro ", "No.")},
			true,
			[]string{`participants: "Ann" and "Bob" are both on the side "Pro", give them different ones or none`},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := duel(tt.seats...)
			if !tt.judge {
				r.Judges = nil
			}
			var got []string
			for _, p := range (procon.Protocol{}).Check(r) {
				got = append(got, p.String())
			}
			require.Equal(t, tt.want, got)
		})
	}
}

func TestPositionsThatAreMissingAreDerived(t *testing.T) {
	const (
		pro      = "In favor of the topic: the claim is right, or the answer to the question is yes."
		con      = "Against the topic: the claim is wrong, or the answer to the question is no."
		opposite = "The opposite of this position: Ban cars."
	)
	seat := func(name, side, position string) transcript.Profile {
		return transcript.Profile{Name: name, Side: side, Position: position}
	}
	for _, tt := range []struct {
		name string
		a, b transcript.Profile
		want [2]string
	}{
		{"two sides", seat("Ann", "pro", ""), seat("Bob", "con", ""), [2]string{pro, con}},
		{"in the other order and spelling", seat("Ann", " Con", " "), seat("Bob", "PRO", ""), [2]string{con, pro}},
		{"one side", seat("Ann", "con", ""), seat("Bob", "", ""), [2]string{con, pro}},
		{"one position", seat("Ann", "", "Ban cars."), seat("Bob", "", ""), [2]string{"Ban cars.", opposite}},
		{"one position and two sides", seat("Ann", "pro", "Ban cars."), seat("Bob", "con", ""), [2]string{"Ban cars.", opposite}},
		{"two positions and two sides", seat("Ann", "pro", "Yes."), seat("Bob", "con", "No."), [2]string{"Yes.", "No."}},
		{"one side twice", seat("Ann", "pro", ""), seat("Bob", "pro", ""), [2]string{"", ""}},
		{"a position, and one side twice", seat("Ann", "pro", "Yes."), seat("Bob", "pro", ""), [2]string{"Yes.", ""}},
		{"other sides", seat("Ann", "north", ""), seat("Bob", "south", ""), [2]string{"", ""}},
		{"nothing", seat("Ann", "", ""), seat("Bob", "", ""), [2]string{"", ""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want[:], procon.Protocol{}.Positions([]transcript.Profile{tt.a, tt.b}))
		})
	}
	require.Equal(t, []string{""}, procon.Protocol{}.Positions([]transcript.Profile{seat("Ann", "pro", "")}))
}

// A debate cannot continue with one participant.
func TestNobodyMayDropOut(t *testing.T) {
	r := duel(ann, bob)
	r.Cursor.Round = 2
	r.Drop("Ann")
	require.NotEmpty(t, procon.Protocol{}.Check(r))
}

func TestSpeechesOfEachRound(t *testing.T) {
	for _, tt := range []struct {
		name  string
		limit int
		want  string
	}{
		{"three rounds", 3, "argue:Ann argue:Bob argue:Ann argue:Bob close:Ann close:Bob"},
		{"two rounds", 2, "argue:Ann argue:Bob close:Ann close:Bob"},
		{"a first round opens, even if it is the last", 1, "argue:Ann argue:Bob"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := duel(ann, bob)
			r.MaxRounds = tt.limit
			var got []string
			for r.Cursor.Round < r.MaxRounds {
				r.Cursor.Round++
				enter(r, transcript.Speech)
				for _, s := range hold(t, r, 9) {
					require.Equal(t, "procon-"+s.Phase, s.Prompt)
					require.Empty(t, s.Contract)
					require.Nil(t, s.Show)
					got = append(got, s.Phase+":"+s.Actor)
				}
				require.Equal(t, transcript.Ending{}, procon.Protocol{}.End(r))
			}
			require.Equal(t, tt.want, strings.Join(got, " "))
		})
	}
}

// Editing the limit during a round does not change that round.
func TestARoundThatHasBegunStaysAsItIs(t *testing.T) {
	for before, after := range map[int]int{3: 2, 2: 3} {
		r := duel(ann, bob)
		r.MaxRounds = before
		r.Cursor.Round = 1
		enter(r, transcript.Speech)
		hold(t, r, 9)
		r.Cursor.Round = 2
		enter(r, transcript.Speech)
		first := hold(t, r, 1)[0]
		r.MaxRounds = after
		second := hold(t, r, 9)
		require.Len(t, second, 1)
		require.Equal(t, first.Phase, second[0].Phase)
		require.Equal(t, "Bob", second[0].Actor)
	}
}

func TestEachJudgeJudgesOnce(t *testing.T) {
	r := duel(ann, bob)
	r.Judges = []string{"Jo", "Kim"}
	r.Cursor.Round = 3
	for _, stage := range []transcript.Kind{transcript.Setup, transcript.Assessment, transcript.Remark, ""} {
		enter(r, stage)
		require.Empty(t, procon.Protocol{}.Phases(r), stage)
	}
	enter(r, transcript.Conclusion)
	steps := protocol.Next(procon.Protocol{}, r)
	require.Len(t, steps, 2, "at once, so that no judge sees another's judgment")
	for i, s := range steps {
		require.Equal(t, r.Judges[i], s.Actor)
		require.Equal(t, "judgment/1", s.Contract)
		require.True(t, s.Blind)
	}
	r.Judges = nil
	r.Cursor.Round = 4
	require.Empty(t, protocol.Next(procon.Protocol{}, r), "the judges have dropped out")
}

func TestSeveralJudgesJudgeTogether(t *testing.T) {
	type scores [2]float64 // of Ann and Bob
	type said struct {
		summary string
		scores  scores
		winner  string
		stale   bool // no new arguments
	}
	const invalid = "I cannot say."
	for _, tt := range []struct {
		name string
		said []said
		want procon.Judgment
	}{
		{
			"one",
			[]said{{"Ann had figures.", scores{8, 6}, "Ann", true}},
			procon.Judgment{Summary: "Ann had figures.", NoNewArguments: true, Winner: "Ann", Participants: []procon.ParticipantScore{{Name: "Ann", Score: 8}, {Name: "Bob", Score: 6}}},
		},
		{
			"a majority",
			[]said{{"Ann had figures.", scores{8, 6}, "Ann", false}, {"Bob was clear.", scores{5, 9}, "Bob", true}, {"Bob answered.", scores{6, 6.5}, "Bob", true}},
			procon.Judgment{
				Summary: "Bob was clear.", NoNewArguments: true, Winner: "Bob", Participants: []procon.ParticipantScore{{Name: "Ann", Score: 6.33}, {Name: "Bob", Score: 7.17}},
				Dissent: []string{"J0: Ann won: Ann had figures."},
			},
		},
		{
			"no majority",
			[]said{{"Ann had figures.", scores{8, 6}, "Ann", true}, {"Bob was clear.", scores{5, 9}, "Bob", false}},
			procon.Judgment{
				Summary: "The judges did not agree on a winner.", Participants: []procon.ParticipantScore{{Name: "Ann", Score: 6.5}, {Name: "Bob", Score: 7.5}},
				Dissent: []string{"J0: Ann won: Ann had figures.", "J1: Bob won: Bob was clear."},
			},
		},
		{
			"nobody, by a majority",
			[]said{{"They are even.", scores{7, 7}, "", false}, {"Bob was clear.", scores{5, 9}, "Bob", false}, {"A draw.", scores{6, 8}, "", false}},
			procon.Judgment{
				Summary: "They are even.", Participants: []procon.ParticipantScore{{Name: "Ann", Score: 6}, {Name: "Bob", Score: 8}},
				Dissent: []string{"J1: Bob won: Bob was clear."},
			},
		},
		{
			"a judge without a valid reply does not count",
			[]said{{invalid, scores{}, "", false}, {"Bob was clear.", scores{5, 9}, "Bob", true}},
			procon.Judgment{Summary: "Bob was clear.", NoNewArguments: true, Winner: "Bob", Participants: []procon.ParticipantScore{{Name: "Ann", Score: 5}, {Name: "Bob", Score: 9}}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := duel(ann, bob)
			r.Cursor.Round, r.Judges = 3, nil
			for i := range tt.said {
				r.Judges = append(r.Judges, fmt.Sprint("J", i))
			}
			enter(r, transcript.Conclusion)
			require.Empty(t, procon.Protocol{}.Answer(r))
			for i, s := range protocol.Next(procon.Protocol{}, r) {
				said := tt.said[i]
				turn := transcript.Turn{Key: s.Key, Kind: s.Kind, Order: s.Order, Contract: s.Contract, Seq: r.Seq + 1}
				reply, err := procon.JudgmentContract.Parse(fmt.Sprintf(
					`{"summary":%q,"no_new_arguments":%t,"participants":[{"name":"Ann","score":%v},{"name":"Bob","score":%v}],"winner":%q}`,
					said.summary, said.stale, said.scores[0], said.scores[1], said.winner), names)
				require.NoError(t, err)
				if said.summary == invalid {
					reply, _ = procon.JudgmentContract.Default(names)
					turn.Flags = []transcript.Flag{transcript.Defaulted}
				}
				turn.Text, turn.Data = reply.Text, reply.Data
				require.True(t, r.Apply(turn))
			}
			a := procon.Protocol{}.Answer(r)
			var got procon.Judgment
			require.NoError(t, json.Unmarshal(a.Data, &got))
			require.Equal(t, tt.want, got)
			require.Equal(t, tt.want.Text(), a.Text)
		})
	}
}

// With a decision, nobody reads who won the argument: a judgment that names a winner is neither doubted nor warned about.
func TestWithADecisionNoWinnerIsNamed(t *testing.T) {
	against := `{"summary":"So.","no_new_arguments":false,"participants":[{"name":"Ann","score":9},{"name":"Bob","score":1}],"winner":"Bob"}`
	choice := `{"summary":"Yes, then.","reasons":[{"text":"It helps."}],"option":1,"confidence":80}`
	for _, tt := range []struct {
		p        procon.Protocol
		doubts   bool
		warnings []string
	}{
		{p: procon.Protocol{}, doubts: true, warnings: []string{"Jo named Bob the winner against its own scores: Bob has 1 of 10, and Ann has 9."}},
		{p: procon.Protocol{Decision: decision.Task{Options: []string{"Yes", "No"}}}},
	} {
		r := duel(ann, bob)
		r.Cursor.Round = 3
		enter(r, transcript.Conclusion)
		for steps := protocol.Next(tt.p, r); len(steps) > 0; steps = protocol.Next(tt.p, r) {
			s := steps[0]
			if s.Phase != r.Cursor.Phase {
				r.StartPhase(s.Phase, r.Seq+1)
				continue
			}
			turn := transcript.Turn{Key: s.Key, Kind: s.Kind, Order: s.Order, VisibleSeq: s.VisibleSeq, Contract: s.Contract, Seq: r.Seq + 1}
			if s.Contract == procon.JudgmentContract.Name() {
				require.Equal(t, tt.doubts, s.Doubt != nil)
				turn.Data = json.RawMessage(against)
			} else {
				require.Nil(t, s.Doubt)
				turn.Data = json.RawMessage(choice)
			}
			require.True(t, r.Apply(turn))
		}
		a := tt.p.Answer(r)
		require.NotEmpty(t, a.Data)
		require.Equal(t, tt.warnings, a.Warnings)
	}
}

// No judge can claim dissent in a reply of its own.
func TestDissentIsNeverReadFromAReply(t *testing.T) {
	r, err := procon.JudgmentContract.Parse(`{"summary":"Well.","no_new_arguments":true,"participants":[{"name":"Ann","score":1},{"name":"Bob","score":1}],"dissent":["me"]}`, names)
	require.NoError(t, err)
	require.NotContains(t, string(r.Data), "dissent")
}

// The default budget never ends a debate early: all rounds with replies at their limits, and a truncated judgment that is
// requested again with twice its limit, fit into it.
func TestTheDefaultsHaveRoomForAllRounds(t *testing.T) {
	d := procon.Protocol{}.Defaults()
	require.Equal(t, protocol.Defaults{MaxRounds: 5, Time: 10 * time.Minute, OutputTokens: 8000, StepTokens: 600, JudgeTokens: 400}, d)
	r := duel(ann, bob)
	r.MaxRounds = d.MaxRounds
	tokens := 0
	for r.Cursor.Round < r.MaxRounds {
		r.Cursor.Round++
		enter(r, transcript.Speech)
		tokens += len(hold(t, r, 9)) * d.StepTokens
	}
	require.Equal(t, 6000, tokens)
	enter(r, transcript.Conclusion)
	tokens += len(hold(t, r, 9)) * d.JudgeTokens
	require.Equal(t, 6400, tokens)
	require.LessOrEqual(t, tokens+2*d.JudgeTokens, d.OutputTokens)
}

func TestParametersAreStoredInThisForm(t *testing.T) {
	b, err := json.Marshal(procon.Protocol{})
	require.NoError(t, err)
	require.JSONEq(t, `{}`, string(b))
	require.Equal(t, "procon/1", procon.Protocol{}.Name())
}

func TestPromptsOfADebate(t *testing.T) {
	d := prompts.Data{
		Topic: "Should cities ban private cars?", Background: "The council votes in May.", Me: ann, Others: []transcript.Profile{bob},
		Phase: "argue", Round: 1, Rounds: 3, MinRounds: 1, ActiveNames: []string{"Ann", "Bob"}, Nonce: "mark",
	}
	show := func(name, knows string) string {
		system, user := protocoltest.Render(t, name, d)
		require.Contains(t, system, knows)
		for _, text := range []string{system, user} {
			require.NotContains(t, text, "\n\n\n")
		}
		return user + "\n"
	}
	first := show("procon-argue", "begin: your position>>>\n"+ann.Position)
	d.Round = 2
	golden.Require(t, "testdata/procon-argue.golden", first+"========\n"+show("procon-argue", "begin: your position>>>\n"+ann.Position))
	d.Phase, d.Round = "close", 3
	golden.Require(t, "testdata/procon-close.golden", show("procon-close", "begin: your position>>>\n"+ann.Position))
	d.Me = transcript.Profile{Name: "Jo"}
	d.Others = []transcript.Profile{ann, bob}
	d.ReplyFields = procon.JudgmentContract.WithNames("active", d.ActiveNames).Outline()
	golden.Require(t, "testdata/procon-judge.golden", show("procon-judge", "Be impartial"))
}
