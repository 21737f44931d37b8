package archive

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/chain"
)

// masked holds an entry of a journal, with the paths of its texts that the record does not show.
type masked struct {
	stored []byte
	hidden []string
}

// courseOf returns what a rejudged debate repeats of its parent, and the number of the entries before. Another debate repeats
// nothing.
func courseOf(f *File) (from int64, list []masked, err error) {
	stored, hidden, err := f.entries[0].Unmask()
	if err != nil {
		return 0, nil, err
	}
	var first struct {
		Course struct {
			From    int64             `json:"from"`
			Entries []json.RawMessage `json:"entries"`
		} `json:"course"`
	}
	err = json.Unmarshal(stored, &first)
	for i, raw := range first.Course.Entries {
		m := masked{stored: raw}
		for _, path := range hidden {
			if own, ok := strings.CutPrefix(path, fmt.Sprintf("course.entries[%d].", i)); ok {
				m.hidden = append(m.hidden, own)
			}
		}
		list = append(list, m)
	}
	return first.Course.From, list, err
}

// checkCourse compares what a rejudged debate repeats with the parent. A fork of a rejudged debate repeats what its parent does.
func checkCourse(f *File) error {
	from, ours, err := courseOf(f)
	if err != nil || ours == nil {
		return err
	}
	begins, theirs, err := courseOf(f.Parent)
	if err != nil || begins == from && sameEntries(from, ours, theirs) == nil {
		return err
	}
	theirs = nil
	for i := range f.Parent.entries {
		stored, hidden, err := f.Parent.entries[i].Unmask()
		if err != nil {
			return err
		}
		theirs = append(theirs, masked{stored, hidden})
	}
	return sameEntries(from, ours, theirs[min(max(from, 0), int64(len(theirs))):])
}

// sameEntries returns an error unless entries are the first ones of others, as far as both show their texts, and end the debate. They
// follow the entry from.
func sameEntries(from int64, ours, theirs []masked) error {
	ended := false
	for i, m := range ours {
		if i == len(theirs) {
			return fmt.Errorf("the course has %d entries, but the parent has %d there", len(ours), len(theirs))
		}
		hidden := append(m.hidden, theirs[i].hidden...)
		is, err1 := meaning(m.stored, hidden)
		was, err2 := meaning(theirs[i].stored, hidden)
		if err1 != nil || err2 != nil || !bytes.Equal(is, was) {
			return fmt.Errorf("entry %d of the course is not that of the parent", from+1+int64(i))
		}
		if s, ok := eventOf(m.stored).(debate.StateChanged); ok {
			ended = s.To.Final()
		}
	}
	if !ended {
		return fmt.Errorf("the course ends at entry %d, before the parent does", from+int64(len(ours)))
	}
	return nil
}

// meaning returns an entry as this version of the library writes it, without the texts with the given paths.
func meaning(stored []byte, hidden []string) ([]byte, error) {
	e, err := chain.Mask(nil, 0, stored)
	if err != nil {
		return nil, err
	}
	e.Texts = slices.DeleteFunc(e.Texts, func(t chain.Text) bool { return slices.Contains(hidden, t.Path) })
	shown, _, err := e.Unmask()
	if err != nil {
		return nil, err
	}
	if ev := eventOf(shown); ev != nil {
		return json.Marshal(ev)
	}
	return shown, nil
}
