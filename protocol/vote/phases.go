package vote

import (
	"strconv"

	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Phases returns one phase for each round, and the judges' rulings at the end if they are needed.
func (p Protocol) Phases(r *protocol.Record) []protocol.Phase {
	switch r.Cursor.Stage {
	case transcript.Speech:
		return []protocol.Phase{p.speeches(r)}
	case transcript.Conclusion:
		if !p.needsRuling(r) {
			return nil
		}
		phase, last := protocol.Phase{Name: "decide", Parallel: true}, latestTurns(r)
		for _, name := range r.Judges {
			phase.Steps = append(phase.Steps, protocol.Step{
				Key: transcript.Key{Actor: name}, Prompt: "vote-decide", Contract: RulingContract.Name(), Vars: p.vars(), Blind: true,
				Show: func(t *transcript.Turn) bool { return t.Kind == transcript.Remark || last[t.Actor] == t.Key },
			})
		}
		return []protocol.Phase{phase}
	default:
		return nil
	}
}

// speeches returns the phase of the current round.
func (p Protocol) speeches(r *protocol.Record) protocol.Phase {
	phase := protocol.Phase{Name: "answer", Parallel: true}
	vars, sees := p.vars(), func(string) func(*transcript.Turn) bool { return remarksOnly }
	if r.Cursor.Round > 1 {
		phase.Name, sees = "revise", p.visibleTurns(r)
	}
	for _, s := range r.Participants {
		phase.Steps = append(phase.Steps, protocol.Step{
			Key: transcript.Key{Actor: s.Name}, Prompt: "vote-" + phase.Name, Contract: BallotContract.Name(), Vars: vars, Show: sees(s.Name),
		})
	}
	return phase
}

// remarksOnly reports whether a turn is a remark.
func remarksOnly(t *transcript.Turn) bool { return t.Kind == transcript.Remark }

// vars returns the parameters of the prompts.
func (p Protocol) vars() map[string]string {
	vars := map[string]string{"extract": p.Extract}
	if p.Agreement != nil {
		vars["agreement"], vars["stance"] = strconv.FormatFloat(100**p.Agreement, 'f', 0, 64), "open"
		switch {
		case *p.Agreement <= 0.25:
			vars["stance"] = "firm"
		case *p.Agreement >= 0.75:
			vars["stance"] = "yielding"
		}
	}
	return vars
}

// End returns the outcome "unanimous" if all agents gave the same answer and Unanimity asks for it.
func (p Protocol) End(r *protocol.Record) transcript.Ending {
	if p.Unanimity == "" || p.Unanimity == Prevent && r.Cursor.Round > 1 {
		return transcript.Ending{}
	}
	return p.checkUnanimity(r.TurnsFrom(r.Cursor.Round)).Ending()
}

// needsRuling reports whether there are judges and something to decide. It also returns true before a round is complete,
// so that budgets reserve enough for the judge.
func (p Protocol) needsRuling(r *protocol.Record) bool {
	if len(r.Judges) == 0 {
		return false
	}
	for _, key := range latestTurns(r) {
		if key.Round == 0 || key.Round != r.Cursor.Round {
			return true
		}
	}
	shares, tie := p.countVotes(p.agentResults(r))
	return tie || p.Decision == Judge && len(shares) > 0 && shares[0].Votes < len(r.Participants)
}

// latestTurns returns the key of each active agent's latest turn, or the zero key if the agent has not answered.
func latestTurns(r *protocol.Record) map[string]transcript.Key {
	last := map[string]transcript.Key{}
	for _, s := range r.Participants {
		last[s.Name] = transcript.Key{}
	}
	for _, t := range r.Turns {
		if _, seated := last[t.Actor]; seated && t.Kind == transcript.Speech {
			last[t.Actor] = t.Key
		}
	}
	return last
}
