package journal_test

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/journal"
	"github.com/elenchus-go/debate/protocol"
)

func TestInvalidLimitsAreReportedAndHaveTheirDefaults(t *testing.T) {
	for _, tt := range []struct {
		limits journal.Limits
		want   string // the only problem; empty if there is none
		valid  journal.Limits
	}{
		{limits: journal.Limits{MinRounds: 2, MaxRounds: 10_000, Cost: 1}, valid: journal.Limits{MinRounds: 2, MaxRounds: 10_000, Cost: 1}},
		{limits: journal.Limits{MaxRounds: 10_001}, want: "limits.max_rounds: 10001 is not valid, use at most 10000, or 0 for the default"},
		{limits: journal.Limits{Tokens: -1}, want: "limits.tokens: -1 is not valid, use at most 2305843009213693951, or 0 for the default"},
		{
			limits: journal.Limits{RoundDelay: -time.Second},
			want:   "limits.round_delay: -1s is not valid, use at most 8760h0m0s, or 0 for the default",
		},
		{limits: journal.Limits{ToolBytes: 255}, want: "limits.tool_bytes: 255 is too small, use at least 256, or 0 for the default"},
		{limits: journal.Limits{ToolBytes: 40_000}, want: "limits.tool_bytes: 40000 is not valid, use at most 32768, or 0 for the default"},
		{limits: journal.Limits{Cost: math.NaN()}, want: "limits.cost: NaN is not valid, use 0 or more"},
		{limits: journal.Limits{Cost: math.Inf(1)}, want: "limits.cost: +Inf is not valid, use 0 or more"},
		{
			limits: journal.Limits{MinRounds: 3, MaxRounds: 2}, want: "limits.min_rounds: 3 is more than max_rounds, 2",
			valid: journal.Limits{MaxRounds: 2},
		},
	} {
		valid, found := tt.limits.Valid()
		require.Equal(t, tt.valid, valid)
		if tt.want == "" {
			require.Empty(t, found)
			continue
		}
		require.Len(t, found, 1)
		require.Equal(t, tt.want, found[0].String())
	}
}

// Each field of the limits is checked.
func TestNoLimitIsNegative(t *testing.T) {
	for i := range reflect.TypeFor[journal.Limits]().NumField() {
		var l journal.Limits
		switch v := reflect.ValueOf(&l).Elem().Field(i); v.Kind() {
		case reflect.Float64:
			v.SetFloat(-1)
		default:
			v.SetInt(-1)
		}
		valid, found := l.Valid()
		require.Len(t, found, 1, reflect.TypeFor[journal.Limits]().Field(i).Name)
		require.Zero(t, valid)
	}
}

func TestDefaultLimits(t *testing.T) {
	own := protocol.Defaults{MinRounds: 2, MaxRounds: 4, Time: time.Hour, StepTokens: 100, JudgeTokens: 200}
	require.Equal(t, journal.Limits{
		MinRounds: 2, MaxRounds: 4, RunningTime: time.Hour, StepTokens: 100, JudgeTokens: 200, StepTimeout: 5 * time.Minute,
		StepAttempts: 10,
	}, journal.Limits{}.WithDefaults(own))
	require.Equal(t, 1, journal.Limits{MaxRounds: 1}.WithDefaults(own).MinRounds, "no more than the most")
	require.Equal(t, 6, journal.Limits{MinRounds: 6}.WithDefaults(own).MaxRounds, "no fewer than the least")
	require.Equal(t, journal.Limits{ToolRounds: 4, ToolCalls: 3, ToolBytes: 8192, ToolTimeout: 30 * time.Second},
		journal.Limits{ToolCalls: 3}.WithToolDefaults())
}

func TestLimitsSurviveJSON(t *testing.T) {
	var l journal.Limits
	for i := range reflect.TypeFor[journal.Limits]().NumField() {
		switch v := reflect.ValueOf(&l).Elem().Field(i); v.Kind() {
		case reflect.Float64:
			v.SetFloat(float64(i + 1))
		default:
			v.SetInt(int64(i + 1))
		}
	}
	b, err := json.Marshal(journal.Config{Limits: l})
	require.NoError(t, err)
	var again journal.Config
	require.NoError(t, json.Unmarshal(b, &again))
	require.Equal(t, l, again.Limits)
	require.Contains(t, string(b), `"running_time":"3ns"`)
	require.Error(t, json.Unmarshal([]byte(`{"limits":{"step_timeout":"soon"}}`), &again))
}
