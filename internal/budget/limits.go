package budget

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/elenchus-go/debate/internal/turns"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/transcript"
)

// Limits has the fields of debate.Limits, which converts to it.
type Limits struct {
	MinRounds    int
	MaxRounds    int
	RunningTime  time.Duration
	OutputTokens int
	Tokens       int
	Cost         float64
	StepTokens   int
	JudgeTokens  int
	StepTimeout  time.Duration
	StepAttempts int
	OutageTime   time.Duration
	RoundTime    time.Duration
	RoundDelay   time.Duration
	ToolRounds   int
	ToolCalls    int
	ToolBytes    int
	ToolTimeout  time.Duration
}

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

// CoverStart returns a problem for each budget that is smaller than the worst case of the setup, the first phase and the
// conclusion. The debate would end before the first speech.
func (l Limits) CoverStart(worst transcript.Usage) (found []protocol.Problem) {
	const text = "too small for the first phase: with the setup and the conclusion, up to"
	if n, need := l.OutputTokens, worst.Output; n > 0 && need > n {
		found = append(found, protocol.Problemf("limits.output_tokens", "%s %d tokens are needed, but it is %d", text, need, n))
	}
	if n, need := l.Tokens, worst.Input+worst.Output; n > 0 && need > n {
		found = append(found, protocol.Problemf("limits.tokens", "%s %d tokens are needed, but it is %d", text, need, n))
	}
	if n, need := l.Cost, worst.Cost; n > 0 && need > n {
		found = append(found, protocol.Problemf("limits.cost", "%s %.4f is needed, but it is %v", text, need, n))
	}
	return found
}

// JSON is the JSON form of Limits, with durations as strings such as "90s" or "1h30m".
type JSON struct {
	MinRounds    int      `json:"min_rounds,omitempty"`
	MaxRounds    int      `json:"max_rounds,omitempty"`
	RunningTime  duration `json:"running_time,omitzero"`
	OutputTokens int      `json:"output_tokens,omitempty"`
	Tokens       int      `json:"tokens,omitempty"`
	Cost         float64  `json:"cost,omitempty"`
	StepTokens   int      `json:"step_tokens,omitempty"`
	JudgeTokens  int      `json:"judge_tokens,omitempty"`
	StepTimeout  duration `json:"step_timeout,omitzero"`
	StepAttempts int      `json:"step_attempts,omitempty"`
	OutageTime   duration `json:"outage_time,omitzero"`
	RoundTime    duration `json:"round_time,omitzero"`
	RoundDelay   duration `json:"round_delay,omitzero"`
	ToolRounds   int      `json:"tool_rounds,omitempty"`
	ToolCalls    int      `json:"tool_calls,omitempty"`
	ToolBytes    int      `json:"tool_bytes,omitempty"`
	ToolTimeout  duration `json:"tool_timeout,omitzero"`
}

// JSON returns the JSON form of the limits.
func (l Limits) JSON() JSON {
	return JSON{
		l.MinRounds, l.MaxRounds, duration(l.RunningTime), l.OutputTokens, l.Tokens, l.Cost, l.StepTokens, l.JudgeTokens,
		duration(l.StepTimeout), l.StepAttempts, duration(l.OutageTime), duration(l.RoundTime), duration(l.RoundDelay),
		l.ToolRounds, l.ToolCalls, l.ToolBytes, duration(l.ToolTimeout),
	}
}

// Limits returns the limits in their JSON form.
func (l JSON) Limits() Limits {
	return Limits{
		l.MinRounds, l.MaxRounds, time.Duration(l.RunningTime), l.OutputTokens, l.Tokens, l.Cost, l.StepTokens, l.JudgeTokens,
		time.Duration(l.StepTimeout), l.StepAttempts, time.Duration(l.OutageTime), time.Duration(l.RoundTime), time.Duration(l.RoundDelay),
		l.ToolRounds, l.ToolCalls, l.ToolBytes, time.Duration(l.ToolTimeout),
	}
}

// duration encodes to a string such as "90s".
type duration time.Duration

func (d duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

func (d *duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	if err != nil {
		return fmt.Errorf("%q is not a duration, use one such as \"90s\" or \"1h30m\"", b)
	}
	*d = duration(v)
	return nil
}

// DefaultsOf returns a protocol's defaults, and the library's where the protocol has none.
func DefaultsOf(p protocol.Protocol) (d protocol.Defaults) {
	if own, ok := p.(protocol.Defaulter); ok {
		d = own.Defaults()
	}
	d.MinRounds = cmp.Or(d.MinRounds, 1)
	d.MaxRounds = cmp.Or(d.MaxRounds, 5)
	d.Time = cmp.Or(d.Time, time.Hour)
	d.StepTokens, d.JudgeTokens = cmp.Or(d.StepTokens, 4096), cmp.Or(d.JudgeTokens, 4096)
	if len(d.Temperatures) == 0 {
		d.Temperatures = []float64{0.7}
	}
	cool := 0.2
	d.JudgeTemperature = cmp.Or(d.JudgeTemperature, &cool)
	return d
}

// CheckPrices returns a problem for each price that is not valid.
func CheckPrices(prices price.Prices) (list []protocol.Problem) {
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
