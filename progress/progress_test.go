package progress_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/progress"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
)

const (
	assessment = `{"participants": [%s, %s], "quality": 7, "should_continue": true}`
	score      = `{"name": %q, "criteria": [{"criterion": "logical_consistency", "score": 7}, {"criterion": "evidence", "score": 7},
		{"criterion": "engagement", "score": 7}, {"criterion": "novelty", "score": 7}, {"criterion": "persuasiveness", "score": 7},
		{"criterion": "relevance", "score": 7}]}`
)

// model speaks, and judges A and B.
func model(fail error) *scripted.Provider {
	calls := 0
	return &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
		switch calls++; {
		case fail != nil && calls == 2:
			return scripted.Reply{Err: fail}
		case r.Reply == "assessment/1":
			return scripted.Reply{Text: fmt.Sprintf(assessment, fmt.Sprintf(score, "A"), fmt.Sprintf(score, "B"))}
		case r.Reply == "verdict/1":
			return scripted.Reply{Text: `{"summary": "A draw.", "quality": 70}`}
		}
		return scripted.Reply{Text: "So it is."}
	}}
}

func config(p protocol.Protocol) debate.Config {
	return debate.Config{
		ID: "d", Topic: "Cats?", Protocol: p, Limits: debate.Limits{MaxRounds: 2},
		Participants: []debate.Participant{{Name: "A"}, {Name: "B"}}, Judges: []debate.Participant{{Name: "J"}},
	}
}

// told are the marks of a debate that is driven to its rest, each start of which has one end.
func told(t *testing.T, d *debate.Debate) (list []string) {
	t.Helper()
	open := map[string]int{}
	tell := func(m progress.Mark) {
		list = append(list, m.String())
		key := fmt.Sprint(m.What, m.Round, m.Phase, m.Key)
		if open[key]++; m.End {
			open[key] -= 2
		}
		require.Contains(t, []int{0, 1}, open[key], "%s", m)
	}
	h := progress.Hooks{Round: tell, Phase: tell, Agent: tell, Summary: tell, Synthesis: tell}
	for ev, err := range d.Run(t.Context()) {
		if err == nil {
			h.See(ev)
		}
	}
	for what, n := range open {
		require.Zero(t, n, what)
	}
	return list
}

func open(t *testing.T, c debate.Config, m providers.Provider) *debate.Debate {
	t.Helper()
	d, err := debate.New(t.Context(), c, debate.Options{Providers: map[string]providers.Provider{"m": m}})
	require.NoError(t, err)
	return d
}

func TestMarksOfAPanel(t *testing.T) {
	require.Equal(t, []string{
		"round 1 of 2 starts",
		"respond 0/2 starts", "respond 0/2: A starts", "respond 1/2: A ends", "respond 1/2: B starts", "respond 2/2: B ends", "respond 2/2 ends",
		"assess 0/1 starts", "assess 0/1: J starts", "assess 1/1: J ends", "assess 1/1 ends",
		"round 1 of 2 ends",
		"round 2 of 2 starts",
		"respond 0/2 starts", "respond 0/2: A starts", "respond 1/2: A ends", "respond 1/2: B starts", "respond 2/2: B ends", "respond 2/2 ends",
		"assess 0/1 starts", "assess 0/1: J starts", "assess 1/1: J ends", "assess 1/1 ends",
		"round 2 of 2 ends",
		"the synthesis starts", "verdict 0/1 starts", "verdict 0/1: J starts", "verdict 1/1: J ends", "verdict 1/1 ends", "the synthesis ends",
	}, told(t, open(t, config(panel.Protocol{}), model(nil))))
}

// What has started ends where the debate stops in an error, and starts again where it goes on.
func TestAFailureEndsWhatIsOpen(t *testing.T) {
	d := open(t, config(panel.Protocol{}), model(&providers.Error{Kind: providers.Authentication, Err: errors.New("no key")}))
	require.Equal(t, []string{
		"round 1 of 2 starts", "respond 0/2 starts", "respond 0/2: A starts", "respond 1/2: A ends", "respond 1/2: B starts", "respond 1/2: B ends",
		"respond 1/2 ends", "round 1 of 2 ends",
	}, told(t, d))
	require.NoError(t, d.Retry(t.Context()))
	require.Equal(t, "round 1 of 2 starts", told(t, d)[0])
}

// A second attempt is the same step.
func TestAttemptsAreOneStep(t *testing.T) {
	c := config(panel.Protocol{})
	c.Limits.MaxRounds = 1
	list := told(t, open(t, c, model(&providers.Error{Kind: providers.InvalidResponse, Err: errors.New("nothing")})))
	count := 0
	for _, mark := range list {
		if mark == "respond 1/2: B starts" {
			count++
		}
	}
	require.Equal(t, 1, count)
}

// Phases of pairs and those of a helper are told like others.
func TestMarksOfRefinement(t *testing.T) {
	c := config(refine.Protocol{})
	list := told(t, open(t, c, &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
		return scripted.Reply{Text: "What there is to say."} // structured replies fall back
	}}))
	for _, want := range []string{"critique 0/2 starts", "critique 2/2 ends", "the synthesis starts", "the synthesis ends"} {
		require.Contains(t, list, want)
	}
}

func Example() {
	ctx := context.Background()
	d, err := debate.New(ctx, config(panel.Protocol{}), debate.Options{Providers: map[string]providers.Provider{"m": model(nil)}})
	if err != nil {
		log.Fatal(err)
	}
	show := func(m progress.Mark) { fmt.Println(m) }
	h := progress.Hooks{Round: show, Synthesis: show}
	for event, err := range d.Run(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		h.See(event)
	}
	// Output:
	// round 1 of 2 starts
	// round 1 of 2 ends
	// round 2 of 2 starts
	// round 2 of 2 ends
	// the synthesis starts
	// the synthesis ends
}
