package compare

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"
)

// An einoModel is a chat model for Eino.
type einoModel struct{ who string }

func (m einoModel) Generate(ctx context.Context, input []*schema.Message, options ...model.Option) (*schema.Message, error) {
	stream, err := m.Stream(ctx, input, options...)
	if err != nil {
		return nil, err
	}
	return schema.ConcatMessageStream(stream)
}

func (m einoModel) Stream(ctx context.Context, input []*schema.Message, _ ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	bytes := 0
	for _, m := range input {
		bytes += len(m.Content)
	}
	said := workOf(ctx).piecesFor(m.who, bytes)
	list := make([]*schema.Message, len(said))
	for i, piece := range said {
		list[i] = schema.AssistantMessage(piece, nil)
	}
	return schema.StreamReaderFromArray(list), nil
}

// einoState holds what the nodes of Eino's graph pass on.
type einoState struct {
	history []struct{ who, text string }
	round   int
}

// einoGraph runs a graph of lambdas, each of which streams a model, with a branch back to the first one.
func einoGraph(t testing.TB) func(*work) error {
	g := compose.NewGraph[*einoState, *einoState]()
	node := func(who, task string) {
		var m model.BaseChatModel = einoModel{who}
		require.NoError(t, g.AddLambdaNode(who, compose.InvokableLambda(func(ctx context.Context, s *einoState) (*einoState, error) {
			w := workOf(ctx)
			messages := []*schema.Message{schema.SystemMessage(systemOf(who))}
			for _, h := range s.history {
				if h.who == who {
					messages = append(messages, schema.AssistantMessage(h.text, nil))
				} else {
					messages = append(messages, schema.UserMessage(h.who+": "+h.text))
				}
			}
			stream, err := m.Stream(ctx, append(messages, schema.UserMessage(task)))
			if err != nil {
				return nil, err
			}
			defer stream.Close()
			var text strings.Builder
			for {
				piece, err := stream.Recv()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					return nil, err
				}
				if who != "judge" {
					w.chunks++
				}
				text.WriteString(piece.Content)
			}
			if who == "judge" {
				s.round++
				return s, w.decode(text.String())
			}
			s.history = append(s.history, struct{ who, text string }{who, text.String()})
			return s, nil
		})))
	}
	node("ada", "Speak.")
	node("bo", "Speak.")
	node("judge", "Score the round.")
	require.NoError(t, g.AddEdge(compose.START, "ada"))
	require.NoError(t, g.AddEdge("ada", "bo"))
	require.NoError(t, g.AddEdge("bo", "judge"))
	require.NoError(t, g.AddBranch("judge", compose.NewGraphBranch(func(_ context.Context, s *einoState) (string, error) {
		if s.round == rounds {
			return compose.END, nil
		}
		return "ada", nil
	}, map[string]bool{"ada": true, compose.END: true})))
	runnable, err := g.Compile(t.Context(), compose.WithMaxRunSteps(4*rounds))
	require.NoError(t, err)
	return func(w *work) error {
		_, err := runnable.Invoke(context.WithValue(context.Background(), workKey{}, w), &einoState{})
		return err
	}
}
