package offline_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/protocol/council"
	"github.com/elenchus-go/debate/protocol/mad"
	"github.com/elenchus-go/debate/protocol/oversight"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/protocol/skeptic"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// run runs a debate with the demo model. It returns the result and the structured replies that were not valid at once.
func run(t *testing.T, c debate.Config, o debate.Options) (r *debate.Result, refused []string) {
	t.Helper()
	o.Providers = map[string]providers.Provider{"model": offline.Model(false)}
	d, err := debate.New(t.Context(), c, o)
	require.NoError(t, err)
	for ev, err := range d.Run(t.Context()) {
		require.NoError(t, err)
		if failed, ok := ev.(debate.TurnFailed); ok {
			refused = append(refused, fmt.Sprint(failed.Key, ": ", failed.Message))
		}
	}
	r, err = d.Result(t.Context())
	require.NoError(t, err)
	require.Equal(t, fsm.Completed, r.State)
	for _, turn := range r.Turns {
		require.NotContains(t, turn.Flags, transcript.Defaulted, turn.Text)
	}
	return r, refused
}

// rubric is a rubric of a user, with a name that cannot be a property of a schema.
var rubric = judge.Rubric{
	{Name: "policy fit", Weight: 70, Description: "does it fit the policy?", Zero: "it contradicts it", Ten: "it follows from it"},
	{Name: "Kosten", Weight: 20},
	{Name: "公平", Weight: 10},
}

// Every preset runs with a rubric and several judges of the user's, and each reply is valid at once.
func TestConfigurationsOfOnesOwn(t *testing.T) {
	for name, p := range map[string]struct {
		protocol     protocol.Protocol
		participants int
	}{
		"panel":                 {panel.Protocol{Personas: panel.Binary}, 3},
		"panel, devil":          {panel.Protocol{DevilsAdvocate: true}, 2},
		"oxford":                {panel.Protocol{Format: panel.Oxford}, 2},
		"skeptic":               {skeptic.Protocol{}, 2},
		"refine":                {refine.Protocol{}, 3},
		"arbitration":           {arbitration.Protocol{Scores: map[string]float64{"problem": 7, "solution": 5, "market": 6}}, 2},
		"procon":                {procon.Protocol{}, 2},
		"council":               {council.Protocol{}, 4},
		"mad":                   {mad.Protocol{}, 2},
		"oversight":             {oversight.Protocol{Mode: oversight.Interactive, A: "Yes.", B: "No."}, 2},
		"open consultancy":      {oversight.Protocol{Mode: oversight.OpenConsultancy, A: "Yes.", B: "No."}, 1},
		"vote":                  {vote.Protocol{}, 3},
		"vote decided by judge": {vote.Protocol{Decision: vote.Judge, Extract: "number"}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			_, isVote := p.protocol.(vote.Protocol)
			for judges := range 4 {
				c := debate.Config{
					ID: fmt.Sprintf("own-%d", judges), Topic: "Should cities ban private cars?", Background: "The city is small.",
					Protocol: p.protocol, Rubric: rubric, Limits: debate.Limits{MaxRounds: 3},
				}
				if _, ok := p.protocol.(council.Protocol); ok {
					c.Limits.MaxRounds = 1
				}
				for i, name := range []string{"Ada", "Zoë B.", "Bo-Cy", "Di"}[:p.participants] {
					c.Participants = append(c.Participants, debate.Participant{Name: name, Side: []string{"for", "against"}[i%2], Position: name + " is right."})
				}
				for i := range judges {
					c.Judges = append(c.Judges, debate.Participant{Name: fmt.Sprint("Judge ", i+1)})
				}
				if _, err := debate.New(t.Context(), c, debate.Options{Providers: map[string]providers.Provider{"model": offline.Model(false)}}); err != nil {
					require.True(t, judges != 1 || isVote, err) // a protocol without judges, or with one only
					continue
				}
				_, refused := run(t, c, debate.Options{})
				require.Empty(t, refused)
			}
		})
	}
}

// refund is a reply of a user's contract. Its schema in a request has the enum and the bounds of lists, and no other limits.
type refund struct {
	Decision  string   `json:"decision" jsonschema:"enum=refund,enum=refuse"`
	Amount    float64  `json:"amount" jsonschema:"minimum=20,maximum=40"`
	Chance    float64  `json:"chance" jsonschema:"minimum=0,maximum=1"`
	Days      int      `json:"days" jsonschema:"minimum=30"`
	Letter    string   `json:"letter" jsonschema:"minLength=200,maxLength=900"`
	Reasons   []reason `json:"reasons" jsonschema:"minItems=2,maxItems=3"`
	For       string   `json:"for" names:"participants" jsonschema:"minLength=1"`
	Condition string   `json:"condition,omitempty" jsonschema:"minLength=100"`
	Inner     *reason  `json:"inner,omitempty"`
}

type reason struct {
	Text   string  `json:"text" jsonschema:"minLength=80"`
	Weight float64 `json:"weight" jsonschema:"minimum=100"`
}

// own is a protocol with a contract of the user's.
type own struct {
	panel.Protocol
	Contract string
}

func (own) Name() string { return "own/1" }

func (p own) Phases(r *protocol.Record) []protocol.Phase {
	phases := p.Protocol.Phases(r)
	for _, phase := range phases {
		for i := range phase.Steps {
			if phase.Steps[i].Contract == judge.VerdictContract.Name() {
				phase.Steps[i].Contract = p.Contract
			}
		}
	}
	return phases
}

func TestContractsOfOnesOwn(t *testing.T) {
	for _, test := range []struct {
		contract *reply.Contract
		says     []string
	}{
		{reply.New[refund]("refund/1"), []string{`"decision":"refund","amount":30,"chance":0.5,"days":30`, `"for":"Ada"`}},
		{reply.New[judge.Verdict]("verdict/2"), []string{`"quality":50`}},
	} {
		t.Run(test.contract.Name(), func(t *testing.T) {
			r, refused := run(t, debate.Config{
				ID: "own", Topic: "Refund it?", Protocol: own{Contract: test.contract.Name()}, Limits: debate.Limits{MaxRounds: 1},
				Participants: []debate.Participant{{Name: "Ada"}, {Name: "Bo"}}, Judges: []debate.Participant{{Name: "Judge"}},
			}, debate.Options{Contracts: []*reply.Contract{test.contract}})
			require.Empty(t, refused)
			last := r.Turns[len(r.Turns)-1]
			require.Equal(t, test.contract.Name(), last.Contract)
			for _, text := range test.says {
				require.Contains(t, string(last.Data), text)
			}
		})
	}
}
