package importtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A pkg is a package as the go command lists it. Imports does not include imports of tests.
type pkg struct {
	ImportPath string
	Name       string
	Imports    []string
	nested     bool // in another module, which checks its own dependencies
}

// A place describes what a package may import.
type place struct {
	floor int
	sees  []string // packages that an adapter may import; nil for packages of a layer
}

// check returns every problem with the imports and names of packages.
func check(packages []pkg) []string {
	var problems []string
	for _, p := range packages {
		if slices.Contains(badNames, p.Name) {
			problems = append(problems, fmt.Sprintf("package %s is named %q: choose a name that describes its contents", p.ImportPath, p.Name))
		}
		problems = append(problems, checkPackage(p)...)
	}
	return problems
}

func checkPackage(p pkg) []string {
	path := short(p.ImportPath)
	from, ok := find(path)
	if !ok && !isTool(path) {
		return []string{fmt.Sprintf("package %s has no layer: add it to internal/importtest", path)}
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

// checkArrow returns the problem with an import within the library, or "".
func checkArrow(path string, from place, imp string) string {
	to, ok := find(imp)
	switch {
	case strings.HasPrefix(path, "examples/") && isInternal(imp):
		return fmt.Sprintf("%s imports %s: a user who copies the example cannot import it", path, imp)
	case isTool(imp):
		return fmt.Sprintf("%s imports %s: only this repository's tests and tools may import it", path, imp)
	case !ok:
		return fmt.Sprintf("%s imports %s, which has no layer", path, imp)
	case related(path, imp) && to.floor <= from.floor, slices.Contains(from.sees, imp):
		return ""
	case from.sees != nil:
		return fmt.Sprintf("%s imports %s: as an adapter it may import only %s", path, imp, strings.Join(from.sees, " and "))
	case to.floor >= from.floor:
		return fmt.Sprintf("%s (layer %d) imports %s (layer %d): imports must point to a lower layer", path, from.floor, imp, to.floor)
	}
	return ""
}

// checkDependency returns the problem with an import of another module, or "".
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
	return fmt.Sprintf("%s imports %s: a new dependency needs a rule here and a reason in go.mod", path, imp)
}

// find returns the place of a package. The longest pattern that matches it decides.
func find(path string) (place, bool) {
	if slices.Contains(leaves, path) {
		return place{floor: -1}, true
	}
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

// match reports whether pattern matches path. The pattern "x/*" matches all packages below x, and "*x" all that end
// with x.
func match(pattern, path string) bool {
	switch {
	case strings.HasSuffix(pattern, "/*"):
		return strings.HasPrefix(path, strings.TrimSuffix(pattern, "*"))
	case strings.HasPrefix(pattern, "*"):
		return strings.HasSuffix(path, strings.TrimPrefix(pattern, "*"))
	}
	return pattern == path
}

// related reports whether one package is below the other. Packages are not considered to be below the root.
func related(a, b string) bool {
	return strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/")
}

// isTool reports whether a package is one of the repository's own tests and tools.
func isTool(path string) bool {
	_, placed := find(path)
	return strings.HasPrefix(path, "internal/") && !placed
}

// isInternal reports whether the go command lets only packages of this repository import a package.
func isInternal(path string) bool { return slices.Contains(strings.Split(path, "/"), "internal") }

func inModule(imp string) bool { return imp == module || strings.HasPrefix(imp, module+"/") }

// isDependency reports whether an import is of another module, which is so if its first element is a host name.
func isDependency(imp string) bool {
	host, _, _ := strings.Cut(imp, "/")
	return strings.Contains(host, ".") && !inModule(imp)
}

// short returns a package's path relative to the module root.
func short(imp string) string {
	if imp == module {
		return "."
	}
	return strings.TrimPrefix(imp, module+"/")
}

func TestCheck(t *testing.T) {
	tests := []struct {
		from, imp string
		wrong     string // empty if the import is allowed
	}{
		{"fsm", "github.com/looplab/fsm", ""},
		{"fsm", "github.com/google/uuid", "only . may"},
		{"fsm", "./transcript", "a lower layer"},
		{"fsm", "context", ""},
		{"judge", "github.com/looplab/fsm", "only fsm may"},
		{"transcript", "./fsm", "a lower layer"},
		{"transcript", "./internal/contracttype", ""},
		{"internal/contracttype", "./transcript", "a lower layer"},
		{"providers", "./transcript", ""},
		{"providers", "./prompts", "a lower layer"},
		{"providers", "./providers/scripted", "a lower layer"},
		{"providers/scripted", "./providers", ""},
		{"providers/scripted", "./transcript", ""},
		{"providers/scripted", "./prompts", "may import only providers and transcript"},
		{"providers/scripted", "./providers/langchain", "may import only"},
		{"providers/openai", "./providers/internal/wire", ""},
		{"providers/scripted", "./providers/internal/wire", "may import only"},
		{"providers/langchain", "github.com/tmc/langchaingo/llms", ""},
		{"providers/scripted", "github.com/tmc/langchaingo/llms", "only providers/langchain and"},
		{"prompts", "./context/window", "a lower layer"},
		{"prompts", "./providers", ""},
		{"judge", "./judge/reply", ""},
		{"judge/reply", "./judge", "a lower layer"},
		{"judge/reply", "github.com/santhosh-tekuri/jsonschema/v5", ""},
		{"judge", "github.com/santhosh-tekuri/jsonschema/v5", "only internal/toolcall and judge/reply may"},
		{"judge", "./protocol", "a lower layer"},
		{"protocol", "./judge/reply", ""},
		{"protocol", "./protocol/panel", "a lower layer"},
		{"protocol/panel", "./protocol", ""},
		{"protocol/panel", "./protocol/vote", "a lower layer"},
		{"store/storetest", "./store", ""},
		{"store/storetest", "github.com/stretchr/testify/require", ""},
		{"store", "github.com/stretchr/testify/require", "only *test"},
		{"store/sqlite", "./store", ""},
		{"store/sqlite", "./judge", "may import only"},
		{".", "./protocol/panel", ""},
		{".", "./store/sqlite", "a lower layer"},
		{".", "./providers/langchain", "a lower layer"},
		{".", "./internal/importtest", "only this repository's tests and tools"},
		{".", "./elsewhere", "has no layer"},
		{"judge", ".", "a lower layer"},
		{"elsewhere", "fmt", "has no layer"},
		{"internal/covergate", "./judge", ""},
		{"internal/covergate", "example.com/unknown", "needs a rule"},
		{"integrations/debateriver", ".", ""},
		{"examples/quickstart", "./providers/langchain", ""},
		{"examples/quickstart", "./examples/console", ""},
		{"examples/quickstart", "./examples/internal/terminal", "a user who copies the example cannot import it"},
		{"examples/console", "./internal/golden", "a user who copies the example cannot import it"},
		{"examples/offline", "./internal/steptimer", "a user who copies the example cannot import it"},
		{"examples/quickstart", "./examples/web", "a lower layer"},
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
	assert.Equal(t, []string{`package ` + module + `/context/window is named "context": choose a name that describes its contents`}, problems)
}

func TestNestedModulesAnswerForTheirDependencies(t *testing.T) {
	assert.Empty(t, check([]pkg{{ImportPath: module + "/integrations/debateriver", Name: "debateriver", Imports: []string{"example.com/heavy"}, nested: true}}))
}

// long returns the import path of ".", of a path that starts with "./", and of a package that has a layer. It returns
// other paths unchanged.
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
