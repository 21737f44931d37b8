package debatetool

import (
	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/judge/decision"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/protocol/vote"
)

// setOptions lets a debate decide between options, if a call gives any. It returns a problem if the protocol cannot.
func setOptions(c *debate.Config, options []string) []protocol.Problem {
	if len(options) == 0 {
		return nil
	}
	if problems := decision.CheckOptions(options); len(problems) > 0 {
		return []protocol.Problem{protocol.Problemf("options", "%s", problems[0])}
	}
	switch p := c.Protocol.(type) {
	case panel.Protocol:
		p.Decision = decision.Task{Options: options}
		c.Protocol = p
	case procon.Protocol:
		p.Decision = decision.Task{Options: options}
		c.Protocol = p
	case vote.Protocol:
		p.Options = options
		c.Protocol = p
	default:
		return []protocol.Problem{protocol.Problemf("options", "%s cannot decide between options, use panel, procon or vote, or leave them out", shortName(c.Protocol))}
	}
	return nil
}
