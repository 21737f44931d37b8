package tournament

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/elenchus-go/debate/internal/naming"
	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/internal/runs"
	"github.com/elenchus-go/debate/report"
)

// Markdown writes the report as GitHub Flavored Markdown.
func (p *Report) Markdown(w io.Writer) error { return p.page().Markdown(w) }

// HTML writes the report as a single HTML file that loads no other resource.
func (p *Report) HTML(w io.Writer) error { return p.page().HTML(w) }

// page returns the report as a document.
func (p *Report) page() report.Page {
	page := report.Page{
		Title: strings.TrimSpace("Tournament " + p.Tournament), Answer: strings.Join(p.Summary, " "), Notices: p.notices(),
		About: fmt.Sprintf("%s, %s of games, %s", runs.Plural(len(p.Players), "player"), runs.Plural(p.Pairs, "pair"), runs.Plural(p.Judgments, "judgment")),
	}
	if p.Tokens > 0 {
		page.About += ", " + runs.Spending(p.Tokens, p.Cost)
	}
	add := func(title string, blocks ...report.Block) {
		page.Sections = append(page.Sections, report.Section{Title: title, Blocks: blocks})
	}
	add("Ratings", report.Block{Note: p.ratingNote(), Table: p.standings()})
	if len(p.Neighbors) > 0 {
		add("Neighbors", report.Block{Note: neighborNote, Table: p.neighbors()})
	}
	if len(p.Meetings) > 0 {
		add("Head to head", report.Block{Note: p.meetingNote(), Table: p.matrix()})
	}
	if p.Pairs > 0 {
		add("Price", report.Block{Note: p.priceNote(), Table: p.prices(), Plot: p.plot()})
	}
	if len(p.Judges) > 0 {
		add("Judges", report.Block{Note: judgeNote, Table: p.judges()}, report.Block{List: p.agreement()})
	}
	if len(p.Failures) > 0 {
		add("Failures", report.Block{Note: "The first games that failed:", List: p.Failures})
	}
	return page
}

// notices returns what a reader should know before relying on the ratings.
func (p *Report) notices() (list []string) {
	if p.Incomplete != "" {
		list = append(list, "The tournament is not complete: "+p.Incomplete+".")
	}
	if p.Failed > 0 {
		list = append(list, "Failed: "+runs.Plural(p.Failed, "game")+". They count for nobody.")
	}
	if p.Incomparable > 0 {
		list = append(list, "Left out: "+runs.Plural(p.Incomparable, "pair")+" of games, because a game has no result.")
	}
	if p.LeftOut > 0 {
		list = append(list, "Left out: "+runs.Plural(p.LeftOut, "judgment")+", because the judge is of a player's family.")
	}
	if names := p.extreme(); len(names) > 0 {
		list = append(list, fmt.Sprintf("%s: of players who win or lose every game, the games do not say how far they are from the others. Their ratings follow from a ridge of .1, and the true differences may be larger.", naming.Enumerate(names, 8)))
	}
	return list
}

// extreme returns the players that have won or lost all games, if ratings are by wins.
func (p *Report) extreme() (names []string) {
	for _, s := range p.Players {
		if games := s.Won + s.Tied + s.Lost; p.By == Wins && games > 0 && (s.Won == games || s.Lost == games) {
			names = append(names, s.Name)
		}
	}
	return names
}

// Sentences that explain the tables.
const (
	neighborNote = "The differences of ratings that are next to each other, with their intervals. These are more exact than two intervals of the table above."
	judgeNote    = "A judge that leans towards a side favors whoever is on it. Each pair of games is played on both sides, so that this does not favor a player. Judgments against its scores name a winner with the lower score."
)

func (p *Report) ratingNote() string {
	note := "A difference of 400 points means odds of 10 to 1, and the mean is 1500. Brackets contain 95 % confidence intervals. A game is won by the player whom more judges call the winner. "
	if p.By == Margins {
		note += "Ratings are computed from how far apart the judges score the players."
	} else {
		note += "Ratings are computed from won, tied and lost games."
	}
	if len(p.Groups) == 0 && p.Pairs > 0 {
		note += fmt.Sprintf(" The side PRO is worth %.0f points; it wins a share of %s of the judgments.", zero(p.Side.Points), p.Side.Share)
	}
	return note
}

func (p *Report) standings() *report.Table {
	t := &report.Table{Title: "Ratings", Header: []string{"Player", "Family", "Rating", "Pairs", "Won", "Tied", "Lost"}}
	for _, s := range p.Players {
		t.Rows = append(t.Rows, []string{s.Name, s.Family, ratingText(s.Rating), strconv.Itoa(s.Pairs), strconv.Itoa(s.Won), strconv.Itoa(s.Tied), strconv.Itoa(s.Lost)})
	}
	return t
}

func (p *Report) neighbors() *report.Table {
	t := &report.Table{Title: "Neighbors", Header: []string{"Higher", "Lower", "Difference", "Order shown"}}
	for _, n := range p.Neighbors {
		t.Rows = append(t.Rows, []string{n.Upper, n.Lower, signed(n.Difference), map[bool]string{true: "yes", false: "no"}[n.Shown()]})
	}
	return t
}

func (p *Report) meetingNote() string {
	what := "judgments that call it the winner, where a tie counts half"
	if p.By == Margins {
		what = "a win that the margins of the judgments make"
	}
	return "What the player of a row gets against that of a column: the mean share of " + what + ", and the number of pairs of games."
}

// matrix returns the table of meetings, in the order of ratings.
func (p *Report) matrix() *report.Table {
	t := &report.Table{Title: "Head to head", Header: []string{"Against"}}
	cells := map[[2]string]string{}
	for _, m := range p.Meetings {
		cells[[2]string{m.A, m.B}] = fmt.Sprintf("%.2f of %d", m.Share, m.Pairs)
		cells[[2]string{m.B, m.A}] = fmt.Sprintf("%.2f of %d", 1-m.Share, m.Pairs)
	}
	for _, a := range p.Players {
		t.Header = append(t.Header, a.Name)
		row := []string{a.Name}
		for _, b := range p.Players {
			row = append(row, cells[[2]string{a.Name, b.Name}])
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (p *Report) priceNote() string {
	what := map[bool]string{true: "money", false: "tokens"}[p.contenders().Priced()]
	return fmt.Sprintf("What a player uses for each game, without the judges. No other player has at least the rating of a best one for as little %s.", what)
}

func (p *Report) prices() *report.Table {
	t := &report.Table{Title: "Price", Header: []string{"Player", "Best", "Rating", "Tokens for each game", "Cost for each game"}}
	for _, s := range p.Players {
		if s.Pairs > 0 {
			t.Rows = append(t.Rows, []string{
				s.Name, map[bool]string{true: "best"}[s.Unbeaten], ratingText(s.Rating),
				outcome.Thousands(int(math.Round(s.Tokens))), runs.Money(s.Cost),
			})
		}
	}
	return t
}

// plot returns ratings against cost, or against tokens if a cost is unknown. It is nil without ratings.
func (p *Report) plot() *report.Plot {
	if len(p.Groups) > 0 {
		return nil
	}
	plot := &report.Plot{Title: "Rating against price", X: "Cost for each game", Y: "Rating", From: math.Inf(1), To: math.Inf(-1)}
	if !p.contenders().Priced() {
		plot.Title, plot.X = "Rating against tokens", "Tokens for each game"
	}
	plot.Points = p.contenders().Points()
	for _, point := range plot.Points {
		plot.From = min(plot.From, point.Y)
		plot.To = max(plot.To, point.Y)
		if point.Low != point.High {
			plot.From = min(plot.From, point.Low)
			plot.To = max(plot.To, point.High)
		}
	}
	plot.From, plot.To = 50*math.Floor(plot.From/50-.1), 50*math.Ceil(plot.To/50+.1)
	return plot
}

func (p *Report) judges() *report.Table {
	t := &report.Table{Title: "Judges", Header: []string{"Judge", "Family", "Judgments", "Share for PRO", "Margin toward PRO", "Against its scores", "Agreement"}}
	for _, j := range p.Judges {
		margin, agreement := "", ""
		if j.Margin != nil {
			margin = j.Margin.String()
		}
		if len(p.Judges) > 1 {
			agreement = fmt.Sprintf("%.3f", j.Agreement)
		}
		t.Rows = append(t.Rows, []string{j.Name, j.Family, strconv.Itoa(j.Judgments), j.ProShare.String(), margin, runs.Count(j.Contradictions), agreement})
	}
	return t
}

// agreement says how far the judges agree.
func (p *Report) agreement() []string {
	if len(p.Judges) < 2 {
		return []string{"There is one judge, so nothing says how far judges agree."}
	}
	list := []string{
		fmt.Sprintf("Two judges name the same winner of a pair of games, or both nobody, in a share of %.3f, on average over each two judges.", p.Agreement.Winners),
		fmt.Sprintf("Krippendorff's alpha of who wins a game: %s.", p.Agreement.AlphaWinners),
		fmt.Sprintf("Krippendorff's alpha of who wins a pair of games, without judges that name both players equally often: %s.", p.Agreement.AlphaVotes),
	}
	if p.Agreement.AlphaMargins != nil {
		list = append(list, fmt.Sprintf("Krippendorff's alpha of margins: %s.", p.Agreement.AlphaMargins))
	}
	return append(list, fmt.Sprintf("The effective number of judges: %s of %d. So many judges with independent errors would be worth as much as these.", p.Agreement.Effective, len(p.Judges)))
}
