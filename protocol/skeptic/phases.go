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

// Phases returns the retrieval before the first round, two phases for each round, and the synthesis at the end.
func (p Protocol) Phases(r *protocol.Record) []protocol.Phase {
	switch r.Cursor.Stage {
	case transcript.Setup:
		if p.templateCount() > 0 {
			retrieve := protocol.Step{
				Prompt: "skeptic-retrieve", Contract: DocumentsContract.Name(), Show: showNothing,
				Vars:  map[string]string{"templates": strconv.Itoa(p.templateCount())},
				Check: p.keepUsed,
			}
			phases := []protocol.Phase{singleStep(phaseRetrieve, protocol.Retriever, retrieve)}
			if retrieve.Target = protocol.Passages; len(r.Documents) > 0 {
				phases = append(phases, singleStep(phasePassages, protocol.Retriever, retrieve))
			}
			return phases
		}
	case transcript.Speech:
		return p.speeches(r)
	case transcript.Conclusion:
		if len(r.Judges) > 0 {
			step := protocol.Step{Prompt: "skeptic-synthesis"}
			if p.Plan {
				step = planStep(r)
			}
			return []protocol.Phase{singleStep(phaseSynthesis, r.Judges[0], step)}
		}
	default:
	}
	return nil
}

// speeches returns the phases of the current round.
func (p Protocol) speeches(r *protocol.Record) []protocol.Phase {
	proposer, skeptic := r.PairByRole(roleProposer, roleSkeptic)
	if skeptic == "" {
		return nil // a participant dropped out, so the debate cannot continue
	}
	name, prompt := phaseDefend, "skeptic-defend"
	if r.Cursor.Round <= 1 {
		name, prompt = phasePropose, "skeptic-propose"
	}
	vars := map[string]string{"templates": templateSections(p.shown(r, phaseRetrieve))}
	if p.Plan {
		vars["plan"] = "yes"
	}
	if passages := passageSections(r, p.shown(r, phasePassages)); passages != "" {
		vars[protocol.Passages] = passages
	}
	return []protocol.Phase{
		singleStep(name, proposer, protocol.Step{Prompt: prompt, Vars: vars}),
		singleStep(phaseAttack, skeptic, protocol.Step{Prompt: "skeptic-attack", Vars: attackVars()}),
	}
}

// keepUsed removes the documents that the proposer's prompt will not show from a retriever's reply, so that its turn
// contains those that are used.
func (p Protocol) keepUsed(v any) []string {
	d := v.(*Documents)
	d.Documents = d.Documents[:min(p.templateCount(), len(d.Documents))]
	return nil
}

// shown returns the documents of a retrieval that the proposer's prompt shows.
func (p Protocol) shown(r *protocol.Record, phase string) []Document {
	t := lastTurn(r, transcript.Setup, 0, phase)
	if t == nil || p.templateCount() < 0 {
		return nil
	}
	found, err := transcript.Decode[Documents](*t)
	if err != nil {
		return nil // not validated, so not written by this library
	}
	return found.Documents[:min(p.templateCount(), len(found.Documents))]
}

// templateSections returns the documents as text for a prompt.
func templateSections(docs []Document) string {
	var b strings.Builder
	for i, d := range docs {
		fmt.Fprintf(&b, "### Template %d: %s\n\n%s\n\n", i+1, strings.Join(strings.Fields(d.Title), " "), d.Text)
	}
	return strings.TrimSpace(b.String())
}

// passageSections returns passages of the debate's documents as text for a prompt, with the numbers of their sources.
func passageSections(r *protocol.Record, passages []Document) string {
	var b strings.Builder
	for _, d := range passages {
		if n := sourceOf(r, d.Title); n > 0 {
			fmt.Fprintf(&b, "### Source [%d], %s\n\n%s\n\n", n, d.Title, d.Text)
		}
	}
	return strings.TrimSpace(b.String())
}

// sourceOf returns the number of the document with a name, or 0 if the debate has none.
func sourceOf(r *protocol.Record, name string) int {
	for i := range r.Documents {
		if r.Documents[i].Name == name {
			return r.Documents[i].Number
		}
	}
	return 0
}

// attackVars returns the parameters of the skeptic's prompt: the fields of the JSON block. All steps share the map.
var attackVars = sync.OnceValue(func() map[string]string { return map[string]string{"critique": critiqueContract.Outline()} })

// End returns an early stop if the last critique gives a reason for one; see [Protocol].
func (p Protocol) End(r *protocol.Record) transcript.Ending {
	if reason := p.stopReason(r); reason != "" {
		return transcript.Ending{Outcome: transcript.EarlyStop, Evidence: reason}
	}
	return transcript.Ending{}
}

// stopReason returns why the current round ends the debate early, or "" if it does not.
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

// singleStep returns a phase with one step.
func singleStep(phase, actor string, step protocol.Step) protocol.Phase {
	step.Actor = actor
	return protocol.Phase{Name: phase, Steps: []protocol.Step{step}}
}

func showNothing(*transcript.Turn) bool { return false }

// lastTurn returns the latest turn of a kind, round and phase, or nil if there is none.
func lastTurn(r *protocol.Record, kind transcript.Kind, round int, phase string) *transcript.Turn {
	turns := r.TurnsFrom(round)
	for i := len(turns) - 1; i >= 0; i-- {
		if t := &turns[i]; t.Kind == kind && t.Round == round && t.Phase == phase {
			return t
		}
	}
	return nil
}

// Deciding returns the phase of the synthesis.
func (Protocol) Deciding() []string { return []string{phaseSynthesis} }
