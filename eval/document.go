package eval

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/internal/runs"
	"github.com/elenchus-go/debate/report"
)

// Markdown writes the report as GitHub Flavored Markdown.
func (p *Report) Markdown(w io.Writer) error { return p.page().Markdown(w) }

// HTML writes the report as a single HTML file that loads no other resource.
func (p *Report) HTML(w io.Writer) error { return p.page().HTML(w) }

// sentences returns a sentence for each comparison: what is shown and what not.
func (p *Report) sentences() (list []string) {
	for _, d := range p.Differences {
		list = append(list, d.sentence(p.Budget, len(p.Differences)))
	}
	for _, a := range p.Arms {
		if len(p.Arms) == 1 {
			list = append(list, fmt.Sprintf("%s is right on %d of %d questions: %s. There is no other arm, so this does not show that it is better than another way to answer.", a.Name, a.Right, a.Runs, a.Accuracy))
		}
	}
	return list
}

// sentence says what a comparison has shown.
func (d Difference) sentence(budget Budget, comparisons int) string {
	base, n := d.Baseline, d.Interval.N
	if name, _, equal := strings.Cut(d.Baseline, "@"); equal {
		base = fmt.Sprintf("%s on as many tokens", name)
		if budget == Cost {
			base = fmt.Sprintf("%s for as much money", name)
		}
	}
	interval := fmt.Sprintf("%+.3f [%+.3f, %+.3f]", d.Interval.Value, d.Interval.Low, d.Interval.High)
	word := "better"
	if d.Interval.Value < 0 {
		word = "worse"
	}
	switch {
	case n == 0:
		return fmt.Sprintf("There is no question that both %s and %s have answered.", d.Arm, base)
	case !d.Interval.Known():
		return fmt.Sprintf("%s cannot be compared with %s on %s: an interval needs 10 groups.", d.Arm, base, questions("these", n, d.Interval.Groups))
	case d.Shown():
		return fmt.Sprintf("%s is %s than %s by %.3f [%.3f, %.3f] on %s.", d.Arm, word, base,
			math.Abs(d.Interval.Value), min(math.Abs(d.Interval.Low), math.Abs(d.Interval.High)), max(math.Abs(d.Interval.Low), math.Abs(d.Interval.High)), questions("these", n, d.Interval.Groups))
	case d.Interval.Above(0) || d.Interval.Below(0):
		return fmt.Sprintf("The difference between %s and %s, %s on %s, is not shown: its p-value is %.3f, corrected for %d comparisons.", d.Arm, base, interval, questions("these", n, d.Interval.Groups), d.Adjusted, comparisons)
	}
	s := fmt.Sprintf("%s cannot show a difference smaller than %.3f between %s and %s; it is %s.", questions("These", n, d.Interval.Groups), d.Detectable, d.Arm, base, interval)
	if d.Needed > n {
		s += fmt.Sprintf(" About %s would show a difference of this size.", runs.Plural(d.Needed, "question"))
	}
	return s
}

// questions returns how many questions there are, after a word, and in how many groups.
func questions(these string, n, groups int) string {
	text := these + " " + runs.Plural(n, "question")
	if groups < n {
		text += " in " + runs.Plural(groups, "group")
	}
	return text
}

// page returns the report as a document.
func (p *Report) page() report.Page {
	page := report.Page{
		Title: "Evaluation " + p.Eval, Answer: strings.Join(p.Summary, " "),
		About: fmt.Sprintf("%s, %s, %s", runs.Plural(p.Tasks, "question"), runs.Plural(len(p.Arms), "arm"), runs.Spending(p.Tokens, p.Cost)),
	}
	if p.Incomplete != "" {
		page.Notices = append(page.Notices, "The evaluation is not complete: "+p.Incomplete+".")
	}
	for _, a := range p.Arms {
		if a.Failed > 0 {
			page.Notices = append(page.Notices, fmt.Sprintf("%s of %s failed and count neither as right nor as wrong.", runs.Plural(a.Failed, "run"), a.Name))
		}
	}
	page.Sections = append(page.Sections, report.Section{Title: "Accuracy", Blocks: []report.Block{{Note: accuracyNote, Table: p.accuracy()}}})
	if len(p.Differences) > 0 {
		page.Sections = append(page.Sections, report.Section{Title: "Differences to the baseline", Blocks: []report.Block{{Note: differenceNote, Table: p.differenceTable()}}})
	}
	if t := p.probabilities(); len(t.Rows) > 0 {
		page.Sections = append(page.Sections, report.Section{Title: "Probabilities", Blocks: []report.Block{{Note: probabilityNote, Table: t}, {Table: p.brierTable()}}})
	}
	cost := report.Block{Table: p.costs()}
	if len(p.Arms) > 1 {
		cost.Plot = p.plot()
	}
	page.Sections = append(page.Sections, report.Section{Title: "Cost", Blocks: []report.Block{{Note: p.costNote()}, cost}})
	if rounds := p.rounds(); len(rounds.Rows) > 0 {
		page.Sections = append(page.Sections, report.Section{Title: "Rounds", Blocks: []report.Block{{Note: roundsNote, Table: rounds}}})
	}
	if judges := p.agreement(); len(judges.Rows) > 0 {
		page.Sections = append(page.Sections, report.Section{Title: "Judges", Blocks: []report.Block{{Note: judgesNote, Table: judges}}})
	}
	var failures []string
	for _, a := range p.Arms {
		for _, f := range a.Failures {
			failures = append(failures, a.Name+", "+f)
		}
	}
	if len(failures) > 0 {
		page.Sections = append(page.Sections, report.Section{Title: "Failures", Blocks: []report.Block{{Note: "The first failures of each arm:", List: failures}}})
	}
	return page
}

// Sentences that explain the tables.
const (
	accuracyNote = "Brackets contain 95 % confidence intervals. Runs without an answer count as wrong. Runs that failed do not count. " +
		"A name with @ is the baseline on the budget of the arm after the @: it answered each question again and again, and its most frequent answer counts."
	differenceNote = "Each difference is of the questions that both have answered, which is more exact than to compare two intervals of the table above. " +
		"P-values are corrected for the number of comparisons by Holm's method."
	judgesNote = "How far the judges who conclude the debates agree, beyond chance (Krippendorff's alpha) by decision and by judge. A judge who contradicts itself in the two orders has no vote. " +
		"The effective number is that of judges with independent errors who are worth as much; it needs options and gold. Brackets contain 95 % confidence intervals."
	probabilityNote = "What the judges say of the right answers. The Brier score is the mean square of the distance between probability and truth: 0 is perfect, and .25 is what a judge has who always says one half. " +
		"The calibration error is the mean distance between the probabilities and how often they were right, in ten bins. " +
		"In the accuracy, a run whose judges hold both answers equally probable counts ½. A difference of Brier scores below 0 is in favor of the arm."
	roundsNote = "The answers that participants gave in each round, and how many of them changed from wrong to right and from right to wrong."
)

func (p *Report) costNote() string {
	return fmt.Sprintf("The means for each question. No other arm is at least as accurate as a best one for as %s.",
		map[bool]string{true: "little money", false: "few tokens"}[p.contenders().Priced()])
}

func (p *Report) accuracy() *report.Table {
	t := &report.Table{Title: "Accuracy", Header: []string{"Arm", "Accuracy", "Right", "Results", "No answer", "Ties", "Failed", "Missing", "Samples"}}
	for _, a := range p.Arms {
		samples := ""
		if a.Samples > 0 {
			samples = strconv.FormatFloat(a.Samples, 'f', 1, 64)
		}
		t.Rows = append(t.Rows, []string{a.Name, a.Accuracy.String(), strconv.Itoa(a.Right), strconv.Itoa(a.Runs), runs.Count(a.NoAnswer), runs.Count(a.Ties), runs.Count(a.Failed), runs.Count(a.Missing), samples})
	}
	return t
}

// probabilities returns the table of arms whose judges give probabilities.
func (p *Report) probabilities() *report.Table {
	t := &report.Table{Title: "Probabilities", Header: []string{"Arm", "Probability of the right answer", "Brier score", "Calibration error"}}
	for _, a := range p.Arms {
		if a.Probability != nil {
			t.Rows = append(t.Rows, []string{a.Name, a.Probability.String(), a.Brier.String(), fmt.Sprintf("%.3f", *a.CalibrationError)})
		}
	}
	return t
}

// brierTable returns the table of the differences of Brier scores.
func (p *Report) brierTable() *report.Table {
	t := &report.Table{Title: "Differences of Brier scores", Header: []string{"Arm", "Baseline", "Difference", "Questions"}}
	for _, d := range p.Differences {
		if d.Brier != nil {
			t.Rows = append(t.Rows, []string{d.Arm, d.Baseline, d.Brier.String(), strconv.Itoa(d.Brier.N)})
		}
	}
	return t
}

func (p *Report) differenceTable() *report.Table {
	t := &report.Table{Title: "Differences", Header: []string{"Arm", "Baseline", "Difference", "Questions", "Better", "Worse", "p", "Smallest difference shown", "Questions needed"}}
	for _, d := range p.Differences {
		least := ""
		if d.Detectable > 0 {
			least = fmt.Sprintf("%.3f", d.Detectable)
		}
		t.Rows = append(t.Rows, []string{
			d.Arm, d.Baseline, d.Interval.String(), strconv.Itoa(d.Interval.N), strconv.Itoa(d.Better), strconv.Itoa(d.Worse),
			runs.Probability(d.Adjusted), least, runs.Count(d.Needed),
		})
	}
	return t
}

func (p *Report) costs() *report.Table {
	t := &report.Table{Title: "Cost for each question", Header: []string{"Arm", "Best", "Tokens", "Tokens per right answer", "Cost", "Cost per right answer", "Calls", "Latency"}}
	for _, a := range p.Arms {
		if a.Runs+a.Failed == 0 {
			continue
		}
		t.Rows = append(t.Rows, []string{
			a.Name, map[bool]string{true: "best"}[a.Unbeaten], outcome.Thousands(int(math.Round(a.Tokens))),
			number(a.TokensPerRight), runs.Money(a.Cost), runs.Money(a.CostPerRight),
			strconv.FormatFloat(a.Calls, 'f', 1, 64), a.Latency.Round(time.Millisecond).String(),
		})
	}
	return t
}

func (p *Report) rounds() *report.Table {
	t := &report.Table{Title: "Answers by round", Header: []string{"Arm, round", "Answers", "Right", "Turned right", "Turned wrong"}}
	for _, a := range p.Arms {
		for i, r := range a.Rounds {
			share := fmt.Sprintf("%.3f", float64(r.Right)/float64(max(r.Answers, 1)))
			t.Rows = append(t.Rows, []string{fmt.Sprintf("%s, %d", a.Name, i+1), strconv.Itoa(r.Answers), share, runs.Count(r.TurnedRight), runs.Count(r.TurnedWrong)})
		}
	}
	return t
}

// plot returns accuracy against cost, or against tokens if a cost is unknown.
func (p *Report) plot() *report.Plot {
	plot := &report.Plot{Title: "Accuracy against cost", X: "Cost for each question", Y: "Accuracy"}
	if !p.contenders().Priced() {
		plot.Title, plot.X = "Accuracy against tokens", "Tokens for each question"
	}
	plot.Points = p.contenders().Points()
	return plot
}

func number(f float64) string {
	if f == 0 {
		return ""
	}
	return outcome.Thousands(int(math.Round(f)))
}

// agreement returns a table of how far judges agree.
func (p *Report) agreement() *report.Table {
	t := &report.Table{Title: "Judges", Header: []string{"Arm", "Judges", "Debates", "Equal decisions", "Alpha of decisions", "Alpha of votes", "Effective number"}}
	for _, arm := range p.Arms {
		a := arm.Agreement
		if a == nil {
			continue
		}
		effective := "–"
		if a.Gold > 0 {
			effective = a.Effective.String()
		}
		t.Rows = append(t.Rows, []string{arm.Name, strings.Join(a.Judges, ", "), strconv.Itoa(a.Debates), a.Raw.String(), a.AlphaDecisions.String(), a.AlphaVotes.String(), effective})
	}
	return t
}
