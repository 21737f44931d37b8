package clients

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/internal/actor"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/retrieval"
)

// Templates names the provider, built in, that retrieves reasoning templates, and Documents the provider in attempts of steps that
// find passages in documents.
const (
	Templates = "templates"
	Documents = "documents"
)

// Providers maps names to the providers of an engine.
type Providers map[string]providers.Provider

// Bind returns the provider with the given name. If the name is empty, it returns the only provider there is.
func (list Providers) Bind(name string) (string, providers.Provider, error) {
	if p := list[name]; p != nil {
		return name, p, nil
	}
	switch name {
	case Templates:
		return name, retrieval.TemplateRetriever(), nil
	case actor.Human:
		return name, Person{}, nil
	}
	if name == "" && len(list) == 1 {
		for only, p := range list {
			return only, p, nil
		}
	}
	known := slices.Sorted(maps.Keys(list))
	switch {
	case len(known) == 0:
		return "", nil, errors.New("the engine has no providers, set Options.Providers")
	case name == "":
		return "", nil, fmt.Errorf("it is empty, use one of %s", strings.Join(known, ", "))
	}
	return "", nil, fmt.Errorf("%q is unknown, use one of %s", name, strings.Join(known, ", "))
}

// Identify returns the name of the provider that a possibly empty name refers to, and whether a person gives its
// replies.
func (list Providers) Identify(name string) (bound string, person bool) {
	bound, p, err := list.Bind(name)
	if err != nil {
		return name, false
	}
	h, ok := p.(providers.Person)
	return bound, ok && h.IsPerson()
}

// Person stands for the people who speak for participants and judges. The engine never calls it.
type Person struct{}

// Generate returns an error.
func (Person) Generate(context.Context, providers.Request) (providers.Response, error) {
	return providers.Response{}, &providers.Error{
		Kind: providers.InvalidRequest,
		Err:  errors.New("call model: a person replies with Debate.Answer"),
	}
}

// IsPerson returns true.
func (Person) IsPerson() bool { return true }
