package debate_test

import (
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/transcript"
)

// cross is a user's own protocol: each side questions the other, again after an evasive answer.
type cross struct {
	FollowUps int `json:"follow_ups"`
}

type answer struct {
	Reply   string `json:"reply" jsonschema:"description=What you answer"`
	Evasive bool   `json:"evasive" jsonschema:"description=Whether you left the question open"`
}

func (a *answer) Text() string { return a.Reply }

func (cross) Name() string { return "cross/1" }

func (cross) Check(r *protocol.Record) []protocol.Problem {
	if len(r.Seats) != 2 {
		return []protocol.Problem{protocol.Problemf("participants", "%d, cross-examination takes 2", len(r.Seats))}
	}
	return nil
}

func (c cross) Phases(r *protocol.Record) []protocol.Phase {
	if r.Cursor.Stage != transcript.Speech {
		return nil
	}
	a, b := r.Seats[0].Name, r.Seats[1].Name
	return append(c.exam(r, a, b), c.exam(r, b, a)...)
}

func (c cross) exam(r *protocol.Record, asks, answers string) (phases []protocol.Phase) {
	for i := range c.FollowUps + 1 {
		ask := protocol.Step{Key: transcript.Key{Actor: asks, Target: answers}, Prompt: "ask"}
		say := protocol.Step{Key: transcript.Key{Actor: answers, Target: asks}, Prompt: "answer", Output: "answer/1"}
		name := fmt.Sprintf("%s-answers-%d", answers, i)
		phases = append(phases,
			protocol.Phase{Name: fmt.Sprintf("%s-asks-%d", asks, i), Steps: []protocol.Step{ask}},
			protocol.Phase{Name: name, Steps: []protocol.Step{say}})
		t, ok := r.At(name, answers, asks)
		if !ok {
			return phases
		}
		if given, err := transcript.Decode[answer](t); err != nil || !given.Evasive {
			return phases
		}
	}
	return phases
}

func (cross) End(*protocol.Record) transcript.Ending { return transcript.Ending{} }

func TestAProtocolOfOnesOwn(t *testing.T) {
	prompts := fstest.MapFS{
		"ask.tmpl":    {Data: []byte(`{{define "system"}}You are {{.Me.Name}}, on {{.Topic}}.{{end}}Ask {{with .Target}}{{.Name}}{{end}} one question.`)},
		"answer.tmpl": {Data: []byte(`{{define "system"}}You are {{.Me.Name}}, on {{.Topic}}.{{end}}Answer {{with .Target}}{{.Name}}{{end}}. {{.Reply}}`)},
	}
	model := scripted.Text(
		"Where were the buses?", `{"reply": "Somewhere.", "evasive": true}`, "Where exactly?", `{"reply": "In the depot.", "evasive": false}`,
		"Who pays?", `{"reply": "All do.", "evasive": false}`,
	)
	d, err := debate.New(t.Context(), debate.Config{
		Topic: "Ban cars?", Protocol: cross{FollowUps: 1}, Participants: []debate.Participant{{Name: "A"}, {Name: "B"}}, Limits: debate.Limits{MaxRounds: 1},
	}, debate.Options{
		Providers: map[string]providers.Provider{"only": model}, Prompts: prompts,
		Replies: []*reply.Contract{reply.New[answer]("answer/1")},
	})
	require.NoError(t, err)
	_, err = run(t, d)
	require.NoError(t, err)
	res := result(t, d)
	require.Equal(t, fsm.Completed, res.State)
	require.Equal(t, []string{
		"1/1/A-asks-0/A/B", "1/1/B-answers-0/B/A", "1/1/A-asks-1/A/B", "1/1/B-answers-1/B/A", "1/1/B-asks-0/B/A", "1/1/A-answers-0/A/B",
	}, keys(res))
	require.Equal(t, "In the depot.", res.Turns[3].Text)
	second := model.Calls()[1]
	require.Equal(t, "You are B, on Ban cars?.", second.Messages[0].Text)
	require.Contains(t, second.Messages[2].Text, "Answer A. ")
	require.Contains(t, second.Messages[2].Text, "evasive")
	require.NotEmpty(t, second.Schema)
}

// What a protocol asks for and nobody has is an error that says so, and no panic.
func TestAProtocolThatAsksForWhatIsNotThere(t *testing.T) {
	for name, tt := range map[string]struct {
		step        protocol.Step
		want        string
		recoverable bool
	}{
		"actor":    {protocol.Step{Key: transcript.Key{Actor: "Zoe"}, Prompt: "free-form"}, `"Zoe" is no participant, judge or helper`, false},
		"prompt":   {protocol.Step{Key: transcript.Key{Actor: "A"}, Prompt: "sing"}, `find prompt "sing": unknown`, true},
		"contract": {protocol.Step{Key: transcript.Key{Actor: "A"}, Prompt: "ask", Output: "song/1"}, `reply contract "song/1" is unknown`, true},
	} {
		t.Run(name, func(t *testing.T) {
			d := panelOf(t, 1, func(c *debate.Config, _ *debate.Options) { c.Protocol = odd{tt.step} })
			_, err := run(t, d)
			require.ErrorContains(t, err, tt.want)
			require.Equal(t, tt.recoverable, d.Retry(t.Context()) == nil)
		})
	}
}

// odd is a protocol of one odd step.
type odd struct{ step protocol.Step }

func (odd) MarshalJSON() ([]byte, error) { return []byte("{}"), nil }

func (odd) Name() string { return "odd/1" }

func (odd) Check(*protocol.Record) []protocol.Problem { return nil }

func (o odd) Phases(r *protocol.Record) []protocol.Phase {
	if r.Cursor.Stage != transcript.Speech {
		return nil
	}
	return []protocol.Phase{{Name: "odd", Steps: []protocol.Step{o.step}}}
}

func (odd) End(*protocol.Record) transcript.Ending { return transcript.Ending{} }
