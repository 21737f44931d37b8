package wire

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"time"

	"github.com/elenchus-go/debate/providers"
)

// Config configures a client.
type Config struct {
	// HTTP sends the requests. Defaults to a client with default settings.
	HTTP *http.Client
	// Key and KeyFunc are those of the provider's configuration. At most one may be set.
	Key     string
	KeyFunc func(context.Context) (string, error)
	// SetHeader sets the service's headers of a request, among them the one with the key. The key is empty if there is none.
	SetHeader func(h http.Header, key string)
	// Header is that of the provider's configuration. Its headers replace all others of the same name.
	Header http.Header
	// Timeout limits the time in which the service sends nothing. A whole call takes at most ten times as long.
	// Defaults to 120 s. A negative value disables both limits.
	Timeout time.Duration
	// Extra is merged into the body of each request, as a JSON Merge Patch (RFC 7396): objects are merged, null removes
	// a field, and anything else replaces it.
	Extra map[string]any
	// Rename maps names of fields in the body to the names that the service uses.
	Rename map[string]string
	// Start is what the service is assumed to support before the first call of a model.
	Start Support
	// ErrorKind is that of the provider's configuration. It may be nil.
	ErrorKind func(status int, body []byte) providers.ErrorKind
}

// Client calls one service. It is safe for concurrent use.
type Client struct {
	http *http.Client
	// ownClient reports whether http is not the user's, whose transport decides how long it connects.
	ownClient bool
	key       func(context.Context) (string, error) // nil if the service needs no key
	header    func(h http.Header, key string)
	timeout   time.Duration
	extra     Object
	rename    map[string]string
	start     Support
	own       func(status int, body []byte) providers.ErrorKind
	support   SupportCache
	keys      *keyCache // a pointer, so that no verb of fmt prints the keys
}

// New returns a client. Its errors name fields of the provider's configuration.
func New(c Config) (*Client, error) {
	key, err := keyFunc(c.Key, c.KeyFunc)
	if err != nil {
		return nil, err
	}
	header, err := checkHeader(c.Header)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(c.Extra)
	if err != nil {
		return nil, fmt.Errorf("Config.Extra cannot be written as JSON: %w", err)
	}
	var extra Object
	_ = json.Unmarshal(raw, &extra) // it was just encoded
	var h http.Client
	if c.HTTP != nil {
		h = *c.HTTP
	}
	if h.CheckRedirect == nil { // a redirected request would take the key to another server
		h.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	setAll := func(h http.Header, key string) { // holds the headers, so that no verb of fmt prints them
		h.Set("User-Agent", userAgent())
		c.SetHeader(h, key)
		maps.Copy(h, header)
	}
	return &Client{
		http: &h, ownClient: c.HTTP == nil, key: key, header: setAll, keys: new(keyCache), timeout: cmp.Or(c.Timeout, defaultTimeout),
		extra: extra, rename: c.Rename, start: c.Start, own: c.ErrorKind,
	}, nil
}

const defaultTimeout = 120 * time.Second
