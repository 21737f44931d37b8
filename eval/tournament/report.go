package tournament

import (
	"fmt"
	"math"
	"strings"

	"github.com/elenchus-go/debate/internal/naming"
	"github.com/elenchus-go/debate/internal/runs"
	"github.com/elenchus-go/debate/internal/statistics"
	"github.com/elenchus-go/debate/judge/estimate"
	"github.com/elenchus-go/debate/transcript"
)

// formatVersion names the version of the report's JSON that this package writes.
const formatVersion = 1

// Report says what a tournament has shown. It is plain data: encode it as JSON, or render it with [Report.Markdown] or
// [Report.HTML].
type Report struct {
	Format     int    `json:"format"`               // version of the report format, 1
	Tournament string `json:"tournament,omitempty"` // empty after Rate
	// Incomplete says why games are missing, such as a limit. It is empty if each game has ended or failed.
	Incomplete string `json:"incomplete,omitempty"`
	By         Basis  `json:"by"`
	// Summary says who has the highest rating, and has a sentence for each two neighbors whose order the games do not show.
	Summary   []string    `json:"summary"`
	Players   []Standing  `json:"players"` // the highest rating first
	Neighbors []Neighbors `json:"neighbors,omitempty"`
	Meetings  []Meeting   `json:"meetings,omitempty"`
	Judges    []Judge     `json:"judges,omitempty"`
	Agreement Agreement   `json:"agreement"`
	Side      Side        `json:"side"`
	// Groups lists the players that games connect, if there are several groups. Then there are no ratings, because nothing
	// compares players of different groups.
	Groups    [][]string `json:"groups,omitempty"`
	Pairs     int        `json:"pairs"`     // pairs of games that are rated
	Judgments int        `json:"judgments"` // of these pairs
	// Incomparable is the number of pairs that are left out because only one of their games has a result.
	Incomparable int `json:"incomparable,omitempty"`
	// LeftOut is the number of judgments that were not asked for because the judge is of a player's family.
	LeftOut  int      `json:"left_out,omitempty"`
	Missing  int      `json:"missing,omitempty"`  // games that were not begun, or are not over
	Failed   int      `json:"failed,omitempty"`   // games without a result because something failed
	Failures []string `json:"failures,omitempty"` // causes of the first ones
	Tokens   int      `json:"tokens,omitempty"`   // of everything that is stored under the tournament's name, with the judges
	Cost     float64  `json:"cost,omitempty"`     // the same, in the currency of the prices; 0 without prices
}

// Standing is how a player has played.
type Standing struct {
	Name   string `json:"name"`
	Family string `json:"family,omitempty"`
	// Rating is on Elo's scale, with the mean 1500. Its groups are the player's pairs of games.
	Rating estimate.Interval `json:"rating"`
	Pairs  int               `json:"pairs"`
	Won    int               `json:"won"` // games of which more judges call the player the winner than the other one
	Tied   int               `json:"tied"`
	Lost   int               `json:"lost"`
	Tokens float64           `json:"tokens"` // of the player for each game, without the judges
	Cost   float64           `json:"cost"`   // the same
	// Unbeaten reports that no other player has at least the rating for at most as much.
	Unbeaten bool `json:"unbeaten,omitempty"`
}

func (s *Standing) add(u transcript.Usage) {
	s.Tokens += float64(u.Input + u.Output)
	s.Cost += u.Cost
}

// Neighbors are two players whose ratings are next to each other.
type Neighbors struct {
	Upper      string            `json:"upper"`
	Lower      string            `json:"lower"`
	Difference estimate.Interval `json:"difference"` // of their ratings, which is more exact than to compare two intervals
}

// Shown reports whether the games show the order of the two.
func (n Neighbors) Shown() bool { return n.Difference.Above(0) }

// Meeting is what two players have done against each other.
type Meeting struct {
	A     string  `json:"a"`
	B     string  `json:"b"`
	Pairs int     `json:"pairs"`
	Won   int     `json:"won"` // pairs of games of which A wins more judgments
	Tied  int     `json:"tied"`
	Lost  int     `json:"lost"`
	Share float64 `json:"share"` // what A gets of the judgments on average, from 0 to 1: by margins or by wins, as the ratings
}

// Judge is how a judge has judged.
type Judge struct {
	Name      string             `json:"name"`
	Family    string             `json:"family,omitempty"`
	Judgments int                `json:"judgments"`
	ProShare  estimate.Interval  `json:"pro_share"`        // share of its judgments that call PRO the winner; a tie counts half
	Margin    *estimate.Interval `json:"margin,omitempty"` // mean margin toward PRO, if there are margins
	// Contradictions is the number of judgments that name a winner with the lower score.
	Contradictions int `json:"contradictions,omitempty"`
	// Agreement is the mean share of pairs of games on which the judge and another one name the same winner, or both nobody.
	// It is 0 if there is no other judge.
	Agreement float64 `json:"agreement"`
}

// Agreement says how far the judges agree.
type Agreement struct {
	Winners      float64           `json:"winners"`       // the mean of Judge.Agreement over each two judges
	AlphaWinners estimate.Interval `json:"alpha_winners"` // Krippendorff's alpha of who wins a game
	// AlphaVotes is Krippendorff's alpha of who wins more of the judge's judgments of a pair of games. Judges that prefer a side
	// name each player once and do not count, so it can be high where AlphaWinners is low: read both.
	AlphaVotes   estimate.Interval  `json:"alpha_votes"`
	AlphaMargins *estimate.Interval `json:"alpha_margins,omitempty"` // the same of margins as numbers, if ratings are by margins
	// Effective is the number of judges with independent errors who are worth as much as these (Kish): k judges whose
	// judgments, beyond what the ratings expect, have the mean correlation r are worth k/(1+(k-1)r).
	Effective estimate.Interval `json:"effective"`
}

// Side is the advantage of PRO over CON.
type Side struct {
	Points float64           `json:"points"` // of Elo's scale
	Share  estimate.Interval `json:"share"`  // share of judgments that call PRO the winner; a tie counts half
}

// addFamilies adds the families of players and judges.
func (p *Report) addFamilies(players, judges []Player) {
	for _, x := range players {
		for i := range p.Players {
			if p.Players[i].Name == x.Name {
				p.Players[i].Family = x.family()
			}
		}
	}
	for _, x := range judges {
		for i := range p.Judges {
			if p.Judges[i].Name == x.Name {
				p.Judges[i].Family = x.family()
			}
		}
	}
}

// priced reports whether each player has a cost.
func (p *Report) priced() bool {
	for _, s := range p.Players {
		if s.Pairs > 0 && s.Cost == 0 {
			return false
		}
	}
	return len(p.Players) > 0
}

// expense returns the cost of a player, or its tokens if a cost is unknown.
func (p *Report) expense(s Standing) float64 {
	if p.priced() {
		return s.Cost
	}
	return s.Tokens
}

// markUnbeaten marks the players that no other player beats.
func (p *Report) markUnbeaten() {
	if len(p.Groups) > 0 {
		return
	}
	for i := range p.Players {
		a := &p.Players[i]
		a.Unbeaten = a.Pairs > 0
		for j, b := range p.Players {
			x, y := p.expense(*a), p.expense(b)
			if i != j && b.Pairs > 0 && b.Rating.Value >= a.Rating.Value && y <= x && (b.Rating.Value > a.Rating.Value || y < x) {
				a.Unbeaten = false
			}
		}
	}
}

// sentences returns what the games show.
func (p *Report) sentences() (list []string) {
	if p.Pairs == 0 {
		return []string{"No pair of games has a result, so there are no ratings."}
	}
	if len(p.Groups) > 0 {
		var names []string
		for _, g := range p.Groups {
			names = append(names, naming.Enumerate(g, 8))
		}
		return []string{"The games do not connect all players, so there are no ratings: nothing compares " + strings.Join(names, " with ") + "."}
	}
	list = append(list, fmt.Sprintf("%s has the highest rating: %s.", p.Players[0].Name, ratingText(p.Players[0].Rating)))
	for _, n := range p.Neighbors {
		switch few := n.Difference.Groups; {
		case n.Shown():
		case !n.Difference.Known():
			list = append(list, fmt.Sprintf("These games do not show whether %s or %s is better: %s are too few for an interval.", n.Upper, n.Lower, runs.Plural(few, "pair")))
		default:
			list = append(list, fmt.Sprintf("These games do not show whether %s or %s is better: the difference is %s points.", n.Upper, n.Lower, signed(n.Difference)))
		}
	}
	if len(list) == 1 {
		list = append(list, "These games show the order of each two neighbors in the table.")
	}
	return list
}

// ratingText returns a rating with its interval, such as "1612 [1580, 1645]".
func ratingText(i estimate.Interval) string {
	switch {
	case i.Method == statistics.Undefined:
		return "–"
	case !i.Known():
		return fmt.Sprintf("%.0f [too few]", i.Value)
	}
	return fmt.Sprintf("%.0f [%.0f, %.0f]", i.Value, i.Low, i.High)
}

func signed(i estimate.Interval) string {
	if !i.Known() {
		return fmt.Sprintf("%.0f [too few]", zero(i.Value))
	}
	return fmt.Sprintf("%.0f [%.0f, %.0f]", zero(i.Value), zero(i.Low), zero(i.High))
}

// zero rounds a number, and returns 0 for -0.
func zero(x float64) float64 { return math.Round(x) + 0 }
