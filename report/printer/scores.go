package printer

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/internal/readmodel"
)

// table returns a line for each score. All have the same number of decimals, so that they stand in columns.
func table(list []readmodel.Score) (lines []string) {
	width, decimals := 0, 0
	for _, s := range list {
		width = max(width, utf8.RuneCountInString(oneLine(s.Name)))
		_, after, _ := strings.Cut(outcome.Number(s.Value), ".")
		decimals = max(decimals, len(after))
	}
	for _, s := range list {
		name := oneLine(s.Name)
		lines = append(lines, fmt.Sprintf("  %s%s %5.*f of 10", name, strings.Repeat(" ", width-utf8.RuneCountInString(name)), decimals,
			s.Value))
	}
	return lines
}
