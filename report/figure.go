package report

import (
	"fmt"
	"math"
	"strings"
)

// figure is a drawing of lines, boxes, dots and texts. Coordinates are relative to its width and height.
type figure struct {
	ID, Title, About string
	Width, Height    float64
	Shapes           []shape
}

// shape is an element of a figure.
type shape struct {
	Kind       string // "line", "box", "dot" or "text"
	X, Y, W, H float64
	Points     string // points of a line
	Class      string // CSS class
	Text       string // text to show, or the tooltip of a box or a dot
}

const figureWidth = 760

// px rounds a length to one decimal.
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

// short truncates a name to the space beside a figure.
func short(name string) string {
	r := []rune(line(name))
	if len(r) > 20 {
		return string(r[:19]) + "…"
	}
	return string(r)
}

// look returns the CSS class for the nth color.
func look(n int) string { return fmt.Sprintf("c%d", n%8) }
