package inspector

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/debatehttp"
	"github.com/elenchus-go/debate/integrations/launch"
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
	// Offer says which debates a visitor with a principal may begin. With it and Controls, the inspector has the page "New debate".
	// It is also debatehttp.Options.Offer of the API below /api/. Defaults to no such page.
	Offer func(ctx context.Context, principal string) (*launch.Offer, error)
	// Read returns the text of an uploaded file. Defaults to ReadText.
	Read func(ctx context.Context, name string, data []byte) (string, error)
	// Command returns the line that begins the same debate in a terminal, and the content of the file debate-config.json if that line
	// needs it. Defaults to none.
	Command func(launch.Choice, debate.Config) (line, file string)
	// Hint returns what can be done about a failure. Defaults to debate.Failure.Hint, which names options of the library.
	Hint func(*debate.Failure) string
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
	if o.Read == nil {
		o.Read = ReadText
	}
	if o.Hint == nil {
		o.Hint = (*debate.Failure).Hint
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// ReadText returns the text of a file in UTF-8. It is the default of Options.Read.
func ReadText(_ context.Context, _ string, data []byte) (string, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		return "", errors.New("it is no text in UTF-8, paste the text instead")
	}
	return strings.ReplaceAll(string(data), "\r\n", "\n"), nil
}
