package debate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// configJSON is the JSON form of Config.
type configJSON struct {
	*plainConfig
	Protocol json.RawMessage `json:"protocol,omitempty"`
	Limits   limitsJSON      `json:"limits,omitzero"`
}

type plainConfig Config // has no methods, so that encoding it does not call MarshalJSON again

// MarshalJSON encodes the protocol as an object with its name and parameters, and durations as strings such as
// "10m0s". Engine.ParseConfig decodes it.
func (c Config) MarshalJSON() ([]byte, error) {
	w := configJSON{plainConfig: (*plainConfig)(&c), Limits: c.Limits.toJSON()}
	if c.Protocol != nil {
		params, err := json.Marshal(c.Protocol)
		if err != nil {
			return nil, fmt.Errorf("encode protocol %s: %w", c.Protocol.Name(), err)
		}
		if len(params) < 2 || params[0] != '{' {
			return nil, fmt.Errorf("encode protocol %s: %T encodes to %s, want an object", c.Protocol.Name(), c.Protocol, params)
		}
		name, _ := json.Marshal(c.Protocol.Name()) // encoding a string cannot fail
		w.Protocol = slices.Concat([]byte(`{"name":`), name)
		if len(params) > 2 {
			w.Protocol = append(w.Protocol, ',')
		}
		w.Protocol = append(w.Protocol, params[1:]...)
	}
	return json.Marshal(w)
}

// limitsJSON is the JSON form of Limits, with durations as strings such as "90s" or "1h30m".
type limitsJSON struct {
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
	RoundTime    duration `json:"round_time,omitzero"`
	RoundDelay   duration `json:"round_delay,omitzero"`
}

func (l Limits) toJSON() limitsJSON {
	return limitsJSON{
		l.MinRounds, l.MaxRounds, duration(l.RunningTime), l.OutputTokens, l.Tokens, l.Cost, l.StepTokens, l.JudgeTokens,
		duration(l.StepTimeout), l.StepAttempts, duration(l.RoundTime), duration(l.RoundDelay),
	}
}

func (l limitsJSON) toLimits() Limits {
	return Limits{
		l.MinRounds, l.MaxRounds, time.Duration(l.RunningTime), l.OutputTokens, l.Tokens, l.Cost, l.StepTokens, l.JudgeTokens,
		time.Duration(l.StepTimeout), l.StepAttempts, time.Duration(l.RoundTime), time.Duration(l.RoundDelay),
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

// unmarshalStrict decodes b into v. It rejects unknown fields, so that a misspelled field is not silently ignored.
func unmarshalStrict(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF { //nolint:errorlint // Token does not wrap io.EOF
		return errors.New("unexpected data after the object")
	}
	return nil
}
