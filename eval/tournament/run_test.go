package tournament_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/eval/tournament"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/judge/decision"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/report/progress"
	"github.com/elenchus-go/debate/store"
)

// Each pair of players debates each motion twice, with the sides swapped, and each game is a debate with labels.
func TestARoundRobin(t *testing.T) {
	m := &arena{}
	o := kept(m)
	var lines bytes.Buffer
	tt := spring()
	tt.Results = &lines
	p := debatetest.Call(t, tt.Run, o)
	require.Equal(t, []int{30, 60, 0, 0}, []int{p.Pairs, p.Judgments, p.Missing, p.Failed})
	require.Empty(t, p.Incomplete)
	var names []string
	for _, s := range p.Players {
		names = append(names, s.Name)
		require.Equal(t, 15, s.Pairs)
		require.Equal(t, 30, s.Won+s.Tied+s.Lost)
		require.InDelta(t, 110, s.Tokens, 1e-9, "of one speech in each game")
		require.True(t, s.Rating.Known())
	}
	require.Equal(t, []string{"strong-1", "middle-2", "weak-3", "poor-4"}, names)
	require.Equal(t, tournament.Margins, p.By)
	require.Positive(t, p.Side.Points)
	require.Equal(t, 60*330, p.Tokens)
	sum, most := m.total()
	require.Equal(t, []int{180, 1}, []int{sum, most})

	seen := map[string]int{}
	for d := json.NewDecoder(&lines); d.More(); {
		var g tournament.Game
		require.NoError(t, d.Decode(&g))
		require.Equal(t, fsm.Completed, g.State)
		require.Len(t, g.Judgments, 1)
		seen[g.Motion+" "+g.Pro+" "+g.Con]++
	}
	require.Len(t, seen, 5*4*3)
	for _, a := range names {
		for _, b := range names {
			if a != b {
				require.Equal(t, 1, seen["3 "+a+" "+b])
			}
		}
	}
	engine := debatetest.Engine(t, o)
	found := 0
	for _, s := range debatetest.List(t, engine, store.Query{Labels: map[string]string{"tournament": "spring", "motion": "2", "pro": "weak-3"}}) {
		found++
		d := debatetest.Open(t, engine, s.ID)
		r := debatetest.Result(t, d)
		require.Equal(t, "Pro", r.Participants[0].Name, "a player is not known by its name")
		require.NotContains(t, fmt.Sprint(r.Topic, r.Background), "weak-3")
	}
	require.Equal(t, 3, found)
}

// A tournament that is run again plays nothing. Players and motions can be added later, and only their games are played.
func TestPlayersCanBeAddedLater(t *testing.T) {
	m := &arena{}
	o := kept(m)
	tt := spring()
	tt.Players, tt.Motions = tt.Players[:3], tt.Motions[:2]
	first := debatetest.Call(t, tt.Run, o)
	sum, _ := m.total()
	require.Equal(t, 3*2*2*3, sum)
	again := debatetest.Call(t, tt.Run, o)
	require.Equal(t, first, again)
	stored, err := tt.Report(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, first, stored)
	tt.Players = append(players("new-5"), tt.Players...)
	debatetest.Call(t, tt.Run, o)
	sum, most := m.total()
	require.Equal(t, []int{6 * 2 * 2 * 3, 1}, []int{sum, most})
	tt.Motions = motions(3)
	all := debatetest.Call(t, tt.Run, o)
	sum, most = m.total()
	require.Equal(t, []int{6 * 3 * 2 * 3, 1}, []int{sum, most})
	tt.Players = tt.Players[1:]
	without, err := tt.Report(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, []int{18, 9}, []int{all.Pairs, without.Pairs})
	require.Equal(t, all.Tokens, without.Tokens, "what is stored counts")
}

func TestAChangedGameIsRefused(t *testing.T) {
	m := &arena{}
	o := kept(m)
	tt := spring()
	tt.Players, tt.Motions = tt.Players[:2], tt.Motions[:1]
	_, err := tt.Run(t.Context(), o)
	require.NoError(t, err)
	for want, change := range map[string]func(*tournament.Tournament){
		"judges was ":                            func(x *tournament.Tournament) { x.Judges = players("judge-x", "judge-y") },
		`topic was "Is claim 1 right?"`:          func(x *tournament.Tournament) { x.Motions[0].Topic = "Another?" },
		`.persona was not set and is "a pirate"`: func(x *tournament.Tournament) { x.Players[0].Persona = "a pirate" },
		`limits.max_rounds was 1 and is 2`:       func(x *tournament.Tournament) { x.Config.Limits.MaxRounds = 2 },
	} {
		other := spring()
		other.Players, other.Motions = other.Players[:2], other.Motions[:1]
		change(&other)
		for _, run := range []func(context.Context, debate.Options) (*tournament.Report, error){other.Run, other.Report} {
			_, err = run(t.Context(), o)
			require.ErrorContains(t, err, "run tournament spring: the game of ")
			require.ErrorContains(t, err, `on motion "1" is stored with another configuration: `)
			require.ErrorContains(t, err, want)
		}
	}
}

// Everything that is wrong is found before the first call.
func TestWrongTournamentsAreFoundFirst(t *testing.T) {
	m := &arena{}
	for want, change := range map[string]func(*tournament.Tournament){
		`name: "", use 1 to 128 bytes`:                           func(x *tournament.Tournament) { x.Name = "" },
		"players: 1, use two or more":                            func(x *tournament.Tournament) { x.Players = x.Players[:1] },
		"judges: there are none":                                 func(x *tournament.Tournament) { x.Judges = nil },
		"motions: there are none":                                func(x *tournament.Tournament) { x.Motions = nil },
		`players[1]: name: "a\nb", use 1 to 128 bytes without`:   func(x *tournament.Tournament) { x.Players[1].Name = "a\nb" },
		`players[2]: name: "strong-1" is the name of another`:    func(x *tournament.Tournament) { x.Players[2].Name = "strong-1" },
		`players[0]: "strong-1" has a side or a position`:        func(x *tournament.Tournament) { x.Players[0].Side = "pro" },
		`judges[0]: name: "pro" is the name of a player`:         func(x *tournament.Tournament) { x.Judges[0].Name = "pro" },
		"motions[1]: topic: it is missing":                       func(x *tournament.Tournament) { x.Motions[1].Topic = " " },
		`motions[1]: id: "1" is the id of another motion`:        func(x *tournament.Tournament) { x.Motions[1].ID = "1" },
		`motions[0]: id: "", use 1 to 128 bytes`:                 func(x *tournament.Tournament) { x.Motions[0] = tournament.Motion{Topic: strings.Repeat("x", 129)} },
		"config: leave out id, topic, participants and judges":   func(x *tournament.Tournament) { x.Config.Topic = "x" },
		`by: "luck" is unknown, use "margins" or "wins"`:         func(x *tournament.Tournament) { x.By = "luck" },
		"limits: a limit is negative":                            func(x *tournament.Tournament) { x.MaxTokens = -1 },
		`judges: each is of the family of "strong-1" or "weak-3`: func(x *tournament.Tournament) { x.Judges[0].Family = "Strong" },
		"config: judges of protocol vote/1 name no winner":       func(x *tournament.Tournament) { x.Config.Protocol = vote.Protocol{} },
		"config: with a decision, judges name no winner": func(x *tournament.Tournament) {
			x.Config.Protocol = procon.Protocol{Decision: decision.Task{Options: []string{"a", "b"}}}
		},
		"config: with a decision or an audience": func(x *tournament.Tournament) { x.Config.Protocol = panel.Protocol{Format: panel.Oxford} },
		`check the game of "strong-1" against "middle-2" on motion "1": `: func(x *tournament.Tournament) {
			x.Players[1].Provider = "none"
		},
		"limits.cost": func(x *tournament.Tournament) { x.MaxCost, x.Players[3].Model = 1, "unpriced" },
	} {
		tt := spring()
		change(&tt)
		_, err := tt.Run(t.Context(), kept(m))
		require.ErrorContains(t, err, want)
	}
	sum, _ := m.total()
	require.Zero(t, sum)
}

// Judges of a player's own family are left out, unless OwnFamily is set.
func TestJudgesOfAPlayersOwnFamily(t *testing.T) {
	tt := spring()
	tt.Players, tt.Motions = players("acme/strong-1", "middle-2", "weak-3"), motions(2)
	tt.Judges = append(players("judge-x"), tournament.Player{Participant: debate.Participant{Name: "Cy", Model: "other/Strong-9"}})
	tt.Players = append(tt.Players, tournament.Player{Participant: debate.Participant{Name: "house", Model: "poor-4"}, Family: "Judge-X"})
	tt.Judges = append(tt.Judges, players("neutral")...)
	tt.Config.Prices = nil
	p := debatetest.Call(t, tt.Run, kept(&arena{}))
	require.Equal(t, 24, p.LeftOut, "each of two players has 12 games with a judge of its own")
	require.Equal(t, 24*3-24, p.Judgments)
	family := map[string]string{}
	for _, s := range p.Players {
		family[s.Name] = s.Family
	}
	require.Equal(t, map[string]string{"acme/strong-1": "strong", "middle-2": "middle", "weak-3": "weak", "house": "judge-x"}, family)
	require.Equal(t, []string{"strong", "judge-x", "neutral"}, []string{family["acme/strong-1"], family["house"], familyOf(p, "neutral")})
	var text strings.Builder
	require.NoError(t, p.Markdown(&text))
	require.Contains(t, text.String(), "Left out: 24 judgments, because the judge is of a player's family.")
	tt.OwnFamily, tt.Name = true, "own"
	p = debatetest.Call(t, tt.Run, kept(&arena{}))
	require.Equal(t, []int{0, 72}, []int{p.LeftOut, p.Judgments})
}

func familyOf(p *tournament.Report, judge string) string {
	for _, j := range p.Judges {
		if j.Name == judge {
			return j.Family
		}
	}
	return ""
}

// The limit holds across restarts, and at most the calls in flight go beyond it.
func TestLimitsAndStops(t *testing.T) {
	m := &arena{}
	o := kept(m)
	tt := spring()
	for _, calls := range []int{20, 20, 61} {
		tt.MaxTokens = calls*110 - 1
		p := debatetest.Call(t, tt.Run, o)
		require.Contains(t, p.Incomplete, fmt.Sprintf("the limit of tokens, %d, is reached", tt.MaxTokens))
		sum, _ := m.total()
		require.GreaterOrEqual(t, sum, calls)
		require.Less(t, sum, calls+3)
		require.Equal(t, sum*110, p.Tokens)
		require.Positive(t, p.Missing)
	}
	tt.MaxTokens = 0
	stop := make(chan struct{})
	var seen []progress.Tasks
	tt.Stop, tt.Progress = stop, func(p progress.Tasks) {
		seen = append(seen, p)
		if len(seen) == 10 {
			close(stop)
		}
	}
	p := debatetest.Call(t, tt.Run, o)
	require.Contains(t, p.Incomplete, "games are missing")
	tt.Stop, tt.Progress = nil, nil
	p = debatetest.Call(t, tt.Run, o)
	require.Empty(t, p.Incomplete)
	sum, most := m.total()
	require.Equal(t, []int{180, 1}, []int{sum, most}, "no call was made twice")
	require.Equal(t, 30, seen[0].TotalTasks)
	undisturbed := debatetest.Call(t, spring().Run, kept(&arena{}))
	require.Equal(t, undisturbed, p)
	tt = spring()
	tt.MaxCost = 1e-9
	p = debatetest.Call(t, tt.Run, kept(&arena{}))
	require.Contains(t, p.Incomplete, "the limit of cost")
}

// A game that fails counts for nobody, its pair is left out, and it is retried.
func TestFailedGames(t *testing.T) {
	var broken atomic.Bool
	broken.Store(true)
	m := &arena{fail: func(r providers.Request) error {
		if broken.Load() && r.Model == "poor-4" {
			return &providers.Error{Kind: providers.InvalidRequest, Err: errors.New("not today")}
		}
		return nil
	}}
	o := kept(m)
	p := debatetest.Call(t, spring().Run, o)
	require.Equal(t, []int{15, 30, 15, 0}, []int{p.Pairs, p.Failed, p.Incomparable, p.Missing})
	require.Len(t, p.Failures, 10)
	require.Contains(t, p.Failures[0], "against")
	require.Contains(t, p.Failures[0], "not today")
	last := p.Players[3]
	require.Equal(t, "poor-4", last.Name)
	require.False(t, last.Rating.Known())
	require.Contains(t, p.Summary[0], "strong-1 has the highest rating", "a player without games does not hinder the others")
	var text strings.Builder
	require.NoError(t, p.Markdown(&text))
	require.Contains(t, text.String(), "Failed: 30 games.")
	broken.Store(false)
	p = debatetest.Call(t, spring().Run, o)
	require.Equal(t, []int{30, 0}, []int{p.Pairs, p.Failed})

	m.fail = func(providers.Request) error {
		return &providers.Error{Kind: providers.Authentication, Err: errors.New("go away")}
	}
	_, err := spring().Run(t.Context(), kept(m))
	require.ErrorContains(t, err, "run tournament spring: ")
	_, failed := errors.AsType[*debate.Failure](err)
	require.True(t, failed)
}

// A default in place of a judgment does not count.
func TestJudgesWithoutAJudgment(t *testing.T) {
	tt := spring()
	tt.Players, tt.Motions = tt.Players[:2], tt.Motions[:1]
	p := debatetest.Call(t, tt.Run, kept(&arena{reply: "no"}))
	require.Equal(t, []int{0, 2}, []int{p.Pairs, p.Failed})
	require.Contains(t, p.Failures[0], "no judge gave a valid judgment")
	require.Equal(t, []string{"No pair of games has a result, so there are no ratings."}, p.Summary)
}

// In a panel, verdicts name winners and have no margins.
func TestAPanelIsRatedByWins(t *testing.T) {
	tt := spring()
	tt.Config.Protocol = panel.Protocol{Format: panel.RoundLimited}
	tt.Players, tt.Motions = tt.Players[:2], tt.Motions[:2]
	m := &arena{}
	o := kept(verdicts{m})
	p := debatetest.Call(t, tt.Run, o)
	require.Empty(t, p.Failures)
	require.Equal(t, tournament.Wins, p.By)
	require.Equal(t, []int{2, 4}, []int{p.Pairs, p.Players[0].Won})
	require.Equal(t, "strong-1", p.Players[0].Name)
	require.Nil(t, p.Judges[0].Margin)
	tt.By = tournament.Margins
	_, err := tt.Report(t.Context(), o)
	require.ErrorContains(t, err, "a judgment has no margin; rate by wins")
}

// verdicts replies as the judge of a panel: the stronger model wins.
type verdicts struct{ *arena }

func (v verdicts) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	all := ""
	for _, m := range r.Messages {
		all += m.Text + "\n"
	}
	best := ""
	for _, found := range speech.FindAllStringSubmatch(all, -1) {
		if found[2] == "strong-1" {
			best = found[1]
		}
	}
	reply := map[string]any{"summary": "It was clear.", "winner": best, "quality": 50}
	if r.SchemaName == "assessment/1" {
		criteria := map[string]any{}
		for _, c := range []string{"logical_consistency", "evidence", "engagement", "novelty", "persuasiveness", "relevance"} {
			criteria[c] = 5
		}
		who := map[string]any{"criteria": criteria}
		reply = map[string]any{"participants": map[string]any{"Debater_A": who, "Debater_B": who}, "quality": 5, "should_continue": true}
	}
	text, err := json.Marshal(reply)
	if r.SchemaName == "" {
		return v.arena.Generate(ctx, r)
	}
	return providers.Response{Text: string(text), FinishReason: "stop"}, err
}
