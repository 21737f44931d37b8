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
	config debate.Config // only its participants and judges if the engine lacks the protocol
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
	h.config = v.configOf(raw)
	return h, nil
}

// configOf returns a stored configuration. If the engine lacks the protocol, it has only the participants and judges.
func (v *visit) configOf(raw json.RawMessage) (cfg debate.Config) {
	cfg, err := v.engine.ParseConfig(raw)
	if err == nil {
		return cfg
	}
	var actors struct {
		Participants []debate.Participant `json:"participants"`
		Judges       []debate.Participant `json:"judges"`
	}
	if err := json.Unmarshal(raw, &actors); err != nil {
		v.Logger.WarnContext(v.r.Context(), "read configuration", "debate", v.debate.ID(), "error", err)
	}
	return debate.Config{Participants: actors.Participants, Judges: actors.Judges}
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
