package housetest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	root                  = "../.." // relative to this folder
	maxFunction           = 70      // lines
	maxMedian             = 12      // lines of the function of median length
	maxFile               = 400     // lines
	maxServiceFile        = 300     // lines of a file that speaks a service's protocol, which is read from top to bottom
	maxMethodFiles        = 4       // files with the methods of one type
	maxRootFiles          = 33      // files of the root package, without tests
	maxRootLines          = 10_085  // their lines
	maxExample            = 130     // lines of an example's main.go, without command-line parsing
	maxAdapter            = 470     // lines of an adapter to a framework, without its example: tool, agent with conversations and replies, and provider; 340 before it explained panics of agents, 350 before FromTool
	maxAdapterExample     = 60      // lines of its example
	maxExported           = 15      // exported names of a subpackage
	maxExportedHelpers    = 34      // exported names of internal/debatetest, which the tests of most packages use; 17 before one function for each call of an engine that must not fail
	maxExportedProviders  = 25      // exported names of package providers, which holds the types of requests and of responses; 21 before Windowed and Attachment, 23 before WithPrivate and IsPrivate, which transports ask
	maxExportedStore      = 18      // exported names of package store; 15 before Damaged and ErrUnavailable, which stores return, 17 before OldestFormat
	maxExportedData       = 21      // exported names of package transcript, which holds plain data; 17 before Citation and Verdict, which turns have, 20 before Signature, which a signed debate has
	maxExportedStep       = 32      // exported names of package internal/step: a plan in six types, a host in four, two for rounds of tool calls, two more that steps share, a hint, and errors, one of them for doubtful replies, three for the digests of requests, and three for what a step shows when it is repeated
	maxExportedStatistics = 31      // exported names of package internal/statistics: one function for each statistic; 20 before ratings, 27 before changes of shares and of means
	maxExportedAgreement  = 19      // exported names of package judge/agreement: decisions, those of debates too, with their calibration and where it lets a jury decide, ratings with their agreement, and errors with the effective number of judges
	maxExportedRoot       = 61      // exported names of the root package; 46 before Edits and Prompt, which forks and past prompts need, Attachment, which is in Config, ErrTaken, so that a service can launch a debate twice, Briefing, which people read, ToolsCalled, an entry of journals, Rules, which entries name, and EntryCheck with its verdict, which say what follows from a journal, and Rejudge, Omission, Rejudged and Departure, which say how judges are asked again and what came of it, and Code, which records have
	unfinishedMarker      = `\b(TO` + `DO|FIX` + `ME|XX` + `X)\b`
)

func TestFunctionsAreShort(t *testing.T) {
	var lengths []int
	for _, s := range load(t) {
		for _, f := range s.functions() {
			lengths = append(lengths, f.lines)
			assert.LessOrEqual(t, f.lines, maxFunction, "%s: %s is too long", s.path, f.name)
		}
	}
	require.NotEmpty(t, lengths)
	slices.Sort(lengths)
	median := lengths[len(lengths)/2]
	t.Logf("%d functions: median %d lines, nine in ten at most %d, longest %d",
		len(lengths), median, lengths[len(lengths)*9/10], lengths[len(lengths)-1])
	assert.LessOrEqual(t, median, maxMedian, "the median function is too long")
}

func TestFilesAreShort(t *testing.T) {
	for _, s := range load(t) {
		assert.LessOrEqual(t, s.lines(), maxFile, "%s is too long", s.path)
	}
}

// What needs no record of a debate belongs in a package below the root.
func TestTheRootIsSmall(t *testing.T) {
	files, lines := byFolder(load(t))["."], 0
	for _, s := range files {
		lines += s.lines()
	}
	t.Logf("%d files, %d lines", len(files), lines)
	assert.LessOrEqual(t, len(files), maxRootFiles)
	assert.LessOrEqual(t, lines, maxRootLines)
}

// spread lists types whose methods are in more files, with their number. Each has one file for each of the things that it
// serves, so that a reader finds what belongs together.
var spread = map[string]int{
	"cmd/debate.program":        35, // a file for each command
	"inspector.visit":           16, // a file for each page
	"report.Report":             14, // a file for each part of a report
	"debatetool.Toolset":        10, // a file for each tool
	"internal/enginetest.env":   13, // a file for each kind of test
	"debatehttp.call":           8,  // a file for each group of routes
	"store/postgres.Store":      8,  // a file for each method of the interface
	"store/sqlite.Store":        7,  // the same
	"protocol/vote.Protocol":    7,  // a file for each rule
	"protocol/panel.Protocol":   7,  // the same
	"providers/openai.Provider": 7,  // a file for each of its two APIs, with their settings and attachments
	"examples/offline.prompt":   6,  // a file for each kind of reply
	"internal/fakellm.Protocol": 6,  // a file for each part of a protocol
}

func TestMethodsOfATypeStandTogether(t *testing.T) {
	for dir, sources := range byFolder(load(t)) {
		files := map[string][]string{}
		for _, s := range sources {
			s.methods(files)
		}
		for name, list := range files {
			most, listed := spread[filepath.ToSlash(dir)+"."+name]
			if !listed {
				most = maxMethodFiles
			}
			assert.LessOrEqual(t, len(list), most, "the methods of %s.%s are in %s", dir, name, strings.Join(list, ", "))
			assert.False(t, listed && len(list) < most, "%s.%s is in %d files: lower its number in this test", dir, name, len(list))
		}
	}
}

// services matches the packages that speak the protocols of services.
var services = regexp.MustCompile(`^providers/(anthropic|bedrock|googleai|mistral|ollama|openai|vertex|internal/\w+)$`)

func TestFilesOfServicesAreShort(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range load(t) {
		if dir := filepath.ToSlash(filepath.Dir(s.path)); services.MatchString(dir) {
			seen[dir] = true
			assert.LessOrEqual(t, s.lines(), maxServiceFile, "%s is too long", s.path)
		}
	}
	assert.Len(t, seen, 12)
}

func TestExamplesAreShort(t *testing.T) {
	seen := 0
	for _, s := range load(t) {
		if ok, err := filepath.Match("examples/*/main.go", filepath.ToSlash(s.path)); err != nil || !ok {
			continue
		}
		seen++
		assert.LessOrEqual(t, s.lines(), maxExample, "%s is too long", s.path)
	}
	require.Greater(t, seen, 9)
}

// adapters lists the modules that let debates take part in frameworks.
var adapters = []string{"integrations/debateadk", "integrations/debateeino"}

func TestAdaptersAreShort(t *testing.T) {
	for _, dir := range adapters {
		lines, example := 0, 0
		for _, s := range load(t) {
			switch filepath.ToSlash(filepath.Dir(s.path)) {
			case dir:
				lines += s.lines()
			case dir + "/example":
				example += s.lines()
			}
		}
		assert.Less(t, lines, maxAdapter, dir)
		assert.Positive(t, lines, dir)
		assert.LessOrEqual(t, example, maxAdapterExample, dir)
		assert.Positive(t, example, dir)
	}
}

func TestPackagesAreNarrow(t *testing.T) {
	for dir, sources := range byFolder(load(t)) {
		limit := maxExported
		switch dir {
		case ".":
			limit = maxExportedRoot
		case "providers":
			limit = maxExportedProviders
		case "store":
			limit = maxExportedStore
		case "transcript":
			limit = maxExportedData
		case "providers/internal/fault": // NotConnected is the same in all packages that connect
			limit++
		case "internal/debatetest":
			limit = maxExportedHelpers
		case "judge/agreement":
			limit = maxExportedAgreement
		case "protocol": // the interface of protocols, and five small optional ones
			limit++
		case "internal/statistics":
			limit = maxExportedStatistics
		case "internal/step":
			limit = maxExportedStep
		case "tournament": // what goes in, and a report of eight types that comes out
			limit += 2
		case "eval": // tasks, arms and scorers that go in, the arms of oversight, and a report of six types that comes out
			limit += 7
		case "judge": // scores to compare with winners, and polls of judges for decisions
			limit += 4
		case "providers/internal/wire": // two of its types read values that services write in several forms
			limit++
		}
		names := exported(sources)
		assert.LessOrEqual(t, len(names), limit, "package %s exports too much: %s", dir, strings.Join(names, ", "))
	}
}

func TestExportedNamesAreDocumented(t *testing.T) {
	for _, s := range load(t) {
		for _, name := range s.undocumented() {
			t.Errorf("%s: %s has no comment", s.path, name)
		}
	}
}

func TestPackagesHaveComments(t *testing.T) {
	for dir, sources := range byFolder(load(t)) {
		if !slices.ContainsFunc(sources, func(s source) bool { return s.file.Doc != nil }) {
			t.Errorf("package %s has no comment", dir)
		}
	}
}

func TestNothingIsLeftUnfinished(t *testing.T) {
	for _, s := range load(t) {
		for _, place := range s.words(regexp.MustCompile(unfinishedMarker)) {
			t.Errorf("%s: %s: finish the work or open an issue", s.path, place)
		}
	}
}

// An absolute path is valid only on one machine.
func TestNoPathOfAMachine(t *testing.T) {
	folders := strings.Join([]string{"root", "tmp", "work", "home", "Users"}, "|")
	absolute := regexp.MustCompile(`(^|[^\w.~*}/-])/(` + folders + `)/`)
	walk(t, func(path string) {
		if !isText(path) {
			return
		}
		text, err := os.ReadFile(filepath.Join(root, path))
		require.NoError(t, err)
		for i, line := range strings.Split(string(text), "\n") {
			if absolute.MatchString(line) {
				t.Errorf("%s:%d has an absolute path: %s", path, i+1, line)
			}
		}
	})
}

// isText reports whether a file is written by hand.
func isText(path string) bool {
	written := []string{".go", ".md", ".mod", ".yml", ".yaml", ".sh"}
	return slices.Contains(written, filepath.Ext(path)) || path == "Makefile" || path == ".ci/run"
}

// load parses all Go files of the repository except tests and generated files.
func load(t *testing.T) []source {
	t.Helper()
	var sources []source
	walk(t, func(path string) {
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "testdata/") {
			return
		}
		text, err := os.ReadFile(filepath.Join(root, path))
		require.NoError(t, err)
		if s := parse(t, path, string(text)); !ast.IsGenerated(s.file) {
			sources = append(sources, s)
		}
	})
	require.NotEmpty(t, sources)
	return sources
}

func parse(t *testing.T, path, text string) source {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, text, parser.ParseComments|parser.SkipObjectResolution)
	require.NoError(t, err)
	return source{path: path, fset: fset, file: file}
}

// walk calls visit for each file of the repository, with its path relative to the root.
func walk(t *testing.T, visit func(path string)) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case d.Type().IsRegular():
			visit(path)
		}
		return nil
	})
	require.NoError(t, err)
}

func byFolder(sources []source) map[string][]source {
	folders := map[string][]source{}
	for _, s := range sources {
		dir := filepath.Dir(s.path)
		folders[dir] = append(folders[dir], s)
	}
	return folders
}
