package refine

import (
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// memory is what an agent knows of the rounds before the one at hand: a summary, where there is one, and its own
// perspective since then.
type memory struct {
	agent   string
	round   int            // at hand
	from    int            // the first round that the summary does not cover
	summary transcript.Key // the zero Key: none
	full    bool           // it knows all else as well
}

func (p Protocol) memory(r *protocol.Record, agent string) *memory {
	m := &memory{agent: agent, round: r.Cursor.Round, full: p.FullHistory}
	if t, ok := latestSummary(r, agent, m.round); ok {
		m.from, m.summary = t.Round, t.Key
	}
	return m
}

// latestSummary is the last summary of an agent's perspective that was made in a round or before it. It was made before anyone
// spoke in its round, and covers all earlier ones.
func latestSummary(r *protocol.Record, agent string, round int) (t transcript.Turn, ok bool) {
	k := transcript.Key{Run: r.Cursor.Run, Phase: phaseSummarize, Actor: protocol.Summarizer, Target: agent}
	for k.Round = round; k.Round > 1; k.Round-- {
		if t, ok = r.Find(k); ok && valid(t) {
			return t, true
		}
	}
	return transcript.Turn{}, false
}

// valid says whether a summary is one: a stand-in for it covers nothing.
func valid(t transcript.Turn) bool { return !slices.Contains(t.Flags, transcript.Defaulted) }

// inPerspective says whether a turn belongs to an agent's perspective: its proposals and refinements, and critiques of them.
func inPerspective(agent string, t *transcript.Turn) bool {
	return isSolution(t) && t.Actor == agent || inPhase(t, phaseCritique) && t.Target == agent
}

func isSolution(t *transcript.Turn) bool { return inPhase(t, phasePropose) || inPhase(t, phaseRefine) }

// inPhase says whether a turn was made in a phase of the rounds.
func inPhase(t *transcript.Turn, phase string) bool {
	return t.Kind == transcript.Speech && t.Phase == phase
}

// visible is what a prompt shows: what the task needs, what the agent remembers, and what people said.
func (m *memory) visible(needs func(*transcript.Turn) bool) func(*transcript.Turn) bool {
	return func(t *transcript.Turn) bool {
		switch {
		case t.Kind == transcript.Remark, needs(t):
			return true
		case t.Kind != transcript.Speech:
			return false
		case t.Phase == phaseSummarize:
			return t.Key == m.summary
		case t.Round < m.round && inPerspective(m.agent, t):
			return t.Round >= m.from
		}
		return m.full
	}
}

// lastRefinement is one's own refinement of the round before: who proposes anew starts from it, also where a summary covers it.
func (m *memory) lastRefinement(t *transcript.Turn) bool {
	return inPhase(t, phaseRefine) && t.Round == m.round-1 && t.Actor == m.agent
}

// proposalOf is another agent's proposal of the round.
func (m *memory) proposalOf(author string) func(*transcript.Turn) bool {
	return func(t *transcript.Turn) bool {
		return inPhase(t, phasePropose) && t.Round == m.round && t.Actor == author
	}
}

// ownProposalAndCritiques is one's own proposal of the round, and all critiques of the round.
func (m *memory) ownProposalAndCritiques(t *transcript.Turn) bool {
	return t.Round == m.round && (inPhase(t, phasePropose) && t.Actor == m.agent || inPhase(t, phaseCritique))
}

// summaryStep is the step that sums up an agent's perspective before the round at hand, where it is due.
func (p Protocol) summaryStep(r *protocol.Record, agent string) (step protocol.Step, due bool) {
	limit := p.policyOf(agent)
	if limit.Disabled {
		return step, false
	}
	size, covered := perspectiveOf(r, agent, r.Cursor.Round)
	step.Actor, step.Target = protocol.Summarizer, agent
	step.Prompt, step.Contract, step.Show = "refine-summary", SummaryContract.Name(), covered
	step.Vars = map[string]string{"limit": strconv.Itoa(limit.TargetLength)}
	return step, size > limit.Threshold || r.Cursor.Round > 1 && nothingSaid(r)
}

// nothingSaid says that nothing was said yet. Then the phases are all that there can be, so that a budget leaves room for
// each.
func nothingSaid(r *protocol.Record) bool { return len(r.Turns) == 0 }

// perspectiveOf is what an agent remembers at the begin of a round, and its length in characters.
func perspectiveOf(r *protocol.Record, agent string, round int) (size int, covers func(*transcript.Turn) bool) {
	last, _ := latestSummary(r, agent, round-1)
	covers = func(t *transcript.Turn) bool {
		return t.Round < round && (t.Round >= last.Round && inPerspective(agent, t) || last.Seq > 0 && t.Key == last.Key)
	}
	return textLength(r.TurnsFrom(last.Round), covers), covers
}

// textLength is that of the texts of turns, in characters.
func textLength(turns []transcript.Turn, counts func(*transcript.Turn) bool) (n int) {
	for i := range turns {
		if counts(&turns[i]) {
			n += utf8.RuneCountInString(turns[i].Text)
		}
	}
	return n
}

// judgeView is what the judge is shown.
type judgeView struct {
	full   bool
	round  int                       // the last in which anyone spoke
	latest map[string]transcript.Key // the last solution of each agent, who may have none of that round
	size   int                       // in characters, without what people said
}

func (p Protocol) judgeView(r *protocol.Record) *judgeView {
	f := &judgeView{full: p.FullHistory, latest: map[string]transcript.Key{}}
	for i := range r.Turns {
		t := &r.Turns[i]
		if !isSolution(t) || !slices.ContainsFunc(r.Participants, func(s transcript.Profile) bool { return s.Name == t.Actor }) {
			continue
		}
		f.round, f.latest[t.Actor] = t.Round, t.Key
	}
	f.size = textLength(r.Turns, func(t *transcript.Turn) bool { return t.Kind != transcript.Remark && f.visible(t) })
	return f
}

func (f *judgeView) visible(t *transcript.Turn) bool {
	switch {
	case t.Kind == transcript.Remark:
		return true
	case t.Kind != transcript.Speech || t.Phase == phaseSummarize:
		return false
	}
	return f.full || t.Round == f.round || f.latest[t.Actor] == t.Key
}

// digestOnly shows the judge's digest, and what people said.
func (f *judgeView) digestOnly(digest transcript.Key) func(*transcript.Turn) bool {
	return func(t *transcript.Turn) bool { return t.Kind == transcript.Remark || t.Key == digest }
}
