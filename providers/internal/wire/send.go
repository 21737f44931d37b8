package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/internal/fault"
)

// exchange is a request that was sent, and its response.
type exchange struct {
	resp    *http.Response
	size    int      // of the request's body, in bytes
	secrets []string // in the request, and the keys of earlier ones
}

// send sends a request with a JSON body, or without a body if it is nil.
func (c *Client) send(w *watch, method, url string, body Object) (exchange, error) {
	var sent []byte
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return exchange{}, &providers.Error{Kind: providers.InvalidRequest, Err: fmt.Errorf("encode request: %w", err)}
		}
		sent = raw
	}
	r, err := http.NewRequestWithContext(w.ctx, method, url, bytes.NewReader(sent))
	if err != nil {
		return exchange{}, &providers.Error{Kind: providers.InvalidRequest, Err: fmt.Errorf("create request: %w", err)}
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if err := c.setHeader(w, r.Header); err != nil {
		return exchange{}, err
	}
	secrets := append(fault.Secrets(r), c.keys.all()...)
	if c.ownClient {
		limited, connected := w.limitConnecting(r)
		r = limited
		defer connected()
	}
	w.start()
	resp, err := c.http.Do(r) //nolint:bodyclose // read, Query and fault.Read close it
	w.pause()
	if err != nil {
		return exchange{}, w.lost(err, secrets)
	}
	if resp.Request != nil && resp.Request != r { // a transport may have added keys to a copy
		secrets = append(secrets, fault.Secrets(resp.Request)...)
	}
	return exchange{resp, len(sent), secrets}, nil
}

// setHeader sets the headers of a request.
func (c *Client) setHeader(w *watch, h http.Header) error {
	h.Set("Accept", "text/event-stream, application/json")
	key := ""
	if c.key != nil {
		w.start()
		current, failed := c.keys.current(w.ctx, c.key)
		w.pause()
		if failed != nil {
			return failed
		}
		key = current
	}
	c.header(h, key)
	return nil
}
