package protocols

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
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
