package report

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/protocol/skeptic"
	"github.com/elenchus-go/debate/protocol/vote"
)

// answers maps the protocols of the library to functions that make tables of their answers.
var answers = map[string]func(json.RawMessage) []block{
	arbitration.Protocol{}.Name(): arbitrated,
	procon.Protocol{}.Name():      judged,
	refine.Protocol{}.Name():      refined,
	skeptic.Protocol{}.Name():     doubted,
	vote.Protocol{}.Name():        voted,
}

// answer returns the answer of the debate. For a protocol that is not part of the library it is only the text.
func (r *Report) answer() (blocks []block) {
	a := r.Result.Answer
	if strings.TrimSpace(a.Text) != "" && r.Result.Protocol != (arbitration.Protocol{}).Name() { // its text repeats the tables and the transcript
		blocks = append(blocks, block{Quote: a.Text})
	}
	if tables := answers[r.Result.Protocol]; tables != nil {
		blocks = append(blocks, tables(a.Data)...)
	}
	return blocks
}

func arbitrated(data json.RawMessage) []block {
	res := read[arbitration.Result](data)
	if len(res.Topics)+len(res.Scores) == 0 {
		return nil
	}
	change := func(s arbitration.Score) []string {
		return []string{score(s.Before), score(s.After), fmt.Sprintf("%+g", s.Delta)}
	}
	var rulings, scores [][]string
	for _, t := range res.Topics {
		why := t.Ruling.Reasoning
		if t.Fallback {
			why += " (no valid ruling came)"
		}
		rulings = append(rulings, slices.Concat([]string{t.Topic, t.Ruling.Winner, score(t.Ruling.Confidence), t.Category}, change(t.Score),
			[]string{why, strings.Join(t.Ruling.KeyPoints, "; ")}))
	}
	for _, s := range res.Scores {
		scores = append(scores, append([]string{s.Category}, change(s)...))
	}
	scores = append(scores, append([]string{"in all"}, change(res.Total)...))
	return slices.Concat(
		rows("Rulings", []string{"Topic", "Winner", "Confidence of 100", "Category", "Before", "After", "Change", "Reasoning", "Key points"}, rulings),
		rows("Scores before and after", []string{"Category", "Before", "After", "Change"}, scores),
	)
}

func judged(data json.RawMessage) []block {
	var scores [][]string
	for _, s := range read[procon.Judgment](data).Participants {
		scores = append(scores, []string{s.Name, score(s.Score)})
	}
	return rows("Scores", []string{"Participant", "Score of 10"}, scores)
}

func refined(data json.RawMessage) []block {
	res := read[refine.Result](data)
	var roles, sizes [][]string
	for _, a := range res.Roles {
		roles = append(roles, []string{a.Agent, a.Role, a.Source})
	}
	for _, s := range res.Summaries {
		name := s.Agent
		if name == "" {
			name = "the final round"
		}
		sizes = append(sizes, []string{name, fmt.Sprint(s.Round), number(s.Before), number(s.After)})
	}
	return slices.Concat(
		rows("Roles", []string{"Agent", "Role", "Source of its words"}, roles),
		rows("Summaries, in characters", []string{"Of", "Round", "Before", "After"}, sizes),
	)
}

func doubted(data json.RawMessage) []block {
	t := read[skeptic.Trace](data)
	var rounds, times [][]string
	for i, x := range t.Rounds {
		cells := []string{fmt.Sprint(x.Round), "", "", "", ""}
		if c := x.Critique; c != nil {
			cells = []string{fmt.Sprint(x.Round), rating(c.Score), fmt.Sprint(c.Ready), fmt.Sprint(len(c.Issues)), fmt.Sprint(x.Read)}
		}
		rounds = append(rounds, cells)
		if i < len(t.Timing.Rounds) {
			times = append(times, []string{fmt.Sprintf("round %d", x.Round), took(t.Timing.Rounds[i])})
		}
	}
	if len(rounds) == 0 {
		return nil
	}
	times = slices.Concat([][]string{{"retrieval", took(t.Timing.Retrieval)}}, times,
		[][]string{{"synthesis", took(t.Timing.Synthesis)}, {"in all", took(t.Timing.Total)}})
	m := t.Models
	return slices.Concat(
		rows("Critiques", []string{"Round", "Score of 10", "Ready", "Issues", "Could be read"}, rounds),
		list("Templates of reasoning:", t.Templates),
		rows("Timing", []string{"Part", "Took"}, times),
		rows("Models", []string{"Part", "Model"}, [][]string{
			{"proposer", m.Proposer}, {"skeptic", m.Skeptic}, {"synthesizer", m.Synthesizer}, {"embedding", m.Embedding},
		}),
		[]block{{Note: fmt.Sprintf("Stopped early: %t.", t.StoppedEarly)}},
	)
}

// rating formats a score that may be missing.
func rating(f *float64) string {
	if f == nil {
		return "none"
	}
	return score(*f)
}

func voted(data json.RawMessage) []block {
	t := read[vote.Tally](data)
	var shares, agents [][]string
	for _, s := range t.Answers {
		shares = append(shares, []string{s.Words, fmt.Sprint(s.Votes), score(s.Weight), strings.Join(s.Agents, ", ")})
	}
	for _, s := range t.Agents {
		agents = append(agents, []string{s.Name, strings.Join(s.Answers, " → "), score(s.Confidence), fmt.Sprint(s.Changed)})
	}
	return slices.Concat(
		rows("Answers", []string{"Answer", "Votes", "Confidence in sum", "Agents"}, shares),
		rows("Agents", []string{"Agent", "Answers, round by round", "Confidence of 100", "Changed"}, agents),
	)
}

// dissent returns what speaks against the outcome: dissenting judges, open disputes, or the minority of a vote.
func (r *Report) dissent() []block {
	data := r.Result.Answer.Data
	var blocks []block
	switch r.Result.Protocol {
	case skeptic.Protocol{}.Name():
		blocks = list("Issues that stood in the last critique:", standing(read[skeptic.Trace](data)))
	case vote.Protocol{}.Name():
		blocks = list("Other answers:", minority(read[vote.Tally](data)))
	default:
		blocks = against(data)
	}
	for _, a := range r.assessed() {
		at := fmt.Sprintf("Round %d: ", a.round)
		blocks = append(blocks, list(at+"judges who said otherwise", a.joint.Dissent)...)
		blocks = append(blocks, list(at+"what judges disagreed about", a.joint.Disagreement)...)
	}
	return blocks
}

// against returns the dissent in a verdict, or in the combined verdict of a bench.
func against(data json.RawMessage) []block {
	v, joint := read[judge.Verdict](data), read[judge.Opinion[judge.Verdict]](data)
	if len(joint.Opinions) > 0 {
		v = joint.Value
	} else {
		joint = judge.Opinion[judge.Verdict]{}
	}
	blocks := slices.Concat(
		list("Judges who said otherwise:", joint.Dissent),
		list("What judges disagreed about:", joint.Disagreement),
	)
	if strings.TrimSpace(v.Dissent) != "" {
		blocks = append(blocks, block{Note: "The best case against the verdict:"}, block{Quote: v.Dissent})
	}
	return append(blocks, list("What the participants still dispute:", v.Disagreement)...)
}

func standing(t skeptic.Trace) (issues []string) {
	if n := len(t.Rounds); n > 0 && t.Rounds[n-1].Critique != nil {
		for _, x := range t.Rounds[n-1].Critique.Issues {
			issues = append(issues, string(x.Severity)+": "+x.Text)
		}
	}
	return issues
}

func minority(t vote.Tally) (answers []string) {
	for _, s := range t.Answers {
		if s.Answer != t.Answer {
			answers = append(answers, fmt.Sprintf("%s: %s", strings.Join(s.Agents, ", "), s.Words))
		}
	}
	return answers
}
