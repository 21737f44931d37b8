package protocoljson

import (
	"encoding/json"
	"maps"
	"reflect"
	"sync"

	"github.com/elenchus-go/debate/internal/strictjson"
	"github.com/elenchus-go/debate/protocol"
)

// A Registry holds the protocols of an engine. It is safe for concurrent use.
type Registry struct {
	mu    sync.Mutex
	known map[string]protocol.Protocol // by name
	given map[string]protocol.Protocol // by debate: protocols that hold more than data
}

// NewRegistry returns a registry of protocols. A later one replaces an earlier one with the same name.
func NewRegistry(list ...protocol.Protocol) *Registry {
	r := &Registry{known: map[string]protocol.Protocol{}, given: map[string]protocol.Protocol{}}
	for _, p := range list {
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

// Present returns the name under which the registry has a protocol that may have a former name.
func (r *Registry) Present(name string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return PresentName(r.known, name)
}

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

// Decode decodes the stored protocol of a debate. p is nil if no protocol has its name. If the JSON has no name, the name is
// empty and there is an error. Fields that a protocol does not have are an error if strict returns true for it.
func (r *Registry) Decode(id string, stored json.RawMessage, strict func(protocol.Protocol) bool) (p protocol.Protocol, name string, err error) {
	name, params, err := Split(stored)
	if err != nil {
		return nil, "", err
	}
	known, name, own := r.find(id, name)
	if known == nil {
		return nil, name, nil
	}
	v := NewLike(known)
	unknown, err := strictjson.Unmarshal(params, v.Interface())
	if err == nil && strict(known) {
		err = unknown
	}
	if err != nil {
		return nil, name, err
	}
	if p = v.Elem().Interface().(protocol.Protocol); own && Parameters(known) == Parameters(p) {
		p = known // with everything that JSON omits
	}
	return p, name, nil
}

// find returns the protocol of a debate with the given name, its present name, and whether it serves that debate only.
func (r *Registry) find(id, name string) (p protocol.Protocol, present string, own bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	given := r.given[id]
	if given != nil && given.Name() == name {
		return given, name, true
	}
	name = PresentName(r.known, name)
	if given != nil && given.Name() == name {
		return given, name, true
	}
	return r.known[name], name, false
}
