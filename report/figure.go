package report

import (
	"fmt"
	"math"
	"strings"
)

// figure is a drawing of lines, boxes, dots and texts. Coordinates are relative to its width and height.
type figure struct {
	ID, Title, Description string
	Width, Height          float64
	Shapes                 []shape
}

// shape is an element of a figure.
type shape struct {
	Kind       string // "line", "box", "dot" or "text"
	X, Y, W, H float64
	Points     string // points of a line
	Style      string // CSS class
	Text       string // text to show, or the tooltip of a box or a dot
}

// Widths of figures, in the units of the SVG's view box. A chart is wide enough for a phone.
const (
	chartWidth = 440
	lanesWidth = 760
)

// roundToTenth rounds a length to one decimal.
func roundToTenth(f float64) float64 { return math.Round(f*10) / 10 }

func (f *figure) line(class string, points ...[2]float64) {
	list := make([]string, len(points))
	for i, p := range points {
		list[i] = fmt.Sprintf("%g,%g", roundToTenth(p[0]), roundToTenth(p[1]))
	}
	f.Shapes = append(f.Shapes, shape{Kind: "line", Style: class, Points: strings.Join(list, " ")})
}

func (f *figure) box(class string, x, y, w, h float64, text string) {
	f.Shapes = append(f.Shapes, shape{Kind: "box", X: roundToTenth(x), Y: roundToTenth(y), W: roundToTenth(w), H: roundToTenth(h), Style: class, Text: text})
}

func (f *figure) dot(class string, x, y float64, text string) {
	f.Shapes = append(f.Shapes, shape{Kind: "dot", X: roundToTenth(x), Y: roundToTenth(y), Style: class, Text: text})
}

func (f *figure) text(class string, x, y float64, text string) {
	f.Shapes = append(f.Shapes, shape{Kind: "text", X: roundToTenth(x), Y: roundToTenth(y), Style: class, Text: text})
}

// colorClass returns the CSS class for the nth color.
func colorClass(n int) string { return fmt.Sprintf("c%d", n%8) }
