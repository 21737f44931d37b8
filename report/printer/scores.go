package printer

import (
	"fmt"
	"strings"

	"github.com/elenchus-go/debate/internal/characters"
	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/internal/readmodel"
)

// table returns a line for each score. All have the same number of decimals, so that they stand in columns.
func table(list []readmodel.Score) (lines []string) {
	width, decimals := 0, 0
	for _, s := range list {
		width = max(width, characters.Width(oneLine(s.Name)))
		_, after, _ := strings.Cut(outcome.Number(s.Value), ".")
		decimals = max(decimals, len(after))
	}
	for _, s := range list {
		name := oneLine(s.Name)
		lines = append(lines, fmt.Sprintf("  %s%s %5.*f of 10", name, strings.Repeat(" ", width-characters.Width(name)), decimals,
			s.Value))
	}
	return lines
}
