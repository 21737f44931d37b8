package inspector

import (
	"encoding/json"
	"net/http"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/integrations/debatehttp"
	"github.com/elenchus-go/debate/report/progress"
	"github.com/elenchus-go/debate/store"
)

// history is what the journal of a debate says, as far as the visitor's seat may see it.
type history struct {
	status store.Status
	result *debate.Result
	config debate.Config // only its participants and judges if the engine lacks the protocol
	phases []progress.Update
	last   *debate.Snapshot
	gone   []debate.Dropped // participants who dropped out of the current run
	held   bool             // a person holds the debate: replies do not continue it
	masked bool             // the visitor must not know who says what: show only what is asked
}

// read reads the debate's journal.
func (v *visit) read() (*history, error) {
	h, err := v.readAs(v.seat)
	if err == nil && h.last == nil {
		h, err = v.readAs("")
		h.masked = true
	}
	return h, err
}

// readAs reads what a seat may see.
func (v *visit) readAs(seat string) (*history, error) {
	h := &history{}
	var raw json.RawMessage
	var hooks progress.Hooks
	for past, err := range v.debate.ReplayAs(v.r.Context(), seat) {
		if err != nil {
			return h, err
		}
		hooks.Observe(past.Event)
		switch ev := past.Event.(type) {
		case debate.ConfigChanged:
			raw = ev.Config
		case debate.StateChanged:
			h.held = ev.To == fsm.Paused && ev.Question == nil && !ev.ForPeople
			if ev.On == fsm.Reset {
				h.gone = nil
			}
		case debate.Dropped:
			h.gone = append(h.gone, ev)
		case debate.Decided:
			if ev.Action == "hold" || ev.Action == "release" {
				h.held = ev.Action == "hold"
			}
		}
		h.last = past
	}
	if h.last != nil {
		h.status = h.last.Status()
		h.result = h.last.Result()
		h.phases = hooks.Phases()
		h.config = v.configOf(raw)
	}
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

// errMasked returns the problem of a page that shows who says what to a visitor who must not know that.
func errMasked(seat string) error {
	return &debatehttp.Problem{
		Title: "This page shows who says what", Status: http.StatusForbidden,
		Detail: seat + " judges or ranks the participants under pseudonyms, and sees their names afterwards",
	}
}
