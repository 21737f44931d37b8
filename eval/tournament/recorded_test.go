package tournament_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/eval/tournament"
	"github.com/elenchus-go/debate/internal/statistics"
	"github.com/elenchus-go/debate/internal/test/recorded"
)

// matchup is two recorded games of a pair.
type matchup struct {
	Group, Topic, A, B string
	Eligible           bool
	Debates            []struct {
		Pro, Con  string
		Judgments []struct {
			Judge, Winner string
			Margin        float64 `json:"margin_pro"`
			Raw           float64 `json:"margin_pro_raw"`
		}
	}
}

// recordedGames returns the games that can be rated, with raw margins or with normalized ones.
func recordedGames(t *testing.T, raw bool) (games []tournament.Game) {
	t.Helper()
	for _, m := range recorded.Lines[matchup](t, "matchups.jsonl") {
		if !m.Eligible {
			continue
		}
		for _, d := range m.Debates {
			g := tournament.Game{Pair: m.Group, Motion: m.Topic, Pro: d.Pro, Con: d.Con}
			for _, j := range d.Judgments {
				margin := j.Margin
				if raw {
					margin = j.Raw
				}
				g.Judgments = append(g.Judgments, tournament.Judgment{Judge: j.Judge, Winner: j.Winner, Margin: &margin})
			}
			games = append(games, g)
		}
	}
	return games
}

// publishedRatings returns the published ratings that are given, and those of a report of the same models, moved to the same
// mean.
func publishedRatings(t *testing.T, ours map[string]float64) (theirs, aligned []float64) {
	t.Helper()
	shift := 0.0
	for _, p := range recorded.Lines[struct {
		Model  string
		Rating float64
	}](t, "matchup-ratings.jsonl") {
		require.Contains(t, ours, p.Model)
		theirs, aligned = append(theirs, p.Rating), append(aligned, ours[p.Model])
		shift += p.Rating - ours[p.Model]
	}
	for i := range aligned {
		aligned[i] += shift / float64(len(aligned))
	}
	return theirs, aligned
}

// spearman returns Spearman's rank correlation of values without ties.
func spearman(x, y []float64) float64 {
	squares, n := 0.0, float64(len(x))
	rank := func(list []float64, v float64) (r float64) {
		for _, w := range list {
			if w < v {
				r++
			}
		}
		return r
	}
	for i := range x {
		squares += math.Pow(rank(x, x[i])-rank(y, y[i]), 2)
	}
	return 1 - 6*squares/(n*(n*n-1))
}

func ratingsOf(p *tournament.Report) map[string]float64 {
	ours := map[string]float64{}
	for _, s := range p.Players {
		ours[s.Name] = s.Rating.Value
	}
	return ours
}

// Ratings of recorded games are the published ones.
func TestRecordedGamesGiveThePublishedRatings(t *testing.T) {
	p, err := tournament.Rating{Span: 6.2}.Rate(recordedGames(t, false))
	require.NoError(t, err)
	require.Equal(t, []int{764, 3544, 0, 31}, []int{p.Pairs, p.Judgments, p.LeftOut + p.Incomparable, len(p.Players)}, "nobody is left out")
	require.Equal(t, tournament.Margins, p.By)
	theirs, ours := publishedRatings(t, ratingsOf(p))
	sum := 0.0
	for i := range ours {
		sum += math.Abs(theirs[i]-ours[i]) / float64(len(ours))
	}
	rank := spearman(theirs, ours)
	t.Logf("by margins: Spearman %.4f, mean difference %.2f points", rank, sum)
	require.GreaterOrEqual(t, rank, .995)
	require.LessOrEqual(t, sum, 8.)
	for _, s := range p.Players {
		require.True(t, s.Rating.Known() || s.Pairs < 10, s.Name)
	}

	p, err = tournament.Rating{By: tournament.Wins}.Rate(recordedGames(t, false))
	require.NoError(t, err)
	theirs, ours = publishedRatings(t, ratingsOf(p))
	t.Logf("by wins: Spearman %.4f", spearman(theirs, ours))
	require.GreaterOrEqual(t, spearman(theirs, ours), .98)
}

// A matchup's summed judgments, as one game without sides, give the same order.
func TestRecordedMatchupsAsOneGame(t *testing.T) {
	numbers, contests := map[string]int{}, []statistics.Contest(nil)
	games := recordedGames(t, false)
	for i := 0; i < len(games); i += 2 {
		a, b := games[i].Pro, games[i].Con
		for _, name := range []string{a, b} {
			if _, known := numbers[name]; !known {
				numbers[name] = len(numbers)
			}
		}
		sum := 0
		for _, j := range slices.Concat(games[i].Judgments, games[i+1].Judgments) {
			sum += map[string]int{a: 1, b: -1}[j.Winner]
		}
		c := statistics.Contest{First: numbers[a], Second: numbers[b], Win: .5, Loss: .5, WithoutTheSides: true}
		if sum != 0 {
			c.Win, c.Loss = (1+math.Copysign(1, float64(sum)))/2, (1-math.Copysign(1, float64(sum)))/2
		}
		contests = append(contests, c)
	}
	s := statistics.FitStrengths(len(numbers), contests, statistics.Ridge)
	ours := map[string]float64{}
	for name, i := range numbers {
		ours[name] = s.Players[i]
	}
	theirs, aligned := publishedRatings(t, ours)
	t.Logf("Spearman %.4f", spearman(theirs, aligned))
	require.GreaterOrEqual(t, spearman(theirs, aligned), .98)
}

// Agreement of the recorded judges, and how far they lean, as published and as computed elsewhere.
func TestRecordedJudges(t *testing.T) {
	p, err := tournament.Rating{Span: 6.2}.Rate(recordedGames(t, true))
	require.NoError(t, err)
	require.Equal(t, ".550", fmt.Sprintf("%.3f", p.Agreement.Winners)[1:], "published: .553")
	require.Equal(t, ".578", fmt.Sprintf("%.3f", p.Side.Share.Value)[1:])
	require.Equal(t, ".490", fmt.Sprintf("%.3f", p.Agreement.AlphaWinners.Value)[1:])
	require.Equal(t, ".603", fmt.Sprintf("%.3f", p.Agreement.AlphaMargins.Value)[1:])
	require.Equal(t, ".838", fmt.Sprintf("%.3f", p.Agreement.AlphaVotes.Value)[1:], "judges who prefer a side abstain")
	require.True(t, p.Agreement.Effective.Known())
	require.Greater(t, p.Agreement.Effective.Low, 1.)
	require.Less(t, p.Agreement.Effective.High, 6.)

	lean := map[string]string{}
	for _, j := range p.Judges {
		lean[j.Name] = fmt.Sprintf("%+.2f", j.Margin.Value)
		require.Greater(t, j.Agreement, .4, j.Name)
	}
	require.Equal(t, map[string]string{
		"Claude Sonnet 4.6 (high reasoning)": "+0.66", "GPT-5.5 (high reasoning)": "+0.49", "Kimi K2.6": "+0.34", "Grok 4.3": "+0.32", "Qwen 3.6 Max Preview": "+0.15", "Gemini 3.1 Pro Preview": "-0.17",
	}, lean)
	t.Logf("%s effective judges of %d", p.Agreement.Effective, len(p.Judges))
}
