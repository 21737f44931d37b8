package inspector

import (
	"context"
	"fmt"
	"html"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// failing is a model whose calls fail with an error of a kind.
func failing(kind providers.ErrorKind) providers.Provider {
	return &scripted.Provider{Func: func(providers.Request) scripted.Reply {
		return scripted.Reply{Err: &providers.Error{Kind: kind, Err: fmt.Errorf("no"), RetryAfter: time.Hour}}
	}}
}

// A debate that waits for a key, a person or a limit says what to do, on its page and in the list.
func TestWhatADebateWaitsFor(t *testing.T) {
	person := pair("d")
	person.Participants[0].Human, person.Judges[0].Human = true, true
	gate := pair("d")
	gate.AskBeforeRounds = true
	for name, tt := range map[string]struct {
		model        providers.Provider
		config       debate.Config
		before       func(d *debate.Debate) error // the debate runs first, if it is nil
		advice, line string
	}{
		"person": {config: person, advice: "The debate waits for Ada. | Take the seat, and reply in this page.", line: "waits for Ada"},
		"key": {
			model: failing(providers.Authentication), config: pair("d"),
			advice: "The debate cannot go on: | Set MY_KEY. Then press Retry.", line: "waits for a valid key",
		},
		"credit": {
			model: failing(providers.Billing), config: pair("d"), advice: "The debate cannot go on: | Then press Retry.",
			line: "waits for a retry, after the failure billing",
		},
		"rate": {
			model: failing(providers.RateLimit), config: pair("d"), advice: "The debate cannot go on: | Then press Retry.",
			line: "waits for a retry, after the failure rate limit",
		},
		"new": {
			config: pair("d"), before: func(*debate.Debate) error { return nil },
			advice: "The debate has not begun. | Press Start.", line: "waits to be started",
		},
		"gate": {config: gate, line: "waits for a decision: round 1 of 2 is next"},
	} {
		t.Run(name, func(t *testing.T) {
			o := offering()
			o.Hint = func(f *debate.Failure) string {
				if f.Kind == providers.Authentication {
					return "set MY_KEY."
				}
				return f.Hint()
			}
			var models []providers.Provider
			if tt.model != nil {
				models = append(models, tt.model)
			}
			w := open(t, o, models...)
			d := w.create(tt.config)
			if tt.before == nil {
				for _, err := range d.Run(t.Context()) {
					_ = err // the failure is what the page shows
				}
			}
			page := html.UnescapeString(w.get(http.StatusOK, "/debates/d"))
			for part := range strings.SplitSeq(tt.advice, " | ") {
				require.Contains(t, page, part)
			}
			if tt.advice == "" {
				require.NotContains(t, page, `id="advice"`)
			}
			require.Contains(t, html.UnescapeString(w.get(http.StatusOK, "/")), tt.line)
			readOnly := serve(t, w.engine, Options{})
			require.NotContains(t, readOnly.get(http.StatusOK, "/debates/d"), "Then press", "nobody can press it there")
		})
	}
}

// A debate that a person has paused says how it goes on, and one that a limit has ended early says how to debate longer.
func TestPausesAndLimits(t *testing.T) {
	var d *debate.Debate
	w := open(t, offering(), &scripted.Provider{Func: func(providers.Request) scripted.Reply {
		_ = d.Pause(t.Context())
		return scripted.Reply{Text: "Yes."}
	}})
	d = w.create(pair("d"))
	for _, err := range d.Run(t.Context()) {
		require.NoError(t, err)
	}
	require.Contains(t, w.get(http.StatusOK, "/debates/d"), "A person has paused the debate.</b> Press Resume to go on.")
	require.Contains(t, w.get(http.StatusOK, "/"), "waits until a person resumes it")

	limited := open(t, offering())
	cfg := pair("d")
	cfg.Protocol = panel.Protocol{Format: panel.RoundLimited}
	cfg.Limits = debate.Limits{MaxRounds: 50, Cost: 1, StepTokens: 300, JudgeTokens: 300}
	cfg.Prices = price.Prices{"": {Input: 20, Output: 200}}
	limited.run(cfg)
	status := debatetest.List(t, limited.engine, store.Query{})[0]
	require.Equal(t, transcript.CostBudget, status.Ending.Outcome)
	page := limited.get(http.StatusOK, "/debates/d")
	require.Contains(t, page, "The limit of costs has ended the debate early.")
	require.Contains(t, page, "use this debate as a template, with a larger limit.")
	require.Nil(t, adviceOnLimit(transcript.RoundLimit), "the usual end")
}

// refusing is a model whose service rejects the key before the first call.
type refusing struct{ providers.Provider }

func (refusing) Check(context.Context, string) error {
	return &providers.Error{Kind: providers.Authentication, Err: fmt.Errorf("the key is wrong")}
}

// A debate whose start was refused says so, with the cause.
func TestARefusedStart(t *testing.T) {
	w := open(t, offering(), refusing{speaker("Yes.")})
	d := w.create(pair("d"))
	for _, err := range d.Run(t.Context()) {
		_ = err // the page shows it
	}
	page := w.get(http.StatusOK, "/debates/d")
	require.Contains(t, page, "The debate could not begin.</b> Remove the cause below, then press Start.")
	require.Contains(t, page, "the key is wrong")
	require.Contains(t, w.get(http.StatusOK, "/"), "waits for a change: its start was refused")
}

// The page of a debate with 500 turns opens in at most 200 ms on the server.
func TestALongDebateOpensQuickly(t *testing.T) {
	w := open(t, Options{Controls: true}, speaker("Cars take space that people need."))
	cfg := pair("long")
	cfg.Protocol, cfg.Limits.MaxRounds = panel.Protocol{Format: panel.RoundLimited}, 200
	cfg.Limits.OutputTokens = 1_000_000_000
	d := w.create(cfg)
	debatetest.Finish(t, d)
	require.GreaterOrEqual(t, len(debatetest.Result(t, d).Turns), 500)
	least := time.Hour
	for range 5 { // a busy machine may be slow, so the least counts
		fresh := serve(t, w.engine, Options{Controls: true})
		began := time.Now()
		fresh.get(http.StatusOK, "/debates/long")
		least = min(least, time.Since(began))
	}
	t.Log("least time:", least.Round(time.Millisecond))
	require.Less(t, least, 200*time.Millisecond)
}
