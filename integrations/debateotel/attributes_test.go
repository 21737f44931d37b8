package debateotel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

func TestKindsOfErrors(t *testing.T) {
	slow := &providers.Error{Kind: providers.Timeout}
	for _, tt := range []struct {
		err, cause error
		want       string
	}{
		{nil, context.Canceled, ""},
		{&debate.Failure{Kind: providers.Billing}, context.Canceled, "billing"},
		{fmt.Errorf("start: %w", &debate.Problems{}), nil, "rejected"},
		{debate.ErrClosed, context.Canceled, "closed"},
		{context.Canceled, slow, "timeout"},
		{&providers.Error{Kind: providers.Network}, context.Canceled, "canceled"},
		{&providers.Error{Kind: providers.Network}, nil, "network"},
		{context.Canceled, nil, "canceled"},
		{errors.New("the disk is full"), nil, "_OTHER"},
	} {
		require.Equal(t, tt.want, errorType(tt.err, tt.cause), "%v because of %v", tt.err, tt.cause)
	}
}

// Only the participants' model has a price, so the cost of the debate is incomplete.
func TestTheCostOfADebate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecorder(Options{})
		_, d := start(t, r, &model{cfg: detailed()}, nil)
		debatetest.Finish(t, d)
		cost := 0.0
		for _, n := range find(r.trees(t), operationAgent) {
			if n.attr(keyRole) == "expert" {
				cost += 0.0016
				require.Equal(t, "0.0016", n.attr(keyCost))
				require.Empty(t, n.attr(keyUnpriced))
			} else {
				require.Empty(t, n.attr(keyCost))
				require.Equal(t, "true", n.attr(keyUnpriced))
			}
		}
		root := r.trees(t)[0]
		require.Equal(t, fmt.Sprint(cost), root.attr(keyCost))
		require.Equal(t, "true", root.attr(keyUnpriced))
	})
}

func TestTheAttributesOfAShortenedTurn(t *testing.T) {
	require.ElementsMatch(t, []attribute.KeyValue{
		attribute.Int("gen_ai.usage.input_tokens", 9), attribute.Int("gen_ai.usage.output_tokens", 4),
		attribute.StringSlice("debate.flags", []string{"truncated", "repaired"}),
		attribute.Bool("gen_ai.conversation.compacted", true), attribute.Int("debate.window.omitted_turns", 2), attribute.Int("debate.window.summarized_turns", 3),
	}, content{}.turnAttributes(&transcript.Turn{
		Text: "So.", Usage: transcript.Usage{Input: 9, Output: 4}, Flags: []transcript.Flag{transcript.Truncated, transcript.Repaired},
		Window: &transcript.Window{Omitted: 2, Summarized: 3},
	}))
}

func TestADropOutNamesItsFailure(t *testing.T) {
	n, ok := content{}.noteOf(debate.Dropped{Name: "B", Failure: &debate.Failure{Key: transcript.Key{Run: 1, Round: 2, Phase: "speak", Actor: "B"}, Kind: providers.Billing}}, time.Now())
	require.True(t, ok)
	require.Equal(t, "debate.dropped", n.name)
	require.ElementsMatch(t, []attribute.KeyValue{
		attribute.String("debate.participant", "B"), attribute.String("debate.step.key", "1/2/speak/B/"), attribute.String("error.type", "billing"),
	}, n.list)
}

// A prompt that is too long loses its oldest messages, and the oldest that is left is clipped.
func TestAPromptKeepsItsNewestMessages(t *testing.T) {
	prompt := func(newest string) string {
		system, input := content{texts: true, most: 10}.prompt([]providers.Message{
			{Role: providers.System, Text: "Be brief."}, {Role: providers.User, Text: "oldest"}, {Role: providers.Assistant, Text: "middle."}, {Role: providers.User, Text: newest},
		})
		require.Equal(t, []part{text("Be brief.")}, system)
		words := []string{}
		for _, m := range input {
			words = append(words, m.Role+" "+m.Parts[0].Content)
		}
		return strings.Join(words, ", ")
	}
	require.Equal(t, "assistant middle., user new", prompt("new"))
	require.Equal(t, "assistant mid…, user news", prompt("news"))
}

func TestEvaluationsAreBounded(t *testing.T) {
	r := newRecorder(Options{})
	_, span := r.tracer.Start(t.Context(), "judge")
	var v struct {
		Ranking []map[string]string `json:"ranking"`
	}
	for range maxEvaluations + 100 {
		v.Ranking = append(v.Ranking, map[string]string{"name": "A"})
	}
	data, err := json.Marshal(v)
	require.NoError(t, err)
	r.addEvaluations(span, &transcript.Turn{Data: data}, time.Now())
	span.End()
	require.Len(t, r.spans.Ended()[0].Events(), maxEvaluations)
}

// If two engines drive a debate at the same time, the end of the first drive leaves the second one open.
func TestTwoDrivesAtOnce(t *testing.T) {
	r := newRecorder(Options{})
	_, endFirst := r.begin(t.Context(), debate.Step{Debate: "d"})
	_, endSecond := r.begin(t.Context(), debate.Step{Debate: "d"})
	endFirst(debate.Outcome{})
	r.commit(t.Context(), "d", debate.StateChanged{To: fsm.Paused})
	endSecond(debate.Outcome{})
	ended := r.spans.Ended()
	require.Len(t, ended, 2)
	require.Empty(t, ended[0].Events())
	require.Len(t, ended[1].Events(), 1)
}

// The metrics of a debate that fails have the kind of the error.
func TestMetricsOfAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecorder(Options{})
		_, d := start(t, r, &model{cfg: pair(), act: troubles()["a wrong key"]}, nil)
		runToStop(t, d)
		found := collect(t, r)
		require.Equal(t, []string{"1 values error.type=authentication,gen_ai.workflow.name=panel/1"}, points(found[metricWorkflow]))
		require.Contains(t, points(found[metricAgent]), "1 values error.type=authentication,gen_ai.agent.name=A,gen_ai.operation.name=invoke_agent")
	})
}
