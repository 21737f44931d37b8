package main

import (
	"errors"
	"flag"
	"io"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/elenchus-go/debate"
)

// commands maps the commands to the flags that they accept. The empty command runs a new debate.
var commands = map[string]string{
	"":       "protocol agents me rounds scores prompts file config output report store verbose json plain version",
	"help":   "",
	"list":   filterFlags + " limit count config store json",
	"show":   "config store json output report verbose",
	"export": "config store output",
	"import": "config store",
	"delete": filterFlags + " config store yes",
	"resume": "me config store json output report verbose plain prompts yes",
	"retry":  "me config store json output report verbose plain prompts yes",
	"pause":  "config store",
	"cancel": "config store",
}

// options holds the parsed command line.
type options struct {
	command                                                 string
	operands                                                []string // arguments that are not flags
	protocol, agents, scores, file, config, output, prompts string
	store                                                   string
	reports                                                 stringList
	me                                                      stringList // participants and judges for whom the user replies
	rounds                                                  int
	filters                                                 filters
	verbose, json, plain, yes, count, version, help         bool
	flagGiven                                               map[string]bool // names of the flags on the command line
	afterDashes                                             bool            // the operands follow "--"
	participantsInFile                                      bool            // the configuration has participants; --agents selects from them
}

// flagSet returns the flags, which write to o.
func (o *options) flagSet() *flag.FlagSet {
	flags := flag.NewFlagSet("debate", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	for name, to := range map[string]*string{
		"protocol": &o.protocol, "agents": &o.agents, "scores": &o.scores, "prompts": &o.prompts, "file": &o.file, "config": &o.config,
		"output": &o.output, "store": &o.store,
	} {
		flags.StringVar(to, name, "", "")
	}
	flags.IntVar(&o.rounds, "rounds", 0, "")
	for name, to := range map[string]*bool{"verbose": &o.verbose, "json": &o.json, "plain": &o.plain, "yes": &o.yes, "count": &o.count, "version": &o.version} {
		flags.BoolVar(to, name, false, "")
	}
	flags.Var(&o.reports, "report", "")
	flags.Var(&o.me, "me", "")
	o.filters.addFlags(flags)
	return flags
}

func parse(args []string) (options, error) {
	o := options{flagGiven: map[string]bool{}}
	flags := o.flagSet()
	err := o.parseFlags(flags, args)
	if o.help = errors.Is(err, flag.ErrHelp) || err == nil && o.command == "help"; o.help {
		return o, nil
	}
	if err != nil {
		return o, exitErrorf(exitArguments, "read arguments: %w; see debate help", err)
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
			o.afterDashes = len(o.operands) == 0
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
	if err := o.checkFlags(); err != nil {
		return err
	}
	switch {
	case o.version:
		return nil
	case o.command == "":
		return o.checkTopic()
	}
	return o.checkCommand()
}

func (o *options) checkFlags() error {
	known := strings.Fields(commands[o.command])
	for _, name := range slices.Sorted(maps.Keys(o.flagGiven)) {
		if !slices.Contains(known, name) {
			return exitErrorf(exitArguments, "read arguments: %q does not accept --%s, only --%s", o.command, name, strings.Join(known, ", --"))
		}
	}
	values := map[string]string{"config": o.config, "output": o.output, "store": o.store, "file": o.file, "protocol": o.protocol, "scores": o.scores, "prompts": o.prompts, "waiting": o.filters.waiting}
	for _, path := range o.reports {
		values["report"] = path
		if ext := strings.ToLower(filepath.Ext(path)); path != "" && ext != ".md" && ext != ".html" {
			return exitErrorf(exitArguments, "read arguments: --report %s, use a name that ends with .md or .html", path)
		}
	}
	for name, value := range values {
		if o.flagGiven[name] && strings.TrimSpace(value) == "" {
			return exitErrorf(exitArguments, "read arguments: --%s is blank", name)
		}
	}
	for _, path := range append([]string{o.config, o.output, o.store}, o.reports...) {
		if isDirectory(path) {
			return exitErrorf(exitArguments, "read arguments: %s is a directory, want a file", path)
		}
	}
	for name, n := range map[string]int{"rounds": o.rounds, "limit": o.filters.limit} {
		if o.flagGiven[name] && n < 1 {
			return exitErrorf(exitArguments, "read arguments: --%s %d, use 1 or more", name, n)
		}
	}
	return nil
}

// word matches an argument that may be meant as a command.
var word = regexp.MustCompile(`^\w[\w-]*$`)

// checkTopic returns an error if an argument may be a misspelled or unknown command. A debate costs money, so a topic of
// one word must follow "--".
func (o *options) checkTopic() error {
	if len(o.operands) == 0 || o.afterDashes || !word.MatchString(o.operands[0]) {
		return nil
	}
	names := slices.DeleteFunc(sortedKeys(commands), func(name string) bool { return name == "" })
	return exitErrorf(exitArguments, "read arguments: %q is not a command, want one of %s; put a topic of several words in quotes, and write a topic of one word after --: debate -- %s",
		o.operands[0], strings.Join(names, ", "), o.operands[0])
}

// checkCommand returns an error if the command has too few or too many operands.
func (o *options) checkCommand() error {
	least, most, what := 1, 1, "the id of a debate"
	switch o.command {
	case "list":
		least, most = 0, 0
	case "resume":
		most = 2
		if len(o.operands) > 1 && o.operands[1] == actionEdit {
			most = 3
		}
	case "import":
		what = "a file that export wrote"
	case "delete":
		what = "the id of a debate, or filters such as --state completed"
		if o.filters.given(o.flagGiven) {
			least, most = 0, 0
		}
	}
	switch n := len(o.operands); {
	case n < least:
		return exitErrorf(exitArguments, "read arguments: %q needs %s; see debate help", o.command, what)
	case n > most:
		return exitErrorf(exitArguments, "read arguments: unexpected argument after %q: %q; see debate help", o.command, o.operands[most])
	}
	return nil
}

// actionEdit answers a question with a remark.
const actionEdit = "edit"

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
	case strings.HasPrefix(field, "protocol.scores"):
		return o.flagGiven["scores"]
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
