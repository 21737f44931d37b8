package main

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// checkGate returns an error for a blank decision of --pass, and for a value of --min-confidence that is no percentage.
func (o *options) checkGate() error {
	for _, wanted := range o.pass {
		if strings.TrimSpace(wanted) == "" {
			return exitErrorf(exitInput, "read arguments: --pass is blank")
		}
	}
	if o.flagGiven["min-confidence"] && !(o.minConfidence >= 1 && o.minConfidence <= 100) {
		return exitErrorf(exitInput, "read arguments: --min-confidence %v, use percent, from 1 to 100", o.minConfidence)
	}
	return nil
}

// options holds the parsed command line.
type options struct {
	command                                                 string   // name of the subcommand; empty for a new debate
	operands                                                []string // arguments that are not flags
	protocol, agents, scores, file, config, output, prompts string
	purpose                                                 string // what the debate is for
	decline                                                 string // why the user gives no reply
	store                                                   string
	backgrounds                                             []string // files
	docs                                                    []string // files and folders
	choices                                                 []string // texts between which the debate decides
	reports                                                 []string
	me                                                      []string // participants and judges for whom the user replies
	models, judgeModels, baseURLs                           []string
	dir                                                     string // in which agents work
	prices                                                  string
	at                                                      int64    // seq of the last entry of a fork
	reply, topicText                                        string   // in place of those of the parent of a fork
	silent                                                  []string // seqs of turns, and participants, that are silent in a fork
	maxCost                                                 float64
	presets                                                 []string // kinds of debates of a server, as name=file
	http                                                    string   // address of a server
	origins                                                 []string // sites whose pages may send requests to serve
	port                                                    int
	insecure, controls, noOpen, showTurns, stopOnCancel     bool
	skill                                                   bool // init writes a skill for coding agents
	rounds                                                  int
	filters                                                 filters
	verbose, json, plain, yes, count, quiet                 bool
	by                                                      string          // the label of sums
	pass                                                    []string        // decisions with which the command succeeds
	minConfidence                                           float64         // percent
	sarif                                                   string          // file
	all                                                     bool            // list each debate of a run
	dryRun                                                  bool            // say what a debate costs, and call nobody
	paused                                                  bool            // do not run a fork or a rejudged debate
	confirmAbove                                            float64         // the worst case above which a new debate asks
	flagGiven                                               map[string]bool // names of the flags on the command line
	afterDashes                                             bool            // the operands follow "--"
	eval                                                    evalOptions
	audit                                                   auditOptions
	record                                                  recordOptions
	rejudgeOptions
	influence          influenceOptions
	participantsInFile bool // the configuration has participants; --agents selects from them
}

// influenceOptions holds the values of the flags of influence.
type influenceOptions struct {
	items                         []string // seqs of turns, or seats; or all
	samples, largest              int
	seats, pairs, continued, plan bool
}

// rejudgeOptions holds the values of the flags of rejudge.
type rejudgeOptions struct {
	omit             []string // seqs of turns, and seats
	samples          int
	judgeTemperature float64
}

// evalOptions holds the values of the flags of eval.
type evalOptions struct {
	arms, fields, required         []string
	against                        []string // further arms to which all are compared
	oversight                      bool
	seed                           string
	name, baseline, format, budget string
	tokens, atOnce                 int
}

// auditOptions holds the values of the flags of audit judge.
type auditOptions struct {
	judges, plants []string
	family         string
	repeats        int
	challenge      bool
	target         float64
	records        string // file
	size           int    // of a sample of labels
	seed, person   string
}

// recordOptions holds the values of the flags for records.
type recordOptions struct {
	file, parent string
	keys, redact []string
}

// accept records the arguments of a command and the flags that were given. It returns the first error that does not depend
// on the configuration.
func (o *options) accept(command string, operands []string, afterDashes bool, flags *pflag.FlagSet) error {
	o.command = command
	o.operands = operands
	o.afterDashes = afterDashes
	o.flagGiven = map[string]bool{}
	var blank error
	flags.Visit(func(f *pflag.Flag) {
		o.flagGiven[f.Name] = true
		if strings.TrimSpace(f.Value.String()) == "" && blank == nil {
			blank = exitErrorf(exitInput, "read arguments: --%s is blank", f.Name)
		}
	})
	if blank != nil {
		return blank
	}
	if err := o.checkPaths(); err != nil {
		return err
	}
	if err := o.checkGate(); err != nil {
		return err
	}
	if o.flagGiven["max-cost"] && !(o.maxCost > 0) {
		return exitErrorf(exitInput, "read arguments: --max-cost %v, use more than 0", o.maxCost)
	}
	for name, n := range map[string]int{"rounds": o.rounds, "limit": o.filters.limit, "concurrency": o.eval.atOnce, "max-tokens": o.eval.tokens, "repeats": o.audit.repeats, "size": o.audit.size} {
		if o.flagGiven[name] && n < 1 {
			return exitErrorf(exitInput, "read arguments: --%s %d, use 1 or more", name, n)
		}
	}
	return nil
}

// checkPaths returns an error if a flag names a file that cannot be written as it says, or a folder that does not exist.
func (o *options) checkPaths() error {
	for _, path := range o.reports {
		if ext := strings.ToLower(filepath.Ext(path)); ext != ".md" && ext != ".html" {
			return exitErrorf(exitInput, "read arguments: --report %q, use a name that ends with .md or .html", path)
		}
	}
	for _, path := range append([]string{o.config, o.output, o.store, o.record.file, o.audit.records, o.sarif}, o.reports...) {
		if isDirectory(path) {
			return exitErrorf(exitInput, "read arguments: %s is a directory, want a file", path)
		}
	}
	if o.dir != "" && !isDirectory(o.dir) {
		return exitErrorf(exitInput, "read arguments: --dir %s, want a folder that exists", o.dir)
	}
	return nil
}

// word matches an argument that may be meant as a command.
var word = regexp.MustCompile(`^\w[\w-]*$`)

// checkTopic returns an error if an argument may be a misspelled or unknown command. A debate costs money, so a topic of
// one word must follow "--".
func (o *options) checkTopic(commands, similar []string) error {
	if len(o.operands) == 0 || o.afterDashes || !word.MatchString(o.operands[0]) {
		return nil
	}
	hint := ""
	if len(similar) > 0 {
		hint = "; did you mean " + strings.Join(similar, " or ") + "?"
	}
	return exitErrorf(exitInput,
		"read arguments: %q is not a command, want one of %s%s\nPut a topic of several words in quotes, and write a topic of one word after --: debate -- %s",
		o.operands[0], strings.Join(commands, ", "), hint, o.operands[0])
}

// hasFilters reports whether a filter is among the given flags.
func (o options) hasFilters() bool {
	return slices.ContainsFunc(filterFlags, func(name string) bool { return o.flagGiven[name] })
}
