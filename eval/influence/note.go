package influence

import (
	"encoding/json"
	"slices"
	"strings"
)

// noteName names the note in which a debate keeps what was found about its turns.
const noteName = "influence"

// maxNote limits a note, in bytes of JSON. Those of a debate have at most 16 KiB each.
const maxNote = 12 << 10

// mark tells what was found about a turn, or about a seat whose first turn it is.
type mark struct {
	Key  string `json:"key"` // of the turn
	Text string `json:"text"`
}

// note returns the marks of the effects, as many of the largest as there is room for.
func (p *Report) note() (list []mark) {
	effects := slices.Clone(p.Effects)
	slices.SortStableFunc(effects, func(a, b Effect) int { return compareSizes(b, a) })
	room, most := maxNote, p.most()
	for _, e := range effects {
		if e.Samples == 0 || e.Whole == 0 {
			continue
		}
		of, what := e.Score, p.scoreOf()
		if of == nil {
			of, what = e.Share, "the share of samples that "+p.wins()
		}
		text := strings.TrimSpace(column(of.Value, most) + " without it, " + what + " changes by " + change(*of))
		if p.Seats {
			text = strings.Replace(text, "without it", "without all turns of "+e.Name, 1)
		}
		if p.Continued {
			text = strings.Replace(text, "without", "if the debate goes on without", 1)
		}
		m := mark{e.Items[0].Keys[0].String(), text}
		raw, _ := json.Marshal(m) // texts always encode
		room -= len(raw) + 1
		if room < 0 {
			break
		}
		list = append(list, m)
	}
	return list
}

// Marks returns what analyses have found about turns, in a few words, by the text of the turns' keys. notes are
// debate.Result.Annotations.
func Marks(notes map[string]json.RawMessage) map[string]string {
	var list []mark
	if json.Unmarshal(notes[noteName], &list) != nil {
		return nil
	}
	marks := map[string]string{}
	for _, m := range list {
		marks[m.Key] = m.Text
	}
	return marks
}
