package vote

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/detect"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Tally is the result of a vote, and the data of the debate's answer. Answer fields hold the canonical form that the
// extractor returns. AnswerText fields hold an answer as an agent wrote it.
type Tally struct {
	Answer     string `json:"answer,omitempty"` // the winning answer; empty if there is none
	AnswerText string `json:"answer_text,omitempty"`
	Option     int    `json:"option,omitempty"` // number of the winning option, from 1; 0 without Protocol.Options
	// Decision is the rule that decided: "majority", "confidence" or "judge". It is empty if nothing was decided. It is
	// "majority" if the judges were to decide but were not asked, gave no valid ruling or did not agree.
	Decision DecisionRule  `json:"decision,omitempty"`
	Tie      bool          `json:"tie,omitempty"` // whether the vote is a tie, even if the judges broke it
	Answers  []AnswerVotes `json:"answers"`       // latest answers, the leading one first
	Agents   []AgentResult `json:"agents"`        // active agents, in order
	// Unanimous lists the rounds in which all agents who spoke gave the same answer.
	Unanimous []int `json:"unanimous,omitempty"`
	// Single reports that one agent answered once, so that there was no vote: Answer is its answer, and Decision is empty.
	Single bool `json:"single,omitempty"`
	// Dissent lists the judges whose ruling is for another answer, with their reasons.
	Dissent []string `json:"dissent,omitempty"`
}

// AnswerVotes is an answer with its votes.
type AnswerVotes struct {
	Answer          string   `json:"answer"`
	AnswerText      string   `json:"answer_text"`      // wording of the first agent who gave it
	Option          int      `json:"option,omitempty"` // number of the option, from 1; 0 without Protocol.Options
	Votes           int      `json:"votes"`
	TotalConfidence float64  `json:"total_confidence"` // sum over its agents, 0 to 100 each, rescaled if Rescale is set; no percentage
	Agents          []string `json:"agents"`           // agents who gave it
}

// AgentResult is the result of one agent, or of one of its samples if Protocol.Samples is set.
type AgentResult struct {
	Name       string   `json:"name"`                  // name of the agent, followed by the number of the sample if there are several
	Answers    []string `json:"answers"`               // answer of each round in which it took part; "" for none
	AnswerText string   `json:"answer_text,omitempty"` // wording of the last answer
	Confidence float64  `json:"confidence"`            // confidence in the last answer, from 0 to 100; 0 without an answer
	Changed    bool     `json:"changed,omitempty"`     // whether the last answer differs from the first
}

// lastAnswer returns the agent's last answer, or "".
func (s AgentResult) lastAnswer() string {
	if len(s.Answers) == 0 {
		return ""
	}
	return s.Answers[len(s.Answers)-1]
}

// DecodeAnswer returns the data of a debate's answer. It returns an error if there is no answer yet, or if another protocol
// gave it.
func DecodeAnswer(a protocol.Answer) (Tally, error) { return outcome.Decode[Tally](a, Protocol{}) }

// Answer returns the current [Tally]. It is zero before the first ballot.
func (p Protocol) Answer(r *protocol.Record) protocol.Answer {
	t := p.tally(r)
	if !slices.ContainsFunc(t.Agents, func(s AgentResult) bool { return len(s.Answers) > 0 }) {
		return protocol.Answer{}
	}
	return outcome.Answer(t.text(), t)
}

// tally returns the tally of the debate so far.
func (p Protocol) tally(r *protocol.Record) Tally {
	t := Tally{Agents: p.agentResults(r), Unanimous: p.unanimousRounds(r)}
	t.Answers, t.Tie = p.countVotes(t.Agents)
	t.Single = p.Samples == 1 && len(t.Agents) == 1
	at, by := 0, Majority
	switch {
	case t.Single:
		by, t.Unanimous = "", nil
	case p.Decision == Confidence:
		by = Confidence
	}
	rulings := rulingsOn(t.Answers, r)
	if i := majorityRuling(rulings); i >= 0 {
		at, by = i, Judge
	} else if t.Tie || len(t.Answers) == 0 {
		at = -1
	}
	if at >= 0 {
		best := &t.Answers[at]
		t.Answer = best.Answer
		t.AnswerText = best.AnswerText
		t.Option = best.Option
		t.Decision = by
	}
	for _, u := range rulings {
		if u.answer >= 0 && u.answer != at {
			t.Dissent = append(t.Dissent, fmt.Sprintf("%s: %s: %s", u.judge, t.Answers[u.answer].AnswerText, u.reasoning))
		}
	}
	return t
}

// agentResults returns the results of the active agents.
func (p Protocol) agentResults(r *protocol.Record) (results []AgentResult) {
	index := map[[2]string]int{} // into results, by agent and sample
	for _, seat := range r.Participants {
		for _, sample := range p.targets() {
			index[[2]string{seat.Name, sample}] = len(results)
			results = append(results, AgentResult{Name: voter(seat.Name, sample), Answers: []string{}})
		}
	}
	answer := p.reader(r)
	for _, t := range r.Turns {
		if i, active := index[[2]string{t.Actor, t.Target}]; active && t.Kind == transcript.Speech {
			results[i].addAnswer(answer(t), t)
		}
	}
	return results
}

// voter returns the name of an agent's sample in results.
func voter(name, sample string) string {
	if sample == "" {
		return name
	}
	return name + " " + sample
}

// addAnswer adds the answer of a turn to an agent's result.
func (s *AgentResult) addAnswer(answer string, t transcript.Turn) {
	s.Answers = append(s.Answers, answer)
	s.AnswerText = ""
	s.Confidence = 0
	s.Changed = false
	b, err := transcript.Decode[Ballot](t)
	if err != nil || answer == "" {
		return
	}
	s.AnswerText = b.Answer
	s.Confidence = b.Confidence
	s.Changed = s.Answers[0] != "" && s.Answers[0] != answer
}

// countVotes returns the last answers, sorted by votes or confidence, and whether the first two are tied.
func (p Protocol) countVotes(stands []AgentResult) (shares []AnswerVotes, tie bool) {
	shares = []AnswerVotes{}
	for _, s := range stands {
		if s.lastAnswer() == "" {
			continue
		}
		i := slices.IndexFunc(shares, func(x AnswerVotes) bool { return x.Answer == s.lastAnswer() })
		if i < 0 {
			i = len(shares)
			shares = append(shares, AnswerVotes{
				Answer:     s.lastAnswer(),
				AnswerText: s.AnswerText,
				Option:     slices.Index(p.Options, s.lastAnswer()) + 1,
			})
		}
		shares[i].Votes++
		shares[i].TotalConfidence += p.weight(s.Confidence)
		shares[i].Agents = append(shares[i].Agents, s.Name)
	}
	order := func(a, b AnswerVotes) int {
		votes, weight := cmp.Compare(b.Votes, a.Votes), cmp.Compare(b.TotalConfidence, a.TotalConfidence)
		if p.Decision == Confidence {
			return cmp.Or(weight, votes)
		}
		return cmp.Or(votes, weight)
	}
	slices.SortStableFunc(shares, order)
	return shares, len(shares) > 1 && order(shares[0], shares[1]) == 0
}

// weight returns what a confidence counts.
func (p Protocol) weight(confidence float64) float64 {
	switch {
	case !p.Rescale:
		return confidence
	case confidence <= 60:
		return 10
	case confidence < 80:
		return 30
	case confidence < 90:
		return 50
	case confidence < 100:
		return 80
	default:
		return 100
	}
}

// unanimousRounds returns the rounds in which all agents who spoke gave the same answer. With Conditional the answers of
// the agents who did not take part count too.
func (p Protocol) unanimousRounds(r *protocol.Record) (rounds []int) {
	for round := 1; round <= r.Cursor.Round; round++ {
		turns := r.TurnsOf(round)
		if p.Conditional {
			turns = p.standing(r, round)
		}
		if p.checkUnanimity(r, turns).Found {
			rounds = append(rounds, round)
		}
	}
	return rounds
}

// checkUnanimity reports whether the turns of a round are unanimous.
func (p Protocol) checkUnanimity(r *protocol.Record, turns []transcript.Turn) detect.Finding {
	d := detect.Unanimity{Answer: p.reader(r)}
	if p.Samples > 0 { // each sample votes
		turns = slices.Clone(turns)
		for i := range turns {
			turns[i].Actor = voter(turns[i].Actor, turns[i].Target)
		}
	}
	return d.Round(turns)
}

// judgeRuling is the valid ruling of one judge.
type judgeRuling struct {
	judge     string
	answer    int // index of the answer that the judge decided for; -1 for none
	reasoning string
}

// rulingsOn returns the judges' valid rulings on these answers, in order.
func rulingsOn(answers []AnswerVotes, r *protocol.Record) (list []judgeRuling) {
	for _, o := range judge.Opinions[Ruling](r.Said(transcript.Conclusion, phaseDecide)...) {
		if !o.Failed {
			at := slices.IndexFunc(answers, func(a AnswerVotes) bool { return slices.Contains(a.Agents, o.Value.Winner) })
			list = append(list, judgeRuling{o.Judge, at, o.Value.Reasoning})
		}
	}
	return list
}

// majorityRuling returns the index of the answer for which more than half of the rulings decide, or -1.
func majorityRuling(rulings []judgeRuling) int {
	count := map[int]int{}
	for _, u := range rulings {
		count[u.answer]++
		if 2*count[u.answer] > len(rulings) {
			return u.answer
		}
	}
	return -1
}

// text returns the tally for readers.
func (t Tally) text() string {
	var lines []string
	switch {
	case t.Single && t.Answer != "":
		return fmt.Sprintf("Answer: %s\nConfidence: %s %%", t.AnswerText, formatNumber(t.Agents[0].Confidence))
	case t.Single:
		return "No answer."
	case t.Answer != "":
		lines = append(lines, fmt.Sprintf("Answer: %s (by %s)", t.AnswerText, t.Decision))
	case t.Tie:
		lines = append(lines, "No answer: the vote is a tie.")
	default:
		lines = append(lines, "No answer: nobody gave one.")
	}
	for _, s := range t.Answers {
		votes := outcome.Count(s.Votes, "vote", "votes")
		agents := strings.Join(s.Agents, ", ")
		lines = append(lines, fmt.Sprintf("%s: %s, total confidence %s (%s)", s.AnswerText, votes, formatNumber(s.TotalConfidence), agents))
	}
	var silent, changed []string
	for _, s := range t.Agents {
		if s.lastAnswer() == "" {
			silent = append(silent, s.Name)
		}
		if s.Changed {
			changed = append(changed, s.Name)
		}
	}
	if len(silent) > 0 {
		lines = append(lines, "Without an answer: "+strings.Join(silent, ", "))
	}
	if len(changed) > 0 {
		lines = append(lines, "Changed their minds: "+strings.Join(changed, ", "))
	}
	for _, d := range t.Dissent {
		lines = append(lines, "Dissent: "+d)
	}
	for _, round := range t.Unanimous {
		lines = append(lines, fmt.Sprintf("Unanimous in round %d.", round))
	}
	return strings.Join(lines, "\n")
}
