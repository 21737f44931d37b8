package tournament

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/runs"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Game is the result of one debate of two players, and a line of Tournament.Results.
type Game struct {
	Tournament string `json:"tournament,omitempty"`
	// Pair names the two games of the same players on the same motion, with the sides swapped.
	Pair   string    `json:"pair"`
	Motion string    `json:"motion,omitempty"`
	Pro    string    `json:"pro"` // the players, by name
	Con    string    `json:"con"`
	ID     string    `json:"id,omitempty"` // of the debate
	State  fsm.State `json:"state,omitempty"`
	// Failed says why there is no result, such as an error of a service. Then the game counts for nobody.
	Failed    string     `json:"failed,omitempty"`
	Judgments []Judgment `json:"judgments"` // those of which the judge gave a valid reply
	// LeftOut is the number of judges who were not asked because they are of a player's family.
	LeftOut  int              `json:"left_out,omitempty"`
	ProUsage transcript.Usage `json:"pro_usage,omitzero"` // of the players alone, without the judges
	ConUsage transcript.Usage `json:"con_usage,omitzero"`
}

// Judgment is what one judge says about a game.
type Judgment struct {
	Judge  string `json:"judge"`
	Winner string `json:"winner,omitempty"` // the player; empty if nobody won
	// Margin is how much better the judge scores PRO than CON, in points of the judge's scale. It is nil if there are no
	// scores.
	Margin *float64 `json:"margin,omitempty"`
}

// read sets what the game's debate says: in the verdicts of its judges, or if the protocol has none in its outcome.
func (g *Game) read(r *debate.Result, verdicts bool) {
	g.State = r.State
	g.ProUsage = r.Sides[sidePro].Usage
	g.ConUsage = r.Sides[sideCon].Usage
	g.Failed = runs.FailureOf(r)
	if g.Failed != "" {
		return
	}
	if !verdicts {
		g.readOutcome(&r.Outcome)
		return
	}
	for _, t := range r.Turns {
		if t.Kind == transcript.Conclusion && !slices.Contains(t.Flags, transcript.Defaulted) {
			if j, ok := g.judgment(t); ok {
				g.Judgments = append(g.Judgments, j)
			}
		}
	}
	if len(g.Judgments) == 0 {
		g.Failed = "no judge gave a valid judgment"
	}
}

// readOutcome reads who won, and the scores of both players.
func (g *Game) readOutcome(o *protocol.Outcome) {
	pro, proScored := o.Scores[namePro]
	con, conScored := o.Scores[nameCon]
	j := Judgment{Judge: cmp.Or(o.DecidedBy, "outcome"), Winner: g.player(o.Winner)}
	if proScored && conScored {
		j.Margin = new(pro - con)
	}
	if j.Winner == "" && j.Margin == nil {
		g.Failed = "the outcome names no player as the winner, and has no scores of both"
		return
	}
	g.Judgments = append(g.Judgments, j)
}

// player returns the player with a name in the game, or "".
func (g *Game) player(name string) string {
	return map[string]string{namePro: g.Pro, nameCon: g.Con}[name]
}

// judgment reads the reply of a judge: whom it names as the winner, and with which scores. It reports false for other turns.
func (g *Game) judgment(t transcript.Turn) (j Judgment, ok bool) {
	var said struct {
		Winner       string
		Participants []struct {
			Name  string
			Score *float64
		}
	}
	j.Judge = t.Actor
	if json.Unmarshal(t.Data, &said) != nil {
		return j, false
	}
	j.Winner = g.player(said.Winner)
	scores := map[string]float64{}
	for _, p := range said.Participants {
		if p.Score != nil {
			scores[p.Name] = *p.Score
		}
	}
	if len(scores) > 0 {
		j.Margin = new(scores[namePro] - scores[nameCon])
	}
	return j, len(scores) > 0 || t.Contract == judge.VerdictContract.Name()
}

// sign returns 1 if PRO won a judgment, -1 if CON did, and 0 if nobody did.
func (g *Game) sign(j Judgment) float64 {
	switch j.Winner {
	case g.Pro:
		return 1
	case g.Con:
		return -1
	}
	return 0
}
