package vote

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/elenchus-go/debate/judge/decision"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// flow returns the answers of the current round, and the judges' rulings at the end if they are needed.
func (p Protocol) flow(r *protocol.Record) protocol.Flow {
	v := p.viewOf(r)
	vars := p.vars()
	phase := phaseName(r.Cursor.Round)
	return protocol.Flow{Stages: []protocol.Stage{
		{
			Kind: transcript.Speech, Name: phase, Prompt: "vote-" + phase, Contract: BallotContract, Parallel: true,
			Who: v.voters,
			Each: func(_ *protocol.Record, s *protocol.Step) {
				s.Vars = v.agentVars(s.Actor, vars)
				s.Show = v.show(s.Actor)
				s.Check = p.ballotCheck()
			},
		},
		{
			Kind: transcript.Conclusion, Name: phaseDecide, Prompt: "vote-decide", Contract: RulingContract, Parallel: true, Blind: true,
			If:  func(r *protocol.Record) bool { return p.needsRuling(r, v.voters(r)) },
			Who: protocol.Judges,
			Each: func(r *protocol.Record, s *protocol.Step) {
				last := latestTurns(r)
				s.Vars = vars
				s.Show = func(t *transcript.Turn) bool { return t.Kind == transcript.Remark || last[t.Actor] == t.Key }
			},
		},
	}}
}

// Phases returns the phases of the stage and round.
func (p Protocol) Phases(r *protocol.Record) []protocol.Phase { return p.flow(r).Phases(r) }

// agentVars returns the parameters of an agent's prompts: those of all agents, and its own.
func (v view) agentVars(name string, vars map[string]string) map[string]string {
	if len(v.p.Convincing) == 0 && !v.p.Grouped {
		return vars
	}
	vars = maps.Clone(vars)
	var explanations []string
	for _, other := range slices.Sorted(maps.Keys(v.p.Convincing)) {
		if other != name {
			explanations = append(explanations, v.p.Convincing[other]...)
		}
	}
	vars["convincing"] = strings.Join(explanations, "\n\n")
	if v.p.Grouped {
		vars["groups"] = v.groups(name)
	}
	return vars
}

// vars returns the parameters of the prompts.
func (p Protocol) vars() map[string]string {
	vars := map[string]string{"extract": p.Extract}
	if len(p.Options) > 0 {
		vars["options"] = decision.Outline(p.Options)
	}
	if p.Filter != nil {
		vars["filtered"] = "yes"
	}
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

// End returns the outcome "unanimous" if all agents gave the same answer and Unanimity or Conditional asks for it.
func (p Protocol) End(r *protocol.Record) transcript.Ending {
	if p.Unanimity == "" && !p.Conditional || p.Unanimity == Prevent && r.Cursor.Round > 1 {
		return transcript.Ending{}
	}
	turns := r.TurnsFrom(r.Cursor.Round)
	if p.Conditional {
		turns = p.standing(r, r.Cursor.Round)
	}
	return p.checkUnanimity(r, turns).Ending()
}

// needsRuling reports whether there is something to decide. It also returns true before all voters of the round have answered, and
// if a turn is only supposed, so that budgets reserve enough for the judge.
func (p Protocol) needsRuling(r *protocol.Record, voters []transcript.Key) bool {
	phase := phaseName(r.Cursor.Round)
	for _, k := range voters {
		t, done := r.FindCurrent(phase, k.Actor, k.Target)
		if !done || t.Data == nil {
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

// Deciding returns the phase of the judges' ruling.
func (Protocol) Deciding() []string { return []string{phaseDecide} }
