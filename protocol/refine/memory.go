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
	if t, ok := latest(r, agent, m.round); ok {
		m.from, m.summary = t.Round, t.Key
	}
	return m
}

// latest is the last summary of an agent's perspective that was made in a round or before it. It was made before anyone
// spoke in its round, and covers all earlier ones.
func latest(r *protocol.Record, agent string, round int) (t transcript.Turn, ok bool) {
	k := transcript.Key{Run: r.Cursor.Run, Phase: summarize, Actor: protocol.Summarizing, Target: agent}
	for k.Round = round; k.Round > 1; k.Round-- {
		if t, ok = r.Find(k); ok && holds(t) {
			return t, true
		}
	}
	return transcript.Turn{}, false
}

// holds says whether a summary is one: a stand-in for it covers nothing.
func holds(t transcript.Turn) bool { return !slices.Contains(t.Flags, transcript.Fallback) }

// mine says whether a turn belongs to an agent's perspective: its proposals and refinements, and critiques of them.
func mine(agent string, t *transcript.Turn) bool {
	return solution(t) && t.Actor == agent || spoken(t, critique) && t.Target == agent
}

func solution(t *transcript.Turn) bool { return spoken(t, propose) || spoken(t, refine) }

// spoken says whether a turn was made in a phase of the rounds.
func spoken(t *transcript.Turn, phase string) bool {
	return t.Kind == transcript.Speech && t.Phase == phase
}

// show is what a prompt shows: what the task needs, what the agent remembers, and what people said.
func (m *memory) show(needs func(*transcript.Turn) bool) func(*transcript.Turn) bool {
	return func(t *transcript.Turn) bool {
		switch {
		case t.Kind == transcript.Remark, needs(t):
			return true
		case t.Kind != transcript.Speech:
			return false
		case t.Phase == summarize:
			return t.Key == m.summary
		case t.Round < m.round && mine(m.agent, t):
			return t.Round >= m.from
		}
		return m.full
	}
}

// last is one's own refinement of the round before: who proposes anew starts from it, also where a summary covers it.
func (m *memory) last(t *transcript.Turn) bool {
	return spoken(t, refine) && t.Round == m.round-1 && t.Actor == m.agent
}

// proposalOf is another agent's proposal of the round.
func (m *memory) proposalOf(author string) func(*transcript.Turn) bool {
	return func(t *transcript.Turn) bool {
		return spoken(t, propose) && t.Round == m.round && t.Actor == author
	}
}

// criticized is one's own proposal of the round, and all critiques of the round.
func (m *memory) criticized(t *transcript.Turn) bool {
	return t.Round == m.round && (spoken(t, propose) && t.Actor == m.agent || spoken(t, critique))
}

// summing is the step that sums up an agent's perspective before the round at hand, where it is due.
func (p Protocol) summing(r *protocol.Record, agent string) (step protocol.Step, due bool) {
	limit := p.summary(agent)
	if limit.Off {
		return step, false
	}
	size, covered := perspective(r, agent, r.Cursor.Round)
	step.Actor, step.Target = protocol.Summarizing, agent
	step.Prompt, step.Output, step.Show = "refine-summary", SummaryContract.Name(), covered
	step.Vars = map[string]string{"limit": strconv.Itoa(limit.To)}
	return step, size > limit.Above || r.Cursor.Round > 1 && planned(r)
}

// planned says that nothing was said yet. Then the phases are all that there can be, so that a budget leaves room for
// each.
func planned(r *protocol.Record) bool { return len(r.Turns) == 0 }

// perspective is what an agent remembers at the begin of a round, and its length in characters.
func perspective(r *protocol.Record, agent string, round int) (size int, covers func(*transcript.Turn) bool) {
	last, _ := latest(r, agent, round-1)
	covers = func(t *transcript.Turn) bool {
		return t.Round < round && (t.Round >= last.Round && mine(agent, t) || last.Seq > 0 && t.Key == last.Key)
	}
	return length(r.Since(last.Round), covers), covers
}

// length is that of the texts of turns, in characters.
func length(turns []transcript.Turn, counts func(*transcript.Turn) bool) (n int) {
	for i := range turns {
		if counts(&turns[i]) {
			n += utf8.RuneCountInString(turns[i].Text)
		}
	}
	return n
}

// final is what the judge is shown.
type final struct {
	full   bool
	round  int                       // the last in which anyone spoke
	latest map[string]transcript.Key // the last solution of each agent, who may have none of that round
	size   int                       // in characters, without what people said
}

func (p Protocol) final(r *protocol.Record) *final {
	f := &final{full: p.FullHistory, latest: map[string]transcript.Key{}}
	for i := range r.Turns {
		t := &r.Turns[i]
		if !solution(t) || !slices.ContainsFunc(r.Seats, func(s transcript.Seat) bool { return s.Name == t.Actor }) {
			continue
		}
		f.round, f.latest[t.Actor] = t.Round, t.Key
	}
	f.size = length(r.Turns, func(t *transcript.Turn) bool { return t.Kind != transcript.Remark && f.shows(t) })
	return f
}

func (f *final) shows(t *transcript.Turn) bool {
	switch {
	case t.Kind == transcript.Remark:
		return true
	case t.Kind != transcript.Speech || t.Phase == summarize:
		return false
	}
	return f.full || t.Round == f.round || f.latest[t.Actor] == t.Key
}

// instead shows the judge's digest, and what people said.
func (f *final) instead(digest transcript.Key) func(*transcript.Turn) bool {
	return func(t *transcript.Turn) bool { return t.Kind == transcript.Remark || t.Key == digest }
}
