package debateotel

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/internal/test/golden"
	"github.com/elenchus-go/debate/providers"
)

// The spans of each protocol are workflow, round, phase, agent and chat. Each step is an agent, and each attempt a chat.
func TestTheTreeOfEachProtocol(t *testing.T) {
	for name, cfg := range enginetest.PresetConfigs() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, m := newRecorder(Options{}), &model{cfg: cfg}
				_, d := start(t, r, m, nil)
				debatetest.Finish(t, d)
				roots := r.trees(t)
				require.Len(t, roots, 1)
				turns := debatetest.Result(t, d).Turns
				require.Len(t, roots[0].all("invoke_agent"), len(turns))
				calls := len(roots[0].all(operationChat)) + len(roots[0].all(operationEmbeddings)) + len(roots[0].all(operationRetrieval))
				require.Equal(t, attempts(turns), calls)
				require.Len(t, m.seen, calls)
				golden.Require(t, "testdata/trees/"+strings.ReplaceAll(strings.ReplaceAll(name, " ", "-"), "'", "")+".txt", outline(roots))
			})
		})
	}
}

// The spans of a panel with everything that they hold.
func TestTheAttributesOfAPanel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, m := newRecorder(Options{}), &model{cfg: pair()}
		_, d := start(t, r, m, nil)
		debatetest.Finish(t, d)
		golden.Require(t, "testdata/panel.txt", describe(r.trees(t), nil))
	})
}

// A call has the context of its span, so that spans of HTTP clients are below it.
func TestTheContextOfACallHasItsSpan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, m := newRecorder(Options{}), &model{cfg: pair()}
		_, d := start(t, r, m, nil)
		debatetest.Finish(t, d)
		var want []trace.SpanContext
		for _, n := range find(r.trees(t), operationChat) {
			want = append(want, n.SpanContext())
		}
		require.ElementsMatch(t, want, m.seen)
	})
}

// The drive of Run is below the caller's span.
func TestADriveIsBelowTheCallersSpan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecorder(Options{})
		_, d := start(t, r, &model{cfg: pair()}, nil)
		ctx, span := r.tracer.Start(t.Context(), "request")
		for _, err := range d.Run(ctx) {
			require.NoError(t, err)
		}
		span.End()
		roots := r.trees(t)
		require.Len(t, roots, 1)
		require.Equal(t, "request", roots[0].Name())
		require.Equal(t, "invoke_workflow panel/1", roots[0].below[0].Name())
	})
}

// No span is open during a pause, and the next drive is linked to the one before it. It shows the resume.
func TestNoSpanIsOpenDuringAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecorder(Options{})
		e, d := start(t, r, &model{cfg: pair()}, nil)
		require.NoError(t, d.Start(t.Context()))
		time.Sleep(8 * time.Second)
		require.NoError(t, d.Pause(t.Context()))
		time.Sleep(time.Minute) // the calls in flight end
		first := r.trees(t)
		require.Len(t, first, 1)
		require.Equal(t, "paused", first[0].attr(keyState))
		time.Sleep(time.Hour)
		require.NoError(t, d.Resume(t.Context()))
		time.Sleep(time.Hour)
		require.NoError(t, e.Close(t.Context()))
		roots := r.trees(t)
		require.Len(t, roots, 2)
		require.Equal(t, first[0].SpanContext(), roots[1].Links()[0].SpanContext)
		require.NotEqual(t, roots[0].SpanContext().TraceID(), roots[1].SpanContext().TraceID())
		require.Empty(t, roots[0].Links())
		for _, n := range roots {
			require.Equal(t, d.ID(), n.attr(keyConversation))
		}
		require.Equal(t, eventState, roots[1].Events()[0].Name)
		require.Contains(t, roots[1].Events()[0].Attributes[1].Value.String(), "resume")
		require.Empty(t, r.debates.byID, "an ended debate is forgotten")
	})
}

// Under RunOnce, each call is a drive, linked to the one before.
func TestEachRunOnceIsADrive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecorder(Options{})
		_, d := start(t, r, &model{cfg: pair()}, nil)
		calls := 0
		for more := true; more; calls++ {
			var err error
			more, err = d.RunOnce(t.Context())
			require.NoError(t, err)
			r.trees(t)
		}
		roots := r.trees(t)
		require.Len(t, roots, calls)
		for i, n := range roots[1:] {
			require.Equal(t, roots[i].SpanContext(), n.Links()[0].SpanContext)
			require.Equal(t, d.ID(), n.attr(keyConversation))
		}
	})
}

// troubles returns functions that make something fail, by name. A debate calls them before each reply.
func troubles() map[string]func(context.Context, debate.Step) error {
	fail := func(kind providers.ErrorKind, which func(debate.Step) bool) func(context.Context, debate.Step) error {
		return func(_ context.Context, s debate.Step) error {
			if which(s) {
				return &providers.Error{Kind: kind, Err: errors.New("SECRET of the service")}
			}
			return nil
		}
	}
	of := func(actors string) func(debate.Step) bool {
		return func(s debate.Step) bool { return strings.Contains(actors, s.Key.Actor) }
	}
	first := func(actor string) func(debate.Step) bool {
		return func(s debate.Step) bool {
			return s.Key.Actor == actor && s.Number == 1 && s.Key.Round == 1 && s.Key.Target == ""
		}
	}
	return map[string]func(context.Context, debate.Step) error{
		"a retry":                    fail(providers.ServerError, first("B")),
		"a participant drops out":    fail(providers.ContentFiltered, of("C")),
		"a judge fails":              fail(providers.ServerError, of("J")),
		"a wrong key":                fail(providers.Authentication, of("A")),
		"too few participants":       fail(providers.ContentFiltered, of("AB")),
		"a call that takes too long": fail(providers.Timeout, first("A")),
		"a wait for the service":     fail(providers.RateLimit, first("J")),
		"a panic": func(_ context.Context, s debate.Step) error {
			if s.Key.Actor == "B" && s.Key.Round == 2 {
				panic("SECRET panic")
			}
			return nil
		},
	}
}

// runToStop drives a debate until it stops, and ignores why.
func runToStop(t testing.TB, d *debate.Debate) {
	t.Helper()
	for _, err := range d.Run(t.Context()) {
		if err != nil {
			return
		}
	}
}

// Failed attempts and steps are failed spans with the kind of the error.
func TestFailures(t *testing.T) {
	for name, act := range troubles() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, m := newRecorder(Options{}), &model{cfg: pair(), act: act}
				_, d := start(t, r, m, nil)
				runToStop(t, d)
				golden.Require(t, "testdata/failures/"+strings.ReplaceAll(name, " ", "-")+".txt", outline(r.trees(t)))
			})
		})
	}
}

// A drive that is refused has the kind "rejected".
func TestARejectedDebate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecorder(Options{})
		m := &model{cfg: pair()}
		_, d := start(t, r, m, func(o *debate.Options) {
			o.Providers["m"] = checked{m}
		})
		for _, err := range d.Run(t.Context()) {
			if err != nil {
				require.ErrorContains(t, err, "key")
			}
		}
		roots := r.trees(t)
		require.Len(t, roots, 1)
		require.Equal(t, rejected, roots[0].attr(keyError))
		require.Equal(t, string(fsm.Configuring), roots[0].attr(keyState))
	})
}

// checked is a provider whose key is refused.
type checked struct{ *model }

func (checked) Check(context.Context, string) error {
	return &providers.Error{Kind: providers.Authentication, Err: errors.New("the key is wrong")}
}
