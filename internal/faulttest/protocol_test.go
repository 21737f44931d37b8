package faulttest

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/debatetest"
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
					_, err := e.Create(t.Context(), c)
					require.NoError(t, err)
				}
				c := pairConfig("one")
				c.Protocol = after(4)
				_, err := e.Create(t.Context(), c)
				require.ErrorContains(t, err, "the id is taken", "it does not replace the other's protocol")

				strange := newTestEngine(t, o) // knows the protocol only by another debate
				c = pairConfig("own")
				c.Protocol = after(1)
				_, err = strange.Create(t.Context(), c)
				require.NoError(t, err)
				require.ErrorIs(t, drive(t, openDebate(t, strange, "three")), debate.ErrUnsupported)

				for id, n := range rounds {
					d := openDebate(t, e, id)
					for range 40 {
						if statusOf(t, d).State.Final() {
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
	d, err := e.Create(t.Context(), c)
	require.NoError(t, err)
	wrong := c
	wrong.Protocol, wrong.Topic = after(3), ""
	require.Error(t, d.Edit(t.Context(), wrong))
	c.Protocol = after(2)
	require.NoError(t, d.Edit(t.Context(), c))
	_, err = debatetest.Run(t, openDebate(t, e, "d"))
	require.NoError(t, err)
	require.Equal(t, 2, debatetest.Result(t, d).Round)
	require.NoError(t, e.Delete(t.Context(), "d"))
}
