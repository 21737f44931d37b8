package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Groups of commands in the help.
const (
	groupRun      = "run"
	groupStored   = "stored"
	groupServe    = "serve"
	groupSettings = "settings"
)

// idOperand describes the operand of commands on one debate.
const idOperand = "the id of a debate"

// subcommand describes a command.
type subcommand struct {
	use, group, short, long, example string
	operands                         string // what the operands are
	least, most                      int    // the number of operands
	run                              func() error
	flags                            []func(*pflag.FlagSet)
	commands                         []subcommand // of a command that only groups others
}

// rootCommand returns the command line: a new debate, and commands for everything else.
func (p *program) rootCommand() *cobra.Command {
	root := p.build(subcommand{
		use: `debate [flags] "topic"`, short: "Run structured debates between language models and people", example: rootExample, run: p.newDebate,
		flags: []func(*pflag.FlagSet){
			p.debateFlags, p.topicFlags, p.modelFlags, p.addressFlags, p.seatFlags, p.newDebateFlags,
			p.resultFlags, p.costFlags,
		},
	})
	root.Long = rootHelp
	root.SilenceErrors = true
	root.SilenceUsage = true
	root.DisableFlagsInUseLine = true
	root.SuggestionsMinimumDistance = 2
	root.Args = func(c *cobra.Command, operands []string) error {
		if err := p.accept("", operands, c.ArgsLenAtDash() == 0, c.Flags()); err != nil {
			return err
		}
		var names, similar []string
		for _, sub := range c.Commands() {
			if !sub.IsAdditionalHelpTopicCommand() {
				names = append(names, sub.Name())
			}
		}
		if len(operands) > 0 {
			similar = c.SuggestionsFor(operands[0])
			if operands[0] == "report" {
				similar = []string{"show ID --report FILE"}
			}
		}
		slices.Sort(names)
		if err := p.checkTopic(names, similar); err != nil {
			return err
		}
		if err := p.prepare(); err != nil {
			return err
		}
		return p.setAddresses()
	}
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages ", ".FlagUsagesWrapped 80 "))
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if x, ok := errors.AsType[*pflag.InvalidValueError](err); ok && errors.Is(err, strconv.ErrSyntax) {
			err = fmt.Errorf("--%s %s, want %s", x.GetFlag().Name, x.GetValue(), wanted(x.GetFlag().Value.Type()))
		}
		return exitErrorf(exitInput, "read arguments: %w; see %s --help", err, c.CommandPath())
	})
	root.AddGroup(&cobra.Group{ID: groupRun, Title: "Run debates:"}, &cobra.Group{ID: groupStored, Title: "Use stored debates:"}, &cobra.Group{ID: groupServe, Title: "Serve debates:"}, &cobra.Group{ID: groupSettings, Title: "Settings and help:"})
	root.SetHelpCommandGroupID(groupSettings)
	root.SetCompletionCommandGroupID(groupSettings)
	for _, s := range p.subcommands() {
		root.AddCommand(p.build(s))
	}
	root.AddCommand(helpTopics()...)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	return root
}

// wanted returns what a flag of a type takes, for errors.
func wanted(kind string) string {
	switch kind {
	case "bool":
		return "true or false"
	case "float64":
		return "a number"
	}
	return "a whole number"
}

// subcommands returns all commands except help and completion, which cobra adds.
func (p *program) subcommands() []subcommand {
	const id = idOperand
	server := []func(*pflag.FlagSet){p.debateFlags, p.modelFlags, p.addressFlags, p.serverFlags, p.storeFlags}
	run := []func(*pflag.FlagSet){p.addressFlags, p.seatFlags, p.storeFlags, p.resultFlags, p.yesFlag}
	return []subcommand{
		{use: "resume ID", group: groupRun, short: "Continue a debate that was interrupted or is paused", operands: id, least: 1, most: 1, run: p.resumeDebate, flags: run},
		{use: "retry ID", group: groupRun, short: "Continue a debate after an error", operands: id, least: 1, most: 1, run: p.resumeDebate, flags: run},
		{
			use: "answer ID [TEXT | ACTION [REMARK]]", group: groupRun, short: "Reply for a person, or decide a question", example: answerExample,
			operands: id, least: 1, most: 3, run: p.answerDebate, flags: []func(*pflag.FlagSet){p.answerFlags, p.storeFlags},
		},
		{
			use: "fork ID", group: groupRun, short: "Make a new debate from the beginning of another one", long: forkHelp, example: forkExample,
			operands: id, least: 1, most: 1, run: p.forkDebate, flags: append(slices.Clone(run), p.forkFlags, p.modelFlags, p.pausedFlag),
		},
		{
			use: "rejudge ID", group: groupRun, short: "Ask the judges of a debate again, and nobody else", long: rejudgeHelp, example: rejudgeExample,
			operands: id, least: 1, most: 1, run: p.rejudgeDebate, flags: append(slices.Clone(run), p.rejudgeFlags, p.pausedFlag),
		},
		{
			use: "influence ID", group: groupRun, short: "Find out which turns decided a debate", long: influenceHelp, example: influenceExample,
			operands: id, least: 1, most: 1, run: p.findInfluence, flags: []func(*pflag.FlagSet){p.influenceFlags, p.addressFlags, p.storeFlags},
		},
		{
			use: "eval TASKS", group: groupRun, short: "Compare ways to answer tasks with right answers", long: evalHelp, example: evalExample,
			operands: "a file with tasks", least: 1, most: 1, run: p.evaluate, flags: []func(*pflag.FlagSet){p.evalFlags, p.modelFlags, p.addressFlags, p.newDebateFlags},
		},
		{
			use: "tournament FILE", group: groupRun, short: "Rate models by debates against one another", long: tournamentHelp, example: tournamentExample,
			operands: "a file with players and motions", least: 1, most: 1, run: p.playTournament, flags: []func(*pflag.FlagSet){p.tournamentFlags, p.modelFlags, p.addressFlags},
		},
		{use: "audit", group: groupRun, short: "Measure judges before you trust them", commands: []subcommand{
			{
				use: "judge PAIRS", short: "Measure judges on pairs of answers of which the better one is known", long: auditHelp, example: auditExample,
				operands: "a file with pairs", least: 1, most: 1, run: p.auditJudge, flags: []func(*pflag.FlagSet){p.auditFlags, p.addressFlags, p.newDebateFlags},
			},
		}},
		{
			use: "label {PAIRS | FILTERS}", group: groupRun, short: "Label a sample of pairs or judged debates, to measure judges with", long: labelHelp, example: labelExample,
			operands: "a file with pairs, or filters such as --label eval=test", least: 1, most: 1, run: p.label, flags: []func(*pflag.FlagSet){p.labelFlags, p.filters.addFlags, p.storeFlags},
		},
		{use: "pause ID", group: groupRun, short: "Pause a debate, whichever process runs it", operands: id, least: 1, most: 1, run: p.pauseDebate, flags: []func(*pflag.FlagSet){p.storeFlags}},
		{use: "cancel ID", group: groupRun, short: "Cancel a debate", operands: id, least: 1, most: 1, run: p.cancelDebate, flags: []func(*pflag.FlagSet){p.storeFlags}},
		{use: "list", group: groupStored, short: "List debates, newest first", run: p.listDebates, flags: []func(*pflag.FlagSet){p.filters.addFlags, p.listFlags, p.storeFlags}},
		{use: "show ID", group: groupStored, short: "Print the transcript and the answer of a debate", operands: id, least: 1, most: 1, run: p.showDebate, flags: []func(*pflag.FlagSet){p.storeFlags, p.resultFlags}},
		{use: "export ID", group: groupStored, short: "Write a debate as JSON, to move it or to back it up, or as a record", long: exportHelp, operands: id, least: 1, most: 1, run: p.exportDebate, flags: []func(*pflag.FlagSet){p.exportFlags, p.recordFlags, p.storeFlags}},
		{use: "import FILE", group: groupStored, short: "Store a debate that export wrote", operands: "a file that export wrote", least: 1, most: 1, run: p.importDebate, flags: []func(*pflag.FlagSet){p.storeFlags}},
		{use: "verify FILE", group: groupStored, short: "Derive a debate again from its record", long: verifyHelp, operands: "a file that export --record wrote", least: 1, most: 1, run: p.verifyRecord, flags: []func(*pflag.FlagSet){p.verifyFlags}},
		{use: "keys NAME", group: groupSettings, short: "Make a pair of keys that sign records", long: keysHelp, operands: "the name of the keys, such as example.org/debates", least: 1, most: 1, run: p.makeKeys, flags: []func(*pflag.FlagSet){p.keysFlags}},
		{
			use: "delete {ID | FILTERS}", group: groupStored, short: "Delete a debate, or all that filters select", example: deleteExample,
			operands: id + ", or filters such as --state completed", least: 1, most: 1, run: p.deleteDebates, flags: []func(*pflag.FlagSet){p.filters.addFlags, p.storeFlags, p.yesFlag},
		},
		{use: "inspect [ID]", group: groupServe, short: "Show debates in the browser", long: inspectHelp, operands: id, most: 1, run: p.inspectDebates, flags: []func(*pflag.FlagSet){p.inspectFlags, p.addressFlags, p.storeFlags}},
		{use: "serve", group: groupServe, short: "Serve debates over HTTP", long: serveHelp, run: p.serveDebates, flags: append(server, p.serveFlags)},
		{use: "mcp", group: groupServe, short: "Serve debates over the Model Context Protocol", long: mcpHelp, example: mcpExample, run: p.serveMCP, flags: append(server, func(f *pflag.FlagSet) {
			f.StringVar(&p.http, "http", "", "`address` for streamable HTTP, at /mcp; defaults to standard input and output")
			f.BoolVar(&p.stopOnCancel, "stop-on-cancel", false, "cancel the debate of a call that the client cancels; many clients cancel a call after 60 seconds")
		})},
		{
			use: "acp", group: groupServe, short: "Serve debates to editors over the Agent Client Protocol", long: acpHelp,
			example: acpExample,
			run:     p.serveEditor, flags: []func(*pflag.FlagSet){p.debateFlags, p.modelFlags, p.addressFlags, p.presetFlags, p.storeFlags},
		},
		{use: "init", group: groupSettings, short: "Write a configuration with comments, and its JSON Schema", long: initHelp, run: p.writeConfig, flags: []func(*pflag.FlagSet){p.initFlags, p.yesFlag}},
		{use: "prices [MODEL]", group: groupSettings, short: "List the prices of models, with their date and source", most: 1, run: p.showPrices, long: pricesHelp, flags: []func(*pflag.FlagSet){p.pricesFlags}},
	}
}

// build returns a command.
func (p *program) build(s subcommand) *cobra.Command {
	c := &cobra.Command{Use: s.use, GroupID: s.group, Short: s.short, Long: s.long, Example: s.example, RunE: func(*cobra.Command, []string) error { return s.run() }}
	c.Flags().SortFlags = false
	for _, inner := range s.commands {
		c.AddCommand(p.build(inner))
	}
	if s.commands != nil {
		c.RunE = func(c *cobra.Command, operands []string) error {
			return exitErrorf(exitInput, "read arguments: %q needs a command; see %s --help", c.Name(), c.CommandPath())
		}
	}
	for _, add := range s.flags {
		add(c.Flags())
	}
	p.completeFlags(c)
	switch {
	case strings.HasPrefix(s.operands, idOperand):
		c.ValidArgsFunction = p.completeIDs
	case s.use != "import FILE" && s.use != "eval TASKS" && s.use != "tournament FILE" && s.use != "judge PAIRS" && s.use != "label {PAIRS | FILTERS}" && s.use != "verify FILE":
		c.ValidArgsFunction = cobra.NoFileCompletions
	}
	c.Args = func(c *cobra.Command, operands []string) error {
		if err := p.accept(c.Name(), operands, false, c.Flags()); err != nil {
			return err
		}
		least, most := s.least, s.most
		if p.hasFilters() {
			least, most = 0, 0
		}
		switch n := len(operands); {
		case n < least:
			return exitErrorf(exitInput, "read arguments: %q needs %s; see %s --help", c.Name(), s.operands, c.CommandPath())
		case n > most:
			return exitErrorf(exitInput,
				"read arguments: unexpected argument after %q: %q; see %s --help", c.Name(), operands[most], c.CommandPath())
		}
		if err := p.prepare(); err != nil {
			return err
		}
		return p.setAddresses()
	}
	return c
}
