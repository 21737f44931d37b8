package audit

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	rundebates "github.com/elenchus-go/debate/internal/runs"
	"github.com/elenchus-go/debate/judge/estimate"
	"github.com/elenchus-go/debate/report"
)

// Markdown writes the report as GitHub Flavored Markdown.
func (p *Report) Markdown(w io.Writer) error { return p.page().Markdown(w) }

// HTML writes the report as a single HTML file that loads no other resource.
func (p *Report) HTML(w io.Writer) error { return p.page().HTML(w) }

// refusal returns the reason of an error that refuses a calibration.
func refusal(err error) string { return strings.TrimPrefix(err.Error(), "calibrate jury: ") }

// sentences says what was found about each judge, and about the jury.
func (p *Report) sentences() (list []string) {
	for _, f := range p.Judges {
		if f.Pairs == 0 {
			list = append(list, fmt.Sprintf("There is no decision of %s.", f.Name))
			continue
		}
		s := fmt.Sprintf("%s is right in %s of its decisions about %s.", f.Name, f.Accuracy, rundebates.Plural(f.Pairs, "pair"))
		if found := f.Biased(); found != "" {
			s += " It is biased by " + found + "."
		} else if unknown := p.tooFew(f); unknown {
			s += " The pairs are too few to find biases: an interval needs 10 groups."
		} else {
			s += " No bias was shown, which does not mean that there is none: see the intervals."
		}
		list = append(list, s)
	}
	if p.Jury != nil && p.Jury.Effective.N > 0 {
		list = append(list, fmt.Sprintf("The %d judges are worth %s judges with independent errors.", len(p.Judges), p.Jury.Effective))
	}
	switch c := p.Calibration; {
	case c != nil && len(c.Judges) == 1:
		list = append(list, fmt.Sprintf("%s may decide alone where its margin is %d of %d decisions.", c.Judges[0], c.Margin, c.Decisions))
	case c != nil:
		list = append(list, fmt.Sprintf("The jury may decide alone where its margin is %d of %d decisions or more.", c.Margin, c.Decisions))
	case p.Refused != "":
		list = append(list, strings.ToUpper(p.Refused[:1])+p.Refused[1:]+".")
	}
	return list
}

// tooFew reports whether no bias of a judge has an interval.
func (p *Report) tooFew(f Figures) bool {
	for _, b := range f.Biases {
		if b.Interval.Known() {
			return false
		}
	}
	return true
}

// Sentences that explain the tables.
const (
	judgesNote = "Accuracy counts a tie ½, and a decision that cannot be read 0. Agreement is the share of pairs whose decisions in both orders are for the same answer. " +
		"Brackets contain 95 % confidence intervals."
	biasesNote = "A bias of 0 is none. Position: decisions for the answer shown first minus those for the second. Length and family: accuracy where the better answer is the longer one, or by a model of the judge's family, minus that where the worse one is. " +
		"Others: how much the share of decisions for an answer rises if they are planted there. P-values are corrected for the number of biases by Holm's method."
	firmnessNote = "Consistent: decisions that are equal when the judge is asked again. Turned: decisions that change when a follow-up objects to them, of all, of the right ones and of the wrong ones."
	juryNote     = "The effective number of judges is Kish's: judges who err together are worth fewer. Agreement is no evidence that judges are right."
)

// page returns the report as a document.
func (p *Report) page() report.Page {
	spent := fmt.Sprintf("%d tokens", p.Tokens)
	if p.Cost > 0 {
		spent += ", cost " + strconv.FormatFloat(p.Cost, 'g', 4, 64)
	}
	page := report.Page{
		Title: "Audit " + p.Audit, Answer: strings.Join(p.Summary, " "),
		About: fmt.Sprintf("%s, %s, %s", rundebates.Plural(p.Pairs, "pair"), rundebates.Plural(len(p.Judges), "judge"), spent),
	}
	if p.Incomplete != "" {
		page.Notices = append(page.Notices, "The audit is not complete: "+p.Incomplete+".")
	}
	var failures []string
	for _, f := range p.Judges {
		if f.Failed > 0 {
			page.Notices = append(page.Notices, fmt.Sprintf("%s of %s failed and do not count.", rundebates.Plural(f.Failed, "run"), f.Name))
		}
		for _, text := range f.Failures {
			failures = append(failures, f.Name+", "+text)
		}
	}
	add := func(title, note string, t *report.Table) {
		if len(t.Rows) > 0 {
			page.Sections = append(page.Sections, report.Section{Title: title, Blocks: []report.Block{{Note: note, Table: t}}})
		}
	}
	add("Judges", judgesNote, p.judgeTable())
	add("Biases", biasesNote, p.biasTable())
	add("Firmness", firmnessNote, p.firmnessTable())
	add("Jury", juryNote, p.juryTable())
	if len(failures) > 0 {
		page.Sections = append(page.Sections, report.Section{Title: "Failures", Blocks: []report.Block{{Note: "The first failures of each judge:", List: failures}}})
	}
	return page
}

func (p *Report) judgeTable() *report.Table {
	t := &report.Table{Title: "Judges", Header: []string{"Judge", "Model", "Prompts", "Pairs", "Accuracy", "Agreement of both orders", "Decisions for the first", "Unreadable", "Failed", "Tokens", "Cost"}}
	for _, f := range p.Judges {
		cost := ""
		if f.Cost > 0 {
			cost = strconv.FormatFloat(f.Cost, 'g', 4, 64)
		}
		t.Rows = append(t.Rows, []string{f.Name, f.Model, f.Prompts, strconv.Itoa(f.Pairs), f.Accuracy.String(), f.Agreement.String(), f.First.String(), rundebates.Count(f.Unreadable), rundebates.Count(f.Failed), strconv.Itoa(f.Tokens), cost})
	}
	return t
}

func (p *Report) biasTable() *report.Table {
	t := &report.Table{Title: "Biases", Header: []string{"Judge, bias", "Bias", "Pairs", "p", "Found"}}
	for _, f := range p.Judges {
		for _, b := range f.Biases {
			t.Rows = append(t.Rows, []string{
				f.Name + ", " + b.Name, b.Interval.String(), strconv.Itoa(b.Interval.N), rundebates.Probability(b.P),
				map[bool]string{true: "yes"}[b.Shown()],
			})
		}
	}
	return t
}

func (p *Report) firmnessTable() *report.Table {
	t := &report.Table{Title: "Firmness", Header: []string{"Judge", "Consistent", "Pairs asked again", "Turned", "Pairs challenged", "Right ones turned", "Wrong ones turned"}}
	for _, f := range p.Judges {
		if f.Consistency.N+f.Turned.N > 0 {
			t.Rows = append(t.Rows, []string{f.Name, f.Consistency.String(), rundebates.Count(f.Consistency.N), f.Turned.String(), rundebates.Count(f.Turned.N), f.TurnedWrong.String(), f.TurnedRight.String()})
		}
	}
	return t
}

func (p *Report) juryTable() *report.Table {
	t := &report.Table{Title: "Jury", Header: []string{"Figure", "Value", "Pairs"}}
	if p.Jury == nil {
		return t
	}
	j := p.Jury
	for _, x := range []struct {
		name string
		of   estimate.Interval
	}{
		{"Accuracy of the majority", j.Majority},
		{"Accuracy where all decisions are equal", j.Unanimous},
		{"Effective number of judges", j.Effective},
		{"Correlation of errors", j.Correlation},
		{"Krippendorff's alpha of decisions", j.AlphaDecisions},
		{"Krippendorff's alpha of votes", j.AlphaVotes},
	} {
		t.Rows = append(t.Rows, []string{x.name, x.of.String(), strconv.Itoa(x.of.N)})
	}
	return t
}
