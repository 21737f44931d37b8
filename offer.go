package debate

import (
	"context"
	"fmt"

	"github.com/elenchus-go/debate/internal/naming"
	"github.com/elenchus-go/debate/internal/step"
	"github.com/elenchus-go/debate/internal/toolcall"
	"github.com/elenchus-go/debate/providers"
)

// offerTools lets the actor of a step call its tools.
func offerTools(e *Engine, r *record, x *execution, who *Participant) error {
	p, s, l := &x.run.Plan, &x.run.Plan.Step, &r.config.Limits
	if p.Tools == nil {
		return nil
	}
	list, missing := e.tools.Named(who.Tools)
	if missing != nil {
		return &unsupported{[]string{fmt.Sprintf("tools of %s: this engine lacks %s, see Options.Tools", who.Name, naming.Enumerate(missing, len(missing)))}}
	}
	p.Tools.List = list
	limitTools(e, &p.Model, p)
	for i := range p.Substitutes {
		limitTools(e, &p.Substitutes[i], p)
	}
	x.tools = &toolbox{set: e.tools, names: who.Tools, limits: toolcall.Limits{Calls: l.ToolCalls, Bytes: l.ToolBytes, Timeout: l.ToolTimeout}}
	made := 0
	if o := r.tools.of(s.Key); o != nil {
		p.Tools.Rounds, p.Tools.Counted, made = o.stepRounds(), o.counted, len(o.rounds)
		x.tools.continueFrom(o, r.tools.decided)
	}
	p.Tools.Most = affordableRounds(r, s, who, p.Prompt.Tokens+p.Tools.Room, made, l.ToolRounds)
	if p.Tools.Most == 0 {
		p.Tools.Warning = "the budgets leave nothing for calls of tools: " + s.Actor + " replies without them"
	}
	return nil
}

// limitTools asks the provider of a model whether it can call tools, and whether it can do so with a schema.
//
//nolint:contextcheck // the plan of a step belongs to no call: the question is about settings, and calls no service
func limitTools(e *Engine, m *step.Model, p *step.Plan) {
	name, provider, err := e.bind(m.Provider)
	limited, ok := provider.(providers.Limited)
	if err != nil || !ok {
		return
	}
	r := m.Request
	r.Messages, r.Tools, r.Schema = nil, p.Tools.List, p.Model.Request.Schema
	found, _ := e.unsupportedApart(context.Background(), name, limited, r) // a panic is logged
	m.NoTools, m.Gathers = found["tools"] != "", found["schema"] != "" && r.Schema != nil
}
