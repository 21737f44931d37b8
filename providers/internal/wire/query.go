package wire

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/internal/fault"
)

const (
	queryTimeout = 20 * time.Second
	maxPage      = 32 << 20 // bytes of a page that are read
)

// Query sends a request that calls no model, such as a request for the list of models, and returns the body of the
// response. A nil body sends a GET request. The error is a *providers.Error whose cause begins with what, such as
// "check key".
func (c *Client) Query(ctx context.Context, what, url string, body Object) ([]byte, error) {
	w := newWatch(ctx, queryTimeout)
	defer w.stop()
	method := http.MethodGet
	if body != nil {
		method = http.MethodPost
	}
	sent, err := c.send(w, method, url, body)
	var raw []byte
	if err == nil {
		defer func() { _ = sent.resp.Body.Close() }()
		w.start()
		if sent.resp.StatusCode >= http.StatusMultipleChoices {
			refused := fault.Read(sent.resp, sent.size)
			refused.Own = c.own
			err = refused.Error(sent.secrets)
		} else {
			raw, err = io.ReadAll(io.LimitReader(sent.resp.Body, maxPage))
			if err != nil {
				err = w.lost(err, sent.secrets)
			}
		}
	}
	switch {
	case err == nil:
		return raw, nil
	case ctx.Err() != nil:
		return nil, providers.ContextError(ctx, providers.Response{})
	}
	failed := c.asError(w, err, providers.Response{})
	return nil, &providers.Error{Kind: failed.Kind, RetryAfter: failed.RetryAfter, Err: fmt.Errorf("%s: %w", what, failed.Err)}
}
