package debate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/elenchus-go/debate/internal/former"
	"github.com/elenchus-go/debate/internal/strictjson"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/protocol/council"
	"github.com/elenchus-go/debate/protocol/mad"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/protocol/skeptic"
	"github.com/elenchus-go/debate/protocol/vote"
)

// configJSON is the JSON form of Config.
type configJSON struct {
	*plainConfig
	Protocol json.RawMessage `json:"protocol,omitempty"`
	Limits   limitsJSON      `json:"limits,omitzero"`
}

type plainConfig Config // has no methods, so that encoding it does not call MarshalJSON again

// MarshalJSON encodes the protocol as an object with its name and parameters, and durations as strings such as
// "10m0s". UnmarshalJSON and [Engine.ParseConfig] decode it.
func (c Config) MarshalJSON() ([]byte, error) {
	w := configJSON{plainConfig: (*plainConfig)(&c), Limits: c.Limits.toJSON()}
	if isNilPointer(c.Protocol) {
		return nil, fmt.Errorf("encode protocol: it is a nil pointer of type %T", c.Protocol)
	}
	if c.Protocol != nil {
		params, err := json.Marshal(c.Protocol)
		if err != nil {
			return nil, fmt.Errorf("encode protocol %s: %w", c.Protocol.Name(), err)
		}
		if len(params) < 2 || params[0] != '{' {
			return nil, fmt.Errorf("encode protocol %s: %T encodes to %s, want an object", c.Protocol.Name(), c.Protocol, params)
		}
		if hidesName(params) {
			return nil, fmt.Errorf("encode protocol %s: %T has a field with the JSON name \"name\", use another name", c.Protocol.Name(), c.Protocol)
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

// hidesName reports whether the parameters of a protocol have a field where the name of the protocol belongs.
func hidesName(params []byte) bool {
	if !bytes.Contains(params, []byte(`"name":`)) {
		return false
	}
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(params, &fields) // it was just encoded
	_, hides := fields["name"]
	return hides
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

// UnmarshalJSON decodes a configuration with one of the protocols of the library. It rejects unknown fields. It returns
// *Problems with everything that is wrong, by the names of the fields as you wrote them. [Engine.ParseConfig] decodes
// configurations with other protocols.
func (c *Config) UnmarshalJSON(b []byte) error {
	known := map[string]protocol.Protocol{}
	for _, p := range presets() {
		known[p.Name()] = p
	}
	l := &problemList{}
	decodeStrict(l, b, c, known, "decode other protocols with Engine.ParseConfig")
	return problemsError(l.problems)
}

// presets returns the protocols of the library.
func presets() []protocol.Protocol {
	return []protocol.Protocol{panel.Protocol{}, skeptic.Protocol{}, refine.Protocol{}, arbitration.Protocol{}, procon.Protocol{}, vote.Protocol{}, council.Protocol{}, mad.Protocol{}}
}

// isNilPointer reports whether a protocol is a pointer to nothing, whose methods cannot be called.
func isNilPointer(p protocol.Protocol) bool {
	v := reflect.ValueOf(p)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// isPreset reports whether a protocol is one of the library.
func isPreset(p protocol.Protocol) bool {
	return slices.ContainsFunc(presets(), func(own protocol.Protocol) bool { return reflect.TypeOf(own) == reflect.TypeOf(p) })
}

// unmarshalKnown decodes JSON as json.Unmarshal does. unknown names a field that v does not have, if there is one.
func unmarshalKnown(b []byte, v any) (unknown, err error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if unknown = d.Decode(v); unknown == nil && len(bytes.TrimSpace(b[d.InputOffset():])) == 0 {
		return nil, nil
	}
	return unknown, json.Unmarshal(b, v)
}

// decodeStrict decodes a configuration that a person wrote, and adds everything that is wrong with it. advice says what
// to do about a protocol that is not known.
func decodeStrict(l *problemList, b []byte, c *Config, known map[string]protocol.Protocol, advice string) {
	w := configJSON{plainConfig: (*plainConfig)(c), Limits: c.Limits.toJSON()}
	l.addStrict(strictjson.Decode("", b, &w))
	c.Limits = w.Limits.toLimits()
	if isNull(w.Protocol) {
		return
	}
	name, params, err := splitProtocol(w.Protocol)
	if err != nil {
		l.add("protocol.name", "%v", err)
		return
	}
	p := findProtocol(known, presentName(known, name))
	if p == nil {
		l.add("protocol.name", "%q is unknown, use one of %s, or %s", name, strings.Join(slices.Sorted(maps.Keys(known)), ", "), advice)
		return
	}
	v := newLike(p)
	l.addStrict(strictjson.Decode("protocol", params, v.Interface()))
	c.Protocol = v.Elem().Interface().(protocol.Protocol)
}

func isNull(b json.RawMessage) bool { return len(b) == 0 || string(b) == "null" }

func (l *problemList) addStrict(problems []strictjson.Problem) {
	for _, p := range problems {
		l.add(cmp.Or(p.Path, "configuration"), "%s", p.Reason)
	}
}

// splitProtocol splits the JSON of a protocol into its name and its parameters.
func splitProtocol(b json.RawMessage) (name string, params json.RawMessage, err error) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(b, &fields) != nil || json.Unmarshal(fields["name"], &name) != nil || name == "" {
		return "", nil, errors.New(`use an object with a name, such as {"name": "panel/1"}`)
	}
	delete(fields, "name")
	params, err = json.Marshal(fields)
	return name, params, err
}

// presentName returns the present name of a protocol. A name that is known is one, whatever the library once meant by it.
func presentName(known map[string]protocol.Protocol, name string) string {
	if known[name] != nil {
		return name
	}
	return former.Protocol(name)
}

// findProtocol returns the protocol with the given name. If the name has no version, it returns the newest one. It
// returns nil if there is none.
func findProtocol(known map[string]protocol.Protocol, name string) protocol.Protocol {
	if p, ok := known[name]; ok || strings.Contains(name, "/") {
		return p
	}
	newest, best := 0, protocol.Protocol(nil)
	for full, p := range known {
		version, versioned := strings.CutPrefix(full, name+"/")
		if n, err := strconv.Atoi(version); versioned && err == nil && n > newest {
			newest, best = n, p
		}
	}
	return best
}

// newLike returns a pointer to a new protocol of the same type as known, with only those fields of known that JSON
// omits.
func newLike(known protocol.Protocol) reflect.Value {
	v, like := reflect.New(reflect.TypeOf(known)), reflect.ValueOf(known)
	to := v.Elem()
	if to.Kind() == reflect.Pointer && !like.IsNil() {
		to.Set(reflect.New(to.Type().Elem()))
		to, like = to.Elem(), like.Elem()
	}
	if to.Kind() != reflect.Struct {
		return v
	}
	for f := range to.Type().Fields() {
		if f.IsExported() && f.Tag.Get("json") == "-" {
			to.FieldByIndex(f.Index).Set(like.FieldByIndex(f.Index))
		}
	}
	return v
}

// omitsType reports whether JSON omits a part of a type, such as a function.
func omitsType(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return false
	}
	for f := range t.Fields() {
		if f.Anonymous && omitsType(f.Type) || !f.Anonymous && isOmitted(f) {
			return true
		}
	}
	return false
}

// omitsValue reports whether JSON omits a part of v that is not zero.
func omitsValue(v reflect.Value) bool {
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return false
	}
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if f.Anonymous && omitsValue(v.Field(i)) || !f.Anonymous && isOmitted(f) && !v.Field(i).IsZero() {
			return true
		}
	}
	return false
}

func isOmitted(f reflect.StructField) bool { return !f.IsExported() || f.Tag.Get("json") == "-" }

// parameters returns the stored form of a protocol.
func parameters(p protocol.Protocol) string {
	b, _ := json.Marshal(p) // a stored protocol can be encoded
	return p.Name() + string(b)
}
