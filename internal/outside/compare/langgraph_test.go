package compare

import (
	"context"
	"strings"
	"testing"

	"github.com/smallnest/langgraphgo/graph"
	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms"
)

// A langchainModel is a model for langgraphgo, which uses those of langchaingo.
type langchainModel struct{ who string }

type workKey struct{}

func workOf(ctx context.Context) *work { return ctx.Value(workKey{}).(*work) }

func (m langchainModel) GenerateContent(ctx context.Context, messages []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
	var o llms.CallOptions
	for _, set := range options {
		set(&o)
	}
	bytes := 0
	for _, m := range messages {
		for _, part := range m.Parts {
			bytes += len(part.(llms.TextContent).Text)
		}
	}
	var text strings.Builder
	for _, piece := range workOf(ctx).piecesFor(m.who, bytes) {
		if o.StreamingFunc != nil {
			if err := o.StreamingFunc(ctx, []byte(piece)); err != nil {
				return nil, err
			}
		}
		text.WriteString(piece)
	}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{{Content: text.String()}}}, nil
}

func (m langchainModel) Call(ctx context.Context, prompt string, options ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, m, prompt, options...)
}

// langGraphState holds the state of the graph.
type langGraphState struct {
	history []struct{ who, text string }
	round   int
}

// langGraph runs a graph whose nodes call models, with an edge back to the first one.
func langGraph(t testing.TB) func(*work) error {
	g := graph.NewStateGraph[langGraphState]()
	node := func(who, task string) {
		m := langchainModel{who}
		g.AddNode(who, "", func(ctx context.Context, s langGraphState) (langGraphState, error) {
			w := workOf(ctx)
			messages := []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeSystem, systemOf(who))}
			for _, h := range s.history {
				if h.who == who {
					messages = append(messages, llms.TextParts(llms.ChatMessageTypeAI, h.text))
				} else {
					messages = append(messages, llms.TextParts(llms.ChatMessageTypeHuman, h.who+": "+h.text))
				}
			}
			messages = append(messages, llms.TextParts(llms.ChatMessageTypeHuman, task))
			r, err := m.GenerateContent(ctx, messages, llms.WithStreamingFunc(func(context.Context, []byte) error {
				if who != "judge" {
					w.chunks++
				}
				return nil
			}))
			if err != nil {
				return s, err
			}
			if who == "judge" {
				s.round++
				return s, w.decode(r.Choices[0].Content)
			}
			s.history = append(s.history, struct{ who, text string }{who, r.Choices[0].Content})
			return s, nil
		})
	}
	node("ada", "Speak.")
	node("bo", "Speak.")
	node("judge", "Score the round.")
	g.SetEntryPoint("ada")
	g.AddEdge("ada", "bo")
	g.AddEdge("bo", "judge")
	g.AddConditionalEdge("judge", func(_ context.Context, s langGraphState) string {
		if s.round == rounds {
			return graph.END
		}
		return "ada"
	})
	runnable, err := g.Compile()
	require.NoError(t, err)
	return func(w *work) error {
		_, err := runnable.Invoke(context.WithValue(context.Background(), workKey{}, w), langGraphState{})
		return err
	}
}
