package readmetest

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	embedding   = root + "/docs/serving.md"
	embedLines  = 60 // examples/integrations/langchaingo/main.go has fewer lines
	embedSource = root + "/examples/integrations/langchaingo/main.go"
)

// embeddingImports lists the packages that the functions of docs/serving.md use, by name.
var embeddingImports = map[string]string{
	"agent":       "google.golang.org/adk/v2/agent",
	"agents":      "github.com/tmc/langchaingo/agents",
	"context":     "context",
	"debate":      "github.com/elenchus-go/debate",
	"debatea2a":   "github.com/elenchus-go/debate/integrations/debatea2a",
	"debateadk":   "github.com/elenchus-go/debate/integrations/debateadk",
	"debateeino":  "github.com/elenchus-go/debate/integrations/debateeino",
	"debatehttp":  "github.com/elenchus-go/debate/integrations/debatehttp",
	"debatemcp":   "github.com/elenchus-go/debate/integrations/debatemcp",
	"debateriver": "github.com/elenchus-go/debate/integrations/debateriver",
	"debatetool":  "github.com/elenchus-go/debate/integrations/debatetool",
	"errors":      "errors",
	"llms":        "github.com/tmc/langchaingo/llms",
	"mcp":         "github.com/modelcontextprotocol/go-sdk/mcp",
	"net":         "net",
	"pgxpool":     "github.com/jackc/pgx/v5/pgxpool",
	"providers":   "github.com/elenchus-go/debate/providers",
	"river":       "github.com/riverqueue/river",
	"riverpgxv5":  "github.com/riverqueue/river/riverdriver/riverpgxv5",
	"time":        "time",
	"tool":        "github.com/cloudwego/eino/components/tool",
	"tools":       "github.com/tmc/langchaingo/tools",
}

// A way is a section of docs/serving.md with a function.
type way struct{ title, function string }

// waysIn returns the sections of a page that have a function.
func waysIn(page string) (list []way) {
	section := regexp.MustCompile("(?ms)^([^\n]+)\n.*?^```go\n(func .*?)^```$")
	for _, part := range regexp.MustCompile(`(?m)^### `).Split(page, -1)[1:] {
		if m := section.FindStringSubmatch(part); m != nil {
			list = append(list, way{m[1], m[2]})
		}
	}
	return list
}

// programOf returns a program with the functions of a page.
func programOf(ways []way) string {
	var imports []string
	b := &strings.Builder{}
	for _, w := range ways {
		b.WriteString("\n" + w.function)
	}
	for name, path := range embeddingImports {
		if regexp.MustCompile(`\b` + name + `\.[A-Z]`).MatchString(b.String()) {
			imports = append(imports, fmt.Sprintf("import %s %q\n", name, path))
		}
	}
	slices.Sort(imports)
	b.WriteString("\nvar _ = []any{")
	for _, w := range ways {
		name, _, _ := strings.Cut(strings.TrimPrefix(w.function, "func "), "(")
		b.WriteString(name + ",")
	}
	return "package main\n" + strings.Join(imports, "") + "func main() {}\n" + b.String() + "}\n"
}

func TestEachWayOfEmbeddingCompiles(t *testing.T) {
	page, err := os.ReadFile(embedding)
	require.NoError(t, err)
	_, embedded, found := strings.Cut(string(page), "\n## In agents and queues\n")
	require.True(t, found)
	ways := waysIn(embedded)
	require.Len(t, ways, strings.Count(embedded, "\n### "), "each section has a function")
	compiled, message := compile(t, programOf(ways), 1)
	require.True(t, compiled, "%s", message)

	broken := slices.Clone(ways)
	broken[0].function = strings.Replace(broken[0].function, "debate.NewEngine(", "debate.Nothing(", 1)
	compiled, message = compile(t, programOf(broken), 1)
	require.False(t, compiled)
	require.Contains(t, message, "undefined: debate.Nothing")
}

func TestTheExampleOfEmbeddingIsShort(t *testing.T) {
	source, err := os.ReadFile(embedSource)
	require.NoError(t, err)
	require.Less(t, strings.Count(string(source), "\n"), embedLines)
}
