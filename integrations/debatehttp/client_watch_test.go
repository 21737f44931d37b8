package debatehttp

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// transport answers requests without a network.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// quiet is a body that never comes.
type quiet struct{ ctx context.Context }

func (q quiet) Read([]byte) (int, error) {
	<-q.ctx.Done()
	return 0, q.ctx.Err()
}
func (quiet) Close() error { return nil }

// Watch gives up a connection that is quiet for too long, and waits longer after each failure until an event comes.
func TestAClientWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var waited []time.Duration
		last := time.Now()
		c := &Client{URL: "http://example.com", HTTP: &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
			waited = append(waited, time.Since(last))
			last = time.Now()
			res := &http.Response{StatusCode: http.StatusOK, Request: r, Body: quiet{r.Context()}, Header: http.Header{"Content-Type": {"text/event-stream"}}}
			switch len(waited) {
			case 1: // quiet
			case 12:
				res.Body = io.NopCloser(strings.NewReader("event: warning\ndata: {\"type\": \"warning\", \"live\": true}\n\n"))
			case 13:
				res.StatusCode, res.Body = http.StatusTooManyRequests, http.NoBody
			case 14:
				res.StatusCode, res.Body = http.StatusForbidden, http.NoBody
			default:
				return nil, errors.New("no network")
			}
			return res, nil
		})}}
		var events int
		for _, err := range c.Watch(t.Context(), "cars", "", 0) {
			if err != nil {
				require.EqualError(t, err, "403 Forbidden")
				break
			}
			events++
		}
		require.Equal(t, 1, events)
		const ms = time.Millisecond
		require.Equal(t, []time.Duration{
			0, maxQuiet + 100*ms, 200 * ms, 400 * ms, 800 * ms, 1600 * ms, 3200 * ms, 6400 * ms, 12800 * ms, 25600 * ms, maxWait, maxWait, 100 * ms, 200 * ms,
		}, waited)
	})
}
