package skeptic

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Phases are a search before the first round, two phases a round, and the synthesis.
func (p Protocol) Phases(r *protocol.Record) []protocol.Phase {
	switch r.Cursor.Stage {
	case transcript.Setup:
		if p.templateCount() > 0 {
			return []protocol.Phase{singleStep(phaseRetrieve, protocol.Retriever, protocol.Step{
				Prompt: "skeptic-retrieve", Contract: DocumentsContract.Name(), Show: showNothing,
				Vars: map[string]string{"templates": strconv.Itoa(p.templateCount())},
			})}
		}
	case transcript.Speech:
		return p.speeches(r)
	case transcript.Conclusion:
		if len(r.Judges) > 0 {
			return []protocol.Phase{singleStep(phaseSynthesis, r.Judges[0], protocol.Step{Prompt: "skeptic-synthesis"})}
		}
	default:
	}
	return nil
}

func (p Protocol) speeches(r *protocol.Record) []protocol.Phase {
	proposer, skeptic := r.PairByRole(roleProposer, roleSkeptic)
	if skeptic == "" {
		return nil // one has dropped out, and the debate with him
	}
	name, prompt := phaseDefend, "skeptic-defend"
	if r.Cursor.Round <= 1 {
		name, prompt = phasePropose, "skeptic-propose"
	}
	return []protocol.Phase{
		singleStep(name, proposer, protocol.Step{Prompt: prompt, Vars: map[string]string{"templates": templateSections(p.templatesShown(r))}}),
		singleStep(phaseAttack, skeptic, protocol.Step{Prompt: "skeptic-attack", Vars: attackVars()}),
	}
}

// templatesShown are the documents that the proposer is shown.
func (p Protocol) templatesShown(r *protocol.Record) []Document {
	t := lastTurn(r, transcript.Setup, 0, phaseRetrieve)
	if t == nil || p.templateCount() < 0 {
		return nil
	}
	found, err := transcript.Decode[Documents](*t)
	if err != nil {
		return nil // not validated, so not of this library's making
	}
	return found.Documents[:min(p.templateCount(), len(found.Documents))]
}

// templateSections are documents as a prompt shows them.
func templateSections(docs []Document) string {
	var b strings.Builder
	for i, d := range docs {
		fmt.Fprintf(&b, "### Template %d: %s\n\n%s\n\n", i+1, strings.Join(strings.Fields(d.Title), " "), d.Text)
	}
	return strings.TrimSpace(b.String())
}

// attackVars tells the skeptic of the block. Steps share it.
var attackVars = sync.OnceValue(func() map[string]string { return map[string]string{"critique": critiqueContract.Outline()} })

// End is an early stop, as far as the last critique gives a reason.
func (p Protocol) End(r *protocol.Record) transcript.Ending {
	if reason := p.stopReason(r); reason != "" {
		return transcript.Ending{Outcome: transcript.EarlyStop, Evidence: reason}
	}
	return transcript.Ending{}
}

// stopReason is why the round at hand ends the debate early; empty: it does not.
func (p Protocol) stopReason(r *protocol.Record) string {
	if r.MaxRounds > 0 && r.Cursor.Round >= r.MaxRounds {
		return ""
	}
	said := lastTurn(r, transcript.Speech, r.Cursor.Round, phaseAttack)
	if said == nil {
		return ""
	}
	c, ok := turnCritique(said)
	counts := fmt.Sprintf("critical issues: %d, major: %d, minor: %d", c.count(Critical), c.count(Major), c.count(Minor))
	switch {
	case !ok:
		return ""
	case c.Ready && c.Score == nil:
		return said.Actor + ": ready for synthesis"
	case c.Ready && *c.Score >= cmp.Or(p.ReadyScore, defaultReadyScore):
		return fmt.Sprintf("%s: ready for synthesis at %v of 10; %s", said.Actor, *c.Score, counts)
	case c.count(Critical) == 0:
		return fmt.Sprintf("%s: no critical issue is left; %s", said.Actor, counts)
	}
	return ""
}

func singleStep(phase, actor string, step protocol.Step) protocol.Phase {
	step.Actor = actor
	return protocol.Phase{Name: phase, Steps: []protocol.Step{step}}
}

func showNothing(*transcript.Turn) bool { return false }

// lastTurn is the newest turn of a kind, round and phase; nil: there is none.
func lastTurn(r *protocol.Record, kind transcript.Kind, round int, phase string) *transcript.Turn {
	turns := r.TurnsFrom(round)
	for i := len(turns) - 1; i >= 0; i-- {
		if t := &turns[i]; t.Kind == kind && t.Round == round && t.Phase == phase {
			return t
		}
	}
	return nil
}
