package outcome_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/forgedtest"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/store"
)

// found returns a protocol that finds o.
func found(o protocol.Outcome) protocol.Flow {
	return protocol.Flow{Title: "odd/1", Finds: func(*protocol.Record, protocol.Answer) protocol.Outcome { return o }}
}

func TestAnOutcomeHasFiniteNumbersOnly(t *testing.T) {
	for _, odd := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		chart := &protocol.Chart{Maximum: odd}
		chart.Set("Ada", "Score", odd)
		chart.Set("Bo", "Score", 3)
		chart.Set("Bo", "Share", odd)
		o := protocol.Outcome{
			Sentence: "So", Confidence: odd, Chart: chart,
			Measure:  &protocol.Measure{Least: odd, Most: odd, Values: map[string]float64{"Ada": odd, "Bo": 1}},
			Evidence: []protocol.Exhibit{{Title: "A table"}, {Chart: chart}},
			Details:  []protocol.Exhibit{{Chart: chart}},
		}
		o.SetScore("Ada", odd)
		o.SetScore("Bo", 1)
		got := outcome.Of(found(o), &protocol.Record{}, protocol.Answer{})
		require.NotEmpty(t, debatetest.Encode(t, got))
		require.Equal(t, map[string]float64{"Bo": 1}, got.Scores)
		require.Equal(t, map[string]float64{"Bo": 1}, got.Measure.Values)
		want := []protocol.ChartRow{{Name: "Bo", Values: map[string]float64{"Score": 3}}}
		for _, c := range []*protocol.Chart{got.Chart, got.Evidence[1].Chart, got.Details[0].Chart} {
			require.Equal(t, want, c.Rows)
			require.Equal(t, 3.0, c.Maximum)
		}
		require.Len(t, chart.Rows, 2, "the protocol's own data is left as it is")
		require.Len(t, o.Scores, 2)
	}
}

func TestNumber(t *testing.T) {
	for f, want := range map[float64]string{
		0: "0", 7: "7", 7.5: "7.5", 2.0 / 3: "0.67", -2.0 / 3: "-0.67", 99.999: "100", 123456789: "123456789", 1e308: "1e+308",
		-1e308: "-1e+308",
	} {
		require.Equal(t, want, outcome.Number(f))
	}
}

// A stored debate in which numbers of replies were changed has a result that can be encoded.
func TestForgedNumbersOfRepliesDoNotBreakTheResult(t *testing.T) {
	changed := 0
	for name, export := range forgedtest.Exports(t) {
		for _, odd := range []string{"1e308", "-1e308", "0"} {
			root := forgedtest.Decode(t, export)
			entries, _ := root.(map[string]any)["entries"].([]any)
			for _, e := range entries {
				data, _ := e.(map[string]any)["data"].(map[string]any)
				turn, isTurn := data["turn"].(map[string]any)
				if isTurn {
					turn["data"] = withNumbers(turn["data"], json.Number(odd), &changed)
				}
			}
			raw, err := json.Marshal(root)
			require.NoError(t, err)
			s := store.Memory()
			id, err := forgedtest.Put(t, s, raw)
			require.NoError(t, err)
			d, err := debatetest.Engine(t, debate.Options{Store: s}).Open(t.Context(), id)
			require.NoError(t, err, name)
			_, err = json.Marshal(debatetest.Result(t, d))
			require.NoError(t, err, "%s with %s", name, odd)
		}
	}
	require.Greater(t, changed, 1000)
}

// withNumbers returns a copy of JSON data with another number in place of each, and counts them.
func withNumbers(v any, number json.Number, count *int) any {
	switch v := v.(type) {
	case map[string]any:
		for name := range v {
			v[name] = withNumbers(v[name], number, count)
		}
	case []any:
		for i := range v {
			v[i] = withNumbers(v[i], number, count)
		}
	case json.Number:
		*count++
		return number
	}
	return v
}
