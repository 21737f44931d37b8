package journal

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/elenchus-go/debate/internal/protocols"
	"github.com/elenchus-go/debate/internal/strictjson"
	"github.com/elenchus-go/debate/protocol"
)

// configJSON holds a Config in its JSON form.
type configJSON struct {
	*plainConfig
	Protocol json.RawMessage `json:"protocol,omitempty"`
	Limits   limitsJSON      `json:"limits,omitzero"`
}

type plainConfig Config // has no methods, so that encoding it does not call MarshalJSON again

// MarshalJSON encodes the protocol as an object with its name and parameters, and durations as strings such as
// "10m0s". UnmarshalJSON and Engine.ParseConfig decode it.
func (c Config) MarshalJSON() ([]byte, error) {
	w := configJSON{plainConfig: (*plainConfig)(&c), Limits: c.Limits.json()}
	if c.Protocol != nil {
		encoded, err := protocols.Encode(c.Protocol)
		if err != nil {
			return nil, err
		}
		w.Protocol = encoded
	}
	return json.Marshal(w)
}

// UnmarshalJSON decodes a configuration with one of the protocols of the library. It rejects unknown fields. It returns
// *Problems with everything that is wrong, by the names of the fields as you wrote them. Engine.ParseConfig decodes
// configurations with other protocols.
func (c *Config) UnmarshalJSON(b []byte) error {
	return DecodeConfig(
		b,
		c,
		protocols.NewRegistry(),
		"decode other protocols with Engine.ParseConfig",
	)
}

// DecodeConfig decodes a configuration that a person wrote. It returns *Problems with everything that is wrong with it. advice
// says what to do about a protocol that is not known.
func DecodeConfig(b []byte, c *Config, known *protocols.Registry, advice string) error {
	w := configJSON{plainConfig: (*plainConfig)(c), Limits: c.Limits.json()}
	found := strictjson.Decode("", b, &w)
	c.Limits = w.Limits.limits()
	p, wrong := known.Read(w.Protocol, advice)
	if p != nil {
		c.Protocol = p
	}
	var problems []protocol.Problem
	for _, x := range append(found, wrong...) {
		problems = append(problems, protocol.Problem{Field: cmp.Or(x.Path, "configuration"), Reason: x.Reason})
	}
	if len(problems) == 0 {
		return nil
	}
	return &Problems{List: problems}
}

// StoredConfig decodes a stored configuration without its protocol, which it returns as it is encoded. It rejects unknown fields.
func StoredConfig(b []byte) (c Config, encoded json.RawMessage, err error) {
	w := configJSON{plainConfig: (*plainConfig)(&c)}
	unknown, err := strictjson.Unmarshal(b, &w)
	err = cmp.Or(err, unknown)
	if err != nil {
		return Config{}, nil, err
	}
	c.Limits = w.Limits.limits()
	c.Participants = slices.Clone(c.Participants) // without the room that decoding leaves
	c.Judges = slices.Clone(c.Judges)
	return c, w.Protocol, nil
}

// limitsJSON has the fields of Limits for JSON, with durations as strings such as "90s" or "1h30m".
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
	OutageTime   duration `json:"outage_time,omitzero"`
	RoundTime    duration `json:"round_time,omitzero"`
	RoundDelay   duration `json:"round_delay,omitzero"`
	ToolRounds   int      `json:"tool_rounds,omitempty"`
	ToolCalls    int      `json:"tool_calls,omitempty"`
	ToolBytes    int      `json:"tool_bytes,omitempty"`
	ToolTimeout  duration `json:"tool_timeout,omitzero"`
}

// json returns the JSON form of the limits.
func (l *Limits) json() limitsJSON {
	return limitsJSON{
		l.MinRounds, l.MaxRounds, duration(l.RunningTime), l.OutputTokens, l.Tokens, l.Cost, l.StepTokens, l.JudgeTokens,
		duration(l.StepTimeout), l.StepAttempts, duration(l.OutageTime), duration(l.RoundTime), duration(l.RoundDelay),
		l.ToolRounds, l.ToolCalls, l.ToolBytes, duration(l.ToolTimeout),
	}
}

// limits returns the limits that are in their JSON form.
func (l *limitsJSON) limits() Limits {
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
