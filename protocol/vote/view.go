package vote

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/elenchus-go/debate/internal/canonical"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// statement is an agent's last ballot before a round. The fields after round are set only if a parameter needs them.
type statement struct {
	agent      string
	round      int
	answer     string // in canonical form; "" for none
	confidence float64
	words      map[string]bool
}

// view holds the statements that the agents may see in a round. In round 1 there are none.
//
// It depends on who spoke in earlier rounds and not on who is active, so that a participant who drops out during a round
// does not change what others see in it. With Conditional it depends on the active agents, because some of them may not
// have spoken in the previous round.
type view struct {
	p          Protocol
	round      int
	forecast   bool     // before the first turn, with a statement of each agent that differs from all others
	first      []string // speakers of round 1, in order
	agents     []string // agents of the statements, in order
	statements []statement
}

// viewOf returns the view of the current round.
func (p Protocol) viewOf(r *protocol.Record) view {
	v := view{p: p, round: r.Cursor.Round}
	if v.round <= 1 {
		return v
	}
	if len(r.Turns) == 0 {
		v.forecast = true
		for _, s := range r.Participants {
			v.statements = append(v.statements, statement{agent: s.Name, answer: s.Name, confidence: 100})
			v.first, v.agents = append(v.first, s.Name), append(v.agents, s.Name)
		}
		return v
	}
	for _, t := range speeches(r, 1) {
		v.first = append(v.first, t.Actor)
	}
	turns := speeches(r, v.round-1)
	if p.Conditional {
		turns = p.standing(r, v.round-1)
	}
	answer := p.reader(r)
	for _, t := range turns {
		s := statement{agent: t.Actor, round: t.Round}
		if p.Conditional || p.Grouped || p.Filter != nil {
			b, _ := transcript.Decode[Ballot](t) // a turn without a ballot has no answer
			s.answer, s.confidence = answer(t), b.Confidence
			if p.Filter != nil {
				s.words = wordsOf(b.Reasoning)
			}
		}
		v.statements, v.agents = append(v.statements, s), append(v.agents, t.Actor)
	}
	return v
}

// speeches returns the ballots of a round, in order.
func speeches(r *protocol.Record, round int) []transcript.Turn {
	return slices.DeleteFunc(slices.Clone(r.TurnsOf(round)), func(t transcript.Turn) bool { return t.Kind != transcript.Speech })
}

// standing returns the last ballot of each active agent up to a round, in order.
func (p Protocol) standing(r *protocol.Record, round int) (turns []transcript.Turn) {
	for _, s := range r.Participants {
		for at := round; at > 0; at-- {
			if t, ok := r.Find(transcript.Key{Run: r.Cursor.Run, Round: at, Phase: phaseName(at), Actor: s.Name}); ok {
				turns = append(turns, t)
				break
			}
		}
	}
	return turns
}

// phaseDecide is the phase of the judges' ruling.
const phaseDecide = "decide"

// phaseName returns the name of the speeches' phase in a round.
func phaseName(round int) string {
	if round > 1 {
		return "revise"
	}
	return "answer"
}

// seenBy returns the statements that the topology shows an agent, its own included.
func (v view) seenBy(name string) []statement {
	return slices.DeleteFunc(slices.Clone(v.statements), func(s statement) bool {
		return s.agent != name && !v.p.sees(name, s.agent, v.round, v.first, v.agents)
	})
}

// own returns an agent's statement. Without one, its answer is empty.
func (v view) own(name string) statement {
	for _, s := range v.statements {
		if s.agent == name {
			return s
		}
	}
	return statement{agent: name}
}

// show returns the filter of turns that an agent's prompt shows.
func (v view) show(name string) func(*transcript.Turn) bool {
	rounds, kept := map[string]int{}, []statement{v.own(name)}
	for _, s := range v.seenBy(name) {
		if s.agent == name || !v.p.redundant(s, kept) {
			rounds[s.agent], kept = s.round, append(kept, s)
		}
	}
	return func(t *transcript.Turn) bool {
		return t.Kind == transcript.Remark || t.Kind == transcript.Speech && rounds[t.Actor] == t.Round
	}
}

// redundant reports whether Filter leaves out a statement because of the given ones.
func (p Protocol) redundant(s statement, kept []statement) bool {
	return p.Filter != nil && s.answer != "" && slices.ContainsFunc(kept, func(k statement) bool {
		return k.answer == s.answer && similarity(k.words, s.words) >= *p.Filter
	})
}

// takesPart reports whether an agent takes part in the round.
func (v view) takesPart(name string) bool {
	own := v.own(name).answer
	if !v.p.Conditional || v.forecast || own == "" {
		return true
	}
	return slices.ContainsFunc(v.seenBy(name), func(s statement) bool { return s.answer != "" && s.answer != own })
}

// voters returns the steps of the agents who take part in the round: one for each sample.
func (v view) voters(r *protocol.Record) (keys []transcript.Key) {
	for _, name := range r.ParticipantNames() {
		if !v.takesPart(name) {
			continue
		}
		for _, sample := range v.p.targets() {
			keys = append(keys, transcript.Key{Actor: name, Target: sample})
		}
	}
	return keys
}

// targets returns the targets of an agent's steps in a round: the numbers of its samples, or an empty one if it answers once.
func (p Protocol) targets() []string {
	if p.Samples <= 1 {
		return []string{""}
	}
	list := make([]string, p.Samples)
	for i := range p.Samples {
		list[i] = strconv.Itoa(i + 1)
	}
	return list
}

// groups lists the agents that an agent sees, and itself: one line for each answer, the most frequent first.
func (v view) groups(name string) string {
	var answers []string
	members := map[string][]string{}
	for _, s := range v.seenBy(name) {
		if s.answer == "" {
			continue
		}
		if members[s.answer] == nil {
			answers = append(answers, s.answer)
		}
		members[s.answer] = append(members[s.answer], fmt.Sprintf("%s (%s %%)", s.agent, formatNumber(s.confidence)))
	}
	slices.SortStableFunc(answers, func(a, b string) int { return cmp.Compare(len(members[b]), len(members[a])) })
	for i, a := range answers {
		answers[i] = "- " + strings.Join(members[a], ", ")
	}
	return strings.Join(answers, "\n")
}

// wordsOf returns the distinct words of a text, in lower case.
func wordsOf(text string) map[string]bool {
	words := map[string]bool{}
	for w := range strings.FieldsSeq(canonical.Text(text)) {
		words[w] = true
	}
	return words
}

// similarity returns the share of the words of two texts that both contain, from 0 to 1. Two texts without words are
// equal.
func similarity(a, b map[string]bool) float64 {
	both := 0
	for w := range a {
		if b[w] {
			both++
		}
	}
	if all := len(a) + len(b) - both; all > 0 {
		return float64(both) / float64(all)
	}
	return 1
}
