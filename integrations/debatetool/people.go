package debatetool

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Reply is what a person replies or decides.
type Reply struct {
	ID     string `json:"id" jsonschema_description:"The id of the debate."`
	Step   string `json:"step" jsonschema_description:"The step of an entry of waiting."`
	Text   string `json:"text,omitempty" jsonschema_description:"The reply: text, or JSON as a text if the step has a schema. With decline or refuse, the reason. With edit, the remark."`
	Action string `json:"action,omitempty" jsonschema_description:"One of the step's choices, or decline if the person gives no reply."`
	By     string `json:"by,omitempty" jsonschema_description:"The person's name. Defaults to the name of the step."`
}

// The actions that are no choice of a question.
const (
	decline = "decline"
	edit    = "edit"
	reject  = "refuse" // of a call of a tool
)

// Status describes a debate, with the turns after a position.
func (s *Toolset) Status(ctx context.Context, id string, after int64) (Output, error) {
	return s.with(ctx, id, max(after, 0), func(*debate.Debate) error { return nil })
}

// Result describes a debate without its turns.
func (s *Toolset) Result(ctx context.Context, id string) (Output, error) {
	return s.with(ctx, id, -1, func(*debate.Debate) error { return nil })
}

// Transcript returns all turns of a debate so far, except those that a person who is asked must not read yet. It returns none
// while a person must not know who says what.
func (s *Toolset) Transcript(ctx context.Context, id string) ([]Turn, error) {
	d, err := s.Open(ctx, id)
	if err != nil {
		return nil, err
	}
	waiting, err := d.Waiting(ctx)
	if err != nil {
		return nil, explain(id, err)
	}
	blind, err := d.Blind(ctx)
	if err != nil || len(blind) > 0 {
		return nil, explain(id, err)
	}
	r, err := d.Result(ctx)
	if err != nil {
		return nil, explain(id, err)
	}
	list, _ := s.quoter(id).turns(r.Turns, waiting, 0, math.MaxInt)
	return list, nil
}

// Stop ends a debate with a conclusion from what was said so far, and describes it without its turns. The conclusion takes
// time: call Run or Result with the id for the answer.
func (s *Toolset) Stop(ctx context.Context, id string) (Output, error) {
	return s.with(ctx, id, -1, func(d *debate.Debate) error { return d.Stop(ctx) })
}

// Answer gives what a person replies to a step, or decides about a question. The debate continues if it has waited only for
// this. Giving the same reply again is not an error.
func (s *Toolset) Answer(ctx context.Context, r Reply) (Output, error) {
	return s.with(ctx, r.ID, -1, func(d *debate.Debate) error {
		key, isStep := parseKey(r.Step)
		var err error
		switch {
		case r.Step == "":
			return s.wrongStep(ctx, d, "it is empty")
		case !isStep && (r.Action == edit || r.Action == reject && r.Text != ""):
			err = d.Decide(ctx, r.Step, r.Action, debate.Remark{ID: r.Step, From: r.By, Text: r.Text})
		case !isStep:
			err = d.Decide(ctx, r.Step, r.Action)
		case r.Action == decline:
			err = d.Decline(ctx, key, r.Text, r.By)
		case r.Action != "":
			return refuse(protocol.Problemf("action", "%q is not an action of this step, give a text, or use %s", r.Action, decline))
		default:
			err = d.Answer(ctx, key, r.Text, r.By)
		}
		if wrong, ok := errors.AsType[*debate.Problems](err); ok {
			return refuse(renamed(wrong.List)...)
		}
		_, nothingOpen := errors.AsType[*fsm.Refused](err)
		if errors.Is(err, debate.ErrNotAsked) || !isStep && nothingOpen {
			return s.wrongStep(ctx, d, strconv.Quote(r.Step)+" is not asked")
		}
		return err
	})
}

// renamed returns problems with the fields of a Reply.
func renamed(list []protocol.Problem) (problems []protocol.Problem) {
	fields := map[string]string{"reply": "text", "reason": "text", "remark": "text", "from": "by", "id": "step"}
	for _, p := range list {
		if f, ok := fields[p.Field]; ok {
			p.Field = f
		}
		problems = append(problems, p)
	}
	return problems
}

// wrongStep returns the error for a step that is not asked. It lists those that are.
func (s *Toolset) wrongStep(ctx context.Context, d *debate.Debate, what string) error {
	o, err := s.describe(ctx, d, -1)
	if err != nil {
		return err
	}
	if len(o.Waiting) == 0 {
		return refuse(protocol.Problemf("step", "%s; the debate asks nobody now", what))
	}
	var steps []string
	for _, a := range o.Waiting {
		steps = append(steps, strconv.Quote(a.Step))
	}
	return refuse(protocol.Problemf("step", "%s; use one of %s", what, strings.Join(steps, ", ")))
}

// parseKey parses the text of a step's key. The ids of questions have no slashes.
func parseKey(step string) (k transcript.Key, ok bool) {
	parts := strings.SplitN(step, "/", 5)
	if len(parts) < 5 {
		return k, false
	}
	run, err := strconv.Atoi(parts[0])
	round, err2 := strconv.Atoi(parts[1])
	return transcript.Key{Run: run, Round: round, Phase: parts[2], Actor: parts[3], Target: parts[4]}, err == nil && err2 == nil
}

// with opens a debate, calls f, and describes the debate.
func (s *Toolset) with(ctx context.Context, id string, after int64, f func(*debate.Debate) error) (Output, error) {
	if id == "" {
		return Output{}, refuse(protocol.Problemf("id", "it is empty, give the id that an earlier call returned"))
	}
	d, err := s.open(ctx, id)
	if err == nil {
		err = f(d)
	}
	if err != nil {
		return Output{}, explain(id, err)
	}
	return s.describe(ctx, d, after)
}
