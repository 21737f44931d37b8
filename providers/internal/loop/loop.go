// Package loop finds out that a text repeats itself without end, while it arrives. A model that has begun to write the same words
// again and again does not stop before its token limit.
package loop

import "bytes"

// A loop is certain if the end of a text is one piece again and again, at least four times and at least minLength bytes long. A
// text that somebody means has no such end: rules, tables, lists and refrains are shorter.
const (
	minLength = 1_000
	minTimes  = 4
	maxPiece  = 2_000 // bytes of the piece that is repeated
	window    = minTimes * maxPiece
	stride    = 256 // bytes between two checks
	probe     = 32  // bytes at the end of a text that are there before, if there is a loop
)

// Detector looks for a loop. The zero Detector is ready to use.
type Detector struct {
	tail    []byte // the end of the text
	pending int    // bytes since the last check
	common  []uint16
}

// Loop is a loop at the end of a text.
type Loop struct {
	Piece  int // bytes of the piece that is repeated; 0 if there is no loop
	Length int // bytes of the loop
}

// Add adds a piece of the text, and returns the loop at its end if there is one.
func (d *Detector) Add(piece string) Loop {
	d.pending += len(piece)
	d.tail = append(d.tail, piece...)
	if d.pending < stride {
		return Loop{}
	}
	d.pending = 0
	if extra := len(d.tail) - window; extra > window {
		d.tail = append(d.tail[:0], d.tail[extra:]...)
	}
	return d.find(d.tail[max(0, len(d.tail)-window):])
}

// find returns the loop at the end of a text. It computes for each length of a piece how far the text, read backwards, is the same
// as the text without that piece: the Z algorithm.
func (d *Detector) find(text []byte) Loop {
	n := len(text)
	if n < minLength || bytes.LastIndex(text[:n-1], text[n-probe:]) < 0 {
		return Loop{}
	}
	if cap(d.common) < n {
		d.common = make([]uint16, window)
	}
	common := d.common[:n]
	at := func(i int) byte { return text[n-1-i] }
	from, to := 0, 0 // what is known to be the same as the beginning
	for p := 1; p < n; p++ {
		same := 0
		if p < to {
			same = min(to-p, int(common[p-from]))
		}
		for p+same < n && at(same) == at(p+same) {
			same++
		}
		common[p] = uint16(same) //nolint:gosec // a window is shorter
		if p+same > to {
			from, to = p, p+same
		}
		if length := p + same; length >= minLength && length >= minTimes*p {
			return Loop{p, length}
		}
	}
	return Loop{}
}
