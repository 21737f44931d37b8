package panel

import (
	"fmt"

	"github.com/elenchus-go/debate/internal/settings"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
)

// Check requires two to four participants, or up to eight on two sides with the format oxford, a judge, known parameters
// that fit together, and enough rounds for the format.
func (p Protocol) Check(r *protocol.Record) []protocol.Problem {
	var l protocol.Problems
	most := 4
	if p.Format == Oxford {
		most = 8
	}
	if n := len(r.Participants); n < 2 || n > most {
		l.Add("participants", "%d enabled, a panel takes 2 to %d", n, most)
	}
	if len(r.Judges) == 0 {
		l.Add("judges", "none, a panel needs one")
	}
	settings.OneOf(&l, "protocol.format", p.Format, formats[1:]...)
	settings.OneOf(&l, "protocol.mode", p.Mode, Sequential, Simultaneous)
	l.AddAll("protocol.jury", p.Jury.Check())
	settings.OneOf(&l, "protocol.personas", p.Personas, styles[1:]...)
	if p.hasTasks() && r.MaxRounds < 2 {
		l.Add("limits.max_rounds", "%d, %s need at least 2: an opening and a closing", r.MaxRounds,
			map[Format]string{StructuredRounds: "structured rounds", Oxford: "Oxford-style debates"}[p.Format])
	}
	p.checkOxford(&l, r)
	p.checkAdvocate(&l, r)
	p.checkDecision(&l, r)
	p.checkSelection(&l, r)
	if n := len(r.Judges); p.RotateJudges && n == 1 && r.Cursor.Round == 0 { // judges may drop out later
		l.Add("protocol.rotate_judges", "there is 1 judge, use at least 2")
	}
	return l
}

// checkOxford checks the sides of an Oxford-style debate, and the parameters that it does not use.
func (p Protocol) checkOxford(l *protocol.Problems, r *protocol.Record) {
	if p.Format != Oxford {
		return
	}
	members := map[string]int{}
	for _, s := range r.Participants {
		members[s.Side]++
		if s.Side != sideFor && s.Side != sideAgainst {
			l.Add("participants", "%q has the side %q, use %q or %q in the format %q", s.Name, s.Side, sideFor, sideAgainst, Oxford)
		}
	}
	for _, side := range []string{sideFor, sideAgainst} {
		if len(r.Participants) > 0 && members[side] == 0 {
			l.Add("participants", "nobody has the side %q", side)
		}
	}
	settings.LeftOut(l, fmt.Sprintf("the judges vote and do not assess in the format %q", Oxford), map[string]bool{
		"jury": p.Jury != judge.Jury{}, "rotate_judges": p.RotateJudges, "by_scores": p.ByScores, "decision": !p.Decision.IsZero(),
		"selection": !p.Selection.IsZero(),
	})
}

// checkAdvocate checks whether a devil's advocate can speak.
func (p Protocol) checkAdvocate(l *protocol.Problems, r *protocol.Record) {
	switch {
	case !p.DevilsAdvocate:
	case p.hasTasks():
		l.Add("protocol.devils_advocate", "the rounds of the format %q have fixed tasks, use another format", p.Format)
	case r.MaxRounds < 2:
		l.Add("limits.max_rounds", "%d, a devil's advocate speaks in round 2 at the earliest", r.MaxRounds)
	}
}

// checkDecision checks the decision, and that it does not exclude the other parameters.
func (p Protocol) checkDecision(l *protocol.Problems, r *protocol.Record) {
	if p.Decision.IsZero() {
		return
	}
	l.AddAll("protocol.decision", p.Decision.Check(len(r.Judges), p.Jury.Swap))
	if p.ByScores {
		l.Add("protocol.by_scores", "the judges name no winner when they decide, leave it out")
	}
}

// checkSelection checks the selection, and that the judges name a winner or choose an option.
func (p Protocol) checkSelection(l *protocol.Problems, r *protocol.Record) {
	if p.Selection.IsZero() {
		return
	}
	if p.ByScores || p.Decision.Contract != "" {
		l.Add("protocol.selection", "the judges name no winner and choose no option, leave it out")
	}
	asked := 1
	if p.Jury.Swap {
		asked = 2
	}
	l.AddAll("protocol.selection", p.Selection.CheckDebate(r.Judges, asked, len(r.Participants), len(p.Decision.Options)))
}
