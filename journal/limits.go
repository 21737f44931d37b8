package journal

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/elenchus-go/debate/internal/turns"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers/price"
)

// The greatest limits. With these, no sum or product of limits overflows.
const (
	maxRounds   = 10_000
	maxAttempts = 1_000_000
	maxTokens   = math.MaxInt / 4 // of a debate
	maxTime     = 365 * 24 * time.Hour
)

// The default limits of tool calls, and the greatest ones.
const (
	defaultToolRounds  = 4
	defaultToolCalls   = 16
	defaultToolBytes   = 8 << 10
	defaultToolTimeout = 30 * time.Second

	maxToolRounds = 16
	maxToolCalls  = 128
	maxToolBytes  = 32 << 10
	minToolBytes  = 256
)

// Valid returns the limits with 0, the default, in place of each invalid value, and a problem for that value. Otherwise
// checks of other fields would report it again.
func (l Limits) Valid() (valid Limits, found []protocol.Problem) {
	add := func(field, format string, args ...any) {
		found = append(found, protocol.Problemf("limits."+field, format, args...))
	}
	for _, x := range []struct {
		field string
		value *int
		most  int
	}{
		{"min_rounds", &l.MinRounds, maxRounds},
		{"max_rounds", &l.MaxRounds, maxRounds},
		{"output_tokens", &l.OutputTokens, maxTokens},
		{"tokens", &l.Tokens, maxTokens},
		{"step_tokens", &l.StepTokens, turns.MaxTokens},
		{"judge_tokens", &l.JudgeTokens, turns.MaxTokens},
		{"step_attempts", &l.StepAttempts, maxAttempts},
		{"tool_rounds", &l.ToolRounds, maxToolRounds},
		{"tool_calls", &l.ToolCalls, maxToolCalls},
		{"tool_bytes", &l.ToolBytes, maxToolBytes},
	} {
		if *x.value < 0 || *x.value > x.most {
			add(x.field, "%d is not valid, use at most %d, or 0 for the default", *x.value, x.most)
			*x.value = 0
		}
	}
	for _, x := range []struct {
		field string
		value *time.Duration
	}{
		{"running_time", &l.RunningTime},
		{"step_timeout", &l.StepTimeout},
		{"outage_time", &l.OutageTime},
		{"round_time", &l.RoundTime},
		{"round_delay", &l.RoundDelay},
		{"tool_timeout", &l.ToolTimeout},
	} {
		if *x.value < 0 || *x.value > maxTime {
			add(x.field, "%v is not valid, use at most %v, or 0 for the default", *x.value, maxTime)
			*x.value = 0
		}
	}
	if n := l.ToolBytes; n > 0 && n < minToolBytes {
		add("tool_bytes", "%d is too small, use at least %d, or 0 for the default", n, minToolBytes)
		l.ToolBytes = 0
	}
	if !(l.Cost >= 0) || math.IsInf(l.Cost, 0) {
		add("cost", "%v is not valid, use 0 or more", l.Cost)
		l.Cost = 0
	}
	if l.MinRounds > l.MaxRounds && l.MaxRounds > 0 {
		add("min_rounds", "%d is more than max_rounds, %d", l.MinRounds, l.MaxRounds)
		l.MinRounds = 0
	}
	return l, found
}

// WithDefaults returns the limits with the defaults of a protocol in place of those that are zero.
func (l Limits) WithDefaults(own protocol.Defaults) Limits {
	most := cmp.Or(l.MaxRounds, own.MaxRounds)
	l.MinRounds = cmp.Or(l.MinRounds, min(own.MinRounds, max(most, 1)))
	l.MaxRounds = cmp.Or(l.MaxRounds, max(own.MaxRounds, l.MinRounds))
	l.RunningTime = cmp.Or(l.RunningTime, own.Time)
	l.StepTokens = cmp.Or(l.StepTokens, own.StepTokens)
	l.JudgeTokens = cmp.Or(l.JudgeTokens, own.JudgeTokens)
	l.StepTimeout = cmp.Or(l.StepTimeout, 5*time.Minute)
	l.StepAttempts = cmp.Or(l.StepAttempts, 10)
	return l
}

// WithToolDefaults returns the limits with the defaults of tool calls in place of those that are zero.
func (l Limits) WithToolDefaults() Limits {
	l.ToolRounds = cmp.Or(l.ToolRounds, defaultToolRounds)
	l.ToolCalls = cmp.Or(l.ToolCalls, defaultToolCalls)
	l.ToolBytes = cmp.Or(l.ToolBytes, defaultToolBytes)
	l.ToolTimeout = cmp.Or(l.ToolTimeout, defaultToolTimeout)
	return l
}

// checkPrices returns a problem for each price that is not valid.
func checkPrices(prices price.Prices) (list []protocol.Problem) {
	for _, model := range slices.Sorted(maps.Keys(prices)) {
		p := prices[model]
		for _, x := range []float64{p.Input, p.Cached, p.Written, p.Output} {
			if !(x >= 0) || math.IsInf(x, 0) {
				list = append(list, protocol.Problemf("prices", "%s: %v is not valid, use 0 or more", model, x))
			}
		}
	}
	return list
}
