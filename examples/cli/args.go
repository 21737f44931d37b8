package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/elenchus-go/debate"
)

const usage = `usage: cli [flags] "Should cities ban private cars?"
       cli [flags] --file problem.md
       cli list                  --store debates.db [--json]
       cli show ID               --store debates.db [--json] [--output FILE] [--report FILE] [--verbose]
       cli resume ID [ANSWER]    --store debates.db [flags]
       cli pause|cancel|retry ID --store debates.db

  --protocol NAME   panel, proposer-skeptic, critique-refine, arbitration, pro-con or vote
  --agents A,B      who takes part: roles in critique-refine, names elsewhere
  --rounds N        the most rounds
  --file FILE       holds the topic
  --config FILE     the configuration; defaults to debate-config.json
  --store FILE      a SQLite database that keeps the debate
  --output FILE     also writes the answer there; .json: the whole state
  --report FILE     writes a report there: .md or .html
  --json            the whole state instead of the answer
  --plain           progress as plain lines
  --verbose         lists turns, tokens, latency and where prompts came from
  --version
  --help

Exit codes: 0 success, 1 general, 2 arguments, 3 provider, 4 configuration.
`

// commands are what can be done to stored debates, with the flags that each takes; the empty one is a new debate.
var commands = map[string]string{
	"":       "protocol agents rounds file config output report store verbose json plain version",
	"list":   "config store json",
	"show":   "config store json output report verbose",
	"resume": "config store json output report verbose plain",
	"retry":  "config store json output report verbose plain",
	"pause":  "config store",
	"cancel": "config store",
}

// options are the command line.
type options struct {
	command                                               string
	operands                                              []string // what is no flag
	protocol, agents, file, config, output, report, store string
	rounds                                                int
	verbose, json, plain, version, help                   bool
	flagGiven                                             map[string]bool // flags
	participantsInFile                                    bool            // the file says who takes part; --agents selects
}

func parse(args []string) (options, error) {
	o := options{flagGiven: map[string]bool{}}
	flags := flag.NewFlagSet("cli", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	for name, to := range map[string]*string{
		"protocol": &o.protocol, "agents": &o.agents, "file": &o.file, "config": &o.config, "output": &o.output,
		"report": &o.report, "store": &o.store,
	} {
		flags.StringVar(to, name, "", "")
	}
	flags.IntVar(&o.rounds, "rounds", 0, "")
	for name, to := range map[string]*bool{"verbose": &o.verbose, "json": &o.json, "plain": &o.plain, "version": &o.version} {
		flags.BoolVar(to, name, false, "")
	}
	err := o.parseFlags(flags, args)
	if o.help = errors.Is(err, flag.ErrHelp); o.help {
		return o, nil
	}
	if err != nil {
		return o, exitErrorf(exitArguments, "read arguments: %w; see cli --help", err)
	}
	flags.Visit(func(f *flag.Flag) { o.flagGiven[f.Name] = true })
	return o, o.check()
}

// parseFlags takes flags before and after words. What follows "--" are words.
func (o *options) parseFlags(flags *flag.FlagSet, args []string) error {
	for len(args) > 0 {
		if err := flags.Parse(args); err != nil {
			return err
		}
		rest := flags.Args()
		if n := len(args) - len(rest); n > 0 && args[n-1] == "--" {
			o.operands = append(o.operands, rest...)
			return nil
		}
		if len(rest) == 0 {
			return nil
		}
		if _, known := commands[rest[0]]; known && rest[0] != "" && o.command == "" && len(o.operands) == 0 {
			o.command = rest[0]
		} else {
			o.operands = append(o.operands, rest[0])
		}
		args = rest[1:]
	}
	return nil
}

// check finds what is wrong whatever the configuration says.
func (o *options) check() error {
	known := strings.Fields(commands[o.command])
	for _, name := range slices.Sorted(maps.Keys(o.flagGiven)) {
		if !slices.Contains(known, name) {
			return exitErrorf(exitArguments, "read arguments: --%s means nothing to %s, its flags are --%s", name, o.command, strings.Join(known, ", --"))
		}
	}
	for name, value := range map[string]string{"config": o.config, "output": o.output, "report": o.report, "store": o.store, "file": o.file, "protocol": o.protocol} {
		if o.flagGiven[name] && strings.TrimSpace(value) == "" {
			return exitErrorf(exitArguments, "read arguments: --%s is blank", name)
		}
	}
	for _, path := range []string{o.config, o.output, o.store} {
		if isDirectory(path) {
			return exitErrorf(exitArguments, "read arguments: %s is a directory, name a file", path)
		}
	}
	if o.flagGiven["rounds"] && o.rounds < 1 {
		return exitErrorf(exitArguments, "read arguments: --rounds %d, use 1 or more", o.rounds)
	}
	if ext := strings.ToLower(filepath.Ext(o.report)); o.report != "" && !slices.Contains([]string{".md", ".html"}, ext) {
		return exitErrorf(exitArguments, "read arguments: --report %s, use a name that ends with .md or .html", o.report)
	}
	if o.version || o.command == "" {
		return nil
	}
	return o.checkCommand()
}

// checkCommand wants the id that a command needs.
func (o *options) checkCommand() error {
	least, most := 1, 1
	switch o.command {
	case "list":
		least, most = 0, 0
	case "resume":
		most = 2
	}
	if n := len(o.operands); n < least || n > most {
		return exitErrorf(exitArguments, "read arguments: %d words after %s; see cli --help", n, o.command)
	}
	return nil
}

// isSetByFlag tells whether a flag, or the topic, decides about a field of the configuration.
func (o options) isSetByFlag(field string) bool {
	switch {
	case field == "topic":
		return true
	case field == "participants":
		return o.flagGiven["agents"]
	case strings.HasPrefix(field, "participants["):
		return o.flagGiven["agents"] && !o.participantsInFile && (strings.HasSuffix(field, "].name") || strings.HasSuffix(field, "].role"))
	case field == "limits.max_rounds", field == "limits.min_rounds":
		return o.flagGiven["rounds"]
	}
	return false
}

// withExitCode finds the exit code of what is wrong with a configuration: arguments, where only what flags say is wrong.
func (o options) withExitCode(err error) error {
	found, ok := errors.AsType[*debate.Problems](err)
	if !ok {
		return err
	}
	for _, x := range found.List {
		if !o.isSetByFlag(x.Field) {
			return &exitError{exitConfiguration, err}
		}
	}
	return &exitError{exitArguments, err}
}

// topic is the one that the command line gives, as words or as a file.
func (o options) topic() (string, error) {
	switch {
	case o.flagGiven["file"] && len(o.operands) > 0:
		return "", exitErrorf(exitArguments, "read topic: it is given twice, as an argument and by --file; give one")
	case len(o.operands) > 1:
		return "", exitErrorf(exitArguments, "read topic: %d arguments, give one; quote a topic of several words", len(o.operands))
	case o.flagGiven["file"]:
		return readTopic(o.file)
	case len(o.operands) == 0:
		return "", exitErrorf(exitArguments, "read topic: none is given, as an argument or by --file; see cli --help")
	case strings.TrimSpace(o.operands[0]) == "":
		return "", exitErrorf(exitArguments, "read topic: it is blank")
	}
	return strings.TrimSpace(o.operands[0]), nil
}

func readTopic(path string) (string, error) {
	if isDirectory(path) {
		return "", exitErrorf(exitArguments, "read topic: %s is a directory, name a file", path)
	}
	b, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", exitErrorf(exitArguments, "read topic: %w", err)
	case err != nil:
		return "", fmt.Errorf("read topic: %w", err)
	case !utf8.Valid(b):
		return "", fmt.Errorf("read topic: %s is not UTF-8 text", path)
	}
	topic := strings.TrimSpace(strings.TrimPrefix(string(b), "\ufeff"))
	if topic == "" {
		return "", exitErrorf(exitArguments, "read topic: %s is blank", path)
	}
	return topic, nil
}

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
