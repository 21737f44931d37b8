package sources

import (
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/internal/characters"
	"github.com/elenchus-go/debate/transcript"
)

// maxRead is the largest number of sentences and of places that Read returns.
const maxRead = 20

// Read returns what the model of a turn has looked at by itself: one sentence for all files that it has read, and one for each other
// thing. The sentences have words of agents.
func Read(t *transcript.Turn) (lines []string) {
	var files, others []string
	add := func(list *[]string, text string) {
		if !slices.Contains(*list, text) {
			*list = append(*list, text)
		}
	}
	for _, attempt := range t.Attempts {
		for _, a := range attempt.Read {
			if a.Kind != "read" || a.Failed || len(a.Places) == 0 {
				add(&others, describeAccess(a))
				continue
			}
			for _, place := range a.Places {
				add(&files, characters.Cut(place.String(), maxQuote))
			}
		}
	}
	if len(files) > 0 {
		lines = append(lines, "Read "+strings.Join(first(files, "files"), ", ")+".")
	}
	return append(lines, first(others, "things")...)
}

// describeAccess returns a sentence about something that is more than reading files.
func describeAccess(a transcript.Access) string {
	var places []string
	for _, place := range a.Places {
		places = append(places, characters.Cut(place.String(), maxQuote))
	}
	text := "Used a tool: " + characters.Cut(a.Title, maxQuote)
	if a.Kind != "" {
		text = fmt.Sprintf("Used a tool (%s): %s", characters.Cut(a.Kind, maxQuote), characters.Cut(a.Title, maxQuote))
	}
	if len(places) > 0 {
		text += ", in " + strings.Join(places, ", ")
	}
	if a.Failed {
		text += ", without success"
	}
	return text + "."
}

// first returns the first elements of a list, and how many more there are of what is called so.
func first(list []string, what string) []string {
	if len(list) <= maxRead {
		return list
	}
	return append(slices.Clone(list[:maxRead]), fmt.Sprintf("%d more %s", len(list)-maxRead, what))
}
