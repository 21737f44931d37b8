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
  --agents A,B      participants: roles in critique-refine, names in other protocols
  --rounds N        maximum number of rounds
  --file FILE       read the topic from FILE
  --config FILE     configuration file; defaults to debate-config.json
  --store FILE      keep the debate in the SQLite database FILE
  --output FILE     also write the answer to FILE, or the complete state if FILE ends with .json
  --report FILE     write a report to FILE, which must end with .md or .html
  --json            print the complete state instead of the answer
  --plain           print the progress as plain lines
  --verbose         list turns, tokens, durations and prompt sources
  --version         print the version
  --help            print this help

Exit codes: 0 success, 1 general error, 2 wrong arguments, 3 provider error, 4 wrong configuration.
`

// commands maps the commands to the flags that they accept. The empty command runs a new debate.
var commands = map[string]string{
	"":       "protocol agents rounds file config output report store verbose json plain version",
	"list":   "config store json",
	"show":   "config store json output report verbose",
	"resume": "config store json output report verbose plain",
	"retry":  "config store json output report verbose plain",
	"pause":  "config store",
	"cancel": "config store",
}

// options holds the parsed command line.
type options struct {
	command                                               string
	operands                                              []string // arguments that are not flags
	protocol, agents, file, config, output, report, store string
	rounds                                                int
	verbose, json, plain, version, help                   bool
	flagGiven                                             map[string]bool // names of the flags on the command line
	participantsInFile                                    bool            // the configuration has participants; --agents selects from them
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

// parseFlags parses flags before and after operands. Everything after "--" is an operand.
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

// check returns the first error that does not depend on the configuration.
func (o *options) check() error {
	known := strings.Fields(commands[o.command])
	for _, name := range slices.Sorted(maps.Keys(o.flagGiven)) {
		if !slices.Contains(known, name) {
			return exitErrorf(exitArguments, "read arguments: %q does not accept --%s, only --%s", o.command, name, strings.Join(known, ", --"))
		}
	}
	for name, value := range map[string]string{"config": o.config, "output": o.output, "report": o.report, "store": o.store, "file": o.file, "protocol": o.protocol} {
		if o.flagGiven[name] && strings.TrimSpace(value) == "" {
			return exitErrorf(exitArguments, "read arguments: --%s is blank", name)
		}
	}
	for _, path := range []string{o.config, o.output, o.store} {
		if isDirectory(path) {
			return exitErrorf(exitArguments, "read arguments: %s is a directory, want a file", path)
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

// checkCommand returns an error if the command has too few or too many operands.
func (o *options) checkCommand() error {
	least, most := 1, 1
	switch o.command {
	case "list":
		least, most = 0, 0
	case "resume":
		most = 2
	}
	switch n := len(o.operands); {
	case n < least:
		return exitErrorf(exitArguments, "read arguments: %q needs the id of a debate; see cli --help", o.command)
	case n > most:
		return exitErrorf(exitArguments, "read arguments: unexpected argument after %q: %q; see cli --help", o.command, o.operands[most])
	}
	return nil
}

// isSetByFlag reports whether the command line sets a field of the configuration.
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

// withExitCode adds the exit code to an error. For *debate.Problems it is exitArguments if the command line sets all fields
// that have problems, and exitConfiguration otherwise.
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

// topic returns the topic from the argument or the file on the command line.
func (o options) topic() (string, error) {
	switch {
	case o.flagGiven["file"] && len(o.operands) > 0:
		return "", exitErrorf(exitArguments, "read topic: given as an argument and with --file, want only one of them")
	case len(o.operands) > 1:
		return "", exitErrorf(exitArguments, "read topic: got %d arguments, want one; put a topic of several words in quotes", len(o.operands))
	case o.flagGiven["file"]:
		return readTopic(o.file)
	case len(o.operands) == 0:
		return "", exitErrorf(exitArguments, "read topic: no topic given, want an argument or --file; see cli --help")
	case strings.TrimSpace(o.operands[0]) == "":
		return "", exitErrorf(exitArguments, "read topic: the topic is blank")
	}
	return strings.TrimSpace(o.operands[0]), nil
}

func readTopic(path string) (string, error) {
	if isDirectory(path) {
		return "", exitErrorf(exitArguments, "read topic: %s is a directory, want a file", path)
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
