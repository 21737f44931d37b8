package arbitration_test

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/transcript"
)

var scores = map[string]float64{"problem": 7, "solution": 5.5, "market": 4}

// court runs an arbitration without an engine.
type court struct {
	t *testing.T
	p arbitration.Protocol
	r *protocol.Record
}

func sit(t *testing.T, p arbitration.Protocol) *court {
	t.Helper()
	if p.Scores == nil {
		p.Scores = scores
	}
	return &court{t, p, &protocol.Record{
		Participants: []transcript.Profile{{Name: "Ada"}, {Name: "Bo"}}, Judges: []string{"J"}, MaxRounds: 3, Cursor: transcript.Cursor{Run: 1},
	}}
}

func (c *court) begin(stage transcript.Kind, round int) *court {
	c.r.Cursor.Stage = stage
	c.r.Cursor.Round = round
	c.r.Cursor.Phase = ""
	return c
}

func (c *court) next() []protocol.Step {
	steps := protocol.Next(c.p, c.r)
	if len(steps) > 0 && steps[0].Phase != c.r.Cursor.Phase {
		c.r.StartPhase(steps[0].Phase, c.r.Seq+1)
		steps = protocol.Next(c.p, c.r)
	}
	return steps
}

// say commits the next step with a reply.
func (c *court) say(reply string, flags ...transcript.Flag) protocol.Step {
	c.t.Helper()
	steps := c.next()
	require.Len(c.t, steps, 1)
	s := steps[0]
	contract := arbitration.ArgumentContract
	if s.Contract == "ruling/1" {
		contract = arbitration.RulingContract
	}
	got, err := contract.Parse(reply, []string{"Ada", "Bo"})
	require.NoError(c.t, err)
	require.True(c.t, c.r.Apply(transcript.Turn{
		Key: s.Key, Kind: s.Kind, Order: s.Order, VisibleSeq: s.VisibleSeq, Seq: c.r.Seq + 1, Contract: s.Contract, Text: got.Text, Data: got.Data, Flags: flags,
	}))
	return s
}

func argues(claim string) string {
	return fmt.Sprintf(`{"arguments":[{"claim":%q,"reasoning":"R","evidence":"E"}]}`, claim)
}

func rules(winner string, confidence float64) string {
	return fmt.Sprintf(`{"reasoning":"Because.","key_points":["K"],"winner":%q,"confidence":%v}`, winner, confidence)
}

// round runs one complete round.
func (c *court) round(n int, winner string, confidence float64, flags ...transcript.Flag) *court {
	c.t.Helper()
	c.begin(transcript.Speech, n).say(argues("for"))
	c.say(argues("against"))
	c.begin(transcript.Assessment, n).say(rules(winner, confidence), flags...)
	return c
}

func (c *court) result() (res arbitration.Result) {
	c.t.Helper()
	require.NoError(c.t, json.Unmarshal(c.p.Answer(c.r).Data, &res))
	return res
}

func TestEachRoundDisputesATopic(t *testing.T) {
	c := sit(t, arbitration.Protocol{})
	require.Empty(t, c.begin(transcript.Setup, 0).next())
	for round, topic := range []string{"problem validity", "solution fit", "market opportunity"} {
		c.begin(transcript.Speech, round+1)
		for _, name := range []string{"Ada", "Bo"} {
			s := c.say(argues(name))
			require.Equal(t, transcript.Key{Run: 1, Round: round + 1, Phase: "argue", Actor: name}, s.Key)
			require.Equal(t, topic, s.Vars["topic"])
			require.Equal(t, []string{"arbitration-argue", "argument/1"}, []string{s.Prompt, s.Contract})
		}
		require.Empty(t, c.next())
		s := c.begin(transcript.Assessment, round+1).say(rules("draw", 50))
		require.Equal(t, transcript.Key{Run: 1, Round: round + 1, Phase: "rule", Actor: "J"}, s.Key)
		require.Equal(t, topic, s.Vars["topic"])
		require.Equal(t, []string{"arbitration-rule", "ruling/1"}, []string{s.Prompt, s.Contract})
		require.Empty(t, c.next())
		require.Zero(t, c.p.End(c.r), "the limits alone end it")
	}
	require.Empty(t, c.begin(transcript.Conclusion, 3).next(), "it is computed")
	require.Empty(t, c.begin(transcript.Speech, 4).next(), "there is no further topic")
}

func TestWhoIsAdvocateAndWhoChallenges(t *testing.T) {
	for _, tt := range []struct{ name, first, second, advocate string }{
		{"in order", "", "", "Ada"},
		{"by other roles, so in order", "economist", "nurse", "Ada"},
		{"both named", "advocate", "challenger", "Ada"},
		{"both named, the other way round", "challenger", "advocate", "Bo"},
		{"only the challenger is named, and sits first", "challenger", "", "Bo"},
		{"only the advocate is named, and sits second", "nurse", "advocate", "Bo"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := sit(t, arbitration.Protocol{})
			c.r.Participants[0].Role, c.r.Participants[1].Role = tt.first, tt.second
			require.Empty(t, c.p.Check(c.r))
			challenger := map[string]string{"Ada": "Bo", "Bo": "Ada"}[tt.advocate]
			s := c.begin(transcript.Speech, 1).say(argues("A"))
			require.Equal(t, []string{tt.advocate, "advocate", tt.advocate, challenger}, []string{s.Actor, s.Vars["side"], s.Vars["for"], s.Vars["against"]})
			s = c.say(argues("B"))
			require.Equal(t, []string{challenger, "challenger", tt.advocate, challenger}, []string{s.Actor, s.Vars["side"], s.Vars["for"], s.Vars["against"]})
		})
	}
}

func TestTheChallengerHasSeenTheAdvocate(t *testing.T) {
	c := sit(t, arbitration.Protocol{}).begin(transcript.Speech, 1)
	c.say(argues("A"))
	s := c.next()[0]
	require.Nil(t, s.Show, "every speech is shown")
	require.Equal(t, c.r.Turns[0].Seq, s.VisibleSeq)
	require.False(t, c.p.Phases(c.r)[0].Parallel)
}

func TestTheArbiterSeesTheRoundUnderLabels(t *testing.T) {
	c := sit(t, arbitration.Protocol{}).round(1, "advocate", 50).begin(transcript.Speech, 2)
	c.say(argues("A"))
	c.say(argues("B"))
	s := c.begin(transcript.Assessment, 2).next()[0]
	require.True(t, s.Blind)
	var seen []string
	for i := range c.r.Turns {
		if t := &c.r.Turns[i]; s.Show(t) {
			seen = append(seen, t.Key.String())
		}
	}
	require.Equal(t, []string{"1/2/argue/Ada/", "1/2/argue/Bo/"}, seen)
	require.True(t, s.Show(&transcript.Turn{Key: transcript.Key{Round: 2}, Kind: transcript.Remark}))
	require.False(t, s.Show(&transcript.Turn{Key: transcript.Key{Round: 1}, Kind: transcript.Remark}))
}

func TestAdjustmentsFollowTheRule(t *testing.T) {
	for _, tt := range []struct {
		name              string
		before            float64
		winner            string
		confidence        float64
		step, scale, want float64
	}{
		{"the advocate, for sure", 5, "advocate", 100, 1, 10, 6},
		{"the challenger, for sure", 5, "challenger", 100, 1, 10, 4},
		{"the advocate, half sure", 5, "advocate", 50, 1, 10, 5.5},
		{"the challenger, half sure", 5, "challenger", 50, 2, 10, 4},
		{"not sure at all", 5, "advocate", 0, 1, 10, 5},
		{"a draw", 5, "draw", 100, 1, 10, 5},
		{"a draw leaves the score as it was", 5.123, "draw", 100, 1, 10, 5.123},
		{"no confidence leaves the score as it was", 7.005, "advocate", 0, 1, 10, 7.005},
		{"nor does it against the score", 7.005, "challenger", 0, 1, 10, 7.005},
		{"up to the scale", 9.8, "advocate", 100, 1, 10, 10},
		{"at the scale", 10, "advocate", 100, 1, 10, 10},
		{"down to nothing", 0.3, "challenger", 100, 1, 10, 0},
		{"at nothing", 0, "challenger", 100, 1, 10, 0},
		{"in hundredths", 5, "advocate", 33.3, 1, 10, 5.33},
		{"without the dust of binary fractions", 0.1, "advocate", 20, 1, 10, 0.3},
		{"on another scale", 60, "challenger", 80, 10, 100, 52},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := sit(t, arbitration.Protocol{Scores: map[string]float64{"problem": tt.before}, MaxAdjustment: tt.step, Scale: tt.scale}).round(1, tt.winner, tt.confidence)
			require.Equal(t, tt.want, c.result().Topics[0].After)
		})
	}
}

func TestTheResultHoldsScoresBeforeAndAfter(t *testing.T) {
	c := sit(t, arbitration.Protocol{Scores: map[string]float64{"problem": 7, "solution": 9.7, "market": 4, "team": 8}})
	require.Zero(t, c.p.Answer(c.r), "nothing was said")
	c.round(1, "challenger", 80).round(2, "advocate", 90)
	c.begin(transcript.Speech, 3).say(argues("A"))
	res := c.result()
	require.Len(t, res.Topics, 2, "those that were ruled on")
	require.Equal(t, arbitration.Adjustment{
		Round: 1, Topic: "problem validity", Ruling: arbitration.Ruling{Reasoning: "Because.", KeyPoints: []string{"K"}, Winner: "challenger", Confidence: 80},
		ScoreChange: arbitration.ScoreChange{Category: "problem", Before: 7, After: 6.2, Delta: -0.8},
	}, res.Topics[0])
	require.Equal(t, []arbitration.ScoreChange{
		{Category: "market", Before: 4, After: 4},
		{Category: "problem", Before: 7, After: 6.2, Delta: -0.8},
		{Category: "solution", Before: 9.7, After: 10, Delta: 0.3},
		{Category: "team", Before: 8, After: 8},
	}, res.Scores)
	require.Equal(t, arbitration.ScoreChange{Before: 28.7, After: 28.2, Delta: -0.5}, res.Total)
	require.InDelta(t, 10, res.Scale, 0)
}

func TestAFallbackMovesNothing(t *testing.T) {
	safe, ok := arbitration.RulingContract.Default([]string{"Ada", "Bo"})
	require.True(t, ok)
	require.JSONEq(t, `{"reasoning":"The arbiter gave no valid ruling. The score is unchanged.","key_points":[],"winner":"draw","confidence":0}`, string(safe.Data))

	c := sit(t, arbitration.Protocol{}).round(1, "advocate", 100, transcript.Defaulted)
	res := c.result()
	require.True(t, res.Topics[0].Defaulted)
	require.Equal(t, arbitration.ScoreChange{Category: "problem", Before: 7, After: 7}, res.Topics[0].ScoreChange, "whatever it says")
}

func TestTopicsOfOneCategoryBuildOnOneAnother(t *testing.T) {
	topic := func(name string) arbitration.Topic {
		return arbitration.Topic{Name: name, Question: "?", Category: "c", Advocate: "yes", Challenger: "no"}
	}
	c := sit(t, arbitration.Protocol{Topics: []arbitration.Topic{topic("x"), topic("y")}, Scores: map[string]float64{"c": 50}, Scale: 100, MaxAdjustment: 20})
	require.Equal(t, "50", c.begin(transcript.Speech, 1).next()[0].Vars["score"])
	c.round(1, "advocate", 50)
	require.Equal(t, "60", c.begin(transcript.Speech, 2).next()[0].Vars["score"], "the score as it stands now")
	c.round(2, "challenger", 25)
	res := c.result()
	require.Equal(t, arbitration.ScoreChange{Category: "c", Before: 60, After: 55, Delta: -5}, res.Topics[1].ScoreChange)
	require.Equal(t, []arbitration.ScoreChange{{Category: "c", Before: 50, After: 55, Delta: 5}}, res.Scores)
	require.Equal(t, map[string]float64{"c": 50}, c.p.Scores, "parameters stay as they are")
}

func TestARulingStandsAlsoWhereTheArbiterDroppedOut(t *testing.T) {
	c := sit(t, arbitration.Protocol{})
	c.r.Judges = []string{"J", "K"}
	c.round(1, "advocate", 100)
	c.r.Drop("J")
	c.begin(transcript.Speech, 2).say(argues("A"))
	c.say(argues("B"))
	require.Equal(t, "K", c.begin(transcript.Assessment, 2).say(rules("draw", 0)).Actor)
	require.Len(t, c.result().Topics, 2)
	c.r.Drop("K")
	require.Empty(t, c.begin(transcript.Assessment, 3).next())
	c.r.Drop("Bo")
	require.Empty(t, c.begin(transcript.Speech, 3).next())
}

func TestWhatCannotBeReadIsNoRuling(t *testing.T) {
	c := sit(t, arbitration.Protocol{})
	c.begin(transcript.Assessment, 1).r.StartPhase("rule", 1)
	require.True(t, c.r.Apply(transcript.Turn{Key: transcript.Key{Run: 1, Round: 1, Phase: "rule", Actor: "J"}, Kind: transcript.Assessment, Seq: 2, Data: []byte(`{"winner":1}`)}))
	require.Empty(t, c.result().Topics)
	c.round(2, "advocate", 50)
	require.Equal(t, 2, c.result().Topics[0].Round)
}

// Prompts show the current score. Default and invalid rulings do not change it.
func TestOnlyRulingsMoveTheScoreInPrompts(t *testing.T) {
	topics := make([]arbitration.Topic, 4)
	for i := range topics {
		topics[i] = arbitration.Topic{Name: fmt.Sprint(i), Question: "?", Category: "c", Advocate: "yes", Challenger: "no"}
	}
	topics[2].Category = "d"
	c := sit(t, arbitration.Protocol{Topics: topics, Scores: map[string]float64{"c": 5, "d": 1}})
	c.round(1, "advocate", 100, transcript.Defaulted).begin(transcript.Assessment, 2).r.StartPhase("rule", c.r.Seq+1)
	require.True(t, c.r.Apply(transcript.Turn{
		Key: transcript.Key{Run: 1, Round: 2, Phase: "rule", Actor: "J"}, Kind: transcript.Assessment, Seq: c.r.Seq + 1,
		Data: []byte(`{"winner":"nobody","confidence":100}`),
	}))
	require.Equal(t, "1", c.begin(transcript.Speech, 3).next()[0].Vars["score"])
	c.round(3, "advocate", 100)
	require.Equal(t, "5", c.begin(transcript.Speech, 4).next()[0].Vars["score"])
	c.round(4, "challenger", 50)
	require.Equal(t, []arbitration.ScoreChange{{Category: "c", Before: 5, After: 4.5, Delta: -0.5}, {Category: "d", Before: 1, After: 2, Delta: 1}}, c.result().Scores)
}

func TestCheckSaysAllThatIsWrong(t *testing.T) {
	topic := arbitration.Topic{Name: "x", Question: "?", Category: "c", Advocate: "yes", Challenger: "no"}
	same := topic
	same.Challenger = "yes"
	only := func(topics ...arbitration.Topic) arbitration.Protocol {
		return arbitration.Protocol{Topics: topics, Scores: map[string]float64{"c": 1}}
	}
	two := []transcript.Profile{{Name: "Ada"}, {Name: "Bo"}}
	for _, tt := range []struct {
		name   string
		p      arbitration.Protocol
		seats  []transcript.Profile
		judges []string
		rounds int
		want   []string
	}{
		{"the usual topics", arbitration.Protocol{Scores: scores}, two, []string{"J"}, 3, nil},
		{"fewer rounds than topics", arbitration.Protocol{Scores: scores}, two, []string{"J"}, 1, nil},
		{"a topic of one's own", only(topic), two, []string{"J"}, 1, nil},
		{"a score on the edge", arbitration.Protocol{Topics: []arbitration.Topic{topic}, Scores: map[string]float64{"c": 5, "d": 0}, Scale: 5, MaxAdjustment: 5}, two, []string{"J"}, 1, nil},
		{
			"nobody",
			arbitration.Protocol{Scores: scores},
			nil, nil, 3,
			[]string{"participants: 0 enabled, an arbitration takes 2: an advocate and a challenger", "judges: none, an arbitration needs one as the arbiter"},
		},
		{"three", arbitration.Protocol{Scores: scores}, append(two[:2:2], transcript.Profile{Name: "Cy"}), []string{"J"}, 3, []string{"participants: 3 enabled, an arbitration takes 2: an advocate and a challenger"}},
		{"two advocates", arbitration.Protocol{Scores: scores}, []transcript.Profile{{Name: "Ada", Role: "advocate"}, {Name: "Bo", Role: "advocate"}}, []string{"J"}, 3, []string{`participants[1].role: "advocate" is taken by Ada`}},
		{"two challengers", arbitration.Protocol{Scores: scores}, []transcript.Profile{{Name: "Ada", Role: "challenger"}, {Name: "Bo", Role: "challenger"}}, []string{"J"}, 3, []string{`participants[1].role: "challenger" is taken by Ada`}},
		{"two nurses", arbitration.Protocol{Scores: scores}, []transcript.Profile{{Name: "Ada", Role: "nurse"}, {Name: "Bo", Role: "nurse"}}, []string{"J"}, 3, nil},
		{"more rounds than topics", arbitration.Protocol{Scores: scores}, two, []string{"J"}, 4, []string{"limits.max_rounds: 4, use at most 3, one round for each topic"}},
		{
			"no scores",
			arbitration.Protocol{},
			two,
			[]string{"J"},
			3,
			[]string{
				`protocol.scores: no score for "problem", the category of topic "problem validity"`,
				`protocol.scores: no score for "solution", the category of topic "solution fit"`,
				`protocol.scores: no score for "market", the category of topic "market opportunity"`,
			},
		},
		{
			"scores beyond the scale",
			arbitration.Protocol{Scores: map[string]float64{"problem": -1, "solution": 10.1, "market": math.NaN()}},
			two,
			[]string{"J"},
			3,
			[]string{
				"protocol.scores.market: NaN, use a number from 0 to 10", "protocol.scores.problem: -1, use a number from 0 to 10",
				"protocol.scores.solution: 10.1, use a number from 0 to 10",
			},
		},
		{"no scale", arbitration.Protocol{Scores: scores, Scale: -1}, two, []string{"J"}, 3, []string{"protocol.scale: -1, use a number above 0 and at most 1e+09"}},
		{"an infinite scale", arbitration.Protocol{Scores: scores, Scale: math.Inf(1)}, two, []string{"J"}, 3, []string{"protocol.scale: +Inf, use a number above 0 and at most 1e+09"}},
		{"a scale that is no number", arbitration.Protocol{Scores: scores, Scale: math.NaN()}, two, []string{"J"}, 3, []string{"protocol.scale: NaN, use a number above 0 and at most 1e+09"}},
		{"a step that is no number", arbitration.Protocol{Scores: scores, MaxAdjustment: math.NaN()}, two, []string{"J"}, 3, []string{"protocol.max_adjustment: NaN, use a number above 0 and at most 10, the scale"}},
		{"a step backwards", arbitration.Protocol{Scores: scores, MaxAdjustment: -1}, two, []string{"J"}, 3, []string{"protocol.max_adjustment: -1, use a number above 0 and at most 10, the scale"}},
		{"a step beyond the scale", arbitration.Protocol{Scores: scores, MaxAdjustment: 11}, two, []string{"J"}, 3, []string{"protocol.max_adjustment: 11, use a number above 0 and at most 10, the scale"}},
		{
			"an empty topic", only(arbitration.Topic{}), two,
			[]string{"J"},
			1,
			[]string{
				"protocol.topics[0].name: it is blank, a topic needs a name, a question, a category and both positions",
				"protocol.topics[0].question: it is blank, a topic needs a name, a question, a category and both positions",
				"protocol.topics[0].category: it is blank, a topic needs a name, a question, a category and both positions",
				"protocol.topics[0].advocate: it is blank, a topic needs a name, a question, a category and both positions",
				"protocol.topics[0].challenger: it is blank, a topic needs a name, a question, a category and both positions",
			},
		},
		{"a topic twice", only(topic, topic), two, []string{"J"}, 2, []string{`protocol.topics[1].name: "x" is also the name of topics[0]`}},
		{"one position", only(same), two, []string{"J"}, 1, []string{`protocol.topics[0].challenger: "yes" is also the position of the advocate`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, p := range tt.p.Check(&protocol.Record{Participants: tt.seats, Judges: tt.judges, MaxRounds: tt.rounds}) {
				got = append(got, p.String())
			}
			require.Equal(t, tt.want, got)
		})
	}
}

func TestParametersAreStoredInThisForm(t *testing.T) {
	p := arbitration.Protocol{
		Topics:   []arbitration.Topic{{Name: "n", Question: "q", Category: "c", Advocate: "a", Challenger: "b"}},
		Evidence: []string{"e"}, Scores: map[string]float64{"c": 1.5}, Challenges: []string{"o"}, Scale: 5, MaxAdjustment: 0.5,
	}
	b, err := json.Marshal(p)
	require.NoError(t, err)
	require.JSONEq(t, `{"topics":[{"name":"n","question":"q","category":"c","advocate":"a","challenger":"b"}],
		"evidence":["e"],"scores":{"c":1.5},"challenges":["o"],"scale":5,"max_adjustment":0.5}`, string(b))
	var back arbitration.Protocol
	require.NoError(t, json.Unmarshal(b, &back))
	require.Equal(t, p, back)

	require.Equal(t, "arbitration/1", p.Name())
	require.Equal(t, protocol.Defaults{MaxRounds: 1}, p.Defaults())
	require.Equal(t, protocol.Defaults{MaxRounds: 3}, arbitration.Protocol{}.Defaults())
	require.Implements(t, (*protocol.Protocol)(nil), p)
	require.Implements(t, (*protocol.Defaulter)(nil), p)
	require.Implements(t, (*protocol.Answerer)(nil), p)
}

func TestArguments(t *testing.T) {
	for _, tt := range []struct{ name, json, text, err string }{
		{
			"two", `{"arguments":[{"claim":"C","reasoning":"R","evidence":"E"},{"claim":"D","reasoning":"S","evidence":"none"}]}`,
			"1. C\nReasoning: R\nEvidence: E\n2. D\nReasoning: S\nEvidence: none", "",
		},
		{"none", `{"arguments":[]}`, "", "/arguments"},
		{"no list", `{}`, "", "arguments"},
		{"without reasoning", `{"arguments":[{"claim":"C","evidence":"E"}]}`, "", "reasoning"},
		{"with an empty claim", `{"arguments":[{"claim":"","reasoning":"R","evidence":"E"}]}`, "", "/arguments/0/claim"},
		{"with blank evidence", `{"arguments":[{"claim":"C","reasoning":"R","evidence":" \n"}]}`, "", "/arguments/0/evidence: it is blank"},
		{"as prose", `I object.`, "", "no JSON object"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := arbitration.ArgumentContract.Parse(tt.json, nil)
			if tt.err != "" {
				require.ErrorContains(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.text, got.Text)
		})
	}
	_, ok := arbitration.ArgumentContract.Default(nil)
	require.False(t, ok, "nobody argues by default")
}

func TestRulings(t *testing.T) {
	for _, tt := range []struct{ name, json, text, err string }{
		{"a winner", rules("advocate", 72.5), "Winner: advocate (confidence 72.5 of 100)\nBecause.\n- K", ""},
		{"a draw", `{"reasoning":"B","key_points":[],"winner":"draw","confidence":100}`, "Winner: draw (confidence 100 of 100)\nB", ""},
		{"a name for a side", rules("Ada", 50), "", "/winner"},
		{"confidence as a share", rules("advocate", 0.7), "", "/confidence: 0.7 looks like a share of 1"},
		{"certain, as a share", rules("advocate", 1), "", "/confidence: 1 looks like a share of 1"},
		{"not sure at all", rules("draw", 0), "Winner: draw (confidence 0 of 100)\nBecause.\n- K", ""},
		{"too sure", rules("draw", 101), "", "/confidence"},
		{"less than unsure", rules("draw", -1), "", "/confidence"},
		{"no reasoning", `{"reasoning":"","key_points":[],"winner":"draw","confidence":1}`, "", "/reasoning"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := arbitration.RulingContract.Parse(tt.json, nil)
			if tt.err != "" {
				require.ErrorContains(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.text, got.Text)
		})
	}
}
