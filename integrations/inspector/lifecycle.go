package inspector

import (
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
)

// lifecycle is the drawing of the lifecycle of a debate, with the path that the debate has taken.
type lifecycle struct {
	Width, Height int
	States        []stateBox
	Arrows        []arrow
	Controls      []control
	Description   string // the drawing in words
}

// stateBox is a state in the drawing.
type stateBox struct {
	State      fsm.State
	Label      string
	Class      string
	X, Y, W, H int
	MidX, MidY int // where the label is
}

// arrow is an arrow of the table in the drawing.
type arrow struct {
	fsm.Arrow
	Label string // the event with its guard
	Class string
	Path  string // the SVG path
	Times int    // how often the debate has taken it
	About string // the arrow in words
	At    *spot  // where the label is; nil if another arrow has the same label
}

// journey counts the transitions that a debate has taken.
type journey struct {
	taken map[fsm.Arrow]int // without guards
	order []fsm.Arrow       // in the order in which they were taken first
}

// add counts an event if it is a transition.
func (j *journey) add(ev debate.Event) {
	change, ok := ev.(debate.StateChanged)
	if !ok {
		return
	}
	if j.taken == nil {
		j.taken = map[fsm.Arrow]int{}
	}
	a := fsm.Arrow{From: change.From, To: change.To, On: change.On}
	j.taken[a]++
	if j.taken[a] == 1 {
		j.order = append(j.order, a)
	}
}

// times returns how often the debate took the transitions that an arrow stands for.
func (j *journey) times(drawn fsm.Arrow) (n int) {
	for a, count := range j.taken {
		if a.On == drawn.On && within(a.From, drawn.From) && within(a.To, drawn.To) {
			n += count
		}
	}
	return n
}

// visited reports whether the debate has been in a state.
func (j *journey) visited(s fsm.State) bool {
	return slices.ContainsFunc(j.order, func(a fsm.Arrow) bool { return within(a.From, s) || within(a.To, s) })
}

// within reports whether a state is another one, or in it.
func within(s, outer fsm.State) bool {
	return s == outer || outer == running && strings.HasPrefix(string(s), string(running)+".")
}

// drawLifecycle draws the table of package fsm for a debate in a state. refusal tells why the debate refuses an event, or nil;
// without it no control is listed.
func drawLifecycle(current fsm.State, j *journey, refusal func(fsm.Event) error) *lifecycle {
	l := &lifecycle{Width: drawingWidth, Height: drawingHeight}
	for _, s := range drawnStates {
		b := places[s]
		class := "state"
		if s == running {
			class = "compound"
		}
		switch {
		case s == current:
			class += " current"
		case within(current, s), j.visited(s):
			class += " visited"
		}
		drawn := stateBox{State: s, Label: words(s), Class: class, X: b.x, Y: b.y, W: b.w, H: b.h, MidX: b.cx(), MidY: b.cy() + 4}
		if s == running {
			drawn.MidX, drawn.MidY = b.x+34, b.y+18 // beside the arrow that enters it
		}
		l.States = append(l.States, drawn)
	}
	labeled := map[string]bool{}
	for _, a := range fsm.Arrows() {
		l.Arrows = append(l.Arrows, newArrow(a, current, j, refusal, labeled))
	}
	// The path taken lies above the rest.
	slices.SortStableFunc(l.Arrows, func(a, b arrow) int { return min(a.Times, 1) - min(b.Times, 1) })
	l.Controls = controlsAt(refusal)
	l.Description = describe(current, j)
	return l
}

// newArrow draws one arrow. labeled notes which labels there are.
func newArrow(a fsm.Arrow, current fsm.State, j *journey, refusal func(fsm.Event) error, labeled map[string]bool) arrow {
	drawn := arrow{Arrow: a, Label: labelOf(a), Class: "arrow", Path: pathOf(a), Times: j.times(a)}
	drawn.About = fmt.Sprintf("%s: %s to %s", drawn.Label, words(a.From), words(a.To))
	if drawn.Times > 0 {
		drawn.Class += " taken"
		drawn.About += ", " + timesText(drawn.Times)
	}
	if refusal != nil && within(current, a.From) && slices.Contains(controlEvents, a.On) {
		if err := refusal(a.On); err != nil {
			drawn.Class += " refused"
			drawn.About += "; " + err.Error()
		}
	}
	if at, ok := labelPlaces[drawn.Label]; ok && !labeled[drawn.Label] {
		labeled[drawn.Label] = true
		drawn.At = &at
	}
	return drawn
}

// controlEvents lists the events that a caller fires, in the order in which they are shown.
var controlEvents = []fsm.Event{fsm.Edit, fsm.Validate, fsm.Start, fsm.Pause, fsm.Resume, fsm.Stop, fsm.Retry, fsm.Reset, fsm.Cancel}

// controlsAt returns the controls with the reasons why they are refused. Debate.Start validates a configuration first.
func controlsAt(refusal func(fsm.Event) error) (list []control) {
	if refusal == nil {
		return nil
	}
	for _, on := range controlEvents {
		err := refusal(on)
		if on == fsm.Start && err != nil && refusal(fsm.Validate) == nil {
			err = nil
		}
		if on == fsm.Validate {
			continue
		}
		c := control{Name: string(on), Title: strings.ToUpper(string(on[:1])) + string(on[1:])}
		if err != nil {
			c.Reason = err.Error()
		}
		list = append(list, c)
	}
	return list
}

// describe returns the drawing in words.
func describe(current fsm.State, j *journey) string {
	text := fmt.Sprintf("The debate is in state %s.", words(current))
	if len(j.order) == 0 {
		return text
	}
	var path []string
	for _, a := range j.order {
		path = append(path, fmt.Sprintf("%s to %s (%s)", words(a.On), words(a.To), timesText(j.taken[a])))
	}
	return text + " Transitions taken: " + strings.Join(path, ", ") + "."
}

func timesText(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
