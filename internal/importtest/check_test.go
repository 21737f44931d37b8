package importtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A pkg is a package as the go command lists it. Imports of tests are not among its imports.
type pkg struct {
	ImportPath string
	Name       string
	Imports    []string
	nested     bool // in a module of its own, which answers for its dependencies itself
}

// A place is where a package stands.
type place struct {
	floor int
	sees  []string // of a side; nil for packages on a floor
}

// check says everything that is wrong with the imports and names of packages.
func check(packages []pkg) []string {
	var problems []string
	for _, p := range packages {
		if slices.Contains(badNames, p.Name) {
			problems = append(problems, fmt.Sprintf("package %s is called %q: name it for what it holds", p.ImportPath, p.Name))
		}
		problems = append(problems, checkPackage(p)...)
	}
	return problems
}

func checkPackage(p pkg) []string {
	path := short(p.ImportPath)
	from, ok := find(path)
	if !ok && !isTool(path) {
		return []string{fmt.Sprintf("package %s stands on no floor: give it one in internal/importtest", path)}
	}
	var problems []string
	for _, imp := range p.Imports {
		problem := ""
		switch {
		case inModule(imp) && !isTool(path):
			problem = checkArrow(path, from, short(imp))
		case isDependency(imp) && !p.nested:
			problem = checkDependency(path, imp)
		}
		if problem != "" {
			problems = append(problems, problem)
		}
	}
	return problems
}

// checkArrow judges an import within the library.
func checkArrow(path string, from place, imp string) string {
	to, ok := find(imp)
	switch {
	case isTool(imp):
		return fmt.Sprintf("%s imports %s: that is for this repository's tests and tools only", path, imp)
	case !ok:
		return fmt.Sprintf("%s imports %s, which stands on no floor", path, imp)
	case related(path, imp) && to.floor <= from.floor, slices.Contains(from.sees, imp):
		return ""
	case from.sees != nil:
		return fmt.Sprintf("%s imports %s: as an adapter it sees only %s", path, imp, strings.Join(from.sees, " and "))
	case to.floor >= from.floor:
		return fmt.Sprintf("%s (floor %d) imports %s (floor %d): arrows go down", path, from.floor, imp, to.floor)
	}
	return ""
}

// checkDependency judges an import of another module.
func checkDependency(path, imp string) string {
	for dep, importers := range dependencies {
		if imp != dep && !strings.HasPrefix(imp, dep+"/") {
			continue
		}
		if slices.ContainsFunc(importers, func(pattern string) bool { return match(pattern, path) }) {
			return ""
		}
		return fmt.Sprintf("%s imports %s: only %s may", path, imp, strings.Join(importers, " and "))
	}
	return fmt.Sprintf("%s imports %s: a new dependency needs a rule here and a reason in CONTRIBUTING.md", path, imp)
}

// find looks up where a package stands: the longest pattern that names it decides.
func find(path string) (place, bool) {
	var at place
	longest := 0
	for floor, patterns := range floors {
		for _, pattern := range patterns {
			if len(pattern) > longest && match(pattern, path) {
				at, longest = place{floor: floor}, len(pattern)
			}
		}
	}
	for pattern, sees := range sides {
		if len(pattern) > longest && match(pattern, path) {
			at, longest = place{floor: sideFloor, sees: sees}, len(pattern)
		}
	}
	return at, longest > 0
}

// match understands a path, "x/*" for all below x, and "*x" for all that end with x.
func match(pattern, path string) bool {
	switch {
	case strings.HasSuffix(pattern, "/*"):
		return strings.HasPrefix(path, strings.TrimSuffix(pattern, "*"))
	case strings.HasPrefix(pattern, "*"):
		return strings.HasSuffix(path, strings.TrimPrefix(pattern, "*"))
	}
	return pattern == path
}

// related says whether one of two packages is a sub-package of the other. The root is no parent in this sense.
func related(a, b string) bool {
	return strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/")
}

// isTool says whether a package belongs to the repository's own tests and tools.
func isTool(path string) bool {
	_, placed := find(path)
	return strings.HasPrefix(path, "internal/") && !placed
}

func inModule(imp string) bool { return imp == module || strings.HasPrefix(imp, module+"/") }

// isDependency says whether an import is of another module: its first element names a host.
func isDependency(imp string) bool {
	host, _, _ := strings.Cut(imp, "/")
	return strings.Contains(host, ".") && !inModule(imp)
}

// short is a package's path in the repository.
func short(imp string) string {
	if imp == module {
		return "."
	}
	return strings.TrimPrefix(imp, module+"/")
}

func TestCheck(t *testing.T) {
	tests := []struct {
		from, imp string
		wrong     string // empty where the import is allowed
	}{
		{"fsm", "github.com/looplab/fsm", ""},
		{"fsm", "github.com/google/uuid", "only . may"},
		{"fsm", "./transcript", "arrows go down"},
		{"fsm", "context", ""},
		{"judge", "github.com/looplab/fsm", "only fsm may"},
		{"transcript", "./fsm", "arrows go down"},
		{"providers", "./transcript", ""},
		{"providers", "./prompts", "arrows go down"},
		{"providers", "./providers/scripted", "arrows go down"},
		{"providers/scripted", "./providers", ""},
		{"providers/scripted", "./transcript", ""},
		{"providers/scripted", "./prompts", "sees only providers and transcript"},
		{"providers/scripted", "./providers/langchain", "sees only"},
		{"providers/langchain/internal/wire", "./providers/langchain", ""},
		{"providers/langchain", "./providers/langchain/internal/wire", ""},
		{"providers/langchain", "github.com/tmc/langchaingo/llms", ""},
		{"providers/scripted", "github.com/tmc/langchaingo/llms", "only providers/langchain and"},
		{"prompts", "./context/window", "arrows go down"},
		{"prompts", "./providers", ""},
		{"judge", "./judge/reply", ""},
		{"judge/reply", "./judge", "arrows go down"},
		{"judge/reply", "github.com/santhosh-tekuri/jsonschema/v5", ""},
		{"judge", "github.com/santhosh-tekuri/jsonschema/v5", "only judge/reply may"},
		{"judge", "./protocol", "arrows go down"},
		{"protocol", "./judge/reply", ""},
		{"protocol", "./protocol/panel", "arrows go down"},
		{"protocol/panel", "./protocol", ""},
		{"protocol/panel", "./protocol/vote", "arrows go down"},
		{"store/storetest", "./store", ""},
		{"store/storetest", "github.com/stretchr/testify/require", ""},
		{"store", "github.com/stretchr/testify/require", "only *test"},
		{"store/sqlite", "./store", ""},
		{"store/sqlite", "./judge", "sees only"},
		{".", "./protocol/panel", ""},
		{".", "./store/sqlite", "arrows go down"},
		{".", "./providers/langchain", "arrows go down"},
		{".", "./internal/importtest", "tests and tools only"},
		{".", "./elsewhere", "stands on no floor"},
		{"judge", ".", "arrows go down"},
		{"elsewhere", "fmt", "stands on no floor"},
		{"internal/covergate", "./judge", ""},
		{"internal/covergate", "example.com/unknown", "needs a rule"},
		{"integrations/debateriver", ".", ""},
		{"examples/quickstart", "./providers/langchain", ""},
		{"examples/quickstart", "./examples/internal/terminal", ""},
		{"examples/quickstart", "./examples/web", "arrows go down"},
	}
	for _, tt := range tests {
		t.Run(tt.from+" imports "+tt.imp, func(t *testing.T) {
			problems := check([]pkg{{ImportPath: long(tt.from), Name: "some", Imports: []string{long(tt.imp)}}})
			if tt.wrong == "" {
				assert.Empty(t, problems)
			} else {
				assert.Len(t, problems, 1)
				assert.Contains(t, strings.Join(problems, ""), tt.wrong)
			}
		})
	}
}

func TestCheckNames(t *testing.T) {
	problems := check([]pkg{{ImportPath: module + "/context/window", Name: "context"}})
	assert.Equal(t, []string{`package ` + module + `/context/window is called "context": name it for what it holds`}, problems)
}

func TestNestedModulesAnswerForTheirDependencies(t *testing.T) {
	assert.Empty(t, check([]pkg{{ImportPath: module + "/integrations/debateriver", Name: "debateriver", Imports: []string{"example.com/heavy"}, nested: true}}))
}

// long is the import path of "." and of paths that begin with "./", and of the names of packages that are placed.
func long(path string) string {
	if rest, ok := strings.CutPrefix(path, "./"); ok {
		return module + "/" + rest
	}
	switch _, placed := find(path); {
	case path == ".":
		return module
	case placed, path == "elsewhere", strings.HasPrefix(path, "internal/"):
		return module + "/" + path
	}
	return path
}
