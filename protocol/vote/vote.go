// Package vote has several agents answer one question: they answer, see one another's answers, revise their own, and a
// vote, or a judge, decides.
//
// Round 1 is for answers of one's own: nobody sees anybody. In each later round all revise at once, and each sees its
// own answer of the round before and those of whom the [Topology] shows it, but no older ones: so a prompt grows with
// the number of agents who are seen, never with that of the rounds.
//
// To agree is not to be right, and a vote of round 1 alone is often as good as the debate: docs/voting.md has figures.
package vote

import (
	"strconv"

	"github.com/elenchus-go/debate/detect"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Decision is how the last answers make one. A judge that is there decides, whatever the Decision, where the vote is a
// tie and where a round was cut short, so that the answers are not of one round.
type Decision string

// The decisions.
const (
	Majority   Decision = "majority"   // most votes, even fewer than half; of equals more confidence in sum, else a tie
	Confidence Decision = "confidence" // the highest sum of confidence; of equals most votes, else a tie
	Judge      Decision = "judge"      // the first judge names whose answer it is; it is not asked where all agree
)

// Unanimity is what follows where all give the same answer.
type Unanimity string

// The settings of unanimity.
const (
	Stop    Unanimity = "stop"    // it ends the debate, in any round
	Prevent Unanimity = "prevent" // in round 1 it prevents the debate; later on it changes nothing
)

// Protocol holds a vote's parameters; its zero value is a majority of texts among agents who all see each other.
type Protocol struct {
	Decision  Decision  `json:"decision,omitempty"`  // defaults to majority
	Unanimity Unanimity `json:"unanimity,omitempty"` // empty: all rounds are held
	Topology  Topology  `json:"topology,omitempty"`  // defaults to full
	// Groups is how many groups the topology "groups" has. Defaults to 2.
	Groups int `json:"groups,omitempty"`
	// Graph says whom each agent sees, by their names, in the topology "graph". Who is not in it sees nobody.
	Graph map[string][]string `json:"graph,omitempty"`
	// Agreement is how much the prompts urge agents to agree, from 0, not at all and rather the opposite, to 1. Nil: they
	// say nothing about it. Tuning it gained published runs about 15 % in accuracy (DebateLLM, Multi-Persona on USMLE).
	Agreement *float64 `json:"agreement,omitempty"`
	// Extract is how answers are read, so that equal ones are seen as equal: "text" (the default) takes the words without
	// case and sentence marks, "number" the last number, "letter" the letter of an option, "boxed" the last \boxed{}. With
	// an Extractor of your own it is that function's name, under which it is stored.
	Extract string `json:"extract,omitempty"`
	// Extractor gives a turn's answer in a canonical form, "" for none. It must be pure. It is no data: an engine that
	// reads stored debates gets it by Options.Protocols.
	Extractor func(transcript.Turn) string `json:"-"`
}

// Name is "vote/1".
func (Protocol) Name() string { return "vote/1" }

// Defaults are two rounds, an answer and one revision, as in the runs of Du et al. that docs/voting.md measures; groups
// take three, of which the third is the first between them.
func (p Protocol) Defaults() protocol.Defaults {
	if p.Topology == Groups {
		return protocol.Defaults{MaxRounds: 3}
	}
	return protocol.Defaults{MaxRounds: 2}
}

// Phases are one phase a round, and at the end the judge's ruling where one is needed.
func (p Protocol) Phases(r *protocol.Record) []protocol.Phase {
	switch r.Cursor.Stage {
	case transcript.Speech:
		return []protocol.Phase{p.speeches(r)}
	case transcript.Conclusion:
		if !p.disputed(r) {
			return nil
		}
		step := protocol.Step{
			Key: transcript.Key{Actor: r.Judges[0]}, Prompt: "vote-decide", Output: RulingContract.Name(), Vars: p.vars(), Blind: true,
		}
		last := latest(r)
		step.Show = func(t *transcript.Turn) bool { return t.Kind == transcript.Remark || last[t.Actor] == t.Key }
		return []protocol.Phase{{Name: "decide", Steps: []protocol.Step{step}}}
	default:
		return nil
	}
}

func (p Protocol) speeches(r *protocol.Record) protocol.Phase {
	phase := protocol.Phase{Name: "answer", Parallel: true}
	vars, sees := p.vars(), func(string) func(*transcript.Turn) bool { return nobody }
	if r.Cursor.Round > 1 {
		phase.Name, sees = "revise", p.sight(r)
	}
	for _, s := range r.Seats {
		phase.Steps = append(phase.Steps, protocol.Step{
			Key: transcript.Key{Actor: s.Name}, Prompt: "vote-" + phase.Name, Output: BallotContract.Name(), Vars: vars, Show: sees(s.Name),
		})
	}
	return phase
}

// nobody shows nothing but what a person said.
func nobody(t *transcript.Turn) bool { return t.Kind == transcript.Remark }

// vars are what the prompts read of the parameters.
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

// End is "unanimous" where all have given the same answer, and Unanimity listens to that.
func (p Protocol) End(r *protocol.Record) transcript.Ending {
	if p.Unanimity == "" || p.Unanimity == Prevent && r.Cursor.Round > 1 {
		return transcript.Ending{}
	}
	return p.unanimity(r.Since(r.Cursor.Round)).Ending()
}

// unanimity looks at the turns of a round.
func (p Protocol) unanimity(turns []transcript.Turn) detect.Finding {
	d := detect.Unanimity{Answer: p.answer}
	return d.Round(turns)
}

// disputed says whether there is something to decide, and a judge to do it. Before a round is complete, there may be:
// so the budget keeps room for the judge.
func (p Protocol) disputed(r *protocol.Record) bool {
	if len(r.Judges) == 0 {
		return false
	}
	for _, key := range latest(r) {
		if key.Round == 0 || key.Round != r.Cursor.Round {
			return true
		}
	}
	shares, tie := p.count(p.stands(r))
	return tie || p.Decision == Judge && len(shares) > 0 && shares[0].Votes < len(r.Seats)
}

// latest are the last turns of those who are still in; the zero key is for who has not answered.
func latest(r *protocol.Record) map[string]transcript.Key {
	last := map[string]transcript.Key{}
	for _, s := range r.Seats {
		last[s.Name] = transcript.Key{}
	}
	for _, t := range r.Turns {
		if _, seated := last[t.Actor]; seated && t.Kind == transcript.Speech {
			last[t.Actor] = t.Key
		}
	}
	return last
}
