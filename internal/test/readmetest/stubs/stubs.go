// Package stubs has the programs that snippets of documents run: bash finds them before those of the machine. They are a program of
// their own under several names, which starts fast because it imports nothing of the library. Each does what a reader would see, as far
// as that takes no minutes, and notes how it went:
//
//   - debate and go run run the program, with the demo model or with a service that replies as it does.
//   - go test does not run tests, which make test does. It checks the package, the flags, and that each pattern selects a test.
//   - make prints what it would do.
//   - curl asks the server that the snippet has started.
package stubs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// Names returns the names of the programs.
func Names() []string {
	return slices.Collect(maps.Keys(programs))
}

var programs = map[string]func(w World, r *Ran) error{
	"debate": runDebate, "go": runGo, "make": runMake, "curl": runCurl, "node": runNode, "claude": runClaude, "sqlite3": runSQLite,
}

// Run runs the program with a name, notes how it went and returns its exit code.
func Run(name string) int {
	testing.Init() // the flags of go test
	var w World
	r := Ran{Args: append([]string{name}, os.Args[1:]...)}
	err := json.Unmarshal([]byte(os.Getenv(Variable)), &w)
	if err == nil {
		err = errors.Join(os.Setenv("PATH", w.Path), os.Unsetenv(Variable))
	}
	if err == nil {
		err = programs[name](w, &r)
	}
	if err != nil {
		r.Code, r.Said = max(r.Code, 1), r.Said+err.Error()
	}
	line, _ := json.Marshal(r)
	if err := appendLine(w.Log, line); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return r.Code
}

func appendLine(path string, line []byte) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

// exec runs a program of the machine, or one that is built, to its end.
func (w World) exec(r *Ran, c *exec.Cmd) error {
	var said bytes.Buffer
	c.Stdout, c.Stderr = os.Stdout, io.MultiWriter(os.Stderr, &said)
	err := c.Run()
	r.Said = said.String()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		r.Code = failed.ExitCode()
		return nil
	}
	return err
}

// program returns the path of a program that the test has built, and the folder of its package.
func (w World) program(pkg string) (path, folder string, err error) {
	folder, err = w.folder(pkg)
	if err != nil {
		return "", "", err
	}
	path = filepath.Join(w.Programs, filepath.Base(folder))
	_, err = os.Stat(path)
	return path, folder, err
}

// module is the name of the root module.
const module = "github.com/elenchus-go/debate"

// folder returns the folder of a package.
func (w World) folder(pkg string) (string, error) {
	pkg, _, _ = strings.Cut(pkg, "@")
	if rest, ok := strings.CutPrefix(pkg, module); ok {
		pkg = filepath.Join(w.Root, filepath.FromSlash(rest))
	}
	pkg, err := filepath.Abs(pkg)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(pkg)
}

// serve starts a program that serves, and returns when it listens.
func (w World) serve(r *Ran, c *exec.Cmd) error {
	said, err := os.CreateTemp(filepath.Dir(w.Log), "server")
	if err != nil {
		return err
	}
	defer func() { _ = said.Close() }() // the process writes to its own
	c.Stdout, c.Stderr = said, said
	if err := c.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = c.Wait() // the exit code tells
	}()
	for {
		text, err := os.ReadFile(said.Name())
		if err != nil {
			return err
		}
		if m := regexp.MustCompile(`http://(\S+?)(?:/\S*)?[\s;,]`).FindSubmatch(text); m != nil {
			r.Said = string(text)
			line, _ := json.Marshal(Server{c.Process.Pid, "http://" + string(m[1])})
			return appendLine(w.Servers, line)
		}
		select {
		case <-ended:
			text, err := os.ReadFile(said.Name())
			r.Code, r.Said = c.ProcessState.ExitCode(), string(text)
			return err
		case <-time.After(20 * time.Millisecond): // the process is another one, so a file tells
		}
	}
}

// runDebate runs the command. It has a key unless it is to use the demo model.
func runDebate(w World, r *Ran) error {
	path, _, err := w.program(module + "/cmd/debate")
	if err != nil {
		return err
	}
	args := slices.Clone(r.Args[1:])
	for i := range args {
		args[i] = strings.NewReplacer("127.0.0.1:8080", "127.0.0.1:0", "127.0.0.1:8765", "127.0.0.1:0").Replace(args[i])
	}
	c := exec.CommandContext(context.Background(), path, args...)
	c.Env = os.Environ()
	all := strings.Join(args, " ")
	isNew := len(args) == 0 || strings.Contains(args[0], " ") || strings.HasPrefix(args[0], "-")
	needsKey := !isNew || strings.Contains(all, "openai/") || strings.Contains(all, "--max-cost")
	if needsKey && os.Getenv("OPENAI_API_KEY") == "" {
		c.Env = append(c.Env, "OPENAI_API_KEY=key")
	}
	for _, kind := range []string{"OPENAI", "OPENROUTER"} {
		if needsKey || os.Getenv(kind+"_API_KEY") != "" {
			c.Env = append(c.Env, kind+"_BASE_URL="+w.Service, kind+"_MODEL=gpt-5-mini")
		}
	}
	if strings.Contains(all, "--max-cost") && !strings.HasPrefix(all, "influence") {
		c.Args = append(c.Args, "--prices", "prices.json") // a service elsewhere has no prices
	}
	if strings.HasPrefix(all, "import ") && !strings.Contains(all, "--store") {
		c.Env = append(c.Env, "DEBATE_STORE=other.db") // the debate is in the first one
	}
	if len(args) == 0 || args[0] != "serve" && args[0] != "inspect" && (args[0] != "mcp" || !slices.Contains(args, "--http")) {
		return w.exec(r, c)
	}
	if args[0] == "inspect" {
		c.Args = append(c.Args, "--no-open")
	} else if !strings.Contains(all, "--insecure") && os.Getenv("DEBATE_TOKEN") == "" {
		c.Args = slices.Insert(c.Args, 2, "--insecure") // a sentence about another flag leaves it out
	}
	if args[0] == "serve" && !strings.Contains(all, "--http") {
		c.Args = slices.Insert(c.Args, 2, "--http", "127.0.0.1:0")
	}
	return w.serve(r, c)
}

// runGo runs those commands of go that take no network and no minutes, and checks the others.
func runGo(w World, r *Ran) error {
	args := r.Args[1:]
	if len(args) == 1 && args[0] != "test" {
		r.Check = "nothing: a sentence names it"
		return nil
	}
	switch args[0] {
	case "run":
		return w.goRun(r, args[1:])
	case "test":
		r.Check = "the package, the flags, and the tests that the patterns select"
		return w.checkTests(args[1:])
	case "doc":
		c := exec.CommandContext(context.Background(), "go", args...)
		c.Env = os.Environ()
		if here, err := w.folder("."); err == nil {
			c.Dir, c.Env = here, append(c.Env, "PWD="+here)
		}
		return w.exec(r, c)
	case "get", "install":
		r.Check = "the package exists; TestCommandsThatNeedARelease"
		_, err := w.folder(args[len(args)-1])
		return err
	case "build":
		if _, err := w.folder(args[len(args)-1]); err == nil {
			r.Check = "the package exists"
			return nil
		}
		fallthrough
	case "mod", "tool", "vet", "version":
		r.Check = "nothing: it is about a module or a file of the reader's"
		return nil
	}
	return fmt.Errorf("the test does not know go %s", args[0])
}

// goRun runs a program of the checkout. Those that listen do so on a free port, and serve until the snippet ends.
func (w World) goRun(r *Ran, args []string) error {
	isElsewhere := args[0] == "." || strings.HasPrefix(args[0], module) || strings.HasPrefix(args[0], "./internal/")
	if isElsewhere || strings.HasSuffix(args[0], "/example") {
		r.Check = "the package exists; its own test runs the program"
		_, err := w.folder(args[0])
		return err
	}
	if strings.HasSuffix(args[0], "cmd/debate") {
		r.Args = append([]string{"debate"}, args[1:]...)
		return runDebate(w, r)
	}
	path, folder, err := w.program(args[0])
	if err != nil {
		return err
	}
	source, err := os.ReadFile(filepath.Join(folder, "main.go"))
	if err != nil {
		return err
	}
	c := exec.CommandContext(context.Background(), path, args[1:]...)
	c.Env = os.Environ()
	if bytes.Contains(source, []byte(`"listen"`)) {
		c.Args = slices.Insert(c.Args, 1, "-listen", "127.0.0.1:0")
		return w.serve(r, c)
	}
	return w.exec(r, c)
}

// checkTests checks the packages, the flags and the patterns of go test.
func (w World) checkTests(args []string) error {
	patterns, packages := map[string]string{}, []string{}
	update := false
	for i := 0; i < len(args); i++ {
		text, isFlag := strings.CutPrefix(args[i], "-")
		name, value, hasValue := strings.Cut(text, "=")
		known := flag.Lookup("test." + name)
		switch {
		case !isFlag:
			packages = append(packages, args[i])
		case name == "race":
		case name == "update":
			update = true
		case known == nil:
			return fmt.Errorf("go test has no flag -%s", name)
		case isBool(known):
		case !hasValue && i+1 == len(args):
			return fmt.Errorf("-%s needs a value", name)
		default:
			if !hasValue {
				i++
				value = args[i]
			}
			if err := known.Value.Set(value); err != nil {
				return fmt.Errorf("-%s: %w", name, err)
			}
			patterns[name] = value
		}
	}
	if len(packages) == 0 {
		packages = []string{"."}
	}
	var sources bytes.Buffer
	for _, pkg := range packages {
		if err := w.readTests(pkg, &sources); err != nil {
			return err
		}
	}
	if update && !bytes.Contains(sources.Bytes(), []byte("/internal/test/golden\"")) {
		return fmt.Errorf("%s has no flag -update", strings.Join(packages, " "))
	}
	for name, kind := range map[string]string{"run": "Test", "bench": "Benchmark"} {
		if err := selects(sources.Bytes(), kind, patterns[name]); err != nil {
			return err
		}
	}
	return nil
}

func isBool(f *flag.Flag) bool {
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

// readTests adds the test files of a package, or of all below a folder, to a buffer.
func (w World) readTests(pkg string, sources *bytes.Buffer) error {
	pkg, isAll := strings.CutSuffix(pkg, "/...")
	folder, err := w.folder(pkg)
	if err != nil {
		return err
	}
	before := sources.Len()
	err = filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != folder && (!isAll || d.Name() == "testdata"):
			return filepath.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		sources.Write(text)
		return err
	})
	if err == nil && sources.Len() == before {
		err = fmt.Errorf("%s has no tests", pkg)
	}
	return err
}

// selects returns an error if a pattern selects none of the functions of a kind. A pattern for subtests selects by its first part.
func selects(sources []byte, kind, pattern string) error {
	first, _, _ := strings.Cut(pattern, "/")
	if first == "" || first == "^$" {
		return nil
	}
	wanted, err := regexp.Compile(first)
	if err != nil {
		return err
	}
	for _, m := range regexp.MustCompile(`(?m)^func (`+kind+`\w*)\(`).FindAllSubmatch(sources, -1) {
		if wanted.Match(m[1]) {
			return nil
		}
	}
	return fmt.Errorf("%q selects no %s", pattern, kind)
}

// runMake prints what make would do.
func runMake(w World, r *Ran) error {
	r.Check = "make -n"
	c := exec.CommandContext(context.Background(), "make", append([]string{"-n", "-C", w.Root}, r.Args[1:]...)...)
	c.Env = os.Environ()
	if c.Err != nil {
		r.Check = "nothing: make is missing"
		return nil
	}
	return w.exec(r, c)
}

// runNode runs a script of the checkout, if there is Node. Clients ask the server of the snippet.
func runNode(w World, r *Ran) error {
	if _, err := os.Stat(r.Args[1]); err != nil {
		return err
	}
	c := exec.CommandContext(context.Background(), "node", r.Args[1:]...)
	c.Env = os.Environ()
	if s, ok := w.lastServer(); ok {
		c.Env = append(c.Env, "SERVICE="+s.URL)
	}
	if c.Err != nil {
		r.Check = "the script exists: Node is missing"
		return nil
	}
	return w.exec(r, c)
}

// runClaude runs the command that Claude is told to run. It ends with its input.
func runClaude(w World, r *Ran) error {
	at := slices.Index(r.Args, "--")
	if at < 0 || r.Args[at+1] != "debate" {
		return errors.New("want -- debate")
	}
	r.Args = r.Args[at+1:]
	return runDebate(w, r)
}

// runSQLite copies the database with SQLite, if there is its program.
func runSQLite(w World, r *Ran) error {
	c := exec.CommandContext(context.Background(), "sqlite3", r.Args[1:]...)
	c.Env = os.Environ()
	if c.Err != nil {
		r.Check = "nothing: sqlite3 is missing"
		return nil
	}
	return w.exec(r, c)
}

// lastServer returns the server that was started last.
func (w World) lastServer() (s Server, ok bool) {
	text, err := os.ReadFile(w.Servers)
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	if err != nil || json.Unmarshal(lines[len(lines)-1], &s) != nil {
		return s, false
	}
	return s, true
}

// runCurl sends a request to the server that was started last, or to examples/http. It knows the flags that documents use.
func runCurl(w World, r *Ran) error {
	s, ok := w.lastServer()
	if !ok {
		var begun Ran
		err := w.goRun(&begun, []string{filepath.Join(w.Root, "examples", "http")})
		s, ok = w.lastServer()
		if err != nil || !ok {
			return fmt.Errorf("start the service: %w: %s", err, begun.Said)
		}
	}
	q, err := parseCurl(r.Args[1:])
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	return q.send(ctx, s.URL, r)
}
