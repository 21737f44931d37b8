package findings

import (
	"fmt"

	"github.com/elenchus-go/debate/judge/detect"
	"github.com/elenchus-go/debate/protocol"
)

// Check returns a problem for each rule that is invalid, or that needs something that the debate does not have. judged reports
// whether a judge assesses each round of the protocol with the given name, embeds whether the debate has vectors.
func Check(rules []detect.Rule, name string, judged, embeds bool) (list []protocol.Problem) {
	add := func(field, format string, args ...any) {
		list = append(list, protocol.Problemf(field, format, args...))
	}
	for i, rule := range rules {
		field := fmt.Sprintf("detect[%d]", i)
		found := rule.Check()
		for _, problem := range found {
			add(field, "%s", problem)
		}
		switch {
		case len(found) > 0:
		case rule.EffectiveMethod() == "scores" && !judged:
			add(field, "%s needs the scores of judges, but no judge assesses the rounds of %s", rule.Signal, name)
		case rule.Effect == detect.Advise && !judged:
			add(field, "effect %q needs a judge, but no judge assesses the rounds of %s", rule.Effect, name)
		case rule.EffectiveMethod() == "vectors" && !embeds:
			add("embedder.provider", "it is empty, but detect[%d] needs vectors", i)
		}
	}
	return list
}
