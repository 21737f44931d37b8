package vote

import (
	"fmt"
	"maps"
	"slices"

	"github.com/elenchus-go/debate/internal/settings"
	"github.com/elenchus-go/debate/judge/decision"
	"github.com/elenchus-go/debate/protocol"
)

// Check requires two to sixteen participants, a judge if the judge decides, and consistent parameters. Parameters that
// name or count participants are checked only before the first round, because participants may drop out later.
func (p Protocol) Check(r *protocol.Record) []protocol.Problem {
	var l protocol.Problems
	switch n := len(r.Participants); {
	case p.Samples != 0:
		p.checkSamples(&l, r)
	case n < 2 || n > 16:
		l.Add("participants", "%d enabled, a vote takes 2 to 16, or 1 with protocol.samples", n)
	}
	if p.Decision == Judge && len(r.Judges) == 0 {
		l.Add("judges", "none, the decision %q needs one", Judge)
	}
	settings.OneOf(&l, "protocol.decision", p.Decision, Majority, Confidence, Judge)
	settings.OneOf(&l, "protocol.unanimity", p.Unanimity, Stop, Prevent)
	settings.OneOf(&l, "protocol.topology", p.Topology, Full, Ring, Star, Groups, Graph)
	if p.Unanimity == Prevent && r.MinRounds > 1 {
		l.Add("limits.min_rounds", "%d, the unanimity %q needs 1: it ends the debate with round 1", r.MinRounds, Prevent)
	}
	settings.Share(&l, "protocol.agreement", p.Agreement)
	settings.Share(&l, "protocol.filter", p.Filter)
	if p.Conditional && p.Unanimity == Prevent {
		l.Add("protocol.conditional", "it ends the debate after any unanimous round, do not use it with the unanimity %q", Prevent)
	}
	p.checkExtract(&l)
	p.checkOptions(&l)
	p.checkTopology(&l, r)
	return l
}

// checkSamples checks what several samples of an agent allow: a single round and its vote.
func (p Protocol) checkSamples(l *protocol.Problems, r *protocol.Record) {
	if p.Samples < 1 || p.Samples > 100 {
		l.Add("protocol.samples", "%d, use 1 to 100, or 0 for debates", p.Samples)
	}
	if n := len(r.Participants); n < 1 || n > 16 {
		l.Add("participants", "%d enabled, samples take 1 to 16", n)
	}
	if len(r.Judges) > 0 && p.Decision != Judge {
		l.Add("judges", "%q has no task, the samples decide", r.Judges[0])
	}
	if r.MaxRounds > 1 {
		l.Add("limits.max_rounds", "%d, samples have 1 round", r.MaxRounds)
	}
	settings.LeftOut(l, "it has no effect on samples, which have no revisions and no judges", map[string]bool{
		"decision": p.Decision == Judge, "unanimity": p.Unanimity != "", "topology": p.Topology != "", "agreement": p.Agreement != nil,
		"grouped": p.Grouped, "filter": p.Filter != nil, "conditional": p.Conditional,
	})
}

// checkExtract checks Extract and Extractor.
func (p Protocol) checkExtract(l *protocol.Problems) {
	_, ours := extractors[p.Extract]
	switch {
	case p.Extractor == nil && !ours:
		l.Add("protocol.extract", "%q is unknown, use one of %q, or set the Extractor of that name", p.Extract,
			slices.Sorted(maps.Keys(extractors))[1:])
	case p.Extractor != nil && ours:
		l.Add("protocol.extract", "%q is the name of a built-in extractor, use another name for your Extractor", p.Extract)
	}
}

// checkTopology checks Topology, Groups and Graph.
func (p Protocol) checkTopology(l *protocol.Problems, r *protocol.Record) {
	if p.Groups != 0 && p.Topology != Groups {
		l.Add("protocol.groups", "%d, use it only with the topology %q", p.Groups, Groups)
	}
	if len(p.Graph) > 0 != (p.Topology == Graph) {
		l.Add("protocol.graph", "it has %d entries, use it with the topology %q and no other", len(p.Graph), Graph)
	}
	if r.Cursor.Round > 0 {
		return
	}
	if n := p.groupCount(); p.Topology == Groups && (n < 2 || n > len(r.Participants)/2) {
		l.Add("protocol.groups", "%d of %d participants, use 2 or more groups of at least 2 each", n, len(r.Participants))
	}
	p.checkNames(l, r)
}

// checkNames adds a problem for each name in Graph and Convincing that is not a participant.
func (p Protocol) checkNames(l *protocol.Problems, r *protocol.Record) {
	*l = append(*l, r.UnknownNames("protocol.convincing", slices.Sorted(maps.Keys(p.Convincing))...)...)
	for _, from := range slices.Sorted(maps.Keys(p.Graph)) {
		*l = append(*l, r.UnknownNames("protocol.graph", append([]string{from}, p.Graph[from]...)...)...)
	}
}

// checkOptions checks the options, and that no extractor is set beside them.
func (p Protocol) checkOptions(l *protocol.Problems) {
	if len(p.Options) == 0 {
		return
	}
	wrong := decision.CheckOptions(p.Options)
	for i, o := range p.Options {
		if n := p.option(o); len(wrong) == 0 && n != i+1 {
			wrong = append(wrong, fmt.Sprintf("option %d, %q, reads like another option, use other words", i+1, o))
		}
	}
	l.AddAll("protocol.options", wrong)
	if p.Extract != "" || p.Extractor != nil {
		l.Add("protocol.extract", "answers are options, leave it out")
	}
}
