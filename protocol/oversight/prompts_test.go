package oversight_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/internal/test/golden"
	"github.com/elenchus-go/debate/protocol/oversight"
)

// elided has what golden files show shorter: what is drawn, the rules about quotes of another package, and the speeches.
var elided = []struct {
	found *regexp.Regexp
	shown string
}{
	{regexp.MustCompile(`\d{12,}`), "NONCE"},
	{regexp.MustCompile(`(?s)Sources: documents and what .*? is not compared either\.`), "Sources: …"},
	{regexp.MustCompile(`( so){20,}`), " so …"},
}

// The prompts of all steps of two rounds of each mode, and those of a judge alone who reads the text. The system prompt of an
// actor is shown again only where it changes.
func TestPromptsMatchGoldenFiles(t *testing.T) {
	for _, mode := range oversight.Modes() {
		showPrompts(t, mode, string(mode), nil)
	}
	showPrompts(t, oversight.Direct, "direct-text", []evidence.Document{evidence.Private("fable", fable, "Cy")})
}

// showPrompts holds a debate of a mode, with documents if there are any, and compares its prompts with a golden file.
func showPrompts(t *testing.T, mode oversight.Mode, name string, documents []evidence.Document) {
	s := &stage{t: t, choice: nothing, credence: .8}
	c := about(mode, "s")
	c.Limits.MaxRounds = 2
	if mode == oversight.Direct {
		c.Limits.MaxRounds = 1
	}
	if documents != nil {
		c.Documents = documents
	}
	s.hold(c)
	order := func(key string) string {
		round, phase, _ := strings.Cut(strings.TrimPrefix(key, "1/"), "/")
		return fmt.Sprint(round, strings.Index("choose speak ask judge", strings.SplitN(phase, "/", 2)[0])+10, phase)
	}
	var b strings.Builder
	systems := map[string]string{}
	for _, key := range slices.SortedFunc(maps.Keys(s.seen), func(a, b string) int { return strings.Compare(order(a), order(b)) }) {
		require.Len(t, s.seen[key], 1)
		fmt.Fprintf(&b, "================ %s\n", strings.TrimPrefix(key, "1/"))
		actor := strings.Split(key, "/")[3]
		for i, m := range s.seen[key][0].Messages {
			if i == 0 && systems[actor] == m.Text {
				b.WriteString("======== the same system prompt\n")
				continue
			} else if i == 0 {
				systems[actor] = m.Text
			}
			fmt.Fprintf(&b, "======== %s\n%s\n", m.Role, m.Text)
		}
	}
	text := b.String()
	for _, x := range elided {
		text = x.found.ReplaceAllString(text, x.shown)
	}
	golden.Require(t, "testdata/"+name+".golden", text)
}
