package rounds

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/internal/characters"
	"github.com/elenchus-go/debate/providers/tool"
)

// sourceHeading returns what the model reads of the numbers of sources beside the result of a call.
func sourceHeading(list []tool.Source) string {
	var b strings.Builder
	for i := range list {
		s := &list[i]
		if s.Number == 0 {
			continue
		}
		if b.Len() == 0 {
			b.WriteString(", source")
		} else {
			b.WriteByte(';')
		}
		fmt.Fprintf(&b, " [%d]", s.Number)
		if name := cmp.Or(s.Title, s.URI); name != "" {
			b.WriteString(" " + characters.Cut(name, maxHeading))
		}
	}
	return b.String()
}

// LongestHeading returns the heading of sources that have no numbers yet, with the longest ones.
func LongestHeading(list []tool.Source) string {
	list = slices.Clone(list)
	for i := range list {
		list[i].Number = 9999
	}
	return sourceHeading(list)
}

// maxHeading limits, in bytes, the name of a source beside a result.
const maxHeading = 100
