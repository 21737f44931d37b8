package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/protocol/skeptic"
)

// reportRoles warns about roles that have no effect.
func (p *program) reportRoles(c debate.Config, s configFile) {
	for _, j := range slices.Concat(c.Judges, c.Substitutes) {
		if j.Role != "" {
			p.warnf("ignoring the role %q of %s, because judges have no roles", j.Role, j.Name)
		}
	}
	used := map[string]bool{}
	for _, a := range c.Participants {
		used[a.Role] = true
		if _, ok := c.Protocol.(skeptic.Protocol); ok && !slices.Contains([]string{"", "proposer", "skeptic"}, a.Role) {
			p.warnf("ignoring the role %q of %s, because the roles of skeptic are proposer and skeptic", a.Role, a.Name)
		}
	}
	own, ok := c.Protocol.(refine.Protocol)
	if !ok {
		if len(s.roles) > 0 {
			p.warnf("ignoring the roles in %s, because protocol %s does not use them", s.path, withoutVersion(c.Protocol.Name()))
		}
		return
	}
	for _, name := range sortedKeys(own.Roles) {
		if !used[name] {
			p.warnf("ignoring the role %q in %s, because no participant has it", name, s.path)
		}
	}
}

// chooseScores returns the scores of --scores, or those of the configuration file. If there are none, it asks for them.
func (p *program) chooseScores(own arbitration.Protocol) (map[string]float64, error) {
	text := p.scores
	switch {
	case text == "" && own.Scores != nil:
		return own.Scores, nil
	case text == "" && !p.canAsk():
		return nil, exitErrorf(exitInput,
			"read scores: arbitration debates the scores of an evaluation: give them with --scores, such as --scores %s, or as protocol.scores in the configuration",
			exampleScores(own))
	case text == "":
		var err error
		text, err = p.ask("Scores of the evaluation, such as " + exampleScores(own) + ": ")
		if err != nil {
			return nil, err
		}
	}
	scores := map[string]float64{}
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(part, "=")
		score, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		name = strings.TrimSpace(name)
		if err != nil || name == "" {
			return nil, exitErrorf(exitInput,
				"read scores: %q is not a score, want NAME=NUMBER, such as %s", strings.TrimSpace(part), exampleScores(own))
		}
		if _, twice := scores[name]; twice {
			return nil, exitErrorf(exitInput, "read scores: %s has two scores", name)
		}
		scores[name] = score
	}
	return scores, nil
}

// exampleScores returns scores for the categories of the topics in the form of --scores.
func exampleScores(own arbitration.Protocol) string {
	categories := []string{"problem", "solution", "market"}
	if own.Topics != nil {
		categories = nil
	}
	for _, t := range own.Topics {
		if !slices.Contains(categories, t.Category) {
			categories = append(categories, t.Category)
		}
	}
	return strings.Join(categories, "=5,") + "=7"
}
