package review

import (
	"maps"
	"slices"

	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// opinion is what a reviewer or a judge says of one finding.
type opinion struct {
	name     string
	judge    bool
	stands   bool
	reason   string
	severity Severity // by a judge
	sameAs   int      // by a judge
}

// String returns the reason with the name of whoever gave it.
func (o opinion) String() string { return o.name + ": " + o.reason }

// opinionsIn returns the opinions on each finding, by its number: those of the judges, and then those of the reviewers.
func opinionsIn(r *protocol.Record, ruled []transcript.Turn) map[int][]opinion {
	all := map[int][]opinion{}
	for _, o := range judge.Opinions[Rulings](ruled...) {
		if o.Failed {
			continue
		}
		for _, x := range o.Value.Rulings {
			all[x.Finding] = append(all[x.Finding], opinion{o.Judge, true, x.Stands, x.Reason, x.Severity, x.SameAs})
		}
	}
	for _, o := range judge.Opinions[Votes](r.Said(transcript.Speech, phaseAttack)...) {
		if o.Failed {
			continue
		}
		for _, x := range o.Value.Votes {
			all[x.Finding] = append(all[x.Finding], opinion{name: o.Judge, stands: x.Holds, reason: x.Reason})
		}
	}
	return all
}

// decide sets the findings that stand and those that do not.
//
//   - The majority of the judges decides. If they are divided or gave no valid ruling, the majority of the reviewers does, with
//     the one who found it. If these are divided too, the finding stands.
//   - The severity is the one that most of the judges name who let the finding stand, of two the worse one.
//   - A finding that more than half of these judges call the same as an earlier one is no finding of its own, if that one stands.
func decide(res *Result, found []claimed, opinions map[int][]opinion) {
	standing := map[int]*Finding{}
	var order []int
	for i := range found {
		x := &found[i]
		list := opinions[x.number]
		f := finding(x, list)
		if !stands(list) {
			f.Reasons, f.Dissent = f.Dissent, f.Reasons
			res.Refuted = append(res.Refuted, f)
			continue
		}
		f.Severity = severityOf(list, x.Severity)
		if first := standing[sameAs(list)]; first != nil {
			first.AlsoBy = appendOther(first.AlsoBy, first.By, x.author)
			continue
		}
		standing[x.number] = &f
		order = append(order, x.number)
	}
	for _, n := range order {
		res.Findings = append(res.Findings, *standing[n])
	}
	slices.SortStableFunc(res.Findings, func(a, b Finding) int {
		return slices.Index(severities, a.Severity) - slices.Index(severities, b.Severity)
	})
}

// appendOther appends a name that is neither the first one nor in the list.
func appendOther(list []string, first, name string) []string {
	if name == first || slices.Contains(list, name) {
		return list
	}
	return append(list, name)
}

// finding returns a finding with its votes. Reasons are those of whoever says that it stands.
func finding(x *claimed, opinions []opinion) Finding {
	f := Finding{
		Number: x.number, Source: x.Source, File: x.File, Line: x.Line, EndLine: x.EndLine, Quote: x.Quote, Severity: x.Severity,
		Title: x.Title,
		Text:  x.Text, Show: x.Show, By: x.author, Votes: map[string]int{Stands: 1, Falls: 0},
	}
	for _, o := range opinions {
		if o.stands {
			f.Votes[Stands]++
			f.Reasons = append(f.Reasons, o.String())
			continue
		}
		f.Votes[Falls]++
		f.Dissent = append(f.Dissent, o.String())
	}
	return f
}

// stands reports whether a finding stands.
func stands(opinions []opinion) bool {
	judges, reviewers := 0, 1 // how many more say that it stands; whoever found it does
	for _, o := range opinions {
		one := 1
		if !o.stands {
			one = -1
		}
		if o.judge {
			judges += one
			continue
		}
		reviewers += one
	}
	if judges != 0 {
		return judges > 0
	}
	return reviewers >= 0
}

// severityOf returns the severity of a finding that stands. claimed is that of whoever found it.
func severityOf(opinions []opinion, claimed Severity) Severity {
	count := map[Severity]int{}
	for _, o := range opinions {
		if o.judge && o.stands {
			count[o.severity]++
		}
	}
	best := claimed
	most := 0
	for _, s := range severities {
		if count[s] > most {
			best = s
			most = count[s]
		}
	}
	return best
}

// sameAs returns the number of the finding that says the same, or 0 if there is none.
func sameAs(opinions []opinion) int {
	count := map[int]int{}
	judges := 0
	for _, o := range opinions {
		if o.judge && o.stands {
			judges++
			count[o.sameAs]++
		}
	}
	for _, n := range slices.Sorted(maps.Keys(count)) {
		if n > 0 && 2*count[n] > judges {
			return n
		}
	}
	return 0
}
