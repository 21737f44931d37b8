module github.com/elenchus-go/debate/context/vocabulary

go 1.26.0

require (
	github.com/elenchus-go/debate v0.0.0
	github.com/stretchr/testify v1.11.1 // assertions, in tests only
	github.com/tiktoken-go/tokenizer v0.10.0 // counts tokens with embedded vocabularies
)

require (
	github.com/davecgh/go-spew v1.1.2-0.20180830191138-d8f796af33cc // indirect
	github.com/dlclark/regexp2/v2 v2.5.1 // indirect
	github.com/pmezard/go-difflib v1.0.1-0.20181226105442-5d4384ee4fb2 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
)
