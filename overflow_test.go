package debate_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/transcript"
)

// narrow is a service that takes prompts with so many messages, and answers with a long speech.
type narrow struct {
	messages int
	asked    []providers.Request
}

func (n *narrow) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	if len(r.Messages) > n.messages {
		return providers.Response{}, &providers.Error{Kind: providers.ContextOverflow, Err: errors.New("the prompt is too long")}
	}
	n.asked = append(n.asked, r)
	return chatter().Generate(ctx, r)
}

// overflowing is a debate of four rounds whose speakers' model takes six messages.
func overflowing(t *testing.T, policy debate.FailurePolicy, minutes providers.Provider) (*debate.Debate, *narrow) {
	t.Helper()
	m := &narrow{messages: 6}
	d := panelOf(t, 4, func(c *debate.Config, o *debate.Options) {
		c.OnOverflow, c.Limits.MaxRounds = policy, 4
		c.Summarizer = debate.Participant{Provider: "s", Model: "short"}
		o.Providers["m"], o.Providers["s"] = m, minutes
	})
	_, err := run(t, d)
	require.NoError(t, err)
	return d, m
}

func TestWhatIsTooLongIsSummedUp(t *testing.T) {
	said := strings.Repeat("A is for it. ", 40) + "B is not."
	minutes := &scripted.Provider{Func: func(providers.Request) scripted.Reply {
		return scripted.Reply{Text: said, Usage: transcript.Usage{Input: 50, Output: 5}}
	}}
	d, m := overflowing(t, debate.Summarize, minutes)
	res := result(t, d)
	require.Equal(t, fsm.Completed, res.State)
	require.Len(t, minutes.Calls(), 3, "once in each step whose prompt is too long: that of the sixth speech, and those after it")

	ask := minutes.Calls()[0]
	require.Equal(t, "short", ask.Model)
	require.Contains(t, ask.Messages[0].Text, "Ban cars?")
	require.Contains(t, ask.Messages[len(ask.Messages)-1].Text, "Sum up what was said above")
	require.True(t, strings.HasPrefix(ask.Messages[1].Text, "A: "), "the reader's own words have a name, too: %s", ask.Messages[1].Text)
	require.True(t, strings.HasPrefix(ask.Messages[2].Text, "B: "))

	last := m.asked[len(m.asked)-1].Messages
	require.Equal(t, "Summary of what was said before:\n\n"+said, last[1].Text)
	require.Len(t, last, 6)
	turn := res.Turns[len(res.Turns)-3]
	require.Equal(t, transcript.Speech, turn.Kind)
	require.Len(t, turn.Attempts, 3, "too long, the summary, the speech")
	require.Equal(t, "s", turn.Attempts[1].Provider)
	require.Equal(t, 5, turn.Attempts[1].Usage.Output, "a whole reply's usage is taken as reported")
	require.NotNil(t, turn.Window)
	require.Positive(t, turn.Window.Cut)
}

func TestWhereNobodySumsUpThePromptIsCut(t *testing.T) {
	d, _ := overflowing(t, debate.Summarize, fails{&providers.Error{Kind: providers.API, Err: errors.New("down")}})
	res := result(t, d)
	require.Equal(t, fsm.Completed, res.State)
	require.Empty(t, res.Question)
	for _, turn := range res.Turns {
		require.NotContains(t, turn.Flags, transcript.Partial)
	}
	require.NotNil(t, res.Turns[len(res.Turns)-3].Window)
}

func TestWhatIsTooLongMayEndTheDebate(t *testing.T) {
	d, _ := overflowing(t, debate.End, chatter())
	res := result(t, d)
	require.Equal(t, fsm.Completed, res.State)
	require.Equal(t, transcript.EarlyStop, res.Ending.Outcome)
	require.Contains(t, res.Ending.Evidence, "the prompt is too long")
	require.NotNil(t, res.Verdict)
}
