package launch_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/integrations/launch"
	"github.com/elenchus-go/debate/judge/decision"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/protocol/mad"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/providers/price"
)

const topic = "Should cities ban private cars?"

// offer returns an offer with purposes of four protocols, and three models: a paid one, a free one and one without a price.
func offer() *launch.Offer {
	people := []debate.Participant{{Name: "Ada", Instructions: "Weigh the options."}, {Name: "Bo"}}
	judges := []debate.Participant{{Name: "Judge"}}
	return &launch.Offer{
		Purposes: []launch.Purpose{
			{Name: "decision", Config: debate.Config{
				Protocol: panel.Protocol{Decision: decision.Task{Options: []string{"Yes", "No"}}}, Participants: people, Judges: judges,
				Limits: debate.Limits{MaxRounds: 2},
			}},
			{Name: "answer", Config: debate.Config{Protocol: vote.Protocol{}, Participants: people}},
			{Name: "sides", Config: debate.Config{
				Protocol:     procon.Protocol{},
				Participants: []debate.Participant{{Name: "Pro", Position: "Yes."}, {Name: "Con", Position: "No."}}, Judges: judges,
			}},
			{Name: "evaluation", Config: debate.Config{
				Protocol:     arbitration.Protocol{Scores: map[string]float64{"problem": 5, "solution": 5, "market": 5}},
				Participants: []debate.Participant{{Name: "Advocate", Role: "advocate"}, {Name: "Challenger", Role: "challenger"}},
				Judges:       judges,
			}},
		},
		Models: []launch.Model{
			{Provider: "openai", Name: "gpt-x", Price: &price.Price{Input: 1, Output: 4}},
			{Provider: "demo", Title: "Demo model", Price: &price.Price{}},
			{Provider: "own", Name: "llama"},
		},
	}
}

func TestCompose(t *testing.T) {
	o := offer()
	c, err := o.Compose(launch.Choice{
		Purpose: "decision", Topic: topic, Background: "Facts.", Options: []string{"Ban", "Tax"}, MaxRounds: 1, Cost: 2,
		Seats:     []launch.Seat{{}, {Person: true}, {Model: "demo"}},
		Documents: []evidence.Document{evidence.Shared("a.md", "Text.")}, Labels: map[string]string{"team": "red"},
	})
	require.NoError(t, err)
	require.Equal(t, debate.Config{
		Topic: topic, Background: "Facts.", Protocol: panel.Protocol{Decision: decision.Task{Options: []string{"Ban", "Tax"}}},
		Participants: []debate.Participant{
			{Name: "Ada", Instructions: "Weigh the options.", Provider: "openai", Model: "gpt-x"}, {Name: "Bo", Human: true},
		},
		Judges: []debate.Participant{{Name: "Judge", Provider: "demo"}}, Limits: debate.Limits{MaxRounds: 1, Cost: 2},
		Documents: []evidence.Document{evidence.Shared("a.md", "Text.")}, Labels: map[string]string{"team": "red"},
		Prices: price.Prices{"gpt-x": {Input: 1, Output: 4}, "": {}},
	}, c)
	require.Equal(t, offer(), o, "the offer stays as it was")

	c, err = o.Compose(launch.Choice{
		Purpose: "sides", Topic: topic, Seats: []launch.Seat{{Position: "Cars must go."}}, Cost: 1,
		Model: "demo",
	})
	require.NoError(t, err)
	require.Equal(t, "Cars must go.", c.Participants[0].Position)
	require.Equal(t, "No.", c.Participants[1].Position)
	require.Zero(t, c.Limits.Cost, "the models cost nothing")
	require.Nil(t, c.Prices)
}

func TestComposeFindsWhatIsNotPossible(t *testing.T) {
	for _, tt := range []struct {
		name, field, reason string
		choice              launch.Choice
	}{
		{"purpose", "purpose", `"fun" is unknown, use one of decision, answer, sides, evaluation`, launch.Choice{Purpose: "fun"}},
		{
			"model", "participants[1].model", `"gpt-9" is not among the models, use one of openai/gpt-x, demo, own/llama`,
			launch.Choice{Purpose: "answer", Seats: []launch.Seat{{}, {Model: "gpt-9"}}},
		},
		{
			"price", "limits.cost", "the price of own/llama is unknown, so that costs cannot be limited",
			launch.Choice{Purpose: "answer", Model: "own/llama", Cost: 1},
		},
		{
			"options", "protocol.decision.options", "debates for evaluation do not decide between options",
			launch.Choice{Purpose: "evaluation", Options: []string{"a", "b"}},
		},
		{
			"scores", "protocol.scores", "debates for answer examine no scores",
			launch.Choice{Purpose: "answer", Scores: map[string]float64{"a": 1}},
		},
		{
			"seats", "seats", "there are 4, and debates for decision have 3",
			launch.Choice{Purpose: "decision", Seats: make([]launch.Seat, 4)},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.choice.Topic = topic
			_, err := offer().Compose(tt.choice)
			var wrong *debate.Problems
			require.ErrorAs(t, err, &wrong)
			require.Equal(t, tt.field, wrong.List[0].Field)
			require.Contains(t, wrong.List[0].Reason, tt.reason)
		})
	}
}

// restricted returns an offer that refuses other debates, with limits.
func restricted() *launch.Offer {
	o := offer()
	o.Only = true
	o.Models = o.Models[:2]
	o.Limits = debate.Limits{MaxRounds: 3, Cost: 2, RunningTime: 10 * time.Minute}
	return o
}

// Everything that people can choose from an offer is admitted.
func TestChoicesAreAdmitted(t *testing.T) {
	o := restricted()
	for _, p := range o.Purposes {
		for _, choice := range []launch.Choice{
			{},
			{
				Background: "Facts.", Seats: []launch.Seat{{Person: true}, {Model: "demo"}}, Cost: 1, MaxRounds: 1,
				Labels: map[string]string{"a": "b"},
			},
			{Model: "demo", Documents: []evidence.Document{evidence.Shared("a.md", "Text.")}},
		} {
			choice.Topic, choice.Purpose = topic, p.Name
			if options, scores := launch.Takes(p.Config.Protocol); options && choice.Background != "" {
				choice.Options = []string{"one", "two", "three"}
			} else if scores && choice.Background != "" {
				choice.Scores = map[string]float64{"problem": 1, "solution": 2, "market": 3}
			}
			c, err := o.Compose(choice)
			require.NoError(t, err)
			require.NoError(t, o.Admit(&c), "%s: %+v", p.Name, choice)
			full, err := launch.Complete(c)
			require.NoError(t, err)
			found, ok := o.PurposeOf(full)
			require.True(t, ok, "a stored debate can be a template: %s %+v", p.Name, choice)
			require.Equal(t, p.Name, found.Name)
			require.LessOrEqual(t, full.Limits.RunningTime, 10*time.Minute)
		}
	}
}

// A restricted offer refuses everything else, whatever field it is in.
func TestOtherDebatesAreRefused(t *testing.T) {
	for _, tt := range []struct {
		name, field string
		change      func(c *debate.Config)
	}{
		{"protocol", "protocol", func(c *debate.Config) { c.Protocol = mad.Protocol{} }},
		{"parameters", "protocol", func(c *debate.Config) { c.Protocol = panel.Protocol{ByScores: true} }},
		{"no decision", "protocol", func(c *debate.Config) { c.Protocol = panel.Protocol{} }},
		{
			"more participants", "participants",
			func(c *debate.Config) { c.Participants = append(c.Participants, debate.Participant{Name: "Cy"}) },
		},
		{"more judges", "judges", func(c *debate.Config) { c.Judges = append(c.Judges, debate.Participant{Name: "Second"}) }},
		{"role", "participants", func(c *debate.Config) { c.Participants[0].Role = "boss" }},
		{"tools", "participants", func(c *debate.Config) { c.Participants[0].Tools = []string{"order"} }},
		{"tokens of a reply", "participants", func(c *debate.Config) { c.Participants[0].MaxTokens = 100_000 }},
		{"reasoning", "judges", func(c *debate.Config) { c.Judges[0].Reasoning = "high" }},
		{
			"model", "participants[1].model",
			func(c *debate.Config) { c.Participants[1].Provider, c.Participants[1].Model = "openai", "gpt-max" },
		},
		{"provider", "judges[0].model", func(c *debate.Config) { c.Judges[0].Provider = "own" }},
		{"substitutes", "substitutes", func(c *debate.Config) {
			c.Substitutes = []debate.Participant{{
				Provider: "openai",
				Model:    "gpt-x",
			}}
		}},
		{"summarizer", "summarizer.model", func(c *debate.Config) { c.Summarizer = debate.Participant{Provider: "own", Model: "llama"} }},
		{"failures", "on_failure", func(c *debate.Config) { c.OnFailure = debate.Ask }},
		{"rounds", "limits.max_rounds", func(c *debate.Config) { c.Limits.MaxRounds = 4 }},
		{"cost", "limits.cost", func(c *debate.Config) { c.Limits.Cost = 3 }},
		{"time", "limits.running_time", func(c *debate.Config) { c.Limits.RunningTime = time.Hour }},
		{"gate", "ask_before_rounds", func(c *debate.Config) { c.AskBeforeRounds = true }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := restricted()
			c, err := o.Compose(launch.Choice{Purpose: "decision", Topic: topic})
			require.NoError(t, err)
			tt.change(&c)
			err = o.Admit(&c)
			var wrong *debate.Problems
			require.ErrorAs(t, err, &wrong)
			require.Equal(t, tt.field, wrong.List[0].Field, wrong.Error())
			o.Only = false
			require.NoError(t, o.Admit(&c))
		})
	}
}

// A client can neither leave out the limits of a restricted offer, nor make its models cheap.
func TestLimitsAndPricesAreThoseOfTheOffer(t *testing.T) {
	o := restricted()
	c := o.Purposes[0].Config
	c.Topic = topic
	c.Prices = price.Prices{"gpt-x": {}}
	require.NoError(t, o.Admit(&c))
	require.Equal(t, 2.0, c.Limits.Cost)
	require.Equal(t, 10*time.Minute, c.Limits.RunningTime)
	require.Equal(t, 2, c.Limits.MaxRounds, "the purpose has fewer rounds")
	require.Equal(t, price.Prices{"gpt-x": {Input: 1, Output: 4}}, c.Prices)
	require.Equal(t, "openai", c.Judges[0].Provider)
	require.Equal(t, "gpt-x", c.Judges[0].Model)
	require.Empty(t, o.Purposes[0].Config.Judges[0].Provider, "the offer stays as it was")
	b, err := json.Marshal(c)
	require.NoError(t, err)
	require.NotEmpty(t, b)
}
