package main

const usage = `usage: debate [flags] "Should cities ban private cars?"    run a debate
       debate [flags] --file problem.md
       debate help                        print this help
       debate list [filters]              list stored debates, newest first
       debate show ID                     print the transcript and the answer
       debate resume ID [ANSWER [TEXT]]   continue a debate, or answer its question; the answer edit takes a remark
       debate retry ID                    continue a debate after an error
       debate pause ID                    pause a debate, whichever process runs it
       debate cancel ID                   cancel a debate
       debate export ID                   write a debate as JSON, to move it or to back it up
       debate import FILE                 store a debate that export wrote
       debate delete ID                   delete a debate
       debate delete FILTERS              delete all debates that the filters select

To debate a topic of one word, write it after two dashes: debate -- Privacy

Flags of a debate; --config, --store and the flags for output and display also apply to show, resume and retry:
  --protocol NAME   panel, proposer-skeptic, critique-refine, arbitration, pro-con, vote, council or mad; defaults to panel
  --agents A,B      participants: roles in critique-refine, names in other protocols
  --me NAME         you reply for this participant or judge; you can repeat this flag; also for resume and retry
  --rounds N        maximum number of rounds
  --scores A=5,B=7  scores of the evaluation that arbitration debates
  --prompts DIR     replace prompts with the templates NAME.tmpl in DIR; also for resume and retry
  --file FILE       read the topic from FILE
  --config FILE     configuration file; defaults to debate-config.json
  --store FILE      keep the debate in the SQLite database FILE; all commands on stored debates need it
  --output FILE     also write the answer to FILE, or the complete state if FILE ends with .json; export writes to FILE
  --report FILE     write a report to FILE, which must end with .md or .html; you can repeat this flag
  --json            print the complete state instead of the answer, or a list as JSON
  --plain           print the progress as plain lines
  --verbose         list turns, tokens, durations and prompt sources
  --yes             answer yes to the questions of resume, retry and delete
  --version         print the version
  --help            print this help

Filters of list and delete; you can repeat the first four. A debate must match all filters:
  --state NAME              running, paused, completed, canceled, error or another state
  --outcome NAME            such as round_limit or judge_decided
  --failure KIND            kind of the failure that stopped the debate, such as rate_limit
  --label NAME=VALUE        label of the configuration
  --waiting NAME            debates that wait for the reply of this person
  --since T, --before T     created since T, or before T: a date (2026-01-31), a time, or an age (12h, 30d)
  --updated-since T, --updated-before T
                            changed last since T, or before T

Flags of list:
  --limit N                 at most N debates
  --count                   print the number of debates by state instead of a list

Environment: OPENAI_API_KEY and OPENAI_BASE_URL, ANTHROPIC_API_KEY, MISTRAL_API_KEY, GEMINI_API_KEY,
OPENROUTER_API_KEY, OLLAMA_HOST. OPENAI_MODEL, ANTHROPIC_MODEL, MISTRAL_MODEL, GOOGLE_MODEL, OPENROUTER_MODEL and
OLLAMA_MODEL choose the models.
Without a key or a host, an offline demo model replies.

EDITOR is the program that the line /edit opens when you write a reply.

Exit codes: 0 success, 1 general error or paused, 2 wrong arguments, 3 provider error, 4 wrong configuration.
`
