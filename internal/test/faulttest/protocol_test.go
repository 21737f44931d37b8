package faulttest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// livePanel is a panel that ends as a function decides. JSON omits the function and the word.
type livePanel struct {
	panel.Protocol

	Done func(*protocol.Record) bool `json:"-"`
	word string
}

func (livePanel) Name() string { return "live/1" }

func (p livePanel) End(r *protocol.Record) (e transcript.Ending) {
	if p.Done(r) {
		e.Outcome, e.Evidence = transcript.Converged, p.word
	}
	return e
}

// after returns a panel that ends after some rounds.
func after(rounds int) livePanel {
	return livePanel{Done: func(r *protocol.Record) bool { return r.Cursor.Round >= rounds }, word: strings.Repeat("x", rounds)}
}

// Each debate is driven with the protocol that it was created with, whichever handle and method drives it.
func TestDebatesKeepTheirOwnLiveProtocols(t *testing.T) {
	for verb, drive := range drivers {
		t.Run(verb, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &debatetest.DigestModel{Names: []string{"A", "B"}}
				o := debate.Options{Store: store.Memory(), Providers: map[string]providers.Provider{"m": m, "j": m}}
				e := newTestEngine(t, o)
				rounds := map[string]int{"one": 1, "three": 3, "two": 2}
				for id, n := range rounds {
					c := pairConfig(id)
					c.Protocol, c.Limits.MaxRounds = after(n), 5
					debatetest.Create(t, e, c)
				}
				c := pairConfig("one")
				c.Protocol = after(4)
				_, err := e.Create(t.Context(), c)
				require.ErrorContains(t, err, "the id is taken", "it does not replace the other's protocol")

				strange := newTestEngine(t, o) // knows the protocol only by another debate
				c = pairConfig("own")
				c.Protocol = after(1)
				debatetest.Create(t, strange, c)
				require.ErrorIs(t, drive(t, debatetest.Open(t, strange, "three")), debate.ErrUnsupported)

				for id, n := range rounds {
					d := debatetest.Open(t, e, id)
					for range 40 {
						if debatetest.Status(t, d).State.Final() {
							break
						}
						require.NoError(t, drive(t, d))
						time.Sleep(time.Minute)
					}
					r := debatetest.Result(t, d)
					require.Equal(t, fsm.Completed, r.State)
					require.Equal(t, n, r.Round)
					require.Equal(t, strings.Repeat("x", n), r.Ending.Evidence)
				}
			})
		})
	}
}

func TestAnEditReplacesALiveProtocol(t *testing.T) {
	m := &debatetest.DigestModel{Names: []string{"A", "B"}}
	e := newTestEngine(t, debate.Options{Providers: map[string]providers.Provider{"m": m, "j": m}})
	c := pairConfig("d")
	c.Protocol, c.Limits.MaxRounds = after(1), 5
	d := debatetest.Create(t, e, c)
	wrong := c
	wrong.Protocol, wrong.Topic = after(3), ""
	require.Error(t, d.Edit(t.Context(), wrong))
	c.Protocol = after(2)
	require.NoError(t, d.Edit(t.Context(), c))
	debatetest.Finish(t, debatetest.Open(t, e, "d"))
	require.Equal(t, 2, debatetest.Result(t, d).Round)
	require.NoError(t, e.Delete(t.Context(), "d"))
}

// wrongPanel is a live panel that encodes to whatever a function returns.
type wrongPanel struct {
	livePanel

	Encode func() ([]byte, error) `json:"-"`
}

func (p wrongPanel) MarshalJSON() ([]byte, error) { return p.Encode() }

// editedStore calls a function before each commit of an edit. The number of the commit begins at 1.
type editedStore struct {
	store.Store
	before  func(commit int) error
	commits int
}

func (s *editedStore) Commit(ctx context.Context, c store.Change) error {
	if c.After > 0 && len(c.Entries) > 0 && c.Entries[0].Type == "config" {
		s.commits++
		if err := s.before(s.commits); err != nil {
			return err
		}
	}
	return s.Store.Commit(ctx, c)
}

// A debate keeps its live protocol if an edit fails, at whatever point.
func TestAFailedEditKeepsTheLiveProtocol(t *testing.T) {
	errFull := errors.New("no space left on device")
	encoded := func(text string, err error) protocol.Protocol {
		return wrongPanel{after(2), func() ([]byte, error) { return []byte(text), err }}
	}
	allowed := func(*debate.Debate, int) error { return nil }
	for name, tt := range map[string]struct {
		protocol protocol.Protocol
		before   func(elsewhere *debate.Debate, commit int) error // the commit of the edit
		want     string
	}{
		"the store fails": {after(2), func(*debate.Debate, int) error { return errFull }, "no space left on device"},
		"the store fails after a conflict": {after(2), func(_ *debate.Debate, n int) error {
			if n == 1 {
				return &store.Conflict{ID: "d"}
			}
			return errFull
		}, "no space left on device"},
		"another process starts the debate": {after(2), func(d *debate.Debate, _ int) error {
			_, err := d.RunOnce(context.Background())
			return err
		}, "Edit is not possible in state running"},
		"the protocol does not encode":       {encoded("", errors.New("no words")), allowed, "encode protocol live/1"},
		"the protocol encodes to a list":     {encoded("[]", nil), allowed, "want an object"},
		"the protocol encodes to wrong text": {encoded(`{"mode": 5}`, nil), allowed, "protocol live/1: json: cannot unmarshal number"},
		"the protocol hides its name":        {encoded(`{"name": "x"}`, nil), allowed, `has a field with the JSON name "name"`},
		"the protocol panics":                {wrongPanel{after(2), func() ([]byte, error) { panic("a bug") }}, allowed, "a bug"},
	} {
		for _, same := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/same handle=%v", name, same), func(t *testing.T) {
				m := &debatetest.DigestModel{Names: []string{"A", "B"}}
				s := &editedStore{Store: store.Memory()}
				o := debate.Options{Store: s, Providers: map[string]providers.Provider{"m": m, "j": m}}
				e := newTestEngine(t, o)
				c := pairConfig("d")
				c.Protocol, c.Limits.MaxRounds = after(1), 5
				d := debatetest.Create(t, e, c)
				o.Protocols = []protocol.Protocol{after(5)}
				elsewhere := debatetest.Open(t, newTestEngine(t, o), "d")
				s.before = func(n int) error { return tt.before(elsewhere, n) }

				c.Protocol = tt.protocol
				require.ErrorContains(t, d.Edit(t.Context(), c), tt.want)
				if !same {
					d = debatetest.Open(t, e, "d")
				}
				debatetest.Finish(t, d)
				require.Equal(t, 1, debatetest.Result(t, d).Round)
				require.Equal(t, "x", debatetest.Result(t, d).Ending.Evidence)
			})
		}
	}
}
