package debate

import (
	"context"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// Preview is a request that would be sent.
type Preview struct {
	Key      transcript.Key     `json:"key"`
	Kind     transcript.Kind    `json:"kind"`
	Provider string             `json:"provider,omitempty"` // as it was configured
	Request  providers.Request  `json:"request"`
	Tokens   int                `json:"tokens"`           // of the prompt, estimated
	Window   *transcript.Window `json:"window,omitempty"` // how it was fitted; nil where nothing was cut
}

// Preview is what would be sent next, were the debate driven now: a request for each step that may run. It calls
// nothing and commits nothing. A debate that has ended has none.
func (d *Debate) Preview(ctx context.Context) ([]Preview, error) {
	look := &Debate{engine: d.engine, id: d.id} // a record of its own, to be taken further and thrown away
	look.mu.Lock()
	defer look.mu.Unlock()
	if err := look.refresh(ctx); err != nil {
		return nil, err
	}
	if err := look.rec.begin(); err != nil {
		return nil, err
	}
	var list []Preview
	for _, s := range look.rec.next() {
		c, err := d.engine.call(look.rec, s)
		if err != nil {
			return nil, err
		}
		list = append(list, Preview{
			Key: s.Key, Kind: s.Kind, Provider: c.who.Provider, Request: c.request, Tokens: c.tokens, Window: c.turn.Window,
		})
	}
	return list, nil
}

// begin takes a record to its next steps, as if it were driven.
func (r *record) begin() error {
	c := begin(r)
	path := map[fsm.State][]fsm.Event{
		fsm.Configuring: {fsm.Validate, fsm.Accept, fsm.Start}, fsm.Validating: {fsm.Accept, fsm.Start}, fsm.Ready: {fsm.Start},
		fsm.Error: {fsm.Retry, fsm.Start},
	}
	for _, on := range path[r.snap.State] {
		if err := c.fire(on, StateChanged{}); err != nil {
			return err
		}
	}
	if r.snap.State == fsm.RoundComplete && c.now.Before(r.due()) {
		c.now = r.due()
	}
	return c.settle()
}
