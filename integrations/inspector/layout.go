package inspector

import (
	"fmt"

	"github.com/elenchus-go/debate/fsm"
)

// This file places the states and arrows of the lifecycle. States follow each other downwards in a column. Arrows that skip
// states go along rails beside it, one for each event, so that those with the same event become one line. A test compares
// the drawing with the table of package fsm.

const (
	drawingWidth  = 720
	drawingHeight = 690
	laneBelow     = 674 // below all states
)

// running names the state that contains the states of a round.
const running fsm.State = "running"

// box is the place of a state.
type box struct{ x, y, w, h int }

func (b box) cx() int     { return b.x + b.w/2 }
func (b box) cy() int     { return b.y + b.h/2 }
func (b box) right() int  { return b.x + b.w }
func (b box) bottom() int { return b.y + b.h }

var places = map[fsm.State]box{
	fsm.Configuring:       {260, 20, 150, 34},
	fsm.Validating:        {260, 92, 150, 34},
	fsm.Ready:             {260, 164, 150, 34},
	fsm.Initializing:      {260, 236, 150, 34},
	running:               {222, 300, 226, 228},
	fsm.AwaitingResponses: {260, 330, 150, 34},
	fsm.Judging:           {260, 402, 150, 34},
	fsm.RoundComplete:     {260, 474, 150, 34},
	fsm.Completing:        {260, 560, 150, 34},
	fsm.Completed:         {260, 626, 150, 34},
	fsm.Paused:            {10, 402, 110, 34},
	fsm.Error:             {600, 402, 110, 34},
	fsm.Canceled:          {600, 626, 110, 34},
}

// drawnStates lists the states in the order in which they are drawn and read: what is in a state after it.
var drawnStates = []fsm.State{
	fsm.Configuring, fsm.Validating, fsm.Ready, fsm.Initializing, running, fsm.AwaitingResponses, fsm.Judging, fsm.RoundComplete,
	fsm.Completing, fsm.Completed, fsm.Paused, fsm.Error, fsm.Canceled,
}

// column lists the states that follow each other downwards.
var column = []fsm.State{
	fsm.Configuring, fsm.Validating, fsm.Ready, fsm.Initializing, fsm.AwaitingResponses, fsm.Judging, fsm.RoundComplete,
	fsm.Completing, fsm.Completed,
}

// rail is a vertical line beside the column. Its arrows leave and reach the states at a distance from their middle.
type rail struct{ x, out, in int }

// rails holds the rail of each event that skips states, by its label.
var rails = map[string]rail{
	"edit":                    {200, 0, 2},
	"reject":                  {222, -6, 11},
	"pause":                   {140, -7, -8},
	"resume [canProceed]":     {162, 8, 7},
	"responded [otherwise]":   {240, 0, 0},
	"advance [canContinue]":   {430, 0, 0},
	"initialized [shouldEnd]": {472, -11, -13},
	"assessed [shouldEnd]":    {472, 0, -13},
	"stop":                    {496, -3, -5},
	"fail":                    {520, 5, 0},
	"cancel":                  {544, 13, 0},
}

// spot is the place of a label. A label beside a vertical line is turned.
type spot struct {
	X, Y   int
	Turned bool
}

// labelPlaces holds the place of each label. Labels beside vertical lines are turned.
var labelPlaces = map[string]spot{
	"edit":                      {196, 140, true},
	"reject":                    {218, 92, true},
	"validate":                  {341, 78, false},
	"accept":                    {341, 150, false},
	"start [hasValidConfig]":    {341, 222, false},
	"initialized [otherwise]":   {341, 290, false},
	"initialized [shouldEnd]":   {468, 396, true},
	"responded [assessmentDue]": {268, 388, false},
	"responded [otherwise]":     {236, 486, true},
	"assessed [shouldEnd]":      {468, 550, true},
	"assessed [otherwise]":      {282, 460, false},
	"advance [canContinue]":     {426, 478, true},
	"advance [otherwise]":       {341, 550, false},
	"pause":                     {136, 330, true},
	"resume [canProceed]":       {158, 330, true},
	"stop":                      {492, 330, true},
	"concluded":                 {341, 615, false},
	"fail":                      {516, 330, true},
	"retry [isRecoverable]":     {616, 340, true},
	"reset":                     {636, 340, true},
	"cancel":                    {540, 330, true},
}

// pathOf returns the SVG path of an arrow, or "" if it has no place.
func pathOf(a fsm.Arrow) string {
	from, ok1 := places[a.From]
	to, ok2 := places[a.To]
	if !ok1 || !ok2 {
		return ""
	}
	switch {
	case a.From == fsm.Paused && a.On == fsm.Stop:
		return fmt.Sprintf("M%d,%d V%d H%d", from.x+80, from.bottom(), to.cy()+12, to.x)
	case a.From == fsm.Paused && a.On == fsm.Cancel:
		return fmt.Sprintf("M%d,%d V%d H%d V%d", from.x+40, from.bottom(), laneBelow, to.cx(), to.bottom())
	case a.From == fsm.Error && a.To == fsm.Canceled:
		return fmt.Sprintf("M%d,%d V%d", from.cx(), from.bottom(), to.y)
	case a.From == fsm.Error && a.To == fsm.Ready:
		return fmt.Sprintf("M%d,%d V%d H%d", from.x+20, from.y, to.cy()-8, to.right())
	case a.From == fsm.Error && a.To == fsm.Configuring:
		return fmt.Sprintf("M%d,%d V%d H%d", from.x+40, from.y, to.cy()-8, to.right())
	case a.From == a.To:
		return fmt.Sprintf("M%d,%d h-16 v10 h16", from.x, from.cy()-14)
	case follows(a.From, a.To):
		return fmt.Sprintf("M%d,%d V%d", from.cx(), from.bottom(), to.y)
	}
	r, ok := rails[labelOf(a)]
	if !ok {
		return ""
	}
	out, in := from.cy()+r.out, to.cy()+r.in
	if a.From == running && r.x > from.x { // between two states of the round
		out += 36
	}
	return fmt.Sprintf("M%d,%d H%d V%d H%d", sideOf(from, r.x), out, r.x, in, sideOf(to, r.x))
}

// sideOf returns the side of a state that faces a rail.
func sideOf(b box, x int) int {
	if x < b.cx() {
		return b.x
	}
	return b.right()
}

// follows reports whether a state is the next one in the column.
func follows(from, to fsm.State) bool {
	for i, s := range column[1:] {
		if column[i] == from && s == to {
			return true
		}
	}
	return false
}

// labelOf returns the event of an arrow with its guard.
func labelOf(a fsm.Arrow) string {
	if a.Guard == "" {
		return string(a.On)
	}
	return string(a.On) + " [" + a.Guard + "]"
}
