// Package speech tells what a speaker has said from what a model has written besides: the label with the speaker's name, lines for
// others, and a refusal in place of a speech.
//
// All functions are pure, and know the names of the seats. They take time in proportion to the text.
package speech

import (
	"strings"
)

// Reading is what a reply says for the speaker.
type Reading struct {
	// Text is what the speaker says: without a label at the beginning and, of a dialogue, up to the first line of another. It is
	// the reply itself if nothing was removed, and empty if the reply has nothing of the speaker's own.
	Text string
	// Dialogue reports that the reply has lines for others too.
	Dialogue bool
}

// Read reads a reply of the speaker.
func (s Seats) Read(text string) Reading {
	labels := s.labels(text)
	if len(labels) == 0 {
		return Reading{Text: text}
	}
	if labels[0].is(speaker) && strings.TrimSpace(text[:labels[0].at]) == "" {
		labels = append(labels, s.labelsInLines(text, labels)...)
		sortLabels(labels)
	}
	d := dialogue{text: text, seats: s, labels: labels}
	if first := d.firstOther(); first >= 0 {
		return Reading{Text: d.ownPart(first), Dialogue: true}
	}
	begin := d.ownBegin()
	if begin == 0 || d.isWord() && len(labels) > 1 { // a list with the words of the seats, such as "Pro: … Con: …"
		return Reading{Text: text}
	}
	return Reading{Text: trim(text[begin:])}
}
