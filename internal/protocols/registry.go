// Package protocols lists the protocols of the library, encodes protocols to JSON, and finds the protocol that JSON names.
package protocols

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/elenchus-go/debate/internal/findings"
	"github.com/elenchus-go/debate/internal/strictjson"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/decision"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/protocol/council"
	"github.com/elenchus-go/debate/protocol/mad"
	"github.com/elenchus-go/debate/protocol/oversight"
	"github.com/elenchus-go/debate/protocol/pairwise"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/protocol/review"
	"github.com/elenchus-go/debate/protocol/skeptic"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/transcript"
)

// Unknown stands for a protocol that a registry does not have.
type Unknown struct{ name string }

// Name returns the name.
func (u Unknown) Name() string { return u.name }

// Check finds nothing.
func (Unknown) Check(*protocol.Record) []protocol.Problem { return nil }

// Phases returns none.
func (Unknown) Phases(*protocol.Record) []protocol.Phase { return nil }

// End returns no ending.
func (Unknown) End(*protocol.Record) transcript.Ending { return transcript.Ending{} }

// A Registry holds the protocols of an engine. It is safe for concurrent use.
type Registry struct {
	mu    sync.Mutex
	known map[string]protocol.Protocol // by name
	given map[string]protocol.Protocol // by debate: protocols that hold more than data
}

// NewRegistry returns a registry of the protocols of the library and of others. A later one replaces an earlier one with the same
// name.
func NewRegistry(others ...protocol.Protocol) *Registry {
	r := &Registry{known: map[string]protocol.Protocol{}, given: map[string]protocol.Protocol{}}
	for _, p := range presets {
		r.known[p.name] = p.Protocol
	}
	for _, p := range others {
		r.known[p.Name()] = p
	}
	return r
}

// Known returns the protocols by name.
func (r *Registry) Known() map[string]protocol.Protocol {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.known)
}

// Names lists the names of the protocols.
func (r *Registry) Names() string { return strings.Join(slices.Sorted(maps.Keys(r.Known())), ", ") }

// Read decodes a protocol that a person wrote, and returns everything that is wrong with it. It returns no protocol if none is
// written. advice says what to do about a protocol that is not known.
func (r *Registry) Read(written json.RawMessage, advice string) (protocol.Protocol, []strictjson.Problem) {
	if isNull(written) {
		return nil, nil
	}
	name, params, err := split(written)
	if err != nil {
		return nil, []strictjson.Problem{{Path: "protocol.name", Reason: err.Error()}}
	}
	p := Find(r.Known(), name)
	if p == nil {
		return nil, []strictjson.Problem{{
			Path:   "protocol.name",
			Reason: fmt.Sprintf("%q is unknown, use one of %s, or %s", name, r.Names(), advice),
		}}
	}
	v := newLike(p)
	wrong := strictjson.Decode("protocol", params, v.Interface())
	return v.Elem().Interface().(protocol.Protocol), wrong
}

func isNull(b json.RawMessage) bool { return len(b) == 0 || string(b) == "null" }

// Add notes the protocol of a debate, so that Decode can return it later. A protocol that is only data serves all debates
// that use its name. One that holds what JSON omits, such as functions, serves its own debate only. undo takes that back.
func (r *Registry) Add(id string, p protocol.Protocol) (undo func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v := reflect.ValueOf(p)
	_, known := r.known[p.Name()]
	switch {
	case !known && !omitsType(v.Type()):
		r.known[p.Name()] = p
	case !known || omitsValue(v):
		before, had := r.given[id]
		r.given[id] = p
		return func() { r.restore(id, before, had) }
	}
	return func() {}
}

// Given returns the protocol that serves one debate only, or nil if there is none.
func (r *Registry) Given(id string) protocol.Protocol {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.given[id]
}

// Forget removes the protocol that serves one debate only.
func (r *Registry) Forget(id string) { r.restore(id, nil, false) }

func (r *Registry) restore(id string, p protocol.Protocol, had bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if had {
		r.given[id] = p
	} else {
		delete(r.given, id)
	}
}

// Decode decodes the stored protocol of a debate. It returns an Unknown if no protocol has its name, and no protocol if none is
// stored. Fields that a protocol does not have are an error if strict returns true for it.
func (r *Registry) Decode(id string, stored json.RawMessage, strict func(protocol.Protocol) bool) (p protocol.Protocol, err error) {
	if isNull(stored) {
		return nil, nil
	}
	name, params, err := split(stored)
	if err != nil {
		return nil, fmt.Errorf("protocol.name: %w", err)
	}
	known, own := r.find(id, name)
	if known == nil {
		return Unknown{name}, nil
	}
	v := newLike(known)
	unknown, err := strictjson.Unmarshal(params, v.Interface())
	if err == nil && strict(known) {
		err = unknown
	}
	if err != nil {
		return nil, fmt.Errorf("protocol %s: %w", name, err)
	}
	p = v.Elem().Interface().(protocol.Protocol)
	if own && Parameters(known) == Parameters(p) {
		p = known // with everything that JSON omits
	}
	return p, nil
}

// find returns the protocol of a debate with the given name, and whether it serves that debate only.
func (r *Registry) find(id, name string) (p protocol.Protocol, own bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if given := r.given[id]; given != nil && given.Name() == name {
		return given, true
	}
	return r.known[name], false
}

// presets lists the protocols of the library by name, so that no protocol is asked for its name. The default one comes first.
var presets = []preset{
	{"panel/1", panel.Protocol{}},
	{"skeptic/1", skeptic.Protocol{}},
	{"refine/1", refine.Protocol{}},
	{"arbitration/1", arbitration.Protocol{}},
	{"procon/1", procon.Protocol{}},
	{"vote/1", vote.Protocol{}},
	{"council/1", council.Protocol{}},
	{"mad/1", mad.Protocol{}},
	{"review/1", review.Protocol{}},
	{"pairwise/1", pairwise.Protocol{}},
	{"oversight/1", oversight.Protocol{}},
}

// preset is a protocol of the library with its name.
type preset struct {
	name string
	protocol.Protocol
}

// All returns the protocols of the library.
func All() []protocol.Protocol {
	list := make([]protocol.Protocol, len(presets))
	for i, p := range presets {
		list[i] = p.Protocol
	}
	return list
}

// Has reports whether a protocol is one of the library.
func Has(p protocol.Protocol) bool {
	return slices.ContainsFunc(presets, func(own preset) bool { return reflect.TypeOf(own.Protocol) == reflect.TypeOf(p) })
}

// Contracts returns the contracts of all replies that these protocols and the engine ask for.
func Contracts() []*reply.Contract {
	return []*reply.Contract{
		judge.AssessmentContract, judge.VerdictContract, protocol.PersonasContract, findings.VectorContract, skeptic.DocumentsContract,
		skeptic.PlanContract,
		refine.CritiqueContract, refine.SummaryContract, refine.SolutionContract, arbitration.ArgumentContract, arbitration.RulingContract,
		procon.JudgmentContract, panel.AudienceContract, vote.BallotContract, vote.RulingContract,
		council.RankingContract, council.AnswerContract,
		mad.ModerationContract, mad.CandidatesContract, mad.DecisionContract, pairwise.Contract, decision.Contract,
		oversight.CredenceContract, oversight.ChoiceContract, review.ClaimsContract, review.VotesContract, review.RulingsContract,
	}
}

// Encode returns a protocol as an object with its name and parameters.
func Encode(p protocol.Protocol) (json.RawMessage, error) {
	if IsNil(p) {
		return nil, fmt.Errorf("encode protocol: it is a nil pointer of type %T", p)
	}
	params, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("encode protocol %s: %w", p.Name(), err)
	}
	if len(params) < 2 || params[0] != '{' {
		return nil, fmt.Errorf("encode protocol %s: %T encodes to %s, want an object", p.Name(), p, params)
	}
	if hidesName(params) {
		return nil, fmt.Errorf("encode protocol %s: %T has a field with the JSON name \"name\", use another name", p.Name(), p)
	}
	name, _ := json.Marshal(p.Name()) // encoding a string cannot fail
	b := slices.Concat([]byte(`{"name":`), name)
	if len(params) > 2 {
		b = append(b, ',')
	}
	return append(b, params[1:]...), nil
}

// IsNil reports whether a protocol is a pointer to nothing, whose methods cannot be called.
func IsNil(p protocol.Protocol) bool {
	v := reflect.ValueOf(p)
	return v.Kind() == reflect.Pointer && v.IsNil()
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

// split splits the JSON of a protocol into its name and its parameters.
func split(b json.RawMessage) (name string, params json.RawMessage, err error) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(b, &fields) != nil || json.Unmarshal(fields["name"], &name) != nil || name == "" {
		return "", nil, errors.New(`use an object with a name, such as {"name": "panel/1"}`)
	}
	delete(fields, "name")
	params, err = json.Marshal(fields)
	return name, params, err
}

// Find returns the protocol with the given name. If the name has no version, it returns the newest one. It
// returns nil if there is none.
func Find(known map[string]protocol.Protocol, name string) protocol.Protocol {
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

// Parameters returns the stored form of a protocol.
func Parameters(p protocol.Protocol) string {
	b, _ := json.Marshal(p) // a stored protocol can be encoded
	return p.Name() + string(b)
}
