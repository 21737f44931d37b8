package agreement

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/transcript"
)

// ItemOf returns the item of a debate: what its judges decide in the turns that conclude it, those of each judge in order.
// a and b are the names of the participants, of whom each turn names the winner. Turns that choose an option decide for A
// with option 1, and for B with option 2; then a and b do not matter. Without a winner it is a Tie. Defaults, other options
// and other data are None.
func ItemOf(id, a, b string, turns ...transcript.Turn) Item {
	item := Item{ID: id, Decisions: map[string][]Decision{}}
	for _, swapped := range []bool{false, true} {
		for _, t := range turns {
			if (t.Target == judge.Swapped) == swapped {
				item.Decisions[t.Actor] = append(item.Decisions[t.Actor], decisionIn(t, a, b))
			}
		}
	}
	return item
}

// decisionIn returns what a judge decides in a turn.
func decisionIn(t transcript.Turn, a, b string) Decision {
	var said struct {
		Winner string `json:"winner"`
		Option *int   `json:"option"`
	}
	if json.Unmarshal(t.Data, &said) != nil || slices.Contains(t.Flags, transcript.Defaulted) {
		return None
	}
	if said.Option != nil {
		return map[int]Decision{1: A, 2: B}[*said.Option]
	}
	switch said.Winner {
	case "":
		return Tie
	case a:
		return A
	case b:
		return B
	}
	return None
}

// Refusal says why the jury does not decide about an item, and who does. judges are those who have not dropped out.
func (s Selection) Refusal(i Item, judges []string) string {
	_, margin := i.Margin(s.Calibration.Judges...)
	text := fmt.Sprintf("The jury must not decide here: its margin is %d, and its calibration asks for %d of %d. %s ",
		margin, s.Calibration.Margin, s.Calibration.Decisions, s.Senior)
	if s.Lost(judges) {
		return text + "was to decide, but has dropped out. So there is no answer."
	}
	return text + "decides."
}

// Lost reports whether the senior judge has dropped out. judges are those who have not.
func (s Selection) Lost(judges []string) bool {
	return s.Senior != "" && !slices.Contains(judges, s.Senior)
}

// CheckDebate returns what is wrong with the selection for the judges of a debate between participants, of whom judges name the
// winner or, with options, choose one of these.
func (s Selection) CheckDebate(judges []string, asked, participants, options int) (wrong []string) {
	if s.IsZero() {
		return nil
	}
	if options > 0 && options != 2 {
		wrong = append(wrong, fmt.Sprintf("the decision has %d options, and a calibration is of two", options))
	} else if options == 0 && participants != 2 {
		wrong = append(wrong, fmt.Sprintf("there are %d participants, and a calibration is of two", participants))
	}
	return append(wrong, s.Check(judges, asked)...)
}

// Number returns 1 for A, 2 for B, and otherwise 0.
func (d Decision) Number() int { return slices.Index([]Decision{A, B}, d) + 1 }
