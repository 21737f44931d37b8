package debatehttp

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strconv"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/launch"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// forkBody is the body of a request that makes a fork.
type forkBody struct {
	Seq int64 `json:"seq,omitempty"` // the last entry that the fork has from the debate; 0 for all
	debate.Edits
	// Rejudge asks the judges of a debate that has ended again; see debate.Engine.Rejudge. The other fields are then absent,
	// except the id and the labels, which may be here or there.
	Rejudge *debate.Rejudge `json:"rejudge,omitempty"`
}

// forkRequest is a forkBody as the handler reads it: the engine decodes the configuration, because it knows the protocols.
type forkRequest struct {
	Seq     int64             `json:"seq"`
	ID      string            `json:"id"`
	Labels  map[string]string `json:"labels"`
	Config  json.RawMessage   `json:"config"`
	Turn    transcript.Key    `json:"turn"`
	Reply   string            `json:"reply"`
	Silent  debate.Omission   `json:"silent,omitzero"`
	Rejudge *debate.Rejudge   `json:"rejudge,omitempty"`
}

// edits returns the edits of a fork.
func (c *call) edits(body forkRequest) (e debate.Edits, err error) {
	e = debate.Edits{ID: body.ID, Labels: body.Labels, Turn: body.Turn, Reply: body.Reply, Silent: body.Silent}
	if again := body.Rejudge; again != nil {
		e.ID = cmp.Or(e.ID, again.ID)
		if e.Labels == nil {
			e.Labels = again.Labels
		}
		if hasConfig := len(body.Config) > 0 && string(body.Config) != "null"; hasConfig || body.Seq != 0 || body.Turn != (transcript.Key{}) || body.Reply != "" || !body.Silent.IsZero() {
			return e, invalid("rejudge", "it keeps the whole course of the debate: leave out seq, config, turn, reply and silent")
		}
	}
	if len(body.Config) == 0 || string(body.Config) == "null" {
		return e, nil
	}
	cfg, err := c.engine.ParseConfig(body.Config)
	if p, ok := errors.AsType[*debate.Problems](err); ok {
		for i := range p.List {
			p.List[i].Field = "config." + p.List[i].Field
		}
	}
	e.Config = &cfg
	return e, err
}

// fork makes a fork of a debate, if the client may. With an idempotency key, the fork of an earlier request with the same
// key is returned.
func (c *call) fork() error {
	var body forkRequest
	if err := c.decode(&body); err != nil {
		return err
	}
	edits, err := c.edits(body)
	if err != nil {
		return err
	}
	key := c.r.Header.Get("Idempotency-Key")
	if err := checkKey(key, edits.ID); err != nil {
		return err
	}
	sum, err := json.Marshal(body)
	if err != nil {
		return err
	}
	if err := c.find(); err != nil {
		return err
	}
	parent := c.r.PathValue("id")
	cfg := debate.Config{ID: edits.ID} // what Authorize may change
	if again := body.Rejudge; again != nil {
		cfg.Judges = again.Judges
		cfg.Rubric = again.Rubric
		cfg.Prompts = again.Prompts
		cfg.Prices = again.Prices
	}
	if edits.Config != nil {
		cfg = *edits.Config
		cfg.ID = edits.ID
	}
	switch {
	case edits.Labels != nil:
		cfg.Labels = edits.Labels
	case edits.Config == nil:
		cfg.Labels = maps.Clone(c.access.Debate.Labels)
	}
	delete(cfg.Labels, digestLabel)
	delete(cfg.Labels, requestLabel)
	c.access.Config = &cfg
	if err := c.authorize(); err != nil {
		return err
	}
	err = c.admit(func(o *launch.Offer) error {
		if edits.Config != nil {
			return o.Admit(&cfg)
		}
		return o.AdmitModels(&cfg) // those of judges who are asked again
	})
	if err != nil {
		return err
	}
	edits.ID, edits.Labels = cfg.ID, cfg.Labels
	if edits.Config != nil {
		edits.Config = &cfg
	}
	if again := body.Rejudge; again != nil {
		again.Judges = cfg.Judges
		again.Rubric = cfg.Rubric
		again.Prompts = cfg.Prompts
		again.Prices = cfg.Prices
	}
	d, err := c.makeFork(parent, body, edits, key, hash(parent + string(sum))[:32])
	if err != nil {
		return err
	}
	c.w.Header().Set("Location", "../"+url.PathEscape(d.ID())) // relative to the address of this request
	return c.answer(http.StatusCreated, launched{d.ID()})
}

// makeFork makes a fork, or returns the one that an earlier request with the same idempotency key has made.
func (c *call) makeFork(parent string, body forkRequest, edits debate.Edits, key, sum string) (*debate.Debate, error) {
	ctx := c.detached()
	fork := func() (*debate.Debate, error) {
		if again := body.Rejudge; again != nil {
			again.ID, again.Labels = edits.ID, edits.Labels
			return c.engine.Rejudge(ctx, parent, *again)
		}
		return c.engine.Fork(ctx, parent, body.Seq, edits)
	}
	if key == "" {
		return fork()
	}
	edits.ID = idOf(c.access.Principal, key)
	edits.Labels = withLabel(edits.Labels, digestLabel, sum)
	d, err := fork()
	if err == nil {
		return d, nil
	}
	made, failed := c.again(ctx, edits.ID, sum) // whatever the error: the debate may permit the edits no longer
	if errors.Is(failed, store.ErrNotFound) {
		return nil, err
	}
	return made, failed
}

// keyParameters lists the parameters that name a step, and the seat of the client.
var keyParameters = []string{"run", "round", "phase", "actor", "target", "seat"}

// prompt answers with what a committed step was asked with. A client who speaks for a seat sees only the prompts of that
// seat.
func (c *call) prompt() error {
	p := parameters{values: c.query}
	key := transcript.Key{Run: p.number("run", 1), Round: p.number("round", 0), Phase: c.query.Get("phase"), Actor: c.query.Get("actor"), Target: c.query.Get("target")}
	if seat := c.access.Seat; seat != "" && key.Actor != seat {
		p.add("actor", "%q is not your seat, which is %q", key.Actor, seat)
	}
	if len(p.problems) > 0 {
		return invalidList(p.problems)
	}
	if err := c.allow(); err != nil {
		return err
	}
	prompt, err := c.debate.PromptOf(c.r.Context(), key)
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, prompt)
}

// number returns a parameter as a number.
func (p *parameters) number(name string, missing int) int {
	text := p.values.Get(name)
	if text == "" {
		return missing
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		p.add(name, "%q is not a number of 0 or more", text)
	}
	return n
}
