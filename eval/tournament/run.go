package tournament

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/deepcopy"
	"github.com/elenchus-go/debate/internal/runs"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/store"
)

// Labels of games.
const (
	labelTournament = "tournament"
	labelMotion     = "motion"
	labelPro        = "pro"
	labelCon        = "con"
)

// Run plays the games that are missing in the store of o, goes on with those that were interrupted, retries those that ended
// in error, and returns the report of all. It makes an engine with o.
//
// Before the first call, Run returns an error if a configuration cannot be used, or if the store has a game of two players
// with another configuration. It ends early if a service rejects a key or an account has no money, if the store fails, and
// with the error of ctx if ctx ends; nothing that is committed is lost. At a limit, or after Stop, there is no error: the
// report says what is missing.
func (t Tournament) Run(ctx context.Context, o debate.Options) (*Report, error) {
	w, err := t.open(o)
	if err != nil {
		return nil, err
	}
	return w.Run(ctx)
}

// Report returns the report of what is stored. It plays no game.
func (t Tournament) Report(ctx context.Context, o debate.Options) (*Report, error) {
	w, err := t.open(o)
	if err != nil {
		return nil, err
	}
	return w.Stored(ctx)
}

// runner plays the games of a tournament.
type runner struct {
	Tournament
	*runs.Runner
}

// open returns the work of the tournament over the store of o.
func (t Tournament) open(o debate.Options) (w runs.Work[Report], err error) {
	if t.Config.Protocol == nil {
		t.Config.Protocol = procon.Protocol{}
	}
	if err := t.check(); err != nil {
		return w, err
	}
	shared, err := runs.Open(t.runs(), o)
	if err != nil {
		return w, err
	}
	r, pairs := &runner{t, shared}, t.pairs()
	return runs.Work[Report]{
		Runner: shared, CheckConfigs: r.checkConfigs, AddStored: r.readStored, Read: r.report,
		Tasks: len(pairs), Do: func(ctx context.Context, i int) (bool, error) { return r.play(ctx, pairs[i]) },
	}, nil
}

// runs returns what the games have in common.
func (t *Tournament) runs() runs.Config {
	return runs.Config{
		Label: labelTournament, What: "tournament", Name: t.Name, MaxCost: t.MaxCost, MaxTokens: t.MaxTokens, Concurrency: t.Concurrency, Progress: t.Progress, Stop: t.Stop,
	}
}

// pair is two games of two players on one motion.
type pair struct {
	motion Motion
	games  [2][2]Player // first with the one side, then with the other one
}

// pairs returns all pairs, motion by motion, so that a tournament that ends early has compared all players.
func (t *Tournament) pairs() (list []pair) {
	for _, m := range t.Motions {
		for i, a := range t.Players {
			for _, b := range t.Players[i+1:] {
				list = append(list, pair{m, [2][2]Player{{a, b}, {b, a}}})
			}
		}
	}
	return list
}

// name identifies the pair in a tournament.
func (p pair) name() string {
	text, _ := json.Marshal([]string{p.motion.id(), p.games[0][0].Name, p.games[0][1].Name}) // texts always encode
	return string(text)
}

// config returns the configuration of a game.
func (t *Tournament) config(m Motion, pro, con Player) (debate.Config, error) {
	c := deepcopy.Of(t.Config)
	c.Protocol = deepcopy.Of(t.Config.Protocol)
	c.Topic = m.Topic
	c.Background = strings.TrimSpace(c.Background + "\n\n" + m.Background)
	c.Participants = []debate.Participant{deepcopy.Of(pro.Participant), deepcopy.Of(con.Participant)}
	for i, side := range [][3]string{{namePro, sidePro, m.Pro}, {nameCon, sideCon, m.Con}} {
		p := &c.Participants[i]
		p.Name = side[0]
		p.Side = side[1]
		p.Position = cmp.Or(side[2], positions[side[1]])
	}
	judges, _ := t.judges(pro, con)
	c.Judges = deepcopy.Of(judges)
	return t.runs().Labeled(c, map[string]string{labelMotion: m.id(), labelPro: pro.Name, labelCon: con.Name}, m.id(), pro.Name, con.Name)
}

// positions maps each side to its position.
var positions = map[string]string{
	sidePro: "In favor of the topic: the claim is right, or the answer to the question is yes.",
	sideCon: "Against the topic: the claim is wrong, or the answer to the question is no.",
}

// checkConfigs returns an error if the configuration of a game is not valid, or if this engine lacks what a player needs.
func (r *runner) checkConfigs(ctx context.Context) error {
	seen := map[string]bool{}
	for _, p := range r.pairs() {
		for _, g := range p.games {
			c, err := r.config(p.motion, g[0], g[1])
			if err == nil {
				err = r.Check(ctx, c, !seen[g[0].Name])
			}
			if err != nil {
				return fmt.Errorf("check the game of %q against %q on motion %q: %w", g[0].Name, g[1].Name, p.motion.id(), err)
			}
			seen[g[0].Name] = true
		}
	}
	return nil
}

// readStored adds up what the games in the store have used. It returns an error if a game has another configuration.
func (r *runner) readStored(ctx context.Context) error {
	players, motions := map[string]Player{}, map[string]Motion{}
	for _, p := range r.Players {
		players[p.Name] = p
	}
	for _, m := range r.Motions {
		motions[m.id()] = m
	}
	err := r.ReadStored(ctx, func(labels map[string]string) (c debate.Config, known bool, err error) {
		pro, isPlayer := players[labels[labelPro]]
		con, isOther := players[labels[labelCon]]
		motion, isMotion := motions[labels[labelMotion]]
		if !isPlayer || !isOther || !isMotion || pro.Name == con.Name {
			return c, false, nil
		}
		c, err = r.config(motion, pro, con)
		return c, true, err
	})
	if changed, ok := errors.AsType[*runs.Changed](err); ok {
		return fmt.Errorf("run tournament %s: the game of %q against %q on motion %q is stored with another configuration: %s; give the player, the motion or the tournament another name",
			r.Name, changed.Labels[labelPro], changed.Labels[labelCon], changed.Labels[labelMotion], changed.Difference)
	}
	return err
}

// play plays both games of a pair. It reports whether both have ended.
func (r *runner) play(ctx context.Context, p pair) (whole bool, err error) {
	for _, g := range p.games {
		c, err := r.config(p.motion, g[0], g[1])
		if err != nil {
			return false, err
		}
		_, err = r.Drive(ctx, c)
		if err != nil || r.Stopped() {
			return false, err
		}
	}
	return true, nil
}

// report reads all games and rates the players.
func (r *runner) report(ctx context.Context) (*Report, error) {
	var games []Game
	missing, failed := 0, []string(nil)
	for _, p := range r.pairs() {
		for _, g := range p.games {
			game, begun, err := r.game(ctx, p, g[0], g[1])
			if err != nil {
				return nil, err
			}
			if !begun || game.State == fsm.Paused || game.State.Active() {
				missing++
			} else if game.Failed != "" {
				failed = append(failed, fmt.Sprintf("%s against %s on %s: %s", game.Pro, game.Con, game.Motion, game.Failed))
			}
			if begun {
				games = append(games, game)
			}
		}
	}
	rating := Rating{By: r.By}
	for _, p := range r.Players {
		rating.Players = append(rating.Players, p.Name)
	}
	if r.Results != nil {
		for e, i := json.NewEncoder(r.Results), 0; i < len(games); i++ {
			if err := e.Encode(games[i]); err != nil {
				return nil, fmt.Errorf("write results: %w", err)
			}
		}
	}
	report, err := rating.Rate(games)
	if err != nil {
		return nil, err
	}
	tokens, cost := r.Spent()
	report.Tournament = r.Name
	report.Tokens = tokens
	report.Cost = math.Round(cost*1e9) / 1e9
	report.Missing, report.Failed = missing, len(failed)
	report.Failures = failed[:min(len(failed), 10)]
	report.Incomplete = runs.Incomplete(r.Limit(), missing, "game")
	report.addFamilies(r.Players, r.Judges)
	return report, nil
}

// game reads a game. It reports false if the game was not begun.
func (r *runner) game(ctx context.Context, p pair, pro, con Player) (g Game, begun bool, err error) {
	c, err := r.config(p.motion, pro, con)
	if err != nil {
		return g, false, err
	}
	_, left := r.judges(pro, con)
	g = Game{Tournament: r.Name, Pair: p.name(), Motion: p.motion.id(), Pro: pro.Name, Con: con.Name, ID: c.ID, LeftOut: left}
	d, err := r.Engine.Open(ctx, c.ID)
	if errors.Is(err, store.ErrNotFound) {
		return g, false, nil
	} else if err != nil {
		return g, false, err
	}
	result, err := d.Result(ctx)
	if err != nil {
		return g, true, err
	}
	g.read(result, r.verdicts())
	return g, true, nil
}
