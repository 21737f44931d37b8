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

// used are the documents that the proposer is shown.
func (p Protocol) used(r *protocol.Record) []Document {
	t := find(r, transcript.Prelude, 0, phaseFound)
	if t == nil || p.templates() < 0 {
		return nil
	}
	found, err := transcript.Decode[Documents](*t)
	if err != nil {
		return nil // not validated, so not of this library's making
	}
	return found.Documents[:min(p.templates(), len(found.Documents))]
}

// sections are documents as a prompt shows them.
func sections(docs []Document) string {
	var b strings.Builder
	for i, d := range docs {
		fmt.Fprintf(&b, "### Template %d: %s\n\n%s\n\n", i+1, strings.Join(strings.Fields(d.Title), " "), d.Text)
	}
	return strings.TrimSpace(b.String())
}

// attack tells the skeptic of the block. Steps share it.
var attack = sync.OnceValue(func() map[string]string { return map[string]string{"critique": critiqueContract.Outline()} })

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
