// Package skeptic is a debate of two: a proposer answers the topic and defends the answer, round by round, against a
// skeptic who attacks it harder each time. The first judge is the synthesizer, and writes the final answer from what
// has stood.
//
// Before the first round a retriever finds ways of reasoning for the topic, which the proposer's system prompt shows. A
// debate ends early when the skeptic finds the answer ready, or leaves no critical issue. See [Protocol].
package skeptic

import (
	"cmp"
	"fmt"
	"strconv"
	"sync"

	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Protocol holds the parameters. It takes two participants, by their roles "proposer" and "skeptic", and without these
// the proposer first. Its default temperatures go by their order: give your own where the skeptic stands first.
//
// Each critique is prose that ends with a block, which [ReadCritique] reads. A round ends the debate early if the
// skeptic finds the answer ready with a score of at least ReadyScore, or without a score by the words of the marker;
// and if its critique has no critical issue. A critique that cannot be read, or that was cut, has one. The last round
// that the limit allows never ends a debate early.
type Protocol struct {
	// Templates is how many of the documents that were found the proposer is shown, from 1 to 8. Defaults to 3; a
	// negative number means none, and that none are looked for.
	Templates int `json:"templates,omitempty"`
	// ReadyScore is the score, of 10, from which on "ready" ends the debate. Defaults to 8.
	ReadyScore float64 `json:"ready_score,omitempty"`
}

// What parameters are where they are left out, and the most documents there can be.
const (
	defaultTemplates = 3
	mostTemplates    = 8
	defaultReady     = 8
)

// The roles of participants.
const (
	proposing = "proposer"
	skeptical = "skeptic"
)

// The phases.
const (
	phaseFound = "retrieval"
	phaseFirst = "propose"
	phaseLater = "defend"
	phaseFight = "attack"
	phaseLast  = "synthesis"
)

// Name is "proposer-skeptic/1".
func (Protocol) Name() string { return "proposer-skeptic/1" }

// Defaults are 3 to 5 rounds, and the temperatures 0.7, 0.8 and 0.5 of proposer, skeptic and synthesizer.
func (Protocol) Defaults() protocol.Defaults {
	synthesis := 0.5
	return protocol.Defaults{MinRounds: 3, MaxRounds: 5, Temperatures: []float64{0.7, 0.8}, JudgeTemperature: &synthesis}
}

// Check wants a proposer, a skeptic and a synthesizer, and parameters within their bounds.
func (p Protocol) Check(r *protocol.Record) (problems []protocol.Problem) {
	wrong := func(field, format string, args ...any) {
		problems = append(problems, protocol.Problemf(field, format, args...))
	}
	if n := len(r.Seats); n != 2 {
		wrong("participants", "%d enabled, it takes 2: a proposer and a skeptic", n)
	} else if role := r.Seats[0].Role; role == r.Seats[1].Role && (role == proposing || role == skeptical) {
		wrong("participants", "both have the role %q, it takes one %s and one %s", role, proposing, skeptical)
	}
	if len(r.Judges) == 0 {
		wrong("judges", "none, it takes one to write the synthesis")
	}
	if p.Templates > mostTemplates {
		wrong("protocol.templates", "%d, use 1 to %d, or a negative number for none", p.Templates, mostTemplates)
	}
	if !(p.ReadyScore >= 0 && p.ReadyScore <= 10) {
		wrong("protocol.ready_score", "%v, use a score above 0 and up to 10", p.ReadyScore)
	}
	return problems
}

// Phases are a search before the first round, two phases a round, and the synthesis.
func (p Protocol) Phases(r *protocol.Record) []protocol.Phase {
	switch r.Cursor.Stage {
	case transcript.Prelude:
		if p.templates() > 0 {
			return []protocol.Phase{one(phaseFound, protocol.Retrieving, protocol.Step{
				Prompt: "skeptic-retrieve", Output: DocumentsContract.Name(), Show: nothing,
				Vars: map[string]string{"templates": strconv.Itoa(p.templates())},
			})}
		}
	case transcript.Speech:
		return p.speeches(r)
	case transcript.Conclusion:
		if len(r.Judges) > 0 {
			return []protocol.Phase{one(phaseLast, r.Judges[0], protocol.Step{Prompt: "skeptic-synthesis"})}
		}
	default:
	}
	return nil
}

func (p Protocol) speeches(r *protocol.Record) []protocol.Phase {
	proposer, skeptic := r.Pair(proposing, skeptical)
	if skeptic == "" {
		return nil // one has dropped out, and the debate with him
	}
	name, prompt := phaseLater, "skeptic-defend"
	if r.Cursor.Round <= 1 {
		name, prompt = phaseFirst, "skeptic-propose"
	}
	return []protocol.Phase{
		one(name, proposer, protocol.Step{Prompt: prompt, Vars: map[string]string{"templates": sections(p.used(r))}}),
		one(phaseFight, skeptic, protocol.Step{Prompt: "skeptic-attack", Vars: attack()}),
	}
}

// End is an early stop, as far as the last critique gives a reason.
func (p Protocol) End(r *protocol.Record) transcript.Ending {
	if reason := p.reason(r); reason != "" {
		return transcript.Ending{Outcome: transcript.EarlyStop, Evidence: reason}
	}
	return transcript.Ending{}
}

// reason is why the round at hand ends the debate early; empty: it does not.
func (p Protocol) reason(r *protocol.Record) string {
	if r.MaxRounds > 0 && r.Cursor.Round >= r.MaxRounds {
		return ""
	}
	said := find(r, transcript.Speech, r.Cursor.Round, phaseFight)
	if said == nil {
		return ""
	}
	c, ok := critique(said)
	counts := fmt.Sprintf("critical issues: %d, major: %d, minor: %d", c.count(Critical), c.count(Major), c.count(Minor))
	switch {
	case !ok:
		return ""
	case c.Ready && c.Score == nil:
		return said.Actor + ": ready for synthesis"
	case c.Ready && *c.Score >= cmp.Or(p.ReadyScore, defaultReady):
		return fmt.Sprintf("%s: ready for synthesis at %v of 10; %s", said.Actor, *c.Score, counts)
	case c.count(Critical) == 0:
		return fmt.Sprintf("%s: no critical issue is left; %s", said.Actor, counts)
	}
	return ""
}

func one(phase, actor string, step protocol.Step) protocol.Phase {
	step.Actor = actor
	return protocol.Phase{Name: phase, Steps: []protocol.Step{step}}
}

func nothing(*transcript.Turn) bool { return false }

// attack tells the skeptic of the block. Steps share it.
var attack = sync.OnceValue(func() map[string]string { return map[string]string{"critique": critiqueContract.Outline()} })

// find is the newest turn of a kind, round and phase; nil: there is none.
func find(r *protocol.Record, kind transcript.Kind, round int, phase string) *transcript.Turn {
	turns := r.Since(round)
	for i := len(turns) - 1; i >= 0; i-- {
		if t := &turns[i]; t.Kind == kind && t.Round == round && t.Phase == phase {
			return t
		}
	}
	return nil
}
