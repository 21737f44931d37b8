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

// flow returns the retrieval before the first round, two phases for each round, and the synthesis at the end.
func (p Protocol) flow() protocol.Flow {
	first := func(r *protocol.Record) bool { return r.Cursor.Round <= 1 }
	later := func(r *protocol.Record) bool { return r.Cursor.Round > 1 }
	synthesis := protocol.Stage{Kind: transcript.Conclusion, Name: phaseSynthesis, Prompt: "skeptic-synthesis", Decides: true}
	if p.Plan {
		synthesis.Prompt = "skeptic-plan"
		synthesis.Contract = PlanContract
		synthesis.Each = askPlan
	}
	return protocol.Flow{
		Seats: protocol.Seats{
			Participants: protocol.Range{Least: 2, Most: 2, Takes: "it takes 2: a proposer and a skeptic"},
			Judges:       protocol.Range{Least: 1, Most: 1, Takes: "it takes one to write the synthesis"},
			Rules:        checkRoles,
		},
		Stages: []protocol.Stage{
			p.retrieval(phaseRetrieve, ""),
			p.retrieval(phasePassages, protocol.Passages),
			{Kind: transcript.Speech, Name: phasePropose, Prompt: "skeptic-propose", If: first, Who: side(0), Each: p.showFound},
			{Kind: transcript.Speech, Name: phaseDefend, Prompt: "skeptic-defend", If: later, Who: side(0), Each: p.showFound},
			{Kind: transcript.Speech, Name: phaseAttack, Prompt: "skeptic-attack", Who: side(1), Each: askCritique},
			synthesis,
		},
	}
}

// Check requires a proposer, a skeptic and one synthesizer, and parameters within their bounds.
func (p Protocol) Check(r *protocol.Record) []protocol.Problem {
	problems := protocol.Problems(p.flow().Check(r))
	if p.Templates > maxTemplates {
		problems.Add("protocol.templates", "%d, use 1 to %d, or a negative number for none", p.Templates, maxTemplates)
	}
	if !(p.ReadyScore >= 0 && p.ReadyScore <= 10) {
		problems.Add("protocol.ready_score", "%v, use a score above 0 and up to 10", p.ReadyScore)
	}
	return problems
}

// checkRoles requires that not both participants have the same role.
func checkRoles(r *protocol.Record) (problems []protocol.Problem) {
	role := r.Participants[0].Role
	if role == r.Participants[1].Role && (role == roleProposer || role == roleSkeptic) {
		problems = append(problems, protocol.Problemf("participants",
			"both have the role %q, it takes one %s and one %s", role, roleProposer, roleSkeptic))
	}
	return problems
}

// Phases returns the phases of the stage and round.
func (p Protocol) Phases(r *protocol.Record) []protocol.Phase { return p.flow().Phases(r) }

// Deciding returns the phase of the synthesis.
func (p Protocol) Deciding() []string { return p.flow().Deciding() }

// side returns the proposer for 0 and the skeptic for 1. If one of them has dropped out, the debate cannot continue.
func side(n int) func(*protocol.Record) []transcript.Key {
	return func(r *protocol.Record) []transcript.Key {
		both := protocol.Pair(roleProposer, roleSkeptic)(r)
		return both[min(n, len(both)):min(n+1, len(both))]
	}
}

// retrieval returns a phase that finds templates, or with a target passages of the documents.
func (p Protocol) retrieval(name, target string) protocol.Stage {
	return protocol.Stage{
		Kind: transcript.Setup, Name: name, Prompt: "skeptic-retrieve", Contract: DocumentsContract,
		If: func(r *protocol.Record) bool { return p.templateCount() > 0 && (target == "" || len(r.Documents) > 0) },
		Who: func(*protocol.Record) []transcript.Key {
			return []transcript.Key{{Actor: protocol.Retriever, Target: target}}
		},
		Show: func(*transcript.Turn) bool { return false },
		Each: func(_ *protocol.Record, s *protocol.Step) {
			s.Vars = map[string]string{"templates": strconv.Itoa(p.templateCount())}
			s.Check = p.keepUsed
		},
	}
}

// showFound adds what was found to the proposer's prompt.
func (p Protocol) showFound(r *protocol.Record, s *protocol.Step) {
	s.Vars = map[string]string{"templates": templateSections(p.shown(r, phaseRetrieve))}
	if p.Plan {
		s.Vars["plan"] = "yes"
	}
	passages := passageSections(r, p.shown(r, phasePassages))
	if passages != "" {
		s.Vars[protocol.Passages] = passages
	}
}

// askCritique adds the fields of the JSON block to the skeptic's prompt.
func askCritique(_ *protocol.Record, s *protocol.Step) { s.Vars = attackVars() }

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
