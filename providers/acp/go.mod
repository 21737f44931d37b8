// Coding agents that speak the Agent Client Protocol, as providers.
module github.com/elenchus-go/debate/providers/acp

go 1.26.0

require (
	github.com/elenchus-go/debate v0.0.0
	github.com/stretchr/testify v1.11.1
)

require (
	github.com/davecgh/go-spew v1.1.2-0.20180830191138-d8f796af33cc // indirect
	github.com/pmezard/go-difflib v1.0.1-0.20181226105442-5d4384ee4fb2 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
)

require github.com/coder/acp-go-sdk v0.13.0 // the protocol; the first version with the session's options, which choose the model and the effort
