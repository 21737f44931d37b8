package tournament_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/eval/tournament"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/golden"
)

// rendered returns a report as Markdown and as HTML, which is well-formed.
func rendered(t *testing.T, p *tournament.Report) (markdown, html string) {
	t.Helper()
	var m, h bytes.Buffer
	require.NoError(t, p.Markdown(&m))
	require.NoError(t, p.HTML(&h))
	for d := xml.NewDecoder(bytes.NewReader(h.Bytes())); ; {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
	}
	return m.String(), h.String()
}

func TestReports(t *testing.T) {
	tt := spring()
	tt.Judges = players("judge-x", "judge-y", "judge-z-4")
	tt.Config.Prices["judge-z-4"] = tt.Config.Prices["judge-x"]
	p := debatetest.Call(t, tt.Run, kept(&arena{}))
	markdown, html := rendered(t, p)
	golden.Require(t, "testdata/report.md", markdown)
	_, body, found := strings.Cut(html, "<body>") // what stands before it is the same for all reports
	require.True(t, found)
	golden.Require(t, "testdata/report.html", body)
	raw, err := json.Marshal(p)
	require.NoError(t, err)
	golden.Require(t, "testdata/report.json", roundedJSON(t, raw))
	var again tournament.Report
	require.NoError(t, json.Unmarshal(raw, &again))
	require.Equal(t, p, &again)
	require.Contains(t, html, "<svg")
}

// roundedJSON indents JSON and rounds its numbers, whose last digits depend on the processor.
func roundedJSON(t *testing.T, raw []byte) string {
	t.Helper()
	var v any
	require.NoError(t, json.Unmarshal(raw, &v))
	var walk func(v any) any
	walk = func(v any) any {
		switch x := v.(type) {
		case float64:
			return math.Round(x*1e4) / 1e4
		case []any:
			for i := range x {
				x[i] = walk(x[i])
			}
		case map[string]any:
			for k := range x {
				x[k] = walk(x[k])
			}
		}
		return v
	}
	text, err := json.MarshalIndent(walk(v), "", "  ")
	require.NoError(t, err)
	return string(text) + "\n"
}

// A sentence for each two neighbors whose order the games do not show, and none for the others.
func TestNeighborsWhoseOrderIsNotShown(t *testing.T) {
	p := debatetest.Call(t, spring().Run, kept(&arena{}))
	require.Len(t, p.Neighbors, 3)
	for _, n := range p.Neighbors {
		said := strings.Contains(strings.Join(p.Summary, "\n"), fmt.Sprintf("These games do not show whether %s or %s is better: the difference is ", n.Upper, n.Lower))
		require.Equal(t, !n.Shown(), said, n)
		require.Equal(t, n.Difference.Low > 0, n.Shown())
	}
	require.True(t, p.Neighbors[1].Shown(), "middle-2 is better than weak-3 by 1.6 points of 10")
	few := spring()
	few.Motions = few.Motions[:1]
	p = debatetest.Call(t, few.Run, kept(&arena{}))
	require.Contains(t, p.Summary[1], "is better: 3 pairs are too few for an interval.")
}

// won returns a pair of games that a judge says a has won, or nobody.
func won(a, b, winner string, number int) []tournament.Game {
	row := []tournament.Judgment{{Judge: "J", Winner: winner}}
	pair := fmt.Sprint(a, b, number)
	return []tournament.Game{{Pair: pair, Pro: a, Con: b, Judgments: row}, {Pair: pair, Pro: b, Con: a, Judgments: row}}
}

// Games that do not connect all players give no ratings, and say which players they connect.
func TestGamesThatDoNotConnectAllPlayers(t *testing.T) {
	games := append(won("a", "b", "a", 1), won("c", "d", "", 1)...)
	p, err := tournament.Rating{Players: []string{"idle"}}.Rate(games)
	require.NoError(t, err)
	require.Equal(t, [][]string{{"a", "b"}, {"c", "d"}}, p.Groups)
	require.Equal(t, []string{"The games do not connect all players, so there are no ratings: nothing compares a and b with c and d."}, p.Summary)
	require.Empty(t, p.Neighbors)
	for _, s := range p.Players {
		require.False(t, s.Rating.Known())
		require.Zero(t, s.Rating.Value)
	}
	markdown, html := rendered(t, p)
	require.NotContains(t, html, "<svg")
	require.Contains(t, markdown, "| a | – | 1 | 2 | 0 | 0 |")
	p, err = tournament.Rating{}.Rate(append(games, won("b", "c", "c", 1)...))
	require.NoError(t, err)
	require.Empty(t, p.Groups)
	require.Contains(t, p.Summary[0], "has the highest rating")
}

// Ties count, and a player that never loses has a finite rating and a notice.
func TestTiesAndPlayersThatNeverLose(t *testing.T) {
	var games []tournament.Game
	for i := range 12 {
		games = append(games, won("top", "mid", "top", i)...)
		games = append(games, won("mid", "low", []string{"mid", "mid", "low", ""}[i%4], i)...)
	}
	p, err := tournament.Rating{}.Rate(games)
	require.NoError(t, err)
	require.Equal(t, "top", p.Players[0].Name)
	require.Less(t, p.Players[0].Rating.Value, 4000.)
	require.True(t, p.Neighbors[0].Shown())
	mid := p.Players[1]
	require.Equal(t, []int{12, 6, 30}, []int{mid.Won, mid.Tied, mid.Lost})
	require.Contains(t, p.Summary[1], "do not show whether mid or low is better")
	markdown, _ := rendered(t, p)
	require.Contains(t, markdown, "top: of players who win or lose every game, the games do not say how far they are")
	require.Equal(t, tournament.Meeting{A: "mid", B: "low", Pairs: 12, Won: 6, Tied: 3, Lost: 3, Share: .625}, p.Meetings[1])
}

// Judges who prefer PRO disagree about games and abstain from votes, so both alphas are there.
func TestAlphaOfVotesLeavesOutJudgesWhoPreferASide(t *testing.T) {
	var games []tournament.Game
	for i := range 40 {
		pair := won("a", "b", []string{"a", "b"}[i%2], i)
		for g := range pair {
			other := pair[g].Judgments[0]
			other.Judge = "K"
			if i%4 > 1 { // half of the time, whoever is PRO
				other.Winner = pair[g].Pro
			}
			pair[g].Judgments = append(pair[g].Judgments, other)
		}
		games = append(games, pair...)
	}
	p, err := tournament.Rating{}.Rate(games)
	require.NoError(t, err)
	require.InDelta(t, 1, p.Agreement.AlphaVotes.Value, 1e-9)
	require.Equal(t, 20, p.Agreement.AlphaVotes.N)
	require.InDelta(t, .470, p.Agreement.AlphaWinners.Value, .001)
	require.Equal(t, 80, p.Agreement.AlphaWinners.N)
	require.InDelta(t, .5, p.Agreement.Winners, 1e-9)
}

// A judge may name a winner with the lower score. Ratings by margins go by the scores, and the report says how often.
func TestJudgmentsAgainstTheirScores(t *testing.T) {
	var games []tournament.Game
	for i := range 3 {
		games = append(games, won("a", "b", "a", i)...)
	}
	for i, margin := range []float64{-2, 2, 1, -1, 0, -1} { // a is PRO in the first game of each pair
		games[i].Judgments = []tournament.Judgment{{Judge: "J", Winner: "a", Margin: &margin}}
	}
	p, err := tournament.Rating{}.Rate(games)
	require.NoError(t, err)
	require.Equal(t, 2, p.Judges[0].Contradictions)
	markdown, _ := rendered(t, p)
	require.Contains(t, markdown, "| Judge | Judgments | Share for PRO | Margin toward PRO | Against its scores |")
}

func TestWrongGames(t *testing.T) {
	pair := won("a", "b", "a", 1)
	for want, games := range map[string][]tournament.Game{
		`players "a" and "a", want two names`:                              {{Pair: "x", Pro: "a", Con: "a"}},
		`pair "ab1" has 3 games, want two`:                                 append(pair, pair[0]),
		`pair "ab1": the games are not of the same players with the sides`: {pair[0], pair[0]},
	} {
		_, err := tournament.Rating{}.Rate(games)
		require.ErrorContains(t, err, "rate games: ")
		require.ErrorContains(t, err, want)
	}
	_, err := tournament.Rating{By: tournament.Margins}.Rate(pair)
	require.ErrorContains(t, err, "a judgment has no margin")
	_, err = tournament.Rating{Span: -1}.Rate(pair)
	require.ErrorContains(t, err, "span: -1, use a number above 0")
	p, err := tournament.Rating{}.Rate(pair[:1])
	require.NoError(t, err)
	require.Equal(t, []int{0, 1}, []int{p.Pairs, p.Incomparable})
	rendered(t, p)
	p, err = tournament.Rating{}.Rate(nil)
	require.NoError(t, err)
	rendered(t, p)
}

// Names of players and judges never become markup, and control characters are removed.
func TestHostileNames(t *testing.T) {
	names := []string{"<script>alert(1)</script>", "a|b\n| c", "\x1b[2J\u202eevil", "](javascript:x)", strings.Repeat("long ", 60)}
	var games []tournament.Game
	for i, a := range names {
		for _, b := range names[i+1:] {
			games = append(games, won(a, b, a, 1)...)
		}
	}
	for i := range games {
		games[i].Judgments[0].Judge = "<img src=x onerror=y>\x07"
	}
	p, err := tournament.Rating{}.Rate(games)
	require.NoError(t, err)
	p.Tournament = "<b>\x00"
	p.Failures = []string{"<i>\x1b"}
	p.Failed = 1
	markdown, html := rendered(t, p)
	for _, text := range []string{markdown, html} {
		for _, bad := range []string{"<script>", "<img", "<b>", "<i>", "\x1b", "\u202e", "\x00", "\x07"} {
			require.NotContains(t, text, bad)
		}
	}
	require.NotContains(t, strings.ReplaceAll(markdown, `\](javascript`, ""), "](javascript")
	for line := range strings.Lines(markdown) {
		require.False(t, strings.HasPrefix(line, "| c"), "a name does not begin a row")
	}
}
