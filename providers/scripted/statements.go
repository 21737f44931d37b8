package scripted

import (
	"iter"
	"strings"

	"github.com/elenchus-go/debate/providers"
)

// Statements yields the statements in a request, with the names of their speakers as the reader sees them. A judge reads
// pseudonyms, which are drawn for each debate: to let Ada win, look for what Ada said.
//
//	for name, text := range scripted.Statements(r) {
//		if strings.Contains(text, "Trams are quieter.") {
//			return scripted.Values{"winner": name}.Reply(r)
//		}
//	}
func Statements(r providers.Request) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, m := range r.Messages {
			delimiter, text, _ := strings.Cut(m.Text, "\n")
			mark, name, isStatement := strings.Cut(delimiter, " begin: ")
			if m.Role != providers.User || !isStatement || !strings.HasPrefix(delimiter, "<<<") {
				continue
			}
			name, _, _ = strings.Cut(strings.TrimSuffix(name, ">>>"), ", round ")
			name, _, _ = strings.Cut(name, " on ")
			end := strings.LastIndex(text, "\n"+mark+" end>>>") // a line with the verdicts on its quotes may follow
			if !yield(name, text[:max(0, end)]) {
				return
			}
		}
	}
}
