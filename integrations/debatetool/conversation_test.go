package debatetool_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/integrations/debatetool"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
)

// converse sends a message, and returns who has spoken and how the debate rests.
func converse(ctx context.Context, b bench, message string, choose debatetool.Choose) (spoken []string, out debatetool.Output, err error) {
	for p, err := range b.Converse(ctx, debatetool.Input{Topic: message}, choose) {
		if err != nil {
			return spoken, out, err
		}
		if p.Turn != nil {
			spoken = append(spoken, p.Turn.Actor)
		}
		if p.Output != nil {
			out = *p.Output
		}
	}
	return spoken, out, nil
}

// neverAsked fails a test if a person is asked.
func neverAsked(t *testing.T) debatetool.Choose {
	return func(_ context.Context, a debatetool.Ask) (string, error) {
		t.Errorf("the person is asked: %s", a.Task)
		return "", nil
	}
}

// A reply shows what was withheld from the person before.
func TestAConversationWithAPersonInASimultaneousRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sit(t, store.Memory(), &model{}, withPerson(), debatetool.Options{})
		spoken, out, err := converse(t.Context(), b, "Ban cars?", neverAsked(t))
		require.NoError(t, err)
		require.Equal(t, "waiting", out.Status)
		require.Empty(t, spoken)
		_, _, err = converse(t.Context(), b, "", neverAsked(t))
		require.ErrorContains(t, err, "text: it is blank")
		spoken, out, err = converse(t.Context(), b, "No.", neverAsked(t))
		require.NoError(t, err)
		require.Equal(t, "completed", out.Status)
		require.Equal(t, []string{"Ada", "Bo"}, spoken[:2])
	})
}

// A debate that was paused while it waited for a person goes on after the reply.
func TestAConversationThatWasPausedBeforeTheReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sit(t, store.Memory(), &model{}, withPerson(), debatetool.Options{})
		_, out, err := converse(t.Context(), b, "Ban cars?", neverAsked(t))
		require.NoError(t, err)
		d, err := b.Open(t.Context(), out.ID)
		require.NoError(t, err)
		require.NoError(t, d.Pause(t.Context()))
		_, out, err = converse(t.Context(), b, "No.", neverAsked(t))
		require.NoError(t, err)
		require.Equal(t, "completed", out.Status)
	})
}

// Whoever stops listening leaves the debate alone; a context that ends pauses it.
func TestAConversationThatIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sit(t, store.Memory(), &model{}, debatetest.ShortPanel(2), debatetool.Options{})
		for p, err := range b.Converse(t.Context(), debatetool.Input{Topic: "Ban cars?"}, neverAsked(t)) {
			require.NoError(t, err)
			require.NotEmpty(t, p.ID)
			break
		}
		time.Sleep(time.Minute)
		list, err := b.List(t.Context(), "", 1)
		require.NoError(t, err)
		require.Equal(t, "completed", list[0].Status)

		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
		defer cancel()
		_, _, err = converse(ctx, sit(t, store.Memory(), &model{}, debatetest.ShortPanel(200), debatetool.Options{}), "Ban cars?",
			neverAsked(t))
		require.ErrorContains(t, err, "interrupted")
	})
}

// A client that cannot ask ends the call with its error, and the question stays open.
func TestAConversationWhoseClientCannotAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := debatetest.ShortPanel(2)
		c.AskBeforeRounds = true
		b := sit(t, store.Memory(), &model{}, c, debatetool.Options{})
		broken := errors.New("the client cannot ask")
		_, _, err := converse(t.Context(), b, "Ban cars?", func(context.Context, debatetool.Ask) (string, error) { return "", broken })
		require.ErrorIs(t, err, broken)
		list, err := b.List(t.Context(), "", 1)
		require.NoError(t, err)
		out, err := b.Result(t.Context(), list[0].ID)
		require.NoError(t, err)
		require.Equal(t, "waiting", out.Status)
		require.NotNil(t, out.Question())
	})
}

// A debate that has failed is tried again if the person wants it.
func TestAConversationAboutADebateThatHasFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m := store.Memory(), &model{say: func(r providers.Request) (string, error) {
			if r.Schema == nil && strings.Contains(r.Messages[0].Text, "You are Bo") {
				return failing(false, providers.ServerError)(r)
			}
			return "", nil
		}}
		b := sit(t, s, m, debatetest.ShortPanel(1), debatetool.Options{})
		_, out, err := converse(t.Context(), b, "Ban cars?", neverAsked(t))
		require.NoError(t, err)
		require.Equal(t, "failed", out.Status)
		asked := ""
		again := func(_ context.Context, a debatetool.Ask) (string, error) {
			asked = a.Task
			return a.Choices[0].Action, nil
		}
		other := sit(t, s, &model{}, debatetest.ShortPanel(1), debatetool.Options{})
		spoken, out, err := converse(t.Context(), other, "Try again.", again)
		require.NoError(t, err)
		require.Equal(t, "The debate “Ban cars?” has failed.", asked)
		require.Equal(t, "completed", out.Status)
		require.NotContains(t, spoken, "Ada", "it has spoken before")
	})
}
