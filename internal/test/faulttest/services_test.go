package faulttest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/step"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/fakellm"
	"github.com/elenchus-go/debate/internal/test/servicetest"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/anthropic"
	"github.com/elenchus-go/debate/providers/googleai"
	"github.com/elenchus-go/debate/providers/ollama"
	"github.com/elenchus-go/debate/providers/openai"
)

// argument returns what the models say, so that the prompts of three rounds exceed a size in bytes.
func argument(size int) string {
	var b strings.Builder
	for i := range size / 160 {
		fmt.Fprintf(&b, "So it is, and there are %d reasons. ", i) // a model that repeats itself is ended
	}
	return b.String()
}

// failing is a service that answers some requests with an error, and all others with an argument.
type failing struct {
	good, bad http.RoundTripper
	fails     func(n int, body []byte) bool // whether the nth request fails

	mu     sync.Mutex
	n      int
	failed int
}

// RoundTrip sends a request.
func (f *failing) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if r.Method != http.MethodPost { // the list of models
		return f.good.RoundTrip(r)
	}
	f.mu.Lock()
	f.n++
	fails := f.fails(f.n, body)
	if fails {
		f.failed++
	}
	f.mu.Unlock()
	if fails {
		return f.bad.RoundTrip(r)
	}
	return f.good.RoundTrip(r)
}

// roomFor returns the size in bytes of the requests that a service accepts.
func roomFor(c servicetest.Case) int { return max(5_000, c.Sent) }

// debateOver creates a debate of three rounds whose models are those of a service. It returns the service too.
func debateOver(t *testing.T, c servicetest.Case, fails func(n int, body []byte) bool) (*debate.Debate, *failing) {
	t.Helper()
	f := &failing{
		good:  fakellm.Start(t, c.Service, fakellm.Reply{Chunks: []string{argument(roomFor(c))}}).Client(t).Transport,
		bad:   fakellm.Start(t, c.Service, c.Reply()).Client(t).Transport,
		fails: fails,
	}
	p, err := newProvider(c.Service, &http.Client{Transport: f})
	require.NoError(t, err)
	cfg := debate.Config{
		Topic: "Ban cars?", Protocol: panel.Protocol{Mode: panel.Sequential},
		Participants: []debate.Participant{{Name: "A", Provider: "p", Model: "m"}, {Name: "B", Provider: "p", Model: "m"}},
		Judges:       []debate.Participant{{Name: "J", Provider: "j"}},
		Limits:       debate.Limits{MinRounds: 3, MaxRounds: 3, RunningTime: 48 * time.Hour},
	}
	d := debatetest.New(t, cfg, debate.Options{Providers: map[string]providers.Provider{"p": uncheckable{p}, "j": &debatetest.DigestModel{Names: []string{"A", "B"}}}})
	return d, f
}

// newProvider returns the provider of a service that a client reaches.
func newProvider(service fakellm.Protocol, client *http.Client) (providers.Provider, error) {
	const key = "a-key-that-nobody-sees"
	switch service {
	case fakellm.Anthropic:
		return anthropic.New(anthropic.Config{Key: key, Model: "m", BaseURL: "http://service", HTTPClient: client})
	case fakellm.Google:
		return googleai.New(googleai.Config{Key: key, Model: "m", BaseURL: "http://service", HTTPClient: client})
	case fakellm.Ollama:
		return ollama.New(ollama.Config{Model: "m", BaseURL: "http://service", HTTPClient: client})
	case fakellm.Responses:
		return openai.New(openai.Config{Key: key, Model: "m", BaseURL: "http://service/v1", HTTPClient: client, API: "responses"})
	default:
		return openai.New(openai.Config{Key: key, Model: "m", BaseURL: "http://service/v1", HTTPClient: client})
	}
}

// uncheckable hides the check of a provider, for which the service has no answer.
type uncheckable struct{ providers.Provider }

// messageOf finds the beginning of the message in the body of an error.
var messageOf = regexp.MustCompile(`"(?:message|error|msg|detail|status_msg)": ?"([^"\\]{4,24})`)

// A debate over each error that a service sends ends as it should: it shortens the prompt, waits, tries again, or stops with
// the service's words. No error becomes an argument.
func TestDebatesOverTheErrorsOfServices(t *testing.T) {
	for i, c := range servicetest.Load(t) {
		t.Run(fmt.Sprint(i, " ", c.Service, " ", c.Kind), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fails := func(n int, _ []byte) bool { return n == 4 || n > 4 && step.Fatal(c.Kind) }
				if c.Kind == providers.ContextOverflow {
					fails = func(_ int, body []byte) bool { return len(body) > roomFor(c) }
				}
				d, service := debateOver(t, c, fails)
				began := time.Now()
				_, err := debatetest.Run(t, d)
				r := debatetest.Result(t, d)
				switch {
				case step.Fatal(c.Kind):
					require.Error(t, err)
					require.Equal(t, fsm.Error, r.State)
					require.Equal(t, c.Kind, r.Failure.Kind)
					require.Equal(t, 1+step.DefaultRetries[c.Kind], r.Failure.Attempts)
					require.Contains(t, r.Failure.Message, c.Says)
					if m := messageOf.FindStringSubmatch(string(c.Body)); m != nil {
						require.Contains(t, r.Failure.Message, m[1])
					}
				default:
					require.NoError(t, err)
					require.Equal(t, fsm.Completed, r.State)
					require.Positive(t, service.failed)
				}
				wait, _ := time.ParseDuration("0" + c.RetryAfter)
				require.GreaterOrEqual(t, time.Since(began), wait)
				shortened, said := false, 0
				for _, turn := range r.Turns {
					if turn.Key.Actor == "J" {
						continue
					}
					said++
					require.Equal(t, strings.TrimSpace(argument(roomFor(c))), strings.TrimSpace(turn.Text))
					shortened = shortened || turn.Window != nil && turn.Window.Omitted > 0
				}
				require.Equal(t, c.Kind == providers.ContextOverflow, shortened)
				if r.State == fsm.Completed {
					require.Equal(t, 6, said)
				}
			})
		})
	}
}

// A guess costs one retry: if a shorter prompt fails too, the step ends as it would without the guess, with the service's
// words.
func TestAWrongGuessCostsOneRetry(t *testing.T) {
	for status, want := range map[int]struct {
		kind  providers.ErrorKind
		calls int
	}{
		400: {providers.InvalidRequest, 1 + 1},
		500: {providers.ServerError, 1 + 1 + 2}, // a server error has two retries
	} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const words = "the context of this question is beyond me"
				c := servicetest.Case{Service: fakellm.OpenAI, Status: status, Body: []byte(fmt.Sprintf(`{"error": %q}`, words))}
				d, service := debateOver(t, c, func(n int, _ []byte) bool { return n > 5 })
				events, _ := debatetest.Run(t, d)
				require.Equal(t, want.calls, service.failed)
				var kinds []providers.ErrorKind
				for _, e := range events {
					if failed, ok := e.(debate.TurnFailed); ok {
						require.Contains(t, failed.Message, words)
						kinds = append(kinds, failed.Error)
					}
				}
				require.Equal(t, want.kind, kinds[len(kinds)-1])
				require.Equal(t, status == http.StatusBadRequest, debatetest.Result(t, d).State == fsm.Error)
			})
		})
	}
}

// A rule of the user decides before the rules of the provider.
func TestTheUsersRuleDecides(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		good := fakellm.Start(t, fakellm.OpenAI, fakellm.Reply{Status: 400, Body: `{"error": "the stars are wrong"}`}, fakellm.Reply{Chunks: []string{"So."}})
		p, err := openai.New(openai.Config{
			Model: "m", BaseURL: "http://service/v1", HTTPClient: good.Client(t),
			ErrorKind: func(status int, body []byte) providers.ErrorKind {
				if status == 400 && bytes.Contains(body, []byte("stars")) {
					return providers.ServerError
				}
				return ""
			},
		})
		require.NoError(t, err)
		d, err := debate.New(context.WithoutCancel(t.Context()), debate.Config{
			Topic: "Ban cars?", Protocol: panel.Protocol{}, Limits: debate.Limits{MaxRounds: 1},
			Participants: []debate.Participant{{Name: "A", Provider: "p", Model: "m"}, {Name: "B", Provider: "p", Model: "m"}},
			Judges:       []debate.Participant{{Name: "J", Provider: "j"}},
		}, debate.Options{Providers: map[string]providers.Provider{"p": uncheckable{p}, "j": &debatetest.DigestModel{Names: []string{"A", "B"}}}})
		require.NoError(t, err)
		debatetest.Finish(t, d)
		require.Equal(t, fsm.Completed, debatetest.Result(t, d).State)
		require.Greater(t, len(good.Requests()), 2)
	})
}

// A web page in place of an API says that the address is wrong, whoever is asked. It does not say that the model is.
func TestAWebPageSaysThatTheAddressIsWrong(t *testing.T) {
	for _, service := range []fakellm.Protocol{fakellm.OpenAI, fakellm.Responses, fakellm.Anthropic, fakellm.Google, fakellm.Ollama} {
		t.Run(string(service), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				page := servicetest.Case{Service: service, Status: http.StatusAccepted, Body: []byte(`"<!DOCTYPE html><html><body>Sign in</body></html>"`)}
				d, _ := debateOver(t, page, func(int, []byte) bool { return true })
				_, err := debatetest.Run(t, d)
				require.Error(t, err)
				f := debatetest.Result(t, d).Failure
				require.Equal(t, providers.WrongAddress, f.Kind)
				require.Contains(t, f.Message, "check that Config.BaseURL is the address of an API")
				require.Equal(t, "a web page answers at the address of provider p: set the address of its API in Options.Providers, then Retry", f.Hint())
			})
		})
	}
}
