package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

const rootHelp = `Debate runs structured debates between language models and people.

The answer goes to stdout, the debate and all messages to stderr. Debates are kept in a database, so that you can list,
show and continue them. Without an API key in the environment, an offline demo model replies.`

const rootExample = `  debate "Should cities ban private cars?"
  debate --for decision --option "in full" --option "in part" --option "not at all" "Refund the broken lamp?"
  debate --model openai/gpt-5-mini --model anthropic/claude-haiku-4-5 "Is tea better than coffee?"
  git diff main | debate --docs - --option approve --option "request changes" --pass approve "Merge this?"
  debate --protocol refine --agents security,performance --file problem.md --report report.html
  debate -- Privacy                          # a topic of one word follows two dashes`

const answerExample = `  debate answer ID --me Ada "Trams are quieter."
  debate answer ID --me Ada --file reply.md
  debate answer ID --me Ada --decline "I do not know."
  debate answer ID approve
  debate answer ID edit "Mention trams."
  debate answer ID refuse "That costs too much."`

const evalHelp = `Eval answers tasks with right answers by several arms, and reports whether one is better than the baseline.

Tasks are lines of JSON with topic (or question) and gold, and perhaps id, choices, background and group. An arm is one
call of one model (single), the most frequent of K answers (self-consistency:K), a protocol, or a configuration file, in
which {{question}}, {{topic}}, {{choices}}, {{background}} and {{extract}} are filled in.

--oversight reads questions about texts in the format of QuALITY. Its arms are judges who have not read the text, alone and
after models that have read it argue for the right answer and a wrong one. docs/evaluation.md explains it.

Each run is a stored debate, so the same command continues an evaluation that was interrupted. The report also compares
each arm with the baseline on the same budget. docs/evaluation.md explains it.`

const evalExample = `  debate eval tasks.jsonl --arm single --arm vote --max-cost 5 --report out.html
  debate eval test.jsonl --format gsm8k --arm single --arm panel=panel.json --require 'panel > single'
  debate eval --oversight quality.jsonl --judge-model openai/gpt-5-mini --report out.html`

const tournamentHelp = `Tournament lets each two players debate each motion twice, with the sides swapped, and rates them by what judges say.

The file is a configuration with players in place of participants, and with motions:

  {"players": [{"name": "Large", "model": "gpt-5"}, {"name": "Small", "model": "gpt-5-mini"}],
   "judges": [{"name": "Cy", "model": "gpt-4.1"}], "own_family": true,
   "motions": ["Cities should ban private cars.", {"id": "tea", "topic": "Is tea better than coffee?"}]}

Players and judges may have a family, by default the name of their model before its first digit. A judge is not asked about
players of its family, unless own_family is true. By is margins or wins; it defaults to margins if judges give scores.

Each game is a stored debate, so the same command continues a tournament that was interrupted. Add players or motions to
the file later: only the missing games are played. docs/evaluation.md explains the report.`

const tournamentExample = `  debate tournament tournament.json --max-cost 5 --report out.html
  debate tournament tournament.json --model Large=openai/gpt-5 --model Small=openai/gpt-5-mini --judge-model anthropic/claude-sonnet-4-5`

const auditHelp = `Judge measures judges on pairs of answers of which the better one is known: how often they are right, and what moves them
that should not. A judge is a model together with its prompts.

Pairs are lines of JSON with question, a, b and gold, which is "a" or "b", and perhaps id, group, author_a, author_b and
reference. Each judge sees each pair in both orders, which takes two calls. Each plant and each repeat takes two more, and
so do the challenges.

Each pair is a stored debate, so the same command continues an audit that was interrupted. docs/evaluation.md explains the
figures.`

const auditExample = `  debate audit judge pairs.jsonl --judge openai/gpt-5-mini --plant all --report audit.html
  debate audit judge dataset.json --format llmbar --judge strict=strict.json --repeats 2 --challenge --max-cost 5`

const labelHelp = `Label draws a sample, and asks you which answer of each pair is better, or who has won each debate. You judge in the seat
of a blind judge, without names and without what other judges have said. No model is called.

Pairs are lines of JSON as for audit judge; their gold labels are not used. Filters select debates that judges have
concluded, of two participants or between two options. Each item is a stored debate that waits for you, so the same command
continues, and other people can judge at the same time in debate inspect --controls. The labels in the file of --output are
gold for debate audit judge, or for agreement.Calibrate of the library. docs/evaluation.md explains it.`

const labelExample = `  debate label pairs.jsonl --size 60 --output gold.jsonl
  debate label --label eval=test --size 100 --seed 7 --output gold.jsonl`

const deleteExample = `  debate delete ID
  debate delete --state completed --updated-before 90d --yes`

const forkHelp = `Fork makes a new debate that begins as another one, up to the entry of --at, and continues with what the flags
change. Without a change, it continues as the other debate would. Fork runs the new debate and says what changed; with --paused it only makes
it. The other debate stays as it is.`

const forkExample = `  debate fork ID --at 7 --model openai/gpt-5
  debate fork ID --at 7 --reply "Trams are quieter."
  debate fork ID --silent 7
  debate fork ID --at 1 --topic "Should cities ban private cars at night?" --rounds 2`

const rejudgeHelp = `Rejudge makes new debates in which the judges who decided a debate that has ended are asked again, with other models or
without some turns. Everything else stays as it was. Rejudge runs them and says what changed; with --paused it only makes them. All debates of one call have the same
label "rejudge", and the label "sample" numbers them.`

const rejudgeExample = `  debate rejudge ID --judge-model anthropic/claude-sonnet-4-5 --samples 5
  debate rejudge ID --omit 7
  debate rejudge ID --omit Ada`

const influenceHelp = `Influence says what decided a debate that has ended. It asks the judges who decided it again without each turn, and about the
whole debate as often: 5 times for all turns, and then 20 times for the three whose scores change most. It first says how many
calls that takes. With --continued, the debate goes on without each turn and with it, which takes many more calls. The same
command continues one that was interrupted. docs/evaluation.md explains the report.`

const influenceExample = `  debate influence ID --plan
  debate influence ID --max-cost 2 --report why.html
  debate influence ID --seats --samples 40
  debate influence ID --items 7,12 --pairs
  debate influence ID --items 7 --continued --plan`

const exportHelp = `Export writes a debate as JSON, which import stores again.

With --record, it writes a record instead: one file from which verify, or a program of anybody else, derives the debate
again. --key signs it. --redact hides a text, and every copy of it that the record has as a field of its own; KEY is the key of
a turn or the number of an entry, FIELD for example text. docs/record.md explains records.`

const verifyHelp = `Verify derives a debate again from its record: it checks the hashes and the signatures, and what must follow from the
replies of models and the acts of people. It needs no network, database or model. docs/record.md explains what it proves.

It ends with 0 if everything is derived and a key of --key has signed all of it, and otherwise with 5 (not so signed),
6 (derived in part), 7 (something is wrong) or 8 (the file is damaged).`

const keysHelp = `Keys makes a pair of Ed25519 keys. Only you can read the file with the private key, which signs records. Give the public key
to those who verify them.`

const inspectHelp = `Inspect shows debates in the browser: a list of them, and each debate live.

It serves the pages on 127.0.0.1, and only to those who have the token of the address that it prints. The pages are
read-only, unless you use --controls.`

const serveHelp = `Serve offers the library's HTTP API. GET /openapi.json describes it.

Set DEBATE_TOKEN in the environment to a token that clients must send as a bearer token. The server continues debates
whose process has died. Over the API of OpenAI, the model "default" is the debate that the flags and the configuration
describe; --preset adds others.`

const mcpHelp = `MCP is a server of the Model Context Protocol, for clients such as Claude, editors and agents.

Clients start it themselves, and talk to it over standard input and output. With --http it serves many clients; then set
DEBATE_TOKEN in the environment to a token that they must send as a bearer token. It continues debates whose process has
died. A debate is as the flags and the configuration describe it; --preset adds other kinds.

With --model client, debates use the client's own model, without a key, if the client offers sampling. It is asked only
while it waits for a debate, and usually asks its user first.`

const mcpExample = `  claude mcp add debate --env OPENAI_API_KEY=$OPENAI_API_KEY -- debate mcp
  {"mcpServers": {"debate": {"command": "debate", "args": ["mcp"], "env": {"OPENAI_API_KEY": "..."}}}}
  debate mcp --http 127.0.0.1:8765 --preset review=review.json
  debate mcp --model client`

const initHelp = `Init writes a configuration with comments to debate-config.jsonc, which the command reads in the folder where it runs,
and the JSON Schema of the configuration next to it. Editors such as VS Code use the schema to complete and check fields.

With --skill, it writes a skill instead: a text that tells coding agents when a debate is worth its cost, and how to hold one.
Run it in a project, or in your home folder for all projects.`

const pricesHelp = `Prices lists what models cost, in US dollars for a million tokens of input, cached input and output.

A debate uses the built-in prices of its models, unless the configuration has prices for them, or the file of --prices,
such as {"gpt-x": {"input": 2, "cached": 0.5, "output": 8}}. If you pay in another currency, give prices for all models.
Services change prices: look at the date. Some charge more for prompts of more than 100,000 tokens. The cost of a model
without a price is unknown.`

const environmentHelp = `The command reads these variables from the environment:

  OPENAI_API_KEY, ANTHROPIC_API_KEY, MISTRAL_API_KEY, GEMINI_API_KEY, OPENROUTER_API_KEY
                    keys; without --model, the first one that is set chooses the service
  OLLAMA_HOST       address of Ollama, such as 127.0.0.1:11434
  OPENAI_BASE_URL, ANTHROPIC_BASE_URL, MISTRAL_BASE_URL, GEMINI_BASE_URL, OPENROUTER_BASE_URL
                    addresses of the services, or of servers with their protocols; with that of OpenAI, no key is needed
  OPENAI_MODEL, ANTHROPIC_MODEL, MISTRAL_MODEL, GOOGLE_MODEL, OPENROUTER_MODEL, OLLAMA_MODEL
                    the models of the services
  DEBATE_STORE      database, if neither --store nor the configuration names one; memory keeps nothing,
                    and is only for a new debate
  DEBATE_TOKEN      token that clients of serve and mcp must send
  XDG_DATA_HOME     folder of the default database, debate/debates.db
  BROWSER           program that inspect opens
  EDITOR            program that the line /edit opens when you write a reply
  NO_COLOR          switches off colours if it is not empty`

const exitHelp = `The command exits with one of these codes:

  0  success
  1  the debate has no answer or is paused, an evaluation or a tournament is not complete, an evaluation does
     not show what it should, or a file cannot be written
  2  the command line, the configuration or another file that the command reads is wrong
  3  a service with models failed
  4  a key is missing
  5  a record is derived, but no given key has signed all of it
  6  a record is derived in part
  7  something in a record is wrong
  8  a record is damaged
 10  the debate has decided otherwise than --pass wants
 11  the debate has decided nothing, or with less confidence than --min-confidence wants`

// purposesHelp lists the purposes.
func purposesHelp() string {
	var b strings.Builder
	b.WriteString("The flag --for chooses the protocol, the participants and the judges by what you want:\n\n")
	for _, name := range sortedKeys(purposes) {
		fmt.Fprintf(&b, "  %-11s %s\n", name, purposes[name])
	}
	return b.String() + "\nThe document docs/choose.md of the library says what each takes and what is measured about it."
}

// helpTopics returns commands that only have a help text.
func helpTopics() []*cobra.Command {
	return []*cobra.Command{
		{Use: "purposes", Short: "What a debate can be for", Long: purposesHelp()},
		{Use: "environment", Short: "Variables of the environment", Long: environmentHelp},
		{Use: "exit-codes", Short: "Exit codes", Long: exitHelp},
	}
}
