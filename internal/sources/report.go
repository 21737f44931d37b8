package sources

import (
	"slices"

	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/transcript"
)

// Report returns the sources in the order of their numbers, with what turns have made of them. sides has the side of each
// participant.
func (l *List) Report(turns []transcript.Turn, sides map[string]string) (list []evidence.Source) {
	if len(l.all) == 0 {
		return nil
	}
	at := map[int]*evidence.Source{}
	list = make([]evidence.Source, 0, len(l.all))
	for i := range l.all {
		if s := l.all[i].Source; !l.all[i].removed {
			s.FoundBy = slices.Sorted(slices.Values(s.FoundBy)) // not by arrival
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b evidence.Source) int { return a.Number - b.Number })
	for i := range list {
		at[list[i].Number] = &list[i]
	}
	citing := map[int]map[string]bool{} // the sides that cite a source
	for i := range turns {
		t := &turns[i]
		for _, c := range t.Citations {
			s := at[c.Source]
			if s == nil {
				continue
			}
			note(&s.CitedBy, t.Actor)
			switch c.Verdict {
			case transcript.Verified:
				note(&s.QuotedBy, t.Actor)
			case transcript.Altered, transcript.NotFound:
				note(&s.MisquotedBy, t.Actor)
			case transcript.NotChecked:
			}
			if side, ok := sides[t.Actor]; ok {
				if citing[c.Source] == nil {
					citing[c.Source] = map[string]bool{}
				}
				citing[c.Source][side] = true
			}
		}
	}
	for i := range list {
		list[i].Unanswered = len(citing[list[i].Number]) == 1
	}
	return list
}
