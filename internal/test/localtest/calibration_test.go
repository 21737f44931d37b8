package localtest

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/protocol/council"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// counting is a model whose tokens are 2.5 times the estimates. Its first reply to each structured request is invalid.
type counting struct {
	asked   map[string]bool
	longest int // most tokens of a prompt that is not asked again
}

func (m *counting) Generate(_ context.Context, r providers.Request) (res providers.Response, err error) {
	for _, message := range r.Messages {
		res.Usage.Input += window.Estimate(message.Text)
	}
	res.Usage.Input = (res.Usage.Input + window.Estimate(string(r.Schema))) * 5 / 2
	res.Text = strings.Repeat("The bus is cheap. ", 40)
	res.Usage.Output = 200
	res.FinishReason = providers.Stop
	if r.Schema == nil {
		return res, nil
	}
	if last := r.Messages[len(r.Messages)-1].Text; !m.asked[last] && !strings.Contains(last, "not valid") {
		m.asked[last] = true
		m.longest = max(m.longest, res.Usage.Input)
		return res, nil
	}
	good, err := (&schemaModel{}).Generate(context.Background(), r)
	res.Text = good.Text
	return res, err
}

// judgedDebate runs a debate whose judge has a small window, and whose judgments are all invalid at first.
func judgedDebate(t *testing.T) (*counting, *debate.Debate) {
	t.Helper()
	m := &counting{asked: map[string]bool{}}
	e := debatetest.Engine(t, debate.Options{Providers: map[string]providers.Provider{"m": m}})
	d := debatetest.Create(t, e, debate.Config{
		ID: "d", Topic: "Should cities ban private cars?", Protocol: panel.Protocol{Format: panel.RoundLimited}, Limits: debate.Limits{MaxRounds: 8, StepTokens: 512, JudgeTokens: 2_000},
		Participants: []debate.Participant{{Name: "Ada", Model: "a"}, {Name: "Bo", Model: "b"}}, Judges: []debate.Participant{{Name: "Judge", Model: "j", Window: 12_000}},
	})
	debatetest.Finish(t, d)
	return m, d
}

// A prompt that was asked again calibrates the estimates, although its first reply was invalid.
func TestAnInvalidReplyCalibrates(t *testing.T) {
	m, d := judgedDebate(t)
	r := debatetest.Result(t, d)
	require.LessOrEqual(t, m.longest, 12_000-2_000, "with the reply, the prompts fit the window of the judge")
	last := r.Turns[len(r.Turns)-1]
	require.Equal(t, "Judge", last.Actor)
	require.True(t, last.Attempts[0].Counted)
	require.Equal(t, string(providers.InvalidResponse), last.Attempts[0].ErrorKind)
	require.NotNil(t, last.Window)
	p := debatetest.PromptOf(t, d, last.Key)
	require.Len(t, p.Omitted, last.Window.Omitted)
}

// A participant's second invalid reply is an error too: the attempt and an event say why the default is used.
func TestTheSecondInvalidReplySaysWhy(t *testing.T) {
	m := debatetest.ProviderFunc(func(_ context.Context, r providers.Request) (providers.Response, error) {
		if r.SchemaName == "ranking/1" {
			return providers.Response{Text: `{"comparison": "So.", "ranking": []}`, FinishReason: providers.Stop}, nil
		}
		return (&schemaModel{}).Generate(context.Background(), r)
	})
	for retries, attempts := range map[int]int{0: 1, 1: 2, 3: 2} {
		d := debatetest.New(t, debate.Config{
			Topic: "Should cities ban private cars?", Protocol: council.Protocol{}, Retries: map[providers.ErrorKind]int{providers.InvalidResponse: retries},
			Participants: []debate.Participant{{Name: "Ada"}, {Name: "Bo"}, {Name: "Cy"}}, Judges: []debate.Participant{{Name: "Chair"}},
		}, debate.Options{Providers: map[string]providers.Provider{"m": m}})
		events := debatetest.Finish(t, d)
		said := 0
		for _, ev := range events {
			if failed, ok := ev.(debate.TurnFailed); ok && failed.RetryIn < 0 {
				said++
				require.Equal(t, providers.InvalidResponse, failed.Error)
				require.Contains(t, failed.Message, "the default reply is used: parse reply: ")
				require.Equal(t, attempts, failed.Number)
			}
		}
		require.Equal(t, 3, said)
		for _, turn := range debatetest.Result(t, d).Turns {
			if turn.Contract != "ranking/1" {
				continue
			}
			require.True(t, slices.Contains(turn.Flags, transcript.Defaulted))
			require.Len(t, turn.Attempts, attempts)
			last := turn.Attempts[attempts-1]
			require.Equal(t, string(providers.InvalidResponse), last.ErrorKind)
			require.Contains(t, last.ErrorMessage, "the default reply is used: parse reply: ")
		}
	}
}
