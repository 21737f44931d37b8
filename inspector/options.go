package inspector

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/elenchus-go/debate/debatehttp"
	"github.com/elenchus-go/debate/store"
)

// Options configure a handler.
type Options struct {
	// Authorize decides who may see and do what. It is required. See debatehttp.Options.Authorize, debatehttp.OwnersOnly
	// and debatehttp.AllowEveryone. A page that needs debatehttp.Inbox with an empty Seat lists what everybody is asked.
	Authorize func(context.Context, *debatehttp.Access) error
	// Principal tells who sent a request, for example from a cookie. See debatehttp.Options.Principal. Without this
	// function, every principal is empty.
	Principal func(*http.Request) (string, error)
	// Controls allows visitors to control debates, reply for people, add remarks and notes, and fork, as far as Authorize
	// allows it. Without it, the handler refuses every change.
	Controls bool
	// Store is the store of the engine. With it, visitors whom Authorize allows debatehttp.FullReport can download a debate's
	// archive. Defaults to none.
	Store store.Store
	// Logger receives errors that visitors do not see. Defaults to none.
	Logger *slog.Logger
}

// withDefaults returns o with its defaults.
func (o Options) withDefaults() Options {
	if o.Principal == nil {
		o.Principal = func(*http.Request) (string, error) { return "", nil }
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}
