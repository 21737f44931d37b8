package housetest

import (
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A debate's protocol is known in its own package. Readers and doors read what it has found from the outcome. The files that know a
// preset are examples, tests, and the following, each with its reason. Nothing else may import one, and a reason goes with its import.
func TestPresetsAreKnownToFewFiles(t *testing.T) {
	reasons := map[string]string{
		"gate.go": "the default protocol of a configuration",

		"cmd/debate/compose.go":  "puts files of roles and scores into a configuration",
		"cmd/debate/config.go":   "reads files of roles into a configuration",
		"cmd/debate/evaluate.go": "options for the seats of a vote",
		"cmd/debate/gate.go":     "which choices the options of an exit code may name",
		"cmd/debate/init.go":     "an arbitration needs scores in its first configuration",
		"cmd/debate/output.go":   "a record names the files of roles",
		"cmd/debate/presets.go":  "the purposes of the command",
		"cmd/debate/roles.go":    "checks the roles that options give",
		"cmd/debate/serve.go":    "a server offers no arbitration, which needs scores",

		"integrations/debatetool/options.go": "puts the options of a tool into a configuration",
		"integrations/debatetool/toolset.go": "the default configurations of a tool",
		"integrations/launch/admit.go":       "the default protocol of a form",
		"integrations/launch/launch.go":      "puts the options of a form into a configuration",

		"eval/agreement.go":             "the contract of a procon's judges",
		"eval/arm.go":                   "makes the baselines of an evaluation",
		"eval/outcome.go":               "the probabilities of judges who oversee",
		"eval/oversight.go":             "the modes of oversight, which are compared",
		"eval/score.go":                 "a judge who scores answers votes alone",
		"eval/audit/audit.go":           "judges of pairs are the subject",
		"eval/audit/concluded.go":       "what the judges of a panel or a procon decide between",
		"eval/audit/label.go":           "judges of pairs are the subject",
		"eval/audit/run.go":             "judges of pairs are the subject",
		"eval/tournament/run.go":        "the default protocol of a game",
		"eval/tournament/tournament.go": "checks whether a protocol's configuration is a game",
	}
	files := 0
	walk(t, func(name string) {
		files++
		if !knowsPreset(t, name) {
			return
		}
		require.NotEmpty(t, reasons[name], "%s imports a preset: read protocol.Outcome instead, or give a reason in this test", name)
		delete(reasons, name)
	})
	require.Greater(t, files, 500)
	require.Empty(t, reasons, "these files import no preset")
}

// knowsPreset reports whether a file of the library or the command imports a preset.
func knowsPreset(t *testing.T, name string) bool {
	if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || strings.Contains(name, "testdata/") {
		return false
	}
	for _, folder := range []string{"protocol/", "internal/protocols/", "internal/test/", "examples/"} {
		if strings.HasPrefix(name, folder) {
			return false
		}
	}
	text, err := os.ReadFile(filepath.Join(root, name))
	require.NoError(t, err)
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly)
	require.NoError(t, err)
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		require.NoError(t, err)
		if strings.HasPrefix(imported, "github.com/elenchus-go/debate/protocol/") {
			return true
		}
	}
	return false
}
