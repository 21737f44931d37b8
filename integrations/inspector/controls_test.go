package inspector

import (
	"context"
	"errors"
	"html"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/integrations/debatehttp"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
)

// scheduled is a store whose debates workers drive. There are none, so nothing happens after a control.
type scheduled struct{ store.Store }

func (scheduled) Schedules() bool { return true }

// committed is a store that remembers where commits have ended.
type committed struct {
	store.Store
	mu   sync.Mutex
	ends []int
}

func (c *committed) Commit(ctx context.Context, change store.Change) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ends = append(c.ends, int(change.After)+len(change.Entries))
	return c.Store.Commit(ctx, change)
}

// A life is a debate that goes through some states.
type life struct {
	t      *testing.T
	d      *debate.Debate
	during func() // called in each call of a model
	fail   error  // error of each call; nil if the calls succeed
}

func (l *life) run() {
	for _, err := range l.d.Run(l.t.Context()) {
		if err != nil {
			return // the lives with failures go on
		}
	}
}

// reply replies to everything that people are asked.
func (l *life) reply() {
	list := debatetest.Waiting(l.t, l.d)
	require.NotEmpty(l.t, list)
	for _, a := range list {
		require.NoError(l.t, l.d.Decline(l.t.Context(), a.Key, "", ""))
	}
}

// decide answers the open question.
func (l *life) decide(action string) {
	r := debatetest.Result(l.t, l.d)
	require.NotNil(l.t, r.Question)
	require.NoError(l.t, l.d.Decide(l.t.Context(), r.Question.ID, action))
}

func (l *life) do(f func(*debate.Debate, context.Context) error) {
	require.NoError(l.t, f(l.d, l.t.Context()))
}

// lives maps names to configurations, and to what happens to the debates. Together they are in every state.
var lives = map[string]struct {
	change func(*debate.Config)
	live   func(*life)
}{
	"undisturbed": {func(*debate.Config) {}, func(l *life) { l.run() }},
	"controlled": {func(*debate.Config) {}, func(l *life) {
		l.during = func() { l.do((*debate.Debate).Pause) }
		l.run()
		l.do((*debate.Debate).Resume)
		l.during = func() {
			l.during = func() { l.do((*debate.Debate).Pause) } // in the conclusion
			l.do((*debate.Debate).Stop)
		}
		l.run()
		l.during = nil
		l.do((*debate.Debate).Resume)
		l.run()
	}},
	"canceled": {func(*debate.Config) {}, func(l *life) {
		l.during = func() { l.do((*debate.Debate).Cancel) }
		l.run()
	}},
	"with failures": {func(c *debate.Config) { c.Retries = map[providers.ErrorKind]int{providers.ServerError: 0} }, func(l *life) {
		l.fail = &providers.Error{Kind: providers.ServerError, Err: errors.New("down")}
		l.run()
		l.do((*debate.Debate).Retry)
		l.run()
		l.do((*debate.Debate).Reset)
		l.fail = nil
		l.run()
	}},
	"with a failure for good": {func(*debate.Config) {}, func(l *life) {
		l.fail = &providers.Error{Kind: providers.InvalidRequest, Err: errors.New("no")}
		l.run()
	}},
	"with personas and a delay": {func(c *debate.Config) {
		c.Protocol, c.Limits.RoundDelay = panel.Protocol{Personas: panel.Binary}, time.Millisecond
	}, func(l *life) { l.run() }},
	"with gates": {func(c *debate.Config) { c.AskBeforeRounds, c.AskBeforeVerdict = true, true }, func(l *life) {
		for range 2 {
			l.run()
			l.decide("approve")
		}
		l.run()
		l.decide("approve")
		l.run()
	}},
	"with a person": {func(c *debate.Config) { c.Participants[1].Human = true; c.OnFailure = debate.Degrade }, func(l *life) {
		l.run()
		l.do((*debate.Debate).Pause)
		l.do((*debate.Debate).Resume)
		l.do((*debate.Debate).Pause)
		l.reply()
	}},
	"with a person who judges": {func(c *debate.Config) { c.Judges[0].Human = true }, func(l *life) {
		for range 2 {
			l.run()
			l.do((*debate.Debate).Pause)
			l.reply()
			l.do((*debate.Debate).Resume)
		}
		l.run()
		l.do((*debate.Debate).Pause)
		l.do((*debate.Debate).Resume)
	}},
}

// lead leads a debate through a life, and returns its journal, the status after each entry, and the ends of its commits.
func lead(t *testing.T, name string) (entries []store.Entry, statuses []store.Status, ends []int) {
	t.Helper()
	l, kept := &life{t: t}, &committed{Store: store.Memory()}
	speak := offline.Model(false)
	model := debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
		if l.during != nil {
			l.during()
		}
		if l.fail != nil {
			return providers.Response{}, l.fail
		}
		return speak.Generate(ctx, r)
	})
	e := debatetest.Engine(t, debate.Options{Store: kept, Providers: map[string]providers.Provider{"model": model}})
	t.Cleanup(func() { require.NoError(t, e.Close(context.Background())) })
	cfg := pair("d")
	lives[name].change(&cfg)
	l.d = debatetest.Create(t, e, cfg)
	lives[name].live(l)
	_, entries, err := kept.Load(t.Context(), "d", 0)
	require.NoError(t, err)
	for s, err := range l.d.Replay(t.Context()) {
		require.NoError(t, err)
		statuses = append(statuses, s.Status())
	}
	require.Len(t, statuses, len(entries))
	require.Equal(t, len(entries), kept.ends[len(kept.ends)-1])
	return entries, statuses, kept.ends
}

// past is an inspector of a debate as it was after some entries of its journal.
type past struct {
	t      *testing.T
	debate *debate.Debate
	http.Handler
}

func pastOf(t *testing.T, entries []store.Entry, status store.Status) past {
	t.Helper()
	kept := store.Memory()
	require.NoError(t, kept.Commit(t.Context(), store.Change{ID: "d", Entries: entries, Status: status}))
	e := debatetest.Engine(t, debate.Options{Store: scheduled{kept}, Providers: map[string]providers.Provider{"model": offline.Model(false)}})
	h, err := Handler(e, Options{Authorize: debatehttp.AllowEveryone, Controls: true})
	require.NoError(t, err)
	d := debatetest.Open(t, e, "d")
	return past{t, d, h}
}

func (p past) do(method, path string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(p.t.Context(), method, path, nil)
	r.Header.Set("Accept", "application/json")
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)
	return w
}

var controlButton = regexp.MustCompile(`<button data-control="(\w+)" aria-describedby="why-\w+"( aria-disabled="true")?>\w+</button>\s*<span class="tip" id="why-\w+" role="tooltip">([^<]*)</span>`)

// refusals returns why the page says that each control is refused, or "" if it is not.
func (p past) refusals() map[string]string {
	p.t.Helper()
	w := p.do(http.MethodGet, "/debates/d")
	require.Equal(p.t, http.StatusOK, w.Code, w.Body)
	why := map[string]string{}
	for _, m := range controlButton.FindAllStringSubmatch(w.Body.String(), -1) {
		why[m[1]] = ""
		if m[2] != "" {
			why[m[1]] = html.UnescapeString(m[3])
			require.NotEmpty(p.t, m[3])
		}
	}
	require.Len(p.t, why, len(controlNames))
	return why
}

// seq returns the end of the journal.
func (p past) seq() int64 {
	s := debatetest.Status(p.t, p.debate)
	return s.Seq
}

var methods = map[string]func(*debate.Debate, context.Context) error{
	"start": (*debate.Debate).Start, "pause": (*debate.Debate).Pause, "resume": (*debate.Debate).Resume, "stop": (*debate.Debate).Stop,
	"cancel": (*debate.Debate).Cancel, "retry": (*debate.Debate).Retry, "reset": (*debate.Debate).Reset,
}

// At the end of each commit of each journal, a control is grey if and only if the debate refuses it or does nothing, and the reason is the
// library's. The controls that the lifecycle refuses are grey, apart from those that hold a debate which waits for people.
func TestControlsAreGreyIfTheDebateRefusesThem(t *testing.T) {
	seen := map[fsm.State]bool{}
	for name := range lives {
		t.Run(name, func(t *testing.T) {
			entries, statuses, ends := lead(t, name)
			for _, n := range ends {
				status := statuses[n-1]
				seen[status.State] = true
				for control, why := range pastOf(t, entries[:n], status).refusals() {
					p := pastOf(t, entries[:n], status)
					if why == "" {
						w := p.do(http.MethodPost, "/debates/d/"+control)
						require.Equal(t, http.StatusNoContent, w.Code, "%s in state %s after entry %d: %s", control, status.State, n, w.Body)
						require.Greater(t, p.seq(), status.Seq, "%s in state %s after entry %d", control, status.State, n)
						continue
					}
					err := methods[control](p.debate, t.Context()) // a repeated control is not an error
					require.Equal(t, status.Seq, p.seq(), "%s in state %s after entry %d: %s", control, status.State, n, why)
					if err != nil {
						require.ErrorAs(t, err, new(*fsm.Refused))
						require.ErrorContains(t, err, why)
					}
				}
			}
		})
	}
	all := []fsm.State{
		fsm.Configuring, fsm.Validating, fsm.Ready, fsm.Initializing, fsm.AwaitingResponses, fsm.Judging, fsm.RoundComplete, fsm.Paused, fsm.Completing,
		fsm.Completed, fsm.Canceled, fsm.Error,
	}
	for _, state := range all {
		require.True(t, seen[state], "no debate of the test was %s", state)
	}
}

// Every control of the lifecycle that a person may use has a button.
func TestEveryControlHasAButton(t *testing.T) {
	var names []string
	for _, c := range controlNames {
		names = append(names, c.Name)
		require.NotNil(t, forms[c.Name])
	}
	refused := &fsm.Refused{}
	for _, state := range []fsm.State{fsm.Configuring, fsm.Ready, fsm.AwaitingResponses, fsm.Paused, fsm.Error} {
		_, err := fsm.Next(fsm.Position{State: state, PausedFrom: fsm.Judging}, "none", fsm.Facts{ValidConfig: true, Recoverable: true, NoOpenQuestion: true})
		require.ErrorAs(t, err, &refused)
		for _, m := range refused.Methods {
			if m != "Edit" { // takes a configuration
				require.True(t, slices.Contains(names, strings.ToLower(m)), m)
			}
		}
	}
}
