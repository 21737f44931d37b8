// Package clients finds the providers of actors by their names, has those that are built in, asks them before a debate starts about
// keys, models, settings and windows, and warns of what a debate can begin with, but its user should know.
package clients

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/internal/actor"
	"github.com/elenchus-go/debate/internal/naming"
	"github.com/elenchus-go/debate/internal/panics"
	"github.com/elenchus-go/debate/internal/turns"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/retrieval"
)

// An Actor is an actor whose provider is asked.
type Actor struct {
	Field    string // its path in the configuration, such as "judges[0]"
	Seat     string // names it in a problem
	Provider string // name of the client
	Client   providers.Provider
	Request  providers.Request // its settings, tools and attachments
	Window   int               // 0 if it is not configured
	Inherits bool              // it may have the provider and model of another actor
	NoText   bool              // its calls generate no text, or a person replies
}

// Asker asks providers. A question that panics does no harm.
type Asker struct {
	Log   *slog.Logger
	Shown func(error) any // what the log shows of an error
}

// ask calls a function of a provider and returns its error, or its panic, whose stack it logs.
func (a Asker) ask(ctx context.Context, provider string, question func() error) *providers.Error {
	var said error
	if p, panicked := errors.AsType[*panics.Error](panics.Call(func() { said = question() })); panicked {
		failed := &providers.Error{Kind: providers.Panic, Err: p}
		a.Log.ErrorContext(ctx, "check provider", "provider", provider, "error", failed, "stack", p.Stack)
		return failed
	}
	return providers.AsError(said)
}

// Unsupported returns what a provider does not support of a request. known reports whether the provider says so.
func (a Asker) Unsupported(
	ctx context.Context, provider string, client providers.Provider, r providers.Request,
) (found map[string]string, known bool, failed *providers.Error) {
	limited, known := client.(providers.Limited)
	if known {
		failed = a.ask(ctx, provider, func() error { found = limited.Unsupported(r); return nil })
	}
	return found, known, failed
}

// Settings returns a problem for each setting of an actor that its provider does not support.
func (a Asker) Settings(ctx context.Context, actors []Actor) (list []protocol.Problem) {
	add := func(field, format string, args ...any) {
		list = append(list, protocol.Problemf(field, format, args...))
	}
	for i := range actors {
		x := &actors[i]
		if x.NoText {
			continue
		}
		found, known, failed := a.Unsupported(ctx, x.Provider, x.Client, x.Request)
		if !known && x.Request.Messages != nil {
			add("attachments",
				"%s: provider %s does not say what it reads, implement providers.Limited or leave %s out of the readers",
				x.Seat, x.Provider, x.Seat)
		}
		if failed != nil {
			add(x.Field+".provider", "provider %s: check of its settings: %v", x.Provider, failed)
		}
		for _, setting := range slices.Sorted(maps.Keys(found)) {
			if setting == "attachments" {
				add(setting, "%s: provider %s: %s, or leave %s out of the readers", x.Seat, x.Provider, found[setting], x.Seat)
				continue
			}
			add(x.Field+"."+setting, "provider %s: %s", x.Provider, found[setting])
		}
	}
	return list
}

// Access asks each provider that implements providers.Checker to check its key and models. It returns a problem for each
// provider whose key is rejected, and for each model that is.
func (a Asker) Access(ctx context.Context, actors []Actor) (list []protocol.Problem) {
	type pair struct{ provider, model string }
	asked, skipped := map[pair]*providers.Error{}, map[string]bool{}
	uses := map[pair][]string{} // the fields of the actors with the same model
	add := func(field, format string, args ...any) {
		list = append(list, protocol.Problemf(field, format, args...))
	}
	for i := range actors {
		x := &actors[i]
		checker, ok := x.Client.(providers.Checker)
		if !ok || skipped[x.Provider] || ctx.Err() != nil {
			continue
		}
		model := pair{x.Provider, x.Request.Model}
		failed, again := asked[model]
		if !again {
			failed = a.ask(ctx, x.Provider, func() error { return checker.Check(ctx, model.model) })
			asked[model] = failed
		}
		switch {
		case failed == nil:
		case failed.Kind == providers.Panic:
			skipped[x.Provider] = true
			add(x.Field+".provider", "provider %s: check of its key and model: %v", x.Provider, failed)
		case failed.Kind == providers.Authentication, failed.Kind == providers.Billing:
			skipped[x.Provider] = true
			add(x.Field+".provider", "provider %s: %v", x.Provider, failed)
		case failed.Kind == providers.InvalidRequest && again && x.Inherits:
		case failed.Kind == providers.InvalidRequest:
			uses[model] = append(uses[model], x.Field)
			if !again {
				add(x.Field+".model", "provider %s: %v", x.Provider, failed)
			}
		case failed.Kind == providers.Network: // the first call says so too; do not wait for each model
			skipped[x.Provider] = true
			fallthrough
		case !again: // the problem may be temporary, and calls are retried
			a.Log.WarnContext(ctx, "check provider", "provider", x.Provider, "error", a.Shown(failed))
		}
	}
	for _, fields := range uses {
		at := slices.IndexFunc(list, func(p protocol.Problem) bool { return p.Field == fields[0]+".model" })
		if len(fields) > 1 {
			list[at].Reason += "; the same model is in " + naming.Enumerate(fields[1:], len(fields))
		}
	}
	return list
}

// patience is how long providers may take to say that they answer.
const patience = 10 * time.Second

// AnyAnswers asks the providers of actors whether they answer, all at once. known reports whether each could tell.
func (a Asker) AnyAnswers(ctx context.Context, actors []Actor) (answer, known bool) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	asked, reached := map[string]bool{}, make(chan bool)
	known = true
	for i := range actors {
		x := &actors[i]
		if asked[x.Provider] {
			continue
		}
		checker := checkerOf(x.Client)
		if checker == nil {
			known = false
			continue
		}
		asked[x.Provider] = true
		go func() {
			said := false
			defer func() { reached <- said }()
			failed := a.ask(ctx, x.Provider, func() error { return checker.Check(ctx, x.Request.Model) })
			said = ctx.Err() == nil && (failed == nil || answers(failed.Kind))
		}()
	}
	for range asked {
		if <-reached {
			answer = true
			cancel() // the others need not go on
		}
	}
	return answer, known
}

// answers reports whether an error of a kind came from the service.
func answers(kind providers.ErrorKind) bool {
	return kind != providers.Network && kind != providers.Timeout && kind != providers.Panic
}

// checkerOf returns a provider that can check itself, or nil. What wraps a provider has the method even if the provider has not.
func checkerOf(p providers.Provider) providers.Checker {
	checker, _ := p.(providers.Checker)
	for inner := p; inner != nil; {
		if _, can := inner.(providers.Checker); !can {
			return nil
		}
		wrapper, wraps := inner.(interface{ Unwrap() providers.Provider })
		if !wraps {
			break
		}
		inner = wrapper.Unwrap()
	}
	return checker
}

// Windows returns, by field, the windows of actors that have none, and those that are smaller than the configured ones.
func (a Asker) Windows(ctx context.Context, actors []Actor) (known map[string]int) {
	for i := range actors {
		x, size := &actors[i], 0
		if x.NoText {
			continue
		}
		if w, ok := x.Client.(providers.Windowed); ok {
			_ = a.ask(ctx, x.Provider, func() error { size = w.Window(x.Request.Model); return nil }) // a panic is logged
		}
		if x.Window == 0 {
			size = cmp.Or(min(max(size, 0), turns.MaxTokens), window.DefaultSize)
		} else if size <= 0 || size >= x.Window {
			continue
		}
		if known == nil {
			known = map[string]int{}
		}
		known[x.Field] = size
	}
	return known
}

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
		return name, builtInTemplates{}, nil
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

// builtInTemplates retrieves reasoning templates. It reads them when it is first asked.
type builtInTemplates struct{}

// Generate implements providers.Provider.
func (builtInTemplates) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	return retrieval.TemplateRetriever().Generate(ctx, r)
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
