package inspector

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
)

var (
	pathPattern = regexp.MustCompile(`^M(\d+),(\d+)( [HV]\d+)+$`)
	loopPattern = regexp.MustCompile(`^M\d+,\d+ h-16 v10 h16$`)
)

// The drawing has each arrow of the table, with its label, and nothing else.
func TestTheLifecycleIsTheTable(t *testing.T) {
	l := drawLifecycle(fsm.Ready, &journey{}, nil)
	drawn, labels := map[fsm.Arrow]bool{}, map[string]int{}
	for _, a := range l.Arrows {
		drawn[a.Arrow] = true
		if a.At != nil {
			labels[a.Label]++
		}
		if a.From == a.To {
			require.Regexp(t, loopPattern, a.Path)
			continue
		}
		require.Regexp(t, pathPattern, a.Path, "%v has no way", a.Arrow)
		x, y := ends(t, a.Path)
		require.True(t, touches(places[a.From], x[0], y[0]), "%v begins at %d,%d", a.Arrow, x[0], y[0])
		require.True(t, touches(places[a.To], x[1], y[1]), "%v ends at %d,%d", a.Arrow, x[1], y[1])
	}
	states := map[fsm.State]bool{}
	for _, a := range fsm.Arrows() {
		require.True(t, drawn[a], "%v is not drawn", a)
		require.Equal(t, 1, labels[labelOf(a)], "label %s", labelOf(a))
		states[a.From], states[a.To] = true, true
	}
	require.Len(t, l.Arrows, len(fsm.Arrows()))
	require.Len(t, labelPlaces, len(labels))
	require.Len(t, l.States, len(states))
	for _, s := range l.States {
		delete(states, s.State)
	}
	require.Empty(t, states)
}

// ends returns the coordinates of the two ends of a path.
func ends(t *testing.T, path string) (x, y [2]int) {
	t.Helper()
	number := func(s string) int {
		n, err := strconv.Atoi(s)
		require.NoError(t, err)
		return n
	}
	parts := strings.Fields(path)
	first, second, _ := strings.Cut(parts[0][1:], ",")
	x[0], y[0] = number(first), number(second)
	x[1], y[1] = x[0], y[0]
	for _, p := range parts[1:] {
		if p[0] == 'H' {
			x[1] = number(p[1:])
		} else {
			y[1] = number(p[1:])
		}
	}
	return x, y
}

// touches reports whether a point is on the border of a state.
func touches(b box, x, y int) bool {
	inX, inY := x >= b.x && x <= b.right(), y >= b.y && y <= b.bottom()
	return inX && inY && (x == b.x || x == b.right() || y == b.y || y == b.bottom())
}

func TestStatesDoNotOverlap(t *testing.T) {
	for s, a := range places {
		require.True(t, a.x >= 0 && a.y >= 0 && a.right() <= drawingWidth && a.bottom() < laneBelow, s)
		for other, b := range places {
			if s != other && s != running && other != running {
				require.True(t, a.right() < b.x || b.right() < a.x || a.bottom() < b.y || b.bottom() < a.y, "%s and %s", s, other)
			}
		}
		if inner := places[running]; within(s, running) {
			require.True(t, a.x >= inner.x && a.right() <= inner.right() && a.y >= inner.y && a.bottom() <= inner.bottom(), s)
		}
	}
}

func TestThePathIsMarked(t *testing.T) {
	j := &journey{}
	for _, c := range []debate.StateChanged{
		{From: fsm.Configuring, On: fsm.Validate, To: fsm.Validating},
		{From: fsm.Validating, On: fsm.Accept, To: fsm.Ready},
		{From: fsm.Ready, On: fsm.Start, To: fsm.Initializing},
		{From: fsm.Initializing, On: fsm.Initialized, To: fsm.AwaitingResponses},
		{From: fsm.AwaitingResponses, On: fsm.Pause, To: fsm.Paused},
		{From: fsm.Paused, On: fsm.Resume, To: fsm.AwaitingResponses},
		{From: fsm.AwaitingResponses, On: fsm.Responded, To: fsm.Judging},
		{From: fsm.Judging, On: fsm.Pause, To: fsm.Paused},
	} {
		j.add(c)
	}
	refused := errors.New("Resume is not possible")
	l := drawLifecycle(fsm.Paused, j, func(on fsm.Event) error {
		if on == fsm.Stop || on == fsm.Cancel {
			return nil
		}
		return refused
	})
	taken := map[string]int{}
	for _, a := range l.Arrows {
		if a.Times > 0 {
			taken[fmt.Sprint(a.From, " ", a.On, " ", a.To)] = a.Times
		}
		require.Equal(t, a.Times > 0, strings.Contains(a.Class, " taken"))
		require.Equal(t, a.From == fsm.Paused && a.On == fsm.Resume, strings.Contains(a.Class, " refused"), "%v", a.Arrow)
	}
	require.Equal(t, map[string]int{
		"configuring validate validating": 1, "validating accept ready": 1, "ready start initializing": 1,
		"initializing initialized running.awaiting_responses": 1, "running pause paused": 2, "paused resume running": 1,
		"running.awaiting_responses responded running.judging": 1,
	}, taken)
	require.Equal(t, "The debate is in state paused. Transitions taken: validate to validating (once), accept to ready (once), "+
		"start to initializing (once), initialized to awaiting responses (once), pause to paused (once), resume to awaiting responses (once), "+
		"responded to judging (once), pause to paused (once).", l.Description)
	classes := map[fsm.State]string{}
	for _, s := range l.States {
		classes[s.State] = s.Class
	}
	require.Equal(t, map[fsm.State]string{
		fsm.Configuring: "state visited", fsm.Validating: "state visited", fsm.Ready: "state visited", fsm.Initializing: "state visited",
		running: "compound visited", fsm.AwaitingResponses: "state visited", fsm.Judging: "state visited", fsm.RoundComplete: "state",
		fsm.Completing: "state", fsm.Completed: "state", fsm.Paused: "state current", fsm.Error: "state", fsm.Canceled: "state",
	}, classes)
	for _, c := range l.Controls {
		want := "Resume is not possible"
		if c.Name == "stop" || c.Name == "cancel" {
			want = ""
		}
		require.Equal(t, want, c.Reason, c.Name)
	}
}
