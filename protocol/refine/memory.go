package refine

import (
	"slices"
	"unicode/utf8"

	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// memory is what an agent remembers of earlier rounds: the latest summary, if there is one, and its own view since then.
type memory struct {
	agent   string
	round   int            // current round
	from    int            // first round that the summary does not cover
	summary transcript.Key // zero if there is none
	full    bool           // whether everything else is visible as well
}

// memory returns the memory of an agent in the current round.
func (p Protocol) memory(r *protocol.Record, agent string) *memory {
	m := &memory{agent: agent, round: r.Cursor.Round, full: p.FullHistory}
	if t, ok := latestSummary(r, agent, m.round); ok {
		m.from, m.summary = t.Round, t.Key
	}
	return m
}

// latestSummary returns the latest valid summary of an agent's view from the given round or an earlier one. A summary is
// made before the speeches of its round and covers all earlier rounds.
func latestSummary(r *protocol.Record, agent string, round int) (t transcript.Turn, ok bool) {
	k := transcript.Key{Run: r.Cursor.Run, Phase: phaseSummarize, Actor: protocol.Summarizer, Target: agent}
	for k.Round = round; k.Round > 1; k.Round-- {
		found, has := r.Find(k)
		if has && valid(found) {
			return found, true
		}
	}
	return transcript.Turn{}, false
}

// valid reports whether a turn holds a real reply and not the default. A default summary covers nothing.
func valid(t transcript.Turn) bool { return !slices.Contains(t.Flags, transcript.Defaulted) }

// inPerspective reports whether a turn belongs to an agent's view: its proposals and refinements, and the critiques of
// them.
func inPerspective(agent string, t *transcript.Turn) bool {
	return isSolution(t) && t.Actor == agent || inPhase(t, phaseCritique) && t.Target == agent
}

func isSolution(t *transcript.Turn) bool { return inPhase(t, phasePropose) || inPhase(t, phaseRefine) }

// inPhase reports whether a turn is a speech of the given phase.
func inPhase(t *transcript.Turn, phase string) bool {
	return t.Kind == transcript.Speech && t.Phase == phase
}

// visible returns the filter of a prompt: it shows what the task needs, what the agent remembers, and remarks.
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

// needsRefinement reports whether a turn is the agent's refinement of the previous round. The agent's next proposal starts
// from it, so it is shown even if a summary covers it.
func (m *memory) needsRefinement(t *transcript.Turn, _ string) bool {
	return inPhase(t, phaseRefine) && t.Round == m.round-1 && t.Actor == m.agent
}

// needsProposal reports whether a turn is the author's proposal of the current round.
func (m *memory) needsProposal(t *transcript.Turn, author string) bool {
	return inPhase(t, phasePropose) && t.Round == m.round && t.Actor == author
}

// needsCritiques reports whether a turn is the agent's proposal or any critique of the current round.
func (m *memory) needsCritiques(t *transcript.Turn, _ string) bool {
	return t.Round == m.round && (inPhase(t, phasePropose) && t.Actor == m.agent || inPhase(t, phaseCritique))
}

// perspectiveOf returns the size in characters of an agent's view at the beginning of a round, and a filter for its turns.
func perspectiveOf(r *protocol.Record, agent string, round int) (size int, covers func(*transcript.Turn) bool) {
	last, _ := latestSummary(r, agent, round-1)
	covers = func(t *transcript.Turn) bool {
		return t.Round < round && (t.Round >= last.Round && inPerspective(agent, t) || last.Seq > 0 && t.Key == last.Key)
	}
	return textLength(r.TurnsFrom(last.Round), covers), covers
}

// textLength returns the total length in characters of the turns that counts selects.
func textLength(turns []transcript.Turn, counts func(*transcript.Turn) bool) (n int) {
	for i := range turns {
		if counts(&turns[i]) {
			n += utf8.RuneCountInString(turns[i].Text)
		}
	}
	return n
}

// judgeView is the part of the debate that the judge sees.
type judgeView struct {
	full   bool
	round  int                       // last round with a solution
	latest map[string]transcript.Key // latest solution of each agent, possibly from an earlier round
	size   int                       // in characters, without remarks
}

// judgeView returns the view of the judge.
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

// visible reports whether the judge sees a turn.
func (f *judgeView) visible(t *transcript.Turn) bool {
	switch {
	case t.Kind == transcript.Remark:
		return true
	case t.Kind != transcript.Speech || t.Phase == phaseSummarize:
		return false
	}
	return f.full || t.Round == f.round || f.latest[t.Actor] == t.Key
}
