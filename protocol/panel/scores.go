package panel

import (
	"fmt"
	"slices"

	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// selected returns the jury and the senior judge.
func (p Protocol) selected() outcome.SelectedJury {
	return outcome.SelectedJury{Selection: p.Selection, Phase: phaseVerdict, Said: judgeTurns}
}

// judgeTurns returns the turns of the judges in a phase of the current round.
func judgeTurns(r *protocol.Record, phase string) (list []transcript.Turn) {
	for _, name := range r.Judges {
		for _, order := range []string{"", judge.Swapped} {
			if t, ok := r.FindCurrent(phase, name, order); ok {
				list = append(list, t)
			}
		}
	}
	return list
}

// ownScores has what the scores of one judge are computed from, for one order of the participants. It does not change when
// the record does.
type ownScores struct {
	judge, order string
	turns        []transcript.Turn
	participants []transcript.Profile
}

// scoresOf returns the scores that a judge gave, with the participants in the given order.
func scoresOf(r *protocol.Record, name, order string) ownScores {
	end := len(r.Turns)
	for end > 0 && r.Turns[end-1].Kind != transcript.Assessment { // later turns may still move
		end--
	}
	return ownScores{name, order, r.Turns[:end], r.Participants}
}

// means returns the mean score of each participant who is left, over the judge's valid assessments.
func (o ownScores) means() judge.Scores {
	var list []judge.Assessment
	for i := range o.turns {
		if t := &o.turns[i]; t.Kind == transcript.Assessment && t.Actor == o.judge && t.Target == o.order {
			if given := judge.Opinions[judge.Assessment](*t)[0]; !given.Failed {
				list = append(list, given.Value)
			}
		}
	}
	return ofParticipants(judge.MeanScores(list...), o.participants)
}

// doubt says how a verdict contradicts the scores. It is the Doubt of a step. A protocol that embeds this one may have
// changed the contract of the reply.
func (o ownScores) doubt(v any) []string {
	verdict, ok := v.(*judge.Verdict)
	if !ok || verdict.Winner == "" { // scores contradict no draw
		return nil
	}
	if against := o.means().Against(verdict.Winner); against != "" {
		return []string{fmt.Sprintf("/winner: it contradicts the scores that you gave after the rounds, in which on average %s; correct it, or say in winner_reasoning why the scores do not decide", against)}
	}
	return nil
}

// contradictions returns a sentence for each verdict that contradicts its judge's scores.
func contradictions(r *protocol.Record, verdicts []judge.Opinion[judge.Verdict]) (list []string) {
	for _, v := range verdicts {
		if v.Failed || v.Value.Winner == "" { // scores contradict no draw
			continue
		}
		order := ""
		if v.Swapped {
			order = judge.Swapped
		}
		if warning := scoresOf(r, v.Judge, order).means().Warning(v.Judge, v.Swapped, v.Value.Winner); warning != "" {
			list = append(list, warning)
		}
	}
	return list
}

// jointScores returns the mean score of each participant who is left, over the rounds with a valid assessment, as the jury
// combines them.
func (p Protocol) jointScores(r *protocol.Record) judge.Scores {
	var list []judge.Assessment
	byRound := map[int][]transcript.Turn{}
	for _, t := range r.Turns {
		if t.Kind == transcript.Assessment {
			byRound[t.Round] = append(byRound[t.Round], t)
		}
	}
	for round := range r.Cursor.Round + 1 {
		if joint, ok := p.Jury.CombineAssessments(judge.Opinions[judge.Assessment](byRound[round]...)); ok && !joint.Failed {
			list = append(list, joint.Value)
		}
	}
	return ofParticipants(judge.MeanScores(list...), r.Participants)
}

// ofParticipants returns the scores of the given participants.
func ofParticipants(all judge.Scores, list []transcript.Profile) judge.Scores {
	for name := range all {
		if !slices.ContainsFunc(list, func(p transcript.Profile) bool { return p.Name == name }) {
			delete(all, name)
		}
	}
	return all
}
