package inspector

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/debatehttp"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/progress"
	"github.com/elenchus-go/debate/store"
)

// history is what the journal of a debate says, as far as the visitor's seat may see it.
type history struct {
	status store.Status
	result *debate.Result
	config debate.Config // without a protocol that the engine does not know
	phases []progress.Update
	last   *debate.Snapshot
	held   bool // a person holds the debate: replies do not continue it
}

// read reads the debate's journal.
func (v *visit) read() (*history, error) {
	h := &history{}
	var raw json.RawMessage
	var hooks progress.Hooks
	for past, err := range v.debate.ReplayAs(v.r.Context(), v.seat) {
		if err != nil {
			return nil, err
		}
		hooks.Observe(past.Event)
		switch ev := past.Event.(type) {
		case debate.ConfigChanged:
			raw = ev.Config
		case debate.StateChanged:
			h.held = ev.To == fsm.Paused && ev.Question == nil && !ev.ForPeople
		case debate.Decided:
			if ev.Action == "hold" || ev.Action == "release" {
				h.held = ev.Action == "hold"
			}
		}
		h.last = past
	}
	h.status, h.result, h.phases = h.last.Status(), h.last.Result(), hooks.Phases()
	if cfg, err := v.engine.ParseConfig(raw); err == nil {
		h.config = cfg
	}
	return h, nil
}

// masked reports whether a seat is a judge who knows the participants only by pseudonyms until the debate ends.
func masked(h *history, seat string) bool {
	return !h.status.State.Final() && slices.ContainsFunc(h.config.Judges, func(j debate.Participant) bool { return j.Name == seat && j.Human && j.Blind })
}

// errMasked returns the problem of a page that shows who says what to a judge who must not know that.
func errMasked(seat string) error {
	return &debatehttp.Problem{
		Title: "This page shows who says what", Status: http.StatusForbidden,
		Detail: seat + " knows the participants only by pseudonyms until the debate ends",
	}
}
