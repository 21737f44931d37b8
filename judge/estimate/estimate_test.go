package estimate_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/judge/estimate"
)

func ExampleInterval() {
	var accuracy estimate.Interval
	err := json.Unmarshal([]byte(`{"value":0.75,"low":0.612,"high":0.851,"n":40,"groups":40,"method":"Wilson"}`), &accuracy)
	fmt.Println(accuracy, accuracy.Above(0.5), err)
	// Output: 0.750 [0.612, 0.851] true <nil>
}

func TestAnUnknownIntervalSaysNothing(t *testing.T) {
	for _, m := range []estimate.Method{"", estimate.TooFew, estimate.Undefined} {
		i := estimate.Interval{Value: 0.5, Low: 0.4, High: 0.6, N: 3, Groups: 3, Method: m}
		require.False(t, i.Known())
		require.False(t, i.Above(0))
		require.False(t, i.Below(1))
		require.InDelta(t, 1, i.P(), 0)
	}
	require.Equal(t, "0.500 [too few]", estimate.Interval{Value: 0.5, N: 3, Method: estimate.TooFew}.String())
	require.Equal(t, "–", estimate.Interval{Method: estimate.TooFew}.String())
	require.Equal(t, "–", estimate.Interval{N: 3, Method: estimate.Undefined}.String())
}

// An interval of 95 % whose end is 0 has a p-value of 5 %.
func TestTheWidthOfAnIntervalGivesThePValue(t *testing.T) {
	i := estimate.Interval{Value: 0.2, Low: 0, High: 0.4, N: 40, Groups: 40, Method: estimate.Bootstrap}
	require.InDelta(t, 0.05, i.P(), 1e-9)
	require.False(t, i.Above(0))
	require.True(t, i.Below(0.5))
	i.High, i.Low = i.Value, i.Value
	require.InDelta(t, 1, i.P(), 0, "an interval without a width")
}
