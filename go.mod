module github.com/elenchus-go/debate

go 1.26.0

require (
	github.com/anishathalye/porcupine v1.0.0 // checks histories of concurrent calls; only store/storetest imports it
	github.com/google/uuid v1.6.0 // version 7 UUIDs, which sort by time
	github.com/invopop/jsonschema v0.13.0 // derives the schemas of structured replies and of tools from Go structs; only judge/reply, tool and debatetool import it. Not v0.14, which breaks programs that also use Genkit
	github.com/looplab/fsm v1.0.3 // executes the transitions that the lifecycle table has chosen; only fsm imports it
	github.com/microcosm-cc/bluemonday v1.0.27 // removes what rendered Markdown must not contain; only internal/markup imports it
	github.com/santhosh-tekuri/jsonschema/v5 v5.3.1 // validates replies and arguments of tools against those schemas; only judge/reply, internal/toolcall and tests import it
	github.com/stretchr/testify v1.11.1 // assertions, in tests only
	github.com/tmc/langchaingo v0.1.14 // models of services without a package of their own, through providers/langchain; other programs do not link it
	github.com/yuin/goldmark v1.7.8 // renders the Markdown of models in reports; only internal/markup imports it
	golang.org/x/mod v0.26.0 // package note signs debates and records; only the root, archive and internal/chain import it. golang.org/x/tools requires this version
	golang.org/x/text v0.28.0 // Unicode forms and case folding, to compare quotes, and the widths of characters; golang.org/x/net requires this version
	golang.org/x/time v0.9.0 // token buckets for rate limits; only providers/middleware imports it
	golang.org/x/tools v0.35.0 // package txtar reads scenario files; in tests only, so no program links it.
	gonum.org/v1/gonum v0.16.0 // distributions and an optimizer to compare with, in tests of internal/statistics only, so no program links it. Versions before v0.16 require another module
	gopkg.in/dnaeon/go-vcr.v4 v4.0.0 // records and replays the calls of live tests; only internal/test/livetest imports it, so no program links it. Versions from v4.0.5 on require another YAML module
	pgregory.net/rapid v1.2.0 // property tests; in tests only, so no program links it
)

require (
	github.com/aymerick/douceur v0.2.0 // indirect
	github.com/bahlo/generic-list-go v0.2.0 // indirect
	github.com/buger/jsonparser v1.1.1 // indirect
	github.com/davecgh/go-spew v1.1.2-0.20180830191138-d8f796af33cc // indirect
	github.com/dlclark/regexp2 v1.10.0 // indirect
	github.com/gorilla/css v1.0.1 // indirect
	github.com/mailru/easyjson v0.7.7 // indirect
	github.com/pkoukk/tiktoken-go v0.1.6 // indirect
	github.com/pmezard/go-difflib v1.0.1-0.20181226105442-5d4384ee4fb2 // indirect
	github.com/wk8/go-ordered-map/v2 v2.1.8 // indirect
	golang.org/x/net v0.43.0 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
)
