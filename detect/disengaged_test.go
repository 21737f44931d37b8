package detect_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/detect"
	"github.com/elenchus-go/debate/transcript"
)

// disengaged writes the part of the page about rules for engagement, as the engine applies them.
func disengaged(b *strings.Builder, recordings []recording) {
	b.WriteString("\nThe engine checks whole rounds. It knows the names of the participants (*pro* and *con* in the two-sided debates) and\n" +
		"\"my opponent\"; a rule can set more names. As nearly all of these turns answer an opponent, each finding is a false alarm:\n\n" +
		"| debates | names | rounds after the first | disengaged | debates with one |\n|---|---|---|---|---|\n")
	for _, r := range recordings {
		for _, set := range []struct {
			name  string
			names map[string][]string
		}{{"none set", nil}, {"set by the rule", r.calls}} {
			if set.names == nil || r.calls != nil {
				rounds, found, debates := r.disengaged(set.names)
				fmt.Fprintf(b, "| %s | %s | %d | %d (%s) | %d of %d |\n", r.name, set.name, rounds, found, percent(found, rounds), debates, len(r.debates))
			}
		}
	}
	b.WriteString("\nThe names set by the rule are those of the table above. Where speakers use neither names nor quotes, the detector finds no\n" +
		"engagement in good debates either. So a rule for this signal can report and advise, but must not stop a debate.\n")
}

// disengaged counts the rounds after the first, those that are disengaged, and the debates with such a round.
func (r recording) disengaged(names map[string][]string) (rounds, found, debates int) {
	for _, d := range r.debates {
		said, before := d.rounds(), found
		w := detect.Detector{Topic: d.Topic, Seats: seats(said[0]), Rules: []detect.Rule{{Signal: detect.Disengaged, Names: names}}}
		for n, turns := range said {
			f := w.CheckSpeeches(turns, nil)[0]
			rounds, found = rounds+one(n > 0), found+one(f.Found)
		}
		debates += one(found > before)
	}
	return rounds, found, debates
}

// seats returns the speakers of a round.
func seats(turns []transcript.Turn) (list []transcript.Profile) {
	names := map[string]bool{}
	for _, t := range turns {
		names[t.Actor] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		list = append(list, transcript.Profile{Name: name})
	}
	return list
}
