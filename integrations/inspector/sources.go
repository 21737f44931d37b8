package inspector

import (
	"html/template"

	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/internal/sources"
)

// maxSources limits, in bytes of HTML, the sources that the page of a debate shows.
const maxSources = 2 << 10

// sourceLines returns what the turns have made of the sources that they cite, as far as a page has room, how many sources there
// are besides, and the bytes of HTML.
func sourceLines(list []evidence.Source) (lines []string, more, size int) {
	for i := range list {
		line := sources.Line(&list[i])
		length := len(template.HTMLEscapeString(line))
		if list[i].CitedBy == nil || size+length > maxSources {
			more++
			continue
		}
		lines, size = append(lines, line), size+length
	}
	return lines, more, size
}
