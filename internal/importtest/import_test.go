package importtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	module = "github.com/elenchus-go/debate"
	root   = "../.." // relative to this folder
)

// floors lists the packages of each layer, lowest layer first. A package may import packages of lower layers, and of
// its own layer or above only packages that it is below, or that are below it. The pattern "x/*" means all packages
// below x that no longer pattern matches. "." is the root package.
var floors = [][]string{
	0:  {"fsm", "transcript", "internal/admission", "internal/canonical", "internal/chain", "internal/confidence", "internal/deepcopy", "internal/delimit", "internal/former", "internal/naming", "internal/panics", "internal/seal", "internal/spool", "internal/steptimer", "internal/strictjson"},
	1:  {"evidence", "evidence/quote", "evidence/search", "internal/live", "providers", "providers/price", "providers/internal/fault", "tool"},
	2:  {"internal/omission", "internal/sources", "internal/turns", "prompts", "context/window", "detect", "internal/toolcall", "judge/reply", "providers/retrieval", "store", "store/storetest"},
	3:  {"judge", "judge/agreement", "judge/decision", "judge/measured", "protocol", "internal/calibration", "internal/chain/signing", "internal/journals", "internal/heartbeat"},
	4:  {"protocol/*", "internal/actor", "internal/actor/binding", "internal/actor/room", "internal/actor/warnings", "internal/additions", "internal/blindfold", "internal/budget", "internal/clients", "internal/embedding", "internal/findings", "internal/forecast", "internal/passages", "internal/protocoljson", "internal/rejudging", "internal/silence", "internal/step", "internal/step/prompting", "internal/step/prompting/worst", "internal/step/proof", "internal/step/rounds", "internal/verification"},
	5:  {"internal/presets"},
	6:  {"."},
	7:  {"drivetest", "examples/offline", "internal/runs", "report", "progress", "archive", "printer"},
	8:  {"eval", "eval/audit", "tournament", "influence", "examples/console", "debatehttp", "debatetool"},
	9:  {"inspector", "integrations/*"},
	10: {"cmd/*", "examples/*", "tools/*"},
}

// leaves lists internal packages that every layer may import. They import nothing of the library.
var leaves = []string{"internal/attachment", "internal/characters", "internal/contracttype", "internal/markup", "internal/reasoning", "internal/statistics"}

// sides lists the adapters, and the packages of the library that each may import. Adapters have the layer of the root,
// so only programs can import them.
var sides = map[string][]string{
	"context/vocabulary":       {"context/window"},
	"evidence/extract":         {},
	"providers/*":              {"providers", "transcript"},
	"providers/internal/wire":  {"providers", "transcript", "providers/internal/fault", "providers/internal/schema"},
	"providers/anthropic":      {"internal/reasoning", "providers", "providers/internal/prompt", "providers/internal/wire"},
	"providers/googleai":       {"internal/reasoning", "providers", "providers/internal/prompt", "providers/internal/wire"},
	"providers/adapter":        {"internal/panics", "providers", "transcript", "providers/internal/fault", "providers/internal/prompt", "providers/internal/wire"},
	"providers/internal/cloud": {"providers", "providers/anthropic"},
	"providers/bedrock":        {"providers", "providers/anthropic", "providers/internal/cloud", "providers/internal/fault"},
	"providers/vertex":         {"providers", "providers/anthropic", "providers/googleai", "providers/internal/cloud"},
	"providers/cassette":       {"providers", "providers/internal/fault"},
	"providers/langchain":      {"providers", "providers/adapter", "tool", "transcript"},
	"providers/mistral":        {"internal/reasoning", "providers", "providers/openai"},
	"providers/ollama":         {"internal/reasoning", "providers", "providers/internal/prompt", "providers/internal/wire"},
	"providers/openai":         {"internal/reasoning", "providers", "providers/internal/fault", "providers/internal/prompt", "providers/internal/wire"},
	"providers/middleware":     {"providers", "providers/price", "transcript", "context/window"},
	"providers/retrieval/*":    {"providers", "providers/retrieval"},
	"store/*":                  {"store", "fsm", "transcript"},
}

const sideFloor = 6

// dependencies lists all modules that the root module imports, and the packages that may import them. Test files may
// import any module.
var dependencies = map[string][]string{
	"github.com/anishathalye/porcupine":        {"*test", "internal/golden", "internal/recorded"},
	"github.com/google/uuid":                   {"."},
	"github.com/invopop/jsonschema":            {"debatetool", "judge/reply", "tool"},
	"github.com/kaptinlin/jsonrepair":          {"judge/reply"},
	"github.com/looplab/fsm":                   {"fsm"},
	"github.com/microcosm-cc/bluemonday":       {"internal/markup"},
	"github.com/santhosh-tekuri/jsonschema/v5": {"internal/toolcall", "judge/reply"},
	"github.com/stretchr/testify":              {"*test", "internal/golden", "internal/recorded"},
	"github.com/tmc/langchaingo":               {"providers/langchain", "providers/retrieval/vectorstore", "examples/*"},
	"github.com/yuin/goldmark":                 {"internal/markup"},
	"golang.org/x/mod":                         {".", "internal/debatetest", "archive", "internal/chain/signing"},
	"golang.org/x/text":                        {"evidence/quote"},
	"golang.org/x/time":                        {"providers/middleware"},
	"golang.org/x/tools":                       {"*test", "internal/golden", "internal/recorded"},
	"gonum.org/v1/gonum":                       {"*test"},
	"pgregory.net/rapid":                       {"*test", "internal/golden", "internal/recorded"},
}

// badNames lists package names that do not describe the contents, or that hide a package of the standard library.
var badNames = []string{"common", "context", "helpers", "types", "util", "utils"}

func TestImportsGoDown(t *testing.T) {
	packages := list(t)
	require.NotEmpty(t, packages)
	for _, problem := range check(packages) {
		t.Error(problem)
	}
}

// list returns the packages of all modules in the repository, as the go command lists them.
func list(t *testing.T) []pkg {
	var packages []pkg
	for _, dir := range modules(t) {
		for _, p := range listModule(t, dir) {
			p.nested = dir != root
			packages = append(packages, p)
		}
	}
	return packages
}

// modules returns the folders with a go.mod. It also reads all Go files and folders, so that the go command's cached
// result of this test depends on them.
func modules(t *testing.T) []string {
	var dirs []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name := d.Name()
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")):
			return fs.SkipDir
		case name == "go.mod":
			dirs = append(dirs, filepath.Dir(path))
		}
		if strings.HasSuffix(name, ".go") || name == "go.mod" {
			_, err = os.Stat(path)
		}
		return err
	})
	require.NoError(t, err)
	return dirs
}

func listModule(t *testing.T, dir string) []pkg {
	cmd := exec.CommandContext(t.Context(), "go", "list", "-e", "-buildvcs=false", "-json=ImportPath,Name,Imports", "./...")
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, stderr.String())

	var packages []pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages
		}
		require.NoError(t, err)
		packages = append(packages, p)
	}
}

func TestDependenciesHaveReasons(t *testing.T) {
	for _, dir := range modules(t) {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		require.NoError(t, err)
		for path, version := range required(t, dir) {
			if path == module || strings.HasPrefix(path, module+"/") {
				assert.NotEqual(t, root, dir, "the root module requires its nested module %s", path)
				continue
			}
			assert.True(t, strings.Contains(string(text), path+" "+version+" // "), "go.mod of %s has no reason for %s %s", dir, path, version)
			if dir == root {
				assert.Contains(t, dependencies, path, "dependencies has no entry for the module")
			}
		}
	}
}

// required returns the direct dependencies of a module.
func required(t *testing.T, dir string) map[string]string {
	out, err := exec.CommandContext(t.Context(), "go", "mod", "edit", "-json", filepath.Join(dir, "go.mod")).Output()
	require.NoError(t, err)
	var mod struct {
		Require []struct {
			Path, Version string
			Indirect      bool
		}
	}
	require.NoError(t, json.Unmarshal(out, &mod))
	direct := map[string]string{}
	for _, r := range mod.Require {
		if !r.Indirect {
			direct[r.Path] = r.Version
		}
	}
	return direct
}
