package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/readmodel"
	"github.com/elenchus-go/debate/transcript"
)

// turnTimes returns the start and the duration of each turn.
func (r *Report) turnTimes() []block {
	var cells [][]string
	s := r.shownConfig()
	for i := range r.Result.Turns {
		t := &r.Result.Turns[i]
		cells = append(cells, []string{
			fmt.Sprint(i + 1), readmodel.TurnLabel(t), fmt.Sprint(t.Round), formatTime(t.Started), formatDuration(t.Ended.Sub(t.Started)),
			formatTokens(t.Usage, t.Usage.Input), formatTokens(t.Usage, t.Usage.Output), s.formatCost(t.Usage), strings.Join(turnNotes(t), "; "),
		})
	}
	if len(cells) == 0 {
		return nil
	}
	list := newTable("Turns, in order", []string{"No.", "Turn", "Round", "Started", "Duration", "Input tokens", "Output tokens", "Cost", "Notes"}, cells)
	return []block{{Figure: r.timeline(), Table: list}}
}

// timelineKinds lists the kinds of turns. The index of a kind selects its color in the timeline.
var timelineKinds = []transcript.Kind{transcript.Speech, transcript.Assessment, transcript.Conclusion, transcript.Setup, transcript.Summary, transcript.Remark, transcript.Embeddings, transcript.Silence}

// timeline draws a lane for each actor, a box for each turn, and pauses across all lanes.
func (r *Report) timeline() *figure {
	const left, top, lane = 150, 10, 24
	turns := r.Result.Turns
	var actors []string
	all := interval{turns[0].Started, turns[0].Ended}
	for i := range turns {
		t := &turns[i]
		if !slices.Contains(actors, t.Actor) {
			actors = append(actors, t.Actor)
		}
		if t.Started.Before(all.from) {
			all.from = t.Started
		}
		if t.Ended.After(all.to) {
			all.to = t.Ended
		}
	}
	length := max(all.to.Sub(all.from), 1)
	bottom := float64(top + lane*len(actors))
	x := func(t time.Time) float64 {
		return left + (lanesWidth-left-20)*min(max(float64(t.Sub(all.from))/float64(length), 0), 1)
	}
	f := &figure{
		ID: "lanes", Title: "Start and end of each turn", Width: lanesWidth, Height: bottom + 44,
		Description: "Each actor has a lane. Pauses extend across all lanes. The table after it contains the same times.",
	}
	for _, p := range r.pauses() {
		if p.to.After(all.from) && p.from.Before(all.to) {
			f.box("pause", x(p.from), top, max(x(p.to)-x(p.from), 1), bottom-top, "paused for "+formatDuration(p.to.Sub(p.from)))
		}
	}
	for i, name := range actors {
		f.line("grid", [2]float64{left, float64(top + lane*(i+1))}, [2]float64{lanesWidth - 20, float64(top + lane*(i+1))})
		f.text("end", left-8, float64(top+lane*i+16), readmodel.Shorten(name, 20))
	}
	for i := range turns {
		t := &turns[i]
		y := float64(top + lane*slices.Index(actors, t.Actor) + 4)
		about := fmt.Sprintf("%s, round %d: %s", readmodel.TurnLabel(t), t.Round, formatDuration(t.Ended.Sub(t.Started)))
		f.box(colorClass(max(slices.Index(timelineKinds, t.Kind), 0)), x(t.Started), y, max(x(t.Ended)-x(t.Started), 2), lane-8, about)
	}
	for i := range 5 {
		at := all.from.Add(length / 4 * time.Duration(i))
		f.text("middle", x(at), bottom+18, "+"+formatDuration(at.Sub(all.from)))
	}
	f.legend(turns, left, bottom+38)
	return f
}

// legend draws the color of each kind of turn.
func (f *figure) legend(turns []transcript.Turn, x, y float64) {
	for i, k := range timelineKinds {
		if slices.ContainsFunc(turns, func(t transcript.Turn) bool { return t.Kind == k }) {
			f.box(colorClass(i), x, y-10, 12, 12, "")
			f.text("start", x+18, y, string(k))
			x += 100
		}
	}
}

type interval struct{ from, to time.Time }

// pauses returns the intervals during which the debate was paused.
func (r *Report) pauses() (list []interval) {
	for i, s := range r.Transitions {
		if s.To != fsm.Paused {
			continue
		}
		end := r.Result.Updated
		if i+1 < len(r.Transitions) {
			end = r.Transitions[i+1].At
		}
		list = append(list, interval{s.At, end})
	}
	return list
}
