package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/elenchus-go/debate/transcript"
)

// figure is a drawing of lines, boxes, dots and words, in the units of its own width and height.
type figure struct {
	ID, Title, About string
	Width, Height    float64
	Shapes           []shape
}

// shape is one of them.
type shape struct {
	Kind       string // "line", "box", "dot" or "text"
	X, Y, W, H float64
	Points     string // of a line
	Class      string // how it looks
	Text       string // what it says, or what it is when one points at it
}

const figureWidth = 760

// px is a length to a tenth.
func px(f float64) float64 { return math.Round(f*10) / 10 }

func (f *figure) line(class string, points ...[2]float64) {
	list := make([]string, len(points))
	for i, p := range points {
		list[i] = fmt.Sprintf("%g,%g", px(p[0]), px(p[1]))
	}
	f.Shapes = append(f.Shapes, shape{Kind: "line", Class: class, Points: strings.Join(list, " ")})
}

func (f *figure) box(class string, x, y, w, h float64, text string) {
	f.Shapes = append(f.Shapes, shape{Kind: "box", X: px(x), Y: px(y), W: px(w), H: px(h), Class: class, Text: text})
}

func (f *figure) dot(class string, x, y float64, text string) {
	f.Shapes = append(f.Shapes, shape{Kind: "dot", X: px(x), Y: px(y), Class: class, Text: text})
}

func (f *figure) text(class string, x, y float64, text string) {
	f.Shapes = append(f.Shapes, shape{Kind: "text", X: px(x), Y: px(y), Class: class, Text: text})
}

// short is a name that fits beside a drawing.
func short(name string) string {
	r := []rune(line(name))
	if len(r) > 20 {
		return string(r[:19]) + "…"
	}
	return string(r)
}

// look is the class of the nth of several things.
func look(n int) string { return fmt.Sprintf("c%d", n%8) }

// chart draws a line for each series, rounds from left to right.
func (s *scale) chart() *figure {
	const left, top, height, perRow = 40, 12, 240, 4
	rounds := s.rounds()
	first, last := rounds[0], rounds[len(rounds)-1]
	f := &figure{ID: "chart", Title: s.of, Width: figureWidth}
	f.About = fmt.Sprintf("Lines: %d, from round %d to round %d. The table below has the same values.", len(s.series), first, last)
	x := func(round int) float64 {
		if first == last {
			return (left + figureWidth - 20) / 2
		}
		return left + 10 + (figureWidth-left-30)*(float64(round)-float64(first))/(float64(last)-float64(first))
	}
	y := func(v float64) float64 { return top + height*(1-min(max(v/s.most, 0), 1)) }
	for i := range 6 {
		v := s.most * float64(i) / 5
		f.line("grid", [2]float64{left, y(v)}, [2]float64{figureWidth - 10, y(v)})
		f.text("end", left-6, y(v)+4, score(v))
	}
	for i := 0; i < len(rounds); i += (len(rounds) + 19) / 20 {
		f.text("middle", x(rounds[i]), top+height+18, fmt.Sprint(rounds[i]))
	}
	for i, one := range s.series {
		var points [][2]float64
		for _, round := range rounds {
			v, ok := one.values[round]
			if !ok { // the line is broken
				f.line(look(i), points...)
				points = nil
				continue
			}
			points = append(points, [2]float64{x(round), y(v)})
			f.dot(look(i), x(round), y(v), fmt.Sprintf("%s, round %d: %s", one.name, round, score(v)))
		}
		f.line(look(i), points...)
		at, below := float64(left+i%perRow*178), float64(top+height+44+i/perRow*20)
		f.line(look(i), [2]float64{at, below - 4}, [2]float64{at + 24, below - 4})
		f.text("start", at+30, below, short(one.name))
	}
	f.Height = float64(top + height + 56 + (len(s.series)-1)/perRow*20)
	return f
}

// kinds are the kinds of turns, by how they look in the timeline.
var kinds = []transcript.Kind{transcript.Speech, transcript.Assessment, transcript.Conclusion, transcript.Prelude, transcript.Summary, transcript.Remark, transcript.Vectors}

// timeline draws a lane for each speaker, with a box for each turn and pauses across all lanes.
func (r *Report) timeline() *figure {
	const left, top, lane = 150, 10, 24
	turns := r.Result.Turns
	var actors []string
	all := span{turns[0].Began, turns[0].Ended}
	for i := range turns {
		t := &turns[i]
		if !slices.Contains(actors, t.Actor) {
			actors = append(actors, t.Actor)
		}
		if t.Began.Before(all.from) {
			all.from = t.Began
		}
		if t.Ended.After(all.to) {
			all.to = t.Ended
		}
	}
	length := max(all.to.Sub(all.from), 1)
	bottom := float64(top + lane*len(actors))
	x := func(t time.Time) float64 {
		return left + (figureWidth-left-20)*min(max(float64(t.Sub(all.from))/float64(length), 0), 1)
	}
	f := &figure{
		ID: "lanes", Title: "When each turn began and ended", Width: figureWidth, Height: bottom + 44,
		About: "A lane for each speaker; pauses go across all lanes. The table below has the same times.",
	}
	for _, p := range r.pauses() {
		if p.to.After(all.from) && p.from.Before(all.to) {
			f.box("pause", x(p.from), top, max(x(p.to)-x(p.from), 1), bottom-top, "paused for "+took(p.to.Sub(p.from)))
		}
	}
	for i, name := range actors {
		f.line("grid", [2]float64{left, float64(top + lane*(i+1))}, [2]float64{figureWidth - 20, float64(top + lane*(i+1))})
		f.text("end", left-8, float64(top+lane*i+16), short(name))
	}
	for i := range turns {
		t := &turns[i]
		y := float64(top + lane*slices.Index(actors, t.Actor) + 4)
		about := fmt.Sprintf("%s, round %d: %s", who(t), t.Round, took(t.Ended.Sub(t.Began)))
		f.box(look(max(slices.Index(kinds, t.Kind), 0)), x(t.Began), y, max(x(t.Ended)-x(t.Began), 2), lane-8, about)
	}
	for i := range 5 {
		at := all.from.Add(length / 4 * time.Duration(i))
		f.text("middle", x(at), bottom+18, "+"+took(at.Sub(all.from)))
	}
	f.legend(turns, left, bottom+38)
	return f
}

// legend says how each kind of turn looks.
func (f *figure) legend(turns []transcript.Turn, x, y float64) {
	for i, k := range kinds {
		if slices.ContainsFunc(turns, func(t transcript.Turn) bool { return t.Kind == k }) {
			f.box(look(i), x, y-10, 12, 12, "")
			f.text("start", x+18, y, string(k))
			x += 100
		}
	}
}
