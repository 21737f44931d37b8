package debatetool_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/integrations/debatetool"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
)

// everything returns all texts of a run.
func everything(t *testing.T, set *debatetool.Toolset, in debatetool.Input) (text string, out debatetool.Output) {
	t.Helper()
	var all []string
	for p, err := range set.Stream(t.Context(), in) {
		require.NoError(t, err)
		if p.Turn != nil {
			all = append(all, p.Turn.Text)
		}
		if p.Output != nil {
			out = *p.Output
		}
	}
	return strings.Join(append(all, out.Text()), "\n"), out
}

func TestPeopleReadNoDelimiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := debatetest.ShortPanel(2)
		c.Participants[1].Human, c.Limits.MaxRounds = true, 1
		m := &model{say: func(r providers.Request) (string, error) {
			if r.Schema == nil {
				return "Yes.\n\nBuses\u200b \x1b[31mfit.", nil
			}
			return "", nil
		}}
		b := sit(t, store.Memory(), m, c, debatetool.Options{})
		people := b.ForPeople()
		text, out := everything(t, people, ask)
		require.Equal(t, "waiting", out.Status)
		require.NotContains(t, text, "<<<")
		require.NotContains(t, text, "no instructions for you")
		require.NotContains(t, text, "debate_answer")
		require.Contains(t, text, "\n\nAda: Yes.\n\nBuses [31mfit.", "what nobody sees is removed, and a text names its speaker")
		require.Contains(t, text, "asks Bo:")
		require.Contains(t, text, "Send the reply")

		quoted, err := b.Status(t.Context(), out.ID, 0)
		require.NoError(t, err)
		require.Contains(t, quoted.Text(), " begin: Ada, round 1>>>\nYes.", "a model reads the same debate")
		require.Contains(t, quoted.Text(), "debate_answer")
		require.Equal(t, "Yes.\n\nBuses [31mfit.", quoted.Turns[0].Plain())

		for p, err := range people.Resume(t.Context(), debatetool.Reply{ID: out.ID, Text: "No."}) {
			require.NoError(t, err)
			if p.Output != nil {
				out = *p.Output
			}
		}
		require.Equal(t, "completed", out.Status)
		require.NotContains(t, out.Text(), "<<<")
		require.NotEmpty(t, out.Answer)
	})
}

func TestAToolsetQuotesForPeopleToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sit(t, store.Memory(), &model{}, debatetest.ShortPanel(2), debatetool.Options{QuoteAlways: true})
		text, _ := everything(t, b.ForPeople(), ask)
		require.Contains(t, text, " begin: Ada, round 1>>>\nI say yes.")
		require.Contains(t, text, "no instructions for you")
	})
}

func TestWhatPeopleDoNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kind := providers.Billing
		m := &model{say: func(providers.Request) (string, error) {
			if kind != "" {
				return "", &providers.Error{Kind: kind}
			}
			return "", nil
		}}
		b := sit(t, store.Memory(), m, debatetest.ShortPanel(2), debatetool.Options{})
		_, out := everything(t, b.ForPeople(), ask)
		require.Equal(t, "failed", out.Status)
		require.Contains(t, out.Next, "Send a message to try again.")
		kind = ""
		started := debatetest.Call(t, b.ForPeople().Start, debatetool.Input{ID: out.ID})
		require.Contains(t, started.Next, "Send a message to wait for the answer.")
		d := debatetest.Open(t, b.engine, out.ID)
		require.NoError(t, d.Pause(t.Context()))
		paused, err := b.ForPeople().Status(t.Context(), out.ID, 0)
		require.NoError(t, err)
		require.Contains(t, paused.Next, "has to resume it")
		require.NoError(t, d.Cancel(t.Context()))
	})
}

// background returns the background of the debate with the given topic.
func background(t *testing.T, b bench, in debatetool.Input) string {
	t.Helper()
	out := debatetest.Call(t, b.Start, in)
	d := debatetest.Open(t, b.engine, out.ID)
	r := debatetest.Result(t, d)
	require.NoError(t, d.Cancel(t.Context()))
	return r.Background
}

func TestEarlierMessagesAreBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := debatetest.ShortPanel(2)
		c.Background = "The preset's."
		b := sit(t, store.Memory(), &model{}, c, debatetool.Options{MaxText: 20})
		in := ask
		in.Earlier = []debatetool.Turn{
			{Actor: "system", Text: "Answer briefly, and in the words of a town."},
			{Actor: "user", Text: "Ban cars in towns, and also in all villages?"},
			{Actor: "assistant", Text: " \n"},
			{Actor: "panel", Text: "Yes."},
		}
		want := "\n\nAnswer briefly, and in the words of a town.\n\nEarlier, the user said: Ban cars in towns, a [24 characters left out]\n\nEarlier, panel said: Yes."
		require.Equal(t, "The preset's."+want, background(t, b, in))
		in.Background = "The call's."
		require.Equal(t, "The call's."+want, background(t, b, in))

		in.Earlier = in.Earlier[:1]
		for range 30 {
			in.Earlier = append(in.Earlier, debatetool.Turn{Actor: "user", Text: "x"})
		}
		text := background(t, b, in)
		require.Equal(t, 20, strings.Count(text, "Earlier, the user said"))
		require.Contains(t, text, "Answer briefly, and in the words of a town.\n\n[10 earlier messages left out]\n\nEarlier")
	})
}

// A call that is repeated later in a conversation is the same call. A model cannot invent a conversation.
func TestEarlierMessagesAreNoInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sit(t, store.Memory(), &model{}, debatetest.ShortPanel(2), debatetool.Options{})
		ctx := debatetool.WithCallID(t.Context(), "call-0123456789abcdef")
		first, err := b.Start(ctx, ask)
		require.NoError(t, err)
		in := ask
		in.Earlier = []debatetool.Turn{{Actor: "user", Text: "Hello."}}
		again, err := b.Start(ctx, in)
		require.NoError(t, err)
		require.Equal(t, first.ID, again.ID)

		_, err = b.tool(t, "debate").Run(t.Context(), []byte(`{"topic": "x", "earlier": []}`))
		require.ErrorContains(t, err, "- earlier: the field is unknown")
		require.NotContains(t, string(b.tool(t, "debate").InputSchema()), `"earlier"`)
		d := debatetest.Open(t, b.engine, first.ID)
		require.NoError(t, d.Cancel(t.Context()))
	})
}
