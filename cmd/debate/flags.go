package main

import (
	"strings"

	"github.com/spf13/pflag"
)

// debateFlags adds the flags that describe a debate.
func (o *options) debateFlags(flags *pflag.FlagSet) {
	o.purposeFlag(flags)
	o.protocolFlag(flags)
	flags.StringVar(&o.agents, "agents", "", "participants, as `A,B`: roles in refine, names in other protocols")
	o.optionFlag(flags)
	flags.IntVar(&o.rounds, "rounds", 0, "largest `number` of rounds")
	flags.StringVar(&o.scores, "scores", "", "scores of the evaluation that arbitration debates, as `A=5,B=7`")
}

// topicFlags adds the flags of a new debate that a server does not have.
func (o *options) topicFlags(flags *pflag.FlagSet) {
	flags.StringVarP(&o.file, "file", "f", "", "read the topic from `file`")
	flags.StringArrayVar(&o.backgrounds, "background", nil, "add the text of `file` to the background, which all participants and judges know; can be repeated")
	flags.StringArrayVar(&o.docs, "docs", nil, "documents that participants and judges read or search: a file or a folder, as `path`; can be repeated")
}

// serverFlags adds the flags of serve and mcp.
func (o *options) serverFlags(flags *pflag.FlagSet) {
	o.presetFlags(flags)
	flags.BoolVar(&o.insecure, "insecure", false, "answer everyone who reaches the address, without a token")
}

// presetFlags adds the flags of serve, mcp and acp.
func (o *options) presetFlags(flags *pflag.FlagSet) {
	flags.StringArrayVar(&o.presets, "preset", nil, "another kind of debate, as `name=file` with a configuration; can be repeated")
	flags.StringVar(&o.prompts, "prompts", "", "replace prompts with the templates NAME.tmpl in `folder`")
}

// serveFlags adds the flags of serve.
func (o *options) serveFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.http, "http", "", "`address` of the server; defaults to "+serveAddress)
	flags.StringArrayVar(&o.origins, "origin", nil, "`site` whose pages may send requests and read the answers, such as https://app.example.com; can be repeated")
	flags.BoolVar(&o.showTurns, "show-turns", false, "send OpenAI clients the turns while a debate runs, as reasoning")
	flags.BoolVar(&o.stopOnCancel, "stop-on-cancel", false, "cancel the debate of an OpenAI client that disconnects before the answer")
}

// inspectFlags adds the flags of inspect.
func (o *options) inspectFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&o.controls, "controls", false, "allow to control debates, reply, decide and fork; needs the keys of the models")
	flags.BoolVar(&o.noOpen, "no-open", false, "do not open the browser")
	flags.IntVar(&o.port, "port", 0, "`port` of 127.0.0.1; defaults to a free one")
}

// modelFlags adds the flags that choose models.
func (o *options) modelFlags(flags *pflag.FlagSet) {
	flags.StringArrayVarP(&o.models, "model", "m", nil, "`model` of all, such as openai/gpt-5-mini, or of one participant, such as Ada=openai/gpt-5-mini; can be repeated: several without a name are given to the participants in turn")
	flags.StringArrayVar(&o.judgeModels, "judge-model", nil, "`model` of the judges; defaults to the first --model; can be repeated")
	flags.Float64Var(&o.maxCost, "max-cost", 0, "largest `amount` to spend, in the currency of the prices")
	flags.StringVar(&o.prices, "prices", "", "JSON `file` with prices that override the built-in ones; see debate prices")
}

// addressFlags adds the flags of commands that call models.
func (o *options) addressFlags(flags *pflag.FlagSet) {
	flags.StringArrayVar(&o.baseURLs, "base-url", nil, "address of a service, as `kind=URL`; can be repeated")
	flags.StringVar(&o.dir, "dir", "", "`folder` that agents read, such as agent/claude (default: the working directory)")
}

// pricesFlags adds the flags of prices.
func (o *options) pricesFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.prices, "prices", "", "JSON `file` with prices that override the built-in ones")
	flags.StringVar(&o.config, "config", "", "configuration `file`; defaults to "+commentedConfigPath+" or "+defaultConfigPath)
	flags.BoolVar(&o.json, "json", false, "print JSON")
}

// seatFlags adds the flags of commands that run a debate.
func (o *options) seatFlags(flags *pflag.FlagSet) {
	flags.StringArrayVar(&o.me, "me", nil, "you reply for the participant or judge of this `name`; can be repeated")
	flags.StringVar(&o.prompts, "prompts", "", "replace prompts with the templates NAME.tmpl in `folder`")
	flags.BoolVar(&o.plain, "plain", false, "print the progress as plain lines")
}

// storeFlags adds the flags of commands that use stored debates.
func (o *options) storeFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.config, "config", "", "configuration `file`; defaults to "+commentedConfigPath+" or "+defaultConfigPath)
	flags.StringVar(&o.store, "store", "", "SQLite database `file` (default: a database in your data folder)")
}

// newDebateFlags adds the flags of a new debate, which need not be stored.
func (o *options) newDebateFlags(flags *pflag.FlagSet) {
	o.storeFlags(flags)
	flags.Lookup("store").Usage = newStoreUsage
}

// costFlags adds the flags that say what a new debate costs before it begins.
func (o *options) costFlags(flags *pflag.FlagSet) {
	o.yesFlag(flags)
	flags.BoolVar(&o.dryRun, "dry-run", false, "print seats, models, prompts, calls and costs, and call nobody")
	flags.Float64Var(&o.confirmAbove, "confirm-above", defaultConfirmAbove,
		"ask on a terminal if the debate can cost more than this `amount`, in the currency of the prices")
}

const defaultConfirmAbove = 1

// pausedFlag adds the flag of commands that make a debate from another one.
func (o *options) pausedFlag(flags *pflag.FlagSet) {
	flags.BoolVar(&o.paused, "paused", false, "only make the debate; resume runs it")
}

// newStoreUsage says what --store takes where debates need not be stored.
const newStoreUsage = "SQLite database `file`; memory keeps nothing (default: a database in your data folder)"

// resultFlags adds the flags of commands that print the result of a debate.
func (o *options) resultFlags(flags *pflag.FlagSet) {
	flags.StringVarP(&o.output, "output", "o", "", "also write the answer to `file`, or the complete state if it ends with .json")
	flags.StringArrayVarP(&o.reports, "report", "r", nil, "write a report to `file`, which must end with .md or .html; can be repeated")
	flags.BoolVar(&o.json, "json", false, "print the answer for programs and the complete state as JSON")
	flags.BoolVarP(&o.quiet, "quiet", "q", false, "print only the answer, and with --json only the answer for programs")
	flags.BoolVarP(&o.verbose, "verbose", "v", false, "list turns, tokens, durations, prompt sources, and all files that are left out")
	flags.StringArrayVar(&o.pass, "pass", nil,
		"exit with 10 if the decision is not this `option`, and with 11 if there is none; can be repeated")
	flags.Float64Var(&o.minConfidence, "min-confidence", 0, "exit with 11 if the decision has a confidence of less than this `percent`")
	flags.StringVar(&o.sarif, "sarif", "", "write the findings of a review to `file`, as SARIF 2.1.0")
}

// listFlags adds the flags of list, apart from filters.
func (o *options) listFlags(flags *pflag.FlagSet) {
	flags.IntVar(&o.filters.limit, "limit", 0, "largest `number` of debates")
	flags.BoolVar(&o.all, "all", false, "list each debate of an evaluation, an audit, a tournament, labels or an influence, instead of one line for all")
	flags.BoolVar(&o.count, "count", false, "print the number of debates by state instead of a list")
	flags.StringVar(&o.by, "by", "",
		"print the sums of usage and cost by the value of this `label` instead of a list; forks count what they began with")
	flags.BoolVar(&o.json, "json", false, "print JSON")
}

// exportFlags adds the flags of export.
func (o *options) exportFlags(flags *pflag.FlagSet) {
	flags.StringVarP(&o.output, "output", "o", "", "write to `file` instead of stdout")
}

// answerFlags adds the flags of answer.
func (o *options) answerFlags(flags *pflag.FlagSet) {
	flags.StringArrayVar(&o.me, "me", nil, "you reply for the participant or judge of this `name`")
	flags.StringVarP(&o.file, "file", "f", "", "read the reply from `file`")
	flags.StringVar(&o.decline, "decline", "", "give no reply, for this `reason`")
}

// yesFlag adds the flag of commands that ask for a confirmation.
func (o *options) yesFlag(flags *pflag.FlagSet) {
	flags.BoolVarP(&o.yes, "yes", "y", false, "answer yes to the questions of this command")
}

// forkFlags adds the flags of fork.
func (o *options) forkFlags(flags *pflag.FlagSet) {
	flags.Int64Var(&o.at, "at", 0, "`seq` of the last entry that the fork has; show --verbose lists those of turns (default: all entries)")
	flags.StringVar(&o.reply, "reply", "", "`text` in place of the turn of --at; JSON if the turn is")
	flags.StringVarP(&o.file, "file", "f", "", "read the text of --reply from `file`")
	flags.StringArrayVar(&o.silent, "silent", nil, "have a turn, as `seq`, or from --at on a participant be silent; the fork ends before the first such turn; can be repeated")
	flags.StringVar(&o.topicText, "topic", "", "another topic, as `text`")
	flags.IntVar(&o.rounds, "rounds", 0, "another largest `number` of rounds")
}

// rejudgeFlags adds the flags of rejudge.
func (o *options) rejudgeFlags(flags *pflag.FlagSet) {
	o.newJudgesFlags(flags)
	flags.StringArrayVar(&o.omit, "omit", nil, "leave a turn, as `seq`, all turns of a seat, a document or an attachment out of what the judges see; can be repeated")
	flags.IntVar(&o.samples, "samples", 1, "`number` of debates to make, which show the participants in one order and in the opposite one in turn")
}

// newJudgesFlags adds the flags that choose judges who are asked again.
func (o *options) newJudgesFlags(flags *pflag.FlagSet) {
	flags.StringArrayVar(&o.judgeModels, "judge-model", nil, "`model` of the judges (default: the same models); can be repeated")
	flags.Float64Var(&o.judgeTemperature, "judge-temperature", 0, "temperature of the judges, as `number` (default: the same)")
}

// influenceFlags adds the flags of influence.
func (o *options) influenceFlags(flags *pflag.FlagSet) {
	f := &o.influence
	flags.StringSliceVar(&f.items, "items", nil, "only these turns, as `seqs`, or with --seats only these seats; all for all at once (default: the largest after 5 samples of each)")
	flags.IntVar(&f.samples, "samples", 20, "`number` of samples of each item")
	flags.IntVar(&f.largest, "largest", 3, "`number` of items that are sampled so often, if there are no --items")
	flags.BoolVar(&f.seats, "seats", false, "leave out whole seats instead of single turns")
	flags.BoolVar(&f.pairs, "pairs", false, "also leave out the two largest items together")
	flags.BoolVar(&f.continued, "continued", false, "have the debate go on without each item and with it, instead of asking the judges alone")
	flags.BoolVar(&f.plan, "plan", false, "only say how many calls it takes, and what they cost")
	o.newJudgesFlags(flags)
	flags.IntVar(&o.eval.tokens, "max-tokens", 0, "largest `number` of tokens to use")
	flags.Float64Var(&o.maxCost, "max-cost", 0, "largest `amount` to spend, in the currency of the prices")
	flags.IntVar(&o.eval.atOnce, "concurrency", 8, "`number` of samples at the same time")
	flags.StringArrayVarP(&o.reports, "report", "r", nil, "write the report to `file`, which must end with .md or .html; can be repeated")
	flags.BoolVar(&o.json, "json", false, "print the report as JSON instead of Markdown")
}

// initFlags adds the flags of init.
func (o *options) initFlags(flags *pflag.FlagSet) {
	o.purposeFlag(flags)
	o.protocolFlag(flags)
	o.optionFlag(flags)
	flags.StringVarP(&o.output, "output", "o", "", "write to `file`; defaults to "+commentedConfigPath)
	flags.BoolVar(&o.skill, "skill", false,
		"instead, write a skill for Claude Code, Codex, Gemini CLI and others to .claude/skills and .agents/skills")
}

func (o *options) protocolFlag(flags *pflag.FlagSet) {
	flags.StringVarP(&o.protocol, "protocol", "p", "", "`name` of the protocol: "+strings.Join(sortedKeys(presets), ", ")+"; defaults to panel")
}

func (o *options) optionFlag(flags *pflag.FlagSet) {
	flags.StringArrayVar(&o.choices, "option", nil, "an option, as `text`, between which judges or votes decide in panel, procon and vote; use two to sixteen")
}

func (o *options) purposeFlag(flags *pflag.FlagSet) {
	flags.StringVar(&o.purpose, "for", "", "what you want, as `purpose`: "+strings.Join(sortedKeys(purposes), ", ")+"; chooses protocol, participants and judges; see debate help purposes")
}

// evalFlags adds the flags of eval.
func (o *options) evalFlags(flags *pflag.FlagSet) {
	e := &o.eval
	flags.StringArrayVar(&e.arms, "arm", nil, "a way to answer, as `[name=]what`: single, self-consistency:K, a protocol such as vote, or a configuration file; can be repeated")
	flags.StringVar(&e.baseline, "baseline", "", "`name` of the arm to which the others are compared; defaults to the first one")
	flags.StringVar(&e.budget, "budget", "", "what a baseline of equal budget gets: tokens, cost or none; defaults to tokens")
	flags.StringArrayVar(&e.required, "require", nil, "fail unless this `requirement` is shown, such as 'vote > single' or 'vote >= 0.8'; can be repeated")
	flags.StringVar(&e.format, "format", "", "`format` of the tasks: jsonl, gsm8k, mmlu, truthfulqa, quality or llmbar; defaults to jsonl")
	flags.StringArrayVar(&e.fields, "field", nil, "another name of a field in the tasks, as `topic=prompt`; can be repeated")
	flags.BoolVar(&e.oversight, "oversight", false, "find out whether a judge who has not read the texts of the tasks finds the right answers, alone and after debates and consultancies of models that have; the format defaults to quality")
	flags.StringVar(&e.seed, "seed", "", "`text` that determines what is drawn of tasks, such as wrong answers")
	o.runsFlags(flags, "evaluation", "tasks that are answered")
}

// tournamentFlags adds the flags of tournament.
func (o *options) tournamentFlags(flags *pflag.FlagSet) {
	o.runsFlags(flags, "tournament", "pairs of games that are played")
	flags.StringVar(&o.store, "store", "", newStoreUsage) // its file is the configuration
}

// runsFlags adds the flags that evaluations and tournaments have.
func (o *options) runsFlags(flags *pflag.FlagSet, what, tasks string) {
	flags.StringVar(&o.eval.name, "name", "", "`name` of the "+what+"; defaults to that of the file")
	flags.IntVar(&o.eval.tokens, "max-tokens", 0, "largest `number` of tokens to use")
	flags.IntVar(&o.eval.atOnce, "concurrency", 8, "`number` of "+tasks+" at the same time")
	flags.StringVarP(&o.output, "output", "o", "", "write the result of each run to `file`, as JSON Lines")
	flags.StringArrayVarP(&o.reports, "report", "r", nil, "write the report to `file`, which must end with .md or .html; can be repeated")
	flags.BoolVar(&o.json, "json", false, "print the report as JSON instead of Markdown")
	flags.StringVar(&o.prompts, "prompts", "", "replace prompts with the templates NAME.tmpl in `folder`")
}

// auditFlags adds the flags of audit judge.
func (o *options) auditFlags(flags *pflag.FlagSet) {
	e, a := &o.eval, &o.audit
	flags.StringArrayVar(&a.judges, "judge", nil, "a judge, as `[name=]what`: PROVIDER/MODEL, or a configuration file with one judge; can be repeated")
	flags.StringArrayVar(&a.plants, "plant", nil, "also measure what moves the judge if it is put into an answer, as `name`: verbosity, formatting, instruction or all; can be repeated")
	flags.IntVar(&a.repeats, "repeats", 1, "`number` of times that each pair is judged, for consistency")
	flags.BoolVar(&a.challenge, "challenge", false, "object to each decision, and ask again")
	flags.Float64Var(&a.target, "target", 0, "`share` of right decisions, such as 0.9, from which the judges may decide alone; the report says where")
	flags.StringVar(&a.family, "family", "", "`name` of the family of models whose answers a judge may prefer; defaults to that of its model")
	flags.StringVar(&e.format, "format", "", "`format` of the pairs: jsonl or llmbar; defaults to jsonl")
	flags.StringVar(&e.name, "name", "", "`name` of the audit; defaults to that of the file")
	flags.IntVar(&e.tokens, "max-tokens", 0, "largest `number` of tokens to use")
	flags.Float64Var(&o.maxCost, "max-cost", 0, "largest `amount` to spend, in the currency of the prices")
	flags.StringVar(&o.prices, "prices", "", "JSON `file` with prices that override the built-in ones; see debate prices")
	flags.IntVar(&e.atOnce, "concurrency", 8, "`number` of pairs that are judged at the same time")
	flags.StringVarP(&o.output, "output", "o", "", "write the decisions about each pair to `file`, as JSON Lines")
	flags.StringVar(&a.records, "records", "", "write the record of each judge to `file`, as JSON, for the option Audits of the library")
	flags.StringArrayVarP(&o.reports, "report", "r", nil, "write the report to `file`, which must end with .md or .html; can be repeated")
	flags.BoolVar(&o.json, "json", false, "print the report as JSON instead of Markdown")
	flags.StringVar(&o.prompts, "prompts", "", "replace prompts with the templates NAME.tmpl in `folder`")
}

// labelFlags adds the flags of label.
func (o *options) labelFlags(flags *pflag.FlagSet) {
	flags.IntVar(&o.audit.size, "size", 0, "`number` of pairs or debates in the sample (default: all)")
	flags.StringVar(&o.audit.seed, "seed", "", "`text` that draws the sample; defaults to the name")
	flags.StringVar(&o.audit.person, "person", "", "`name` of the person's seat; defaults to Labeler")
	flags.StringVar(&o.eval.name, "name", "", "`name` of the labels; defaults to that of the file, or to debates")
	flags.StringVar(&o.eval.format, "format", "", "`format` of the pairs: jsonl or llmbar; defaults to jsonl")
	flags.StringVarP(&o.output, "output", "o", "", "write a line of JSON for each label to `file`")
	flags.BoolVar(&o.json, "json", false, "print the progress and the labels as JSON")
}
