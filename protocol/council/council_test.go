package council_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/golden"
	"github.com/elenchus-go/debate/internal/test/protocoltest"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/prompts"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/council"
	"github.com/elenchus-go/debate/transcript"
)

var (
	_ protocol.Defaulter = council.Protocol{}
	_ protocol.Answerer  = council.Protocol{}
)

// session is a council without an engine.
type session struct {
	*protocoltest.Session
	p council.Protocol
}

var contracts = map[string]*reply.Contract{
	council.RankingContract.Name(): council.RankingContract, council.AnswerContract.Name(): council.AnswerContract,
}

// convene returns a council with a chair before its round.
func convene(t testing.TB, p council.Protocol, names ...string) *session {
	s := &session{protocoltest.New(t, p, names, []string{"Chair"}), p}
	s.Contracts = contracts
	return s
}

// answer commits the answers of all members. Those in absent drop out.
func (s *session) answer(absent ...string) {
	s.T.Helper()
	for _, step := range s.Begin(transcript.Speech, 1) {
		if slices.Contains(absent, step.Actor) {
			s.Drop(step.Actor)
			continue
		}
		s.Say(step, "The answer of "+step.Actor+".")
	}
}

// rank commits rankings, such as "A: B C", which list answers from best to worst. "A: !" is an invalid reply. A member
// without a ranking drops out.
func (s *session) rank(rankings ...string) {
	s.T.Helper()
	steps := s.Begin(transcript.Speech, 1)
	for _, step := range steps {
		at := slices.IndexFunc(rankings, func(k string) bool { return strings.HasPrefix(k, step.Actor+":") })
		if at < 0 {
			s.Drop(step.Actor)
			continue
		}
		k := council.Ranking{Ranking: []council.Ranked{}}
		for _, name := range strings.Fields(rankings[at])[1:] {
			k.Ranking = append(k.Ranking, council.Ranked{Name: name})
		}
		s.Say(step, debatetest.Encode(s.T, k))
	}
	require.Empty(s.T, s.Begin(transcript.Speech, 1))
}

// conclude commits the chair's answer, or an invalid reply if it is empty, and returns the answer of the debate.
func (s *session) conclude(answer string) (text string, res council.Result) {
	s.T.Helper()
	s.Ending = transcript.Ending{Outcome: transcript.RoundLimit}
	for _, step := range s.Begin(transcript.Conclusion, 1) {
		s.Say(step, debatetest.Encode(s.T, council.ChairAnswer{Answer: answer, Disagreements: []string{}}))
	}
	require.Empty(s.T, s.Begin(transcript.Conclusion, 1))
	s.Cursor.Stage = "" // the debate is over
	return s.result()
}

func (s *session) result() (text string, res council.Result) {
	s.T.Helper()
	a := s.p.Answer(&s.Record)
	a.Type = s.p.Name()
	res, err := council.DecodeAnswer(a)
	require.NoError(s.T, err)
	return a.Text, res
}

// places returns the standings, such as "1 B 0.75x2" for a score from two rankings.
func places(res council.Result) (list []string) {
	for _, s := range res.Standings {
		list = append(list, fmt.Sprintf("%d %s %gx%d", s.Place, s.Member, s.Score, s.Rankings))
	}
	return list
}

func TestTheBordaCount(t *testing.T) {
	for _, tt := range []struct {
		name     string
		p        council.Protocol
		members  string
		absent   []string
		rankings []string
		want     []string
	}{
		{
			"all rank all others",
			council.Protocol{},
			"A B C D", nil,
			[]string{"A: B C D", "B: C D A", "C: B D A", "D: B C A"},
			[]string{"1 B 1x3", "2 C 0.6667x3", "3 D 0.3333x3", "4 A 0x3"},
		},
		{
			"a circle is a tie",
			council.Protocol{},
			"A B C", nil,
			[]string{"A: B C", "B: C A", "C: A B"},
			[]string{"1 A 0.5x2", "1 B 0.5x2", "1 C 0.5x2"},
		},
		{
			"a tie of the first two, and the place after it",
			council.Protocol{},
			"A B C D", nil,
			[]string{"A: B C D", "B: A C D", "C: A B D", "D: B A C"},
			[]string{"1 A 0.8333x3", "1 B 0.8333x3", "3 C 0.3333x3", "4 D 0x3"},
		},
		{
			"an invalid ranking does not count",
			council.Protocol{},
			"A B C", nil,
			[]string{"A: B C", "B: !", "C: B A"},
			[]string{"1 B 1x2", "2 A 0x1", "2 C 0x1"},
		},
		{
			"an answer that nobody ranked is in the middle",
			council.Protocol{},
			"A B C", nil,
			[]string{"A: B C", "B: !", "C: !"},
			[]string{"1 B 1x1", "2 A 0.5x0", "3 C 0x1"},
		},
		{"no ranking at all", council.Protocol{}, "A B C", nil, []string{"A: !", "B: !", "C: !"}, []string{"1 A 0.5x0", "1 B 0.5x0", "1 C 0.5x0"}},
		{
			"families rank fewer answers",
			council.Protocol{Families: [][]string{{"A", "B"}}},
			"A B C D", nil,
			[]string{"A: C D", "B: D C", "C: A B D", "D: A C B"},
			[]string{"1 A 1x2", "2 C 0.5x3", "3 D 0.3333x3", "4 B 0.25x2"},
		},
		{
			"one answer to rank gives half a point",
			council.Protocol{Families: [][]string{{"A", "B"}}},
			"A B C", nil,
			[]string{"A: C", "B: C", "C: B A"},
			[]string{"1 B 1x1", "2 C 0.5x2", "3 A 0x1"},
		},
		{
			"a member that dropped out before it answered",
			council.Protocol{},
			"A B C D",
			[]string{"B"},
			[]string{"A: C D", "C: D A", "D: C A"},
			[]string{"1 C 1x2", "2 D 0.5x2", "3 A 0x2"},
		},
		{
			"the answer of a member that dropped out while ranking counts",
			council.Protocol{},
			"A B C D", nil,
			[]string{"A: B C D", "C: B D A", "D: B C A"},
			[]string{"1 B 1x3", "2 C 0.5x2", "3 D 0.25x2", "4 A 0x2"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := convene(t, tt.p, strings.Fields(tt.members)...)
			s.answer(tt.absent...)
			s.rank(tt.rankings...)
			_, res := s.result()
			require.Equal(t, tt.want, places(res))
			require.Empty(t, res.Answer, "the debate has not ended")
		})
	}
}

// With rankings of one size, the order is that of the mean places.
func TestBordaPointsOrderAnswersLikeMeanPlaces(t *testing.T) {
	s := convene(t, council.Protocol{}, "A", "B", "C", "D", "E")
	s.answer()
	all := []string{"A: B C D E", "B: E C A D", "C: A B E D", "D: A C B E", "E: C A D B"}
	s.rank(all...)
	_, res := s.result()
	mean := func(member string) float64 {
		sum, n := 0, 0
		for _, k := range all {
			if at := slices.Index(strings.Fields(k)[1:], member); at >= 0 {
				sum, n = sum+at, n+1
			}
		}
		return float64(sum) / float64(n)
	}
	for i, x := range res.Standings[1:] {
		require.GreaterOrEqual(t, mean(x.Member), mean(res.Standings[i].Member))
	}
}

// What is missing stands above the answer, in the text and in the data.
func TestWhatIsMissingStandsAboveTheAnswer(t *testing.T) {
	for _, tt := range []struct {
		name     string
		absent   []string
		rankings []string
		partial  string // whose answer is incomplete
		chair    string
		dropped  bool // the chair drops out
		notes    []string
		by       string
		standIn  bool
	}{
		{name: "nothing", rankings: []string{"A: B C", "B: C A", "C: B A"}, chair: "Final.", by: "Chair"},
		{
			name: "the chair", rankings: []string{"A: B C", "B: C A", "C: B A"},
			notes: []string{"The chair gave no valid answer. The best-ranked answer, that of B, stands in."}, by: "B", standIn: true,
		},
		{
			name: "the chair, dropped", rankings: []string{"A: B C", "B: C A", "C: B A"}, dropped: true,
			notes: []string{"The chair gave no valid answer. The best-ranked answer, that of B, stands in."}, by: "B", standIn: true,
		},
		{
			name: "the chair after a tie", rankings: []string{"A: B C", "B: C A", "C: A B"},
			notes: []string{"The chair gave no valid answer. The answer of A stands in. It shares the first place with that of B and C."}, by: "A", standIn: true,
		},
		{
			name: "all rankings and the chair", rankings: []string{"A: !", "B: !", "C: !"},
			notes: []string{
				"The chair gave no valid answer. No ranking shows which answer is best. The answer of A, the first in the list, stands in.",
				"A gave no valid ranking.", "B gave no valid ranking.", "C gave no valid ranking.",
			}, by: "A", standIn: true,
		},
		{name: "an invalid ranking", rankings: []string{"A: B C", "B: B A", "C: B A"}, chair: "Final.", by: "Chair", notes: []string{"B gave no valid ranking."}},
		{name: "a member that dropped out while ranking", rankings: []string{"A: B C", "C: B A"}, chair: "Final.", by: "Chair", notes: []string{"B gave no valid ranking."}},
		{name: "an answer", absent: []string{"B"}, rankings: []string{"A: C", "C: A"}, chair: "Final.", by: "Chair", notes: []string{"B gave no answer."}},
		{name: "all answers but one", absent: []string{"A", "C"}, chair: "Final.", by: "Chair", notes: []string{"A gave no answer.", "C gave no answer."}},
		{
			name: "a part of an answer", partial: "C", rankings: []string{"A: B C", "B: C A", "C: B A"}, chair: "Final.", by: "Chair",
			notes: []string{"The answer of C is incomplete."},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := convene(t, council.Protocol{}, "A", "B", "C")
			s.answer(tt.absent...)
			for i := range s.Turns {
				if s.Turns[i].Actor == tt.partial {
					s.Turns[i].Flags = []transcript.Flag{transcript.Partial}
				}
			}
			s.rank(tt.rankings...)
			if tt.dropped {
				s.Drop("Chair")
			}
			text, res := s.conclude(tt.chair)
			require.Equal(t, tt.notes, res.Notes)
			require.Equal(t, tt.by, res.By)
			require.Equal(t, tt.standIn, res.StandIn)
			want := "Final."
			if tt.standIn {
				want = "The answer of " + tt.by + "."
			}
			require.Equal(t, want, res.Answer)
			require.True(t, strings.HasPrefix(text, strings.Join(append(tt.notes, want), "\n\n")), text)
		})
	}
}

func TestASubstituteForTheChairIsNamed(t *testing.T) {
	s := convene(t, council.Protocol{}, "A", "B", "C")
	s.answer()
	s.rank("A: B C", "B: C A", "C: B A")
	s.Ending = transcript.Ending{Outcome: transcript.RoundLimit}
	s.Say(s.Begin(transcript.Conclusion, 1)[0], debatetest.Encode(t, council.ChairAnswer{Answer: "Final.", Disagreements: []string{"B differs."}}), transcript.Substituted)
	text, res := s.result()
	require.Equal(t, []string{"The chair's model failed. A substitute wrote the answer."}, res.Notes)
	require.Equal(t, "The chair's model failed. A substitute wrote the answer.\n\nFinal.\n\nWhere the answers differ:\n- B differs.\n\n"+
		"Ranks of the answers, with scores from 0 to 1:\n1. B: 1\n2. C: 0.5\n3. A: 0", text)
}

// The chair's answer is pending while the debate concludes, and a canceled debate has none.
func TestTheAnswerBeforeTheEnd(t *testing.T) {
	s := convene(t, council.Protocol{}, "A", "B", "C")
	require.Zero(t, s.p.Answer(&s.Record))
	s.answer()
	text, res := s.result()
	require.Equal(t, "Ranks of the answers, with scores from 0 to 1:\n1. A: not ranked\n1. B: not ranked\n1. C: not ranked", text)
	require.Empty(t, res.Rankings)
	s.rank("A: B C", "B: C A", "C: B A")
	s.Ending = transcript.Ending{Outcome: transcript.RoundLimit}
	s.Begin(transcript.Conclusion, 1)
	_, res = s.result()
	require.Empty(t, res.Answer+res.By)
	require.Empty(t, res.Notes)
	s.Ending, s.Cursor.Stage = transcript.Ending{Outcome: transcript.Canceled}, ""
	_, res = s.result()
	require.Empty(t, res.Answer+res.By)
	require.Empty(t, res.Notes)
}

func TestRankingsAreValidated(t *testing.T) {
	names := []string{"Ann", "Bo"}
	for reply, want := range map[string]string{
		`{"comparison":"c","ranking":[{"name":"ann","reason":"r"},{"name":" BO ","reason":"r"}]}`:                           "",
		`{"comparison":"c","ranking":[{"name":"Ann","reason":"r"}]}`:                                                        `/ranking: "Bo" is not ranked`,
		`{"comparison":"c","ranking":[]}`:                                                                                   `/ranking: "Ann" is not ranked; /ranking: "Bo" is not ranked`,
		`{"comparison":"c","ranking":[{"name":"Ann","reason":"r"},{"name":"Ann","reason":"r"},{"name":"Bo","reason":"r"}]}`: `/ranking/1/name: "Ann" appears twice`,
		`{"comparison":"c","ranking":[{"name":"Ann","reason":"r"},{"name":"Bo","reason":"r"},{"name":"Me","reason":"r"}]}`:  `/ranking/2/name: "Me" is not a participant; the participants are ["Ann" "Bo"]`,
		`{"ranking":[{"name":"Ann","reason":"r"},{"name":"Bo","reason":"r"}]}`:                                              `the reply: missing properties: 'comparison'`,

		`{"comparison":"c","ranking":{"Bo":{"reason":"r","place":2},"Ann":{"reason":"r","place":1}}}`:                                "",
		`{"comparison":"c","ranking":[{"name":"Bo","reason":"r","place":5},{"name":"Ann","reason":"r","place":3}]}`:                  "",
		`{"comparison":"c","ranking":{"Bo":{"reason":"r"},"Ann":{"reason":"r","place":1}}}`:                                          `/ranking/Bo: missing properties: 'place'`,
		`{"comparison":"c","ranking":{"Bo":"r","Ann":"r"}}`:                                                                          `/ranking/Ann: expected object, but got string; /ranking/Bo: expected object, but got string`,
		`{"comparison":"c","ranking":{"Ann":{"reason":"r","place":1}}}`:                                                              `/ranking: "Bo" is not ranked`,
		`{"comparison":"c","ranking":[{"name":"Ann","reason":"r","place":1},{"name":"Bo","reason":"r"}]}`:                            `/ranking/1: missing properties: 'place'`,
		`{"comparison":"c","ranking":{"Ann":{"reason":"r","place":0},"Bo":{"reason":"r","place":17},"Me":{"reason":"r","place":1}}}`: `/ranking/Ann/place: must be >= 1 but found 0; /ranking/Bo/place: must be <= 16 but found 17`,
		`{"comparison":"c","ranking":{"Ann":{"reason":"r","place":1},"Bo":{"reason":"r","place":2},"Me":{"reason":"r","place":3}}}`:  `/ranking/Me: "Me" is not a participant; the participants are ["Ann" "Bo"]`,
		`{"comparison":"c","ranking":{"Ann":{"reason":"r","place":1},"ann":{"reason":"r","place":1},"Bo":{"reason":"r","place":2}}}`: `/ranking/ann: "Ann" appears twice`,
		`{"comparison":"c","ranking":{"Ann":{"name":"Bo","reason":"r","place":1},"Bo":{"name":"bo","reason":"r","place":2}}}`:        `/ranking/Ann/name: "Bo" contradicts the name of the property`,
	} {
		read, err := council.RankingContract.Parse(reply, names)
		if want != "" {
			require.EqualError(t, err, "parse reply: "+want)
			continue
		}
		require.NoError(t, err)
		require.JSONEq(t, `{"comparison":"c","ranking":[{"name":"Ann","reason":"r","place":1},{"name":"Bo","reason":"r","place":2}]}`, string(read.Data))
		require.Equal(t, "1. Ann: r\n2. Bo: r\nc", read.Text)
	}
	read, ok := council.RankingContract.Default(names)
	require.True(t, ok)
	require.Equal(t, "The member gave no valid ranking.", read.Text)
}

// A schema cannot exclude that two answers have one place. They share it.
func TestAnswersMayShareAPlace(t *testing.T) {
	names := []string{"A", "B", "C", "D"}
	c := council.RankingContract.WithNames("active", names)
	require.Contains(t, string(c.Schema()), `"place":{"type":"integer","enum":[1,2,3,4]}`)
	read, err := c.Parse(`{"comparison":"","ranking":{"A":{"reason":"r","place":4},"B":{"reason":"","place":2},"C":{"reason":"","place":2},"D":{"reason":"","place":1}}}`, names)
	require.NoError(t, err)
	require.Equal(t, "1. D\n2. B\n2. C\n4. A: r", read.Text)

	s := convene(t, council.Protocol{}, "Ada", "Bo", "Cy", "Di")
	s.answer()
	for i, step := range s.Begin(transcript.Speech, 1) {
		places := [][3]int{{1, 1, 3}, {2, 3, 1}, {1, 2, 2}, {1, 1, 1}}[i]
		var list []string
		for j, name := range s.p.Names(&s.Record, step) {
			list = append(list, fmt.Sprintf(`"%s":{"reason":"","place":%d}`, name, places[j]))
		}
		s.Say(step, `{"comparison":"","ranking":{`+strings.Join(list, ",")+`}}`)
	}
	_, res := s.result()
	require.Equal(t, council.MemberRanking{Member: "Ada", Best: []string{"Bo", "Cy", "Di"}, Places: []int{1, 1, 3}}, res.Rankings[0])
	require.Equal(t, council.MemberRanking{Member: "Bo", Best: []string{"Di", "Ada", "Cy"}}, res.Rankings[1])
	want := map[string]float64{"Ada": 0.6667, "Bo": 0.5, "Cy": 0.4167, "Di": 0.4167} // (.5+1+.5)/3, (.75+.25+.5)/3, (.75+0+.5)/3, (0+1+.25)/3
	for _, x := range res.Standings {
		require.InDelta(t, want[x.Member], x.Score, 1e-9, x.Member)
	}
}

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		name    string
		p       council.Protocol
		members string
		change  func(*session)
		want    []string
	}{
		{name: "three members", members: "A B C"},
		{name: "two members", members: "A B", want: []string{"participants: 2 enabled, a council takes 3 to 16"}},
		{name: "one is left", members: "A", change: func(s *session) { s.Cursor.Round = 1 }},
		{name: "nobody is left", change: func(s *session) { s.Cursor.Round = 1 }, want: []string{"participants: 0 enabled, a council that has begun needs 1"}},
		{name: "seventeen members", members: "A B C D E F G H I J K L M N O P Q", want: []string{"participants: 17 enabled, a council takes 3 to 16"}},
		{name: "no chair", members: "A B C", change: func(s *session) { s.Judges = nil }, want: []string{"judges: none, a council needs a chair"}},
		{
			name: "two chairs", members: "A B C", change: func(s *session) { s.Judges = append(s.Judges, "K") },
			want: []string{`judges[1]: "K" has no task, the protocol takes one judge; move a replacement for "Chair" to substitutes`},
		},
		{name: "two rounds", members: "A B C", change: func(s *session) { s.MaxRounds = 2 }, want: []string{"limits.max_rounds: 2, a council has 1 round"}},
		{name: "families", p: council.Protocol{Families: [][]string{{"A", "B"}, {"C"}}}, members: "A B C"},
		{
			name: "wrong families", p: council.Protocol{Families: [][]string{{"A", "X"}, {"A"}, {"A", "B", "C"}}}, members: "A B C",
			want: []string{
				`protocol.families[0]: "X" is not a participant, the participants are ["A" "B" "C"]`,
				`protocol.families[1]: "A" is listed twice, list each participant once`,
				`protocol.families[2]: "A" is listed twice, list each participant once`,
				"protocol.families[2]: it has all participants, so nobody would rank an answer; leave one out",
			},
		},
		{name: "families after the start", p: council.Protocol{Families: [][]string{{"A", "X"}}}, members: "A B C", change: func(s *session) { s.Cursor.Round = 1 }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := convene(t, tt.p, strings.Fields(tt.members)...)
			if tt.change != nil {
				tt.change(s)
			}
			var got []string
			for _, p := range s.p.Check(&s.Record) {
				got = append(got, p.String())
			}
			require.Equal(t, tt.want, got)
		})
	}
}

// A phase that has begun does not change when a member drops out, except for that member's step.
func TestTheOthersRankTheSameAnswersAfterADrop(t *testing.T) {
	s := convene(t, council.Protocol{}, "A", "B", "C", "D")
	s.answer()
	before := map[string][]string{}
	for _, step := range s.Begin(transcript.Speech, 1) {
		before[step.Actor] = s.p.Names(&s.Record, step)
	}
	s.Drop("B")
	after := s.Begin(transcript.Speech, 1)
	require.Len(t, after, 3)
	for _, step := range after {
		require.ElementsMatch(t, before[step.Actor], s.p.Names(&s.Record, step))
		for i := range s.Turns {
			require.Equal(t, s.Turns[i].Actor != step.Actor, step.Show(&s.Turns[i]))
		}
	}
}

func TestGoldenPrompts(t *testing.T) {
	s := convene(t, council.Protocol{}, "Ada", "Bo", "Cy")
	show := func(step protocol.Step) {
		d := prompts.Data{
			Topic: "How should a small team back up its database?", Background: "It has two machines.", Round: 1, Rounds: 1, Nonce: "mark",
			Me:   transcript.Profile{Name: step.Actor, Role: "engineer", Persona: "Has lost a database once.", Instructions: "Be brief."},
			Vars: step.Vars, Blind: step.Blind,
		}
		if s.p.Names(&s.Record, step) != nil {
			d.ActiveNames = []string{"Debater A", "Debater B"}
		}
		if c := contracts[step.Contract]; c != nil {
			d.ReplyFields = c.WithNames("active", d.ActiveNames).Outline()
		}
		system, user := protocoltest.Render(t, step.Prompt, d)
		golden.Require(t, "testdata/"+step.Prompt+".golden", "======== system\n"+system+"\n======== user\n"+user+"\n")
	}
	show(s.Begin(transcript.Speech, 1)[0])
	s.answer()
	show(s.Begin(transcript.Speech, 1)[0])
	s.rank("Ada: Bo Cy", "Bo: Cy Ada", "Cy: Bo Ada")
	show(s.Begin(transcript.Conclusion, 1)[0])
}
