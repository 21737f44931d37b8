package main

import (
	"fmt"
	"strings"

	"github.com/elenchus-go/debate/progress"
)

// frame is the part of a terminal display that changes. It is below the lines that remain.
type frame struct {
	title    string
	phases   []progress.Update
	speakers []speakerLine
}

type speakerLine struct{ who, text string }

const (
	maxSpeakers = 6   // maximum number of speakers in a frame
	tailLength  = 400 // maximum number of bytes of a speaker's text in a frame
)

func (t *tracker) frame() frame {
	f := frame{title: t.title(), phases: t.Phases()}
	for _, s := range t.speakers {
		text := s.text
		if strings.HasPrefix(strings.TrimLeft(text, " \n\t`"), "{") || strings.HasPrefix(text, "```") {
			text = fmt.Sprintf("writing data, %d bytes", len(text))
		} else if t.hidden {
			text = fmt.Sprintf("writing, %d bytes", len(text))
		}
		f.speakers = append(f.speakers, speakerLine{printableLine(s.key.Phase + ", " + actorLabel(s.key)), printableLine(strings.ToValidUTF8(text[max(0, len(text)-tailLength):], ""))})
	}
	return f
}

// text returns the frame as lines of at most the given width.
func (f frame) text(width int) string {
	if f.title == "" {
		return ""
	}
	var counts []string
	for _, p := range f.phases {
		counts = append(counts, p.Phase+" "+formatCount(p))
	}
	lines := []string{f.title + " | " + strings.Join(counts, ", ")}
	for i, s := range f.speakers {
		if i == maxSpeakers {
			lines = append(lines, fmt.Sprintf("  and %d more", len(f.speakers)-i))
			break
		}
		label := "  " + s.who + ": "
		lines = append(lines, label+truncateLeft(s.text, width-displayWidth(label)))
	}
	return strings.Join(lines, "\n")
}
