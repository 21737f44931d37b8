package main

import (
	"fmt"
	"io"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/protocol/refine"
)

// refinement defines the role "cost"; the other roles are built in. When the history of an expert becomes too long, a summary
// replaces it.
var refinement = kind{
	about: "experts propose solutions, criticize one another and refine; a judge combines the solutions",
	topic: "How should we store our customers' documents?",
	config: debate.Config{
		Protocol: refine.Protocol{
			Roles: map[string]refine.RolePrompt{"cost": {
				System: "You focus on costs: the costs of building, running, changing and replacing a solution.", Source: "examples/protocols",
			}},
			SummaryPolicy: refine.SummaryPolicy{Threshold: 5000, TargetLength: 2500},
		},
		Participants: []debate.Participant{
			{Name: "Ada", Role: "architect"}, {Name: "Bo", Role: "security"}, {Name: "Cy", Role: "cost"}, {Name: "Di", Role: "testing"},
		},
		Judges: people("Judge"),
		Limits: debate.Limits{MaxRounds: 2},
	},
	show: showSolution,
}

// showSolution prints the solution, the roles of the experts and the sizes of the summaries.
func showSolution(w io.Writer, r *debate.Result) error {
	came, err := refine.DecodeAnswer(r.Answer)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s\n\n", r.Answer.Text)
	for _, a := range came.Roles {
		fmt.Fprintf(w, "%s: %s (%s)\n", a.Agent, a.Role, a.Source)
	}
	for _, s := range came.Summaries {
		fmt.Fprintf(w, "summary for %s in round %d: %d characters reduced to %d\n", s.Agent, s.Round, s.Before, s.After)
	}
	return nil
}
