package debate

import (
	"slices"

	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/internal/sources"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// hasSources reports whether a debate can have sources, so that its turns can cite them.
func hasSources(c *Config) bool { return len(c.Documents) > 0 || usesTools(c) }

// phaseKey returns the key of the steps in a phase of the present stage and round, without an actor.
func phaseKey(r *record, phase string) transcript.Key {
	k := transcript.Key{Run: r.Cursor.Run, Round: r.Cursor.Round, Phase: phase}
	if r.Cursor.Stage == transcript.Setup {
		k.Round = 0
	}
	return k
}

// callersOf returns PhaseStarted.Callers for a phase.
func callersOf(c *Config, p *protocol.Phase) (list []string) {
	if !p.Parallel || !usesTools(c) {
		return nil
	}
	for i := range p.Steps {
		if who := c.settings(p.Steps[i].Actor); who != nil && len(who.Tools) > 0 {
			list = append(list, sources.Lane(p.Steps[i].Key))
		}
	}
	if len(list) < 2 {
		return nil
	}
	return list
}

// citationsOf returns what a turn cites and quotes, checked, or nil if that is nothing. private gives the texts of private
// documents of which its quotes may be checked; it may be nil.
func citationsOf(r *record, t *transcript.Turn, private sources.Private) []transcript.Citation {
	return r.Sources.Cite(t, private).Check(r.env.texts)
}

// textIn returns the texts of documents that have them.
func textIn(list []evidence.Document) sources.Private {
	return func(d *evidence.Document) (string, bool) {
		at := slices.IndexFunc(list, func(x evidence.Document) bool { return x.Name == d.Name && x.SHA256 == d.SHA256 })
		if at < 0 || list[at].Text == "" {
			return "", false
		}
		return list[at].Text, true
	}
}
