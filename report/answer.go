package report

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/protocol/council"
	"github.com/elenchus-go/debate/protocol/mad"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/protocol/skeptic"
	"github.com/elenchus-go/debate/protocol/vote"
)

// answerTables maps the library's protocols to functions that make tables of their answers' data.
var answerTables = map[string]func(json.RawMessage) []block{
	arbitration.Protocol{}.Name(): arbitrationTables,
	council.Protocol{}.Name():     councilTables,
	mad.Protocol{}.Name():         madTables,
	panel.Protocol{}.Name():       audienceTables,
	procon.Protocol{}.Name():      proconTables,
	refine.Protocol{}.Name():      refineTables,
	skeptic.Protocol{}.Name():     skepticTables,
	vote.Protocol{}.Name():        voteTables,
}

// answer returns the text of the debate's answer and, for the library's protocols, tables of its data.
func (r *Report) answer() (blocks []block) {
	a := r.Result.Answer
	// The text of an arbitration's answer repeats the tables and the transcript.
	if strings.TrimSpace(a.Text) != "" && r.Result.Protocol != (arbitration.Protocol{}).Name() {
		blocks = append(blocks, block{Quote: a.Text})
	}
	if tables := answerTables[r.Result.Protocol]; tables != nil {
		blocks = append(blocks, tables(a.Data)...)
	}
	return blocks
}

func arbitrationTables(data json.RawMessage) []block {
	res := decodeOrZero[arbitration.Result](data)
	if len(res.Topics)+len(res.Scores) == 0 {
		return nil
	}
	change := func(s arbitration.ScoreChange) []string {
		return []string{formatScore(s.Before), formatScore(s.After), fmt.Sprintf("%+g", s.Delta)}
	}
	var rulings, scores [][]string
	for _, t := range res.Topics {
		why := t.Ruling.Reasoning
		if t.Defaulted {
			why += " (default, because no valid ruling was received)"
		}
		rulings = append(rulings, slices.Concat([]string{t.Topic, t.Ruling.Winner, formatScore(t.Ruling.Confidence), t.Category}, change(t.ScoreChange),
			[]string{why, strings.Join(t.Ruling.KeyPoints, "; ")}))
	}
	for _, s := range res.Scores {
		scores = append(scores, append([]string{s.Category}, change(s)...))
	}
	scores = append(scores, append([]string{"Total"}, change(res.Total)...))
	return slices.Concat(
		tableBlock("Rulings", []string{"Topic", "Winner", "Confidence (0–100)", "Category", "Before", "After", "Change", "Reasoning", "Key points"}, rulings),
		tableBlock("Scores before and after", []string{"Category", "Before", "After", "Change"}, scores),
	)
}

func councilTables(data json.RawMessage) []block {
	res := decodeOrZero[council.Result](data)
	var standings, rankings [][]string
	for _, s := range res.Standings {
		standings = append(standings, []string{s.Member, fmt.Sprint(s.Place), formatScore(s.Score), fmt.Sprint(s.Rankings)})
	}
	for _, k := range res.Rankings {
		rankings = append(rankings, []string{k.Member, strings.Join(k.Best, ", ")})
	}
	return slices.Concat(
		tableBlock("Answers", []string{"Member", "Place", "Score (0–1)", "Rankings"}, standings),
		tableBlock("Rankings", []string{"By", "Answers, the best first"}, rankings),
	)
}

// audienceTables returns the votes of an Oxford-style debate. Other panels have none.
func audienceTables(data json.RawMessage) []block {
	a := decodeOrZero[struct{ Audience *panel.Audience }](data).Audience
	if a == nil {
		return nil
	}
	row := func(name string, before, after int) []string {
		return []string{name, formatCount(before), formatCount(after), fmt.Sprintf("%+d", after-before)}
	}
	var members [][]string
	for _, m := range a.Members {
		members = append(members, []string{m.Name, m.Before, m.After})
	}
	return slices.Concat(
		tableBlock("Votes", []string{"Vote", "Before", "After", "Change"}, [][]string{
			row("for", a.Before.For, a.After.For), row("against", a.Before.Against, a.After.Against), row("undecided", a.Before.Undecided, a.After.Undecided),
		}),
		tableBlock("Audience", []string{"Member", "Before", "After"}, members),
	)
}

func madTables(data json.RawMessage) []block {
	var rounds [][]string
	for _, x := range decodeOrZero[mad.Result](data).Rounds {
		supported := x.Supported
		switch {
		case x.Defaulted:
			supported = "no valid decision"
		case !x.Preference:
			supported = "no preference"
		}
		rounds = append(rounds, []string{fmt.Sprint(x.Round), supported, x.Reasoning})
	}
	return tableBlock("Moderator", []string{"Round", "Preference", "Reasoning"}, rounds)
}

func proconTables(data json.RawMessage) []block {
	var scores [][]string
	for _, s := range decodeOrZero[procon.Judgment](data).Participants {
		scores = append(scores, []string{s.Name, formatScore(s.Score)})
	}
	return tableBlock("Scores", []string{"Participant", "Score (0–10)"}, scores)
}

func refineTables(data json.RawMessage) []block {
	res := decodeOrZero[refine.Result](data)
	var roles, sizes [][]string
	for _, a := range res.Roles {
		roles = append(roles, []string{a.Agent, a.Role, a.Source})
	}
	for _, s := range res.Summaries {
		name := s.Agent
		if name == "" {
			name = "judge"
		}
		sizes = append(sizes, []string{name, fmt.Sprint(s.Round), formatCount(s.Before), formatCount(s.After)})
	}
	return slices.Concat(
		tableBlock("Roles", []string{"Agent", "Role", "Prompt source"}, roles),
		tableBlock("Summaries", []string{"For", "Round", "Characters before", "Characters after"}, sizes),
	)
}

func skepticTables(data json.RawMessage) []block {
	t := decodeOrZero[skeptic.Trace](data)
	var rounds, times [][]string
	for i, x := range t.Rounds {
		cells := []string{fmt.Sprint(x.Round), "", "", "", ""}
		if c := x.Critique; c != nil {
			cells = []string{fmt.Sprint(x.Round), formatOptionalScore(c.Score), fmt.Sprint(c.Ready), fmt.Sprint(len(c.Issues)), fmt.Sprint(x.Parsed)}
		}
		rounds = append(rounds, cells)
		if i < len(t.Timing.Rounds) {
			times = append(times, []string{fmt.Sprintf("round %d", x.Round), formatDuration(t.Timing.Rounds[i])})
		}
	}
	if len(rounds) == 0 {
		return nil
	}
	times = slices.Concat([][]string{{"retrieval", formatDuration(t.Timing.Retrieval)}}, times,
		[][]string{{"synthesis", formatDuration(t.Timing.Synthesis)}, {"Total", formatDuration(t.Timing.Total)}})
	m := t.Models
	return slices.Concat(
		tableBlock("Critiques", []string{"Round", "Score (0–10)", "Ready", "Issues", "Parsed"}, rounds),
		listBlock("Reasoning templates:", t.Templates),
		tableBlock("Timing", []string{"Part", "Duration"}, times),
		tableBlock("Models", []string{"Part", "Model"}, [][]string{
			{"proposer", m.Proposer}, {"skeptic", m.Skeptic}, {"synthesizer", m.Synthesizer}, {"embedding", m.Embedding},
		}),
		[]block{{Note: fmt.Sprintf("Stopped early: %t.", t.StoppedEarly)}},
	)
}

// formatOptionalScore formats a score that may be missing.
func formatOptionalScore(f *float64) string {
	if f == nil {
		return "none"
	}
	return formatScore(*f)
}

func voteTables(data json.RawMessage) []block {
	t := decodeOrZero[vote.Tally](data)
	var shares, agents [][]string
	for _, s := range t.Answers {
		shares = append(shares, []string{s.AnswerText, fmt.Sprint(s.Votes), formatScore(s.TotalConfidence), strings.Join(s.Agents, ", ")})
	}
	for _, s := range t.Agents {
		agents = append(agents, []string{s.Name, strings.Join(s.Answers, " → "), formatScore(s.Confidence), fmt.Sprint(s.Changed)})
	}
	return slices.Concat(
		tableBlock("Answers", []string{"Answer", "Votes", "Total confidence", "Agents"}, shares),
		tableBlock("Agents", []string{"Agent", "Answers by round", "Confidence (0–100)", "Changed"}, agents),
	)
}

// dissent returns the case against the outcome: dissenting judges, open disputes, or the minority of a vote. The text of a
// council's answer contains its own.
func (r *Report) dissent() []block {
	data := r.Result.Answer.Data
	var blocks []block
	switch r.Result.Protocol {
	case skeptic.Protocol{}.Name():
		blocks = listBlock("Open issues of the last critique:", openIssues(decodeOrZero[skeptic.Trace](data)))
	case procon.Protocol{}.Name():
		blocks = listBlock("Dissenting judges:", decodeOrZero[procon.Judgment](data).Dissent)
	case vote.Protocol{}.Name():
		t := decodeOrZero[vote.Tally](data)
		blocks = slices.Concat(listBlock("Other answers:", minorityAnswers(t)), listBlock("Dissenting judges:", t.Dissent))
	default:
		blocks = verdictDissent(data)
	}
	for _, a := range r.roundAssessments() {
		at := fmt.Sprintf("Round %d, ", a.round)
		blocks = append(blocks, listBlock(at+"dissenting judges:", a.combined.Dissent)...)
		blocks = append(blocks, listBlock(at+"disagreement between the judges:", a.combined.Disagreement)...)
	}
	return blocks
}

// verdictDissent returns the dissent in a verdict, or in the combined verdict of a jury.
func verdictDissent(data json.RawMessage) []block {
	v, joint := decodeOrZero[judge.Verdict](data), decodeOrZero[judge.Opinion[judge.Verdict]](data)
	if len(joint.Opinions) > 0 {
		v = joint.Value
	} else {
		joint = judge.Opinion[judge.Verdict]{}
	}
	blocks := slices.Concat(
		listBlock("Dissenting judges:", joint.Dissent),
		listBlock("Disagreement between the judges:", joint.Disagreement),
	)
	if strings.TrimSpace(v.Dissent) != "" {
		blocks = append(blocks, block{Note: "The strongest argument against the verdict:"}, block{Quote: v.Dissent})
	}
	return append(blocks, listBlock("Points that the participants still dispute:", v.Disagreement)...)
}

func openIssues(t skeptic.Trace) (issues []string) {
	if n := len(t.Rounds); n > 0 && t.Rounds[n-1].Critique != nil {
		for _, x := range t.Rounds[n-1].Critique.Issues {
			issues = append(issues, string(x.Severity)+": "+x.Text)
		}
	}
	return issues
}

func minorityAnswers(t vote.Tally) (answers []string) {
	for _, s := range t.Answers {
		if s.Answer != t.Answer {
			answers = append(answers, fmt.Sprintf("%s: %s", strings.Join(s.Agents, ", "), s.AnswerText))
		}
	}
	return answers
}
