module github.com/elenchus-go/debate

go 1.26.0

require (
	github.com/anishathalye/porcupine v1.0.0
	github.com/google/uuid v1.6.0
	github.com/invopop/jsonschema v0.13.0
	github.com/kaptinlin/jsonrepair v0.2.15
	github.com/looplab/fsm v1.0.3
	github.com/microcosm-cc/bluemonday v1.0.27
	github.com/santhosh-tekuri/jsonschema/v5 v5.3.1
	github.com/stretchr/testify v1.11.1
	github.com/tmc/langchaingo v0.1.14
	github.com/yuin/goldmark v1.7.8
	golang.org/x/mod v0.26.0
	golang.org/x/text v0.28.0
	golang.org/x/time v0.9.0
	golang.org/x/tools v0.35.0
	gonum.org/v1/gonum v0.16.0
	pgregory.net/rapid v1.2.0
)

require (
	github.com/aymerick/douceur v0.2.0 // indirect
	github.com/bahlo/generic-list-go v0.2.0 // indirect
	github.com/buger/jsonparser v1.1.1 // indirect
	github.com/davecgh/go-spew v1.1.2-0.20180830191138-d8f796af33cc // indirect
	github.com/dlclark/regexp2 v1.10.0 // indirect
	github.com/go-json-experiment/json v0.0.0-20251027170946-4849db3c2f7e // indirect
	github.com/gorilla/css v1.0.1 // indirect
	github.com/mailru/easyjson v0.7.7 // indirect
	github.com/pkoukk/tiktoken-go v0.1.6 // indirect
	github.com/pmezard/go-difflib v1.0.1-0.20181226105442-5d4384ee4fb2 // indirect
	github.com/wk8/go-ordered-map/v2 v2.1.8 // indirect
	golang.org/x/net v0.43.0 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
)
