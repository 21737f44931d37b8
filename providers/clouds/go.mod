// Providers of models on the clouds of Amazon and Google, which sign requests in ways of their own.
module github.com/elenchus-go/debate/providers/clouds

go 1.26.0

require github.com/elenchus-go/debate v0.0.0

require (
	github.com/aws/aws-sdk-go-v2 v1.2.0 // the signer of requests, and the interface of credentials
	github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream v1.7.8 // the decoder of event streams; older versions panic on malformed streams
	github.com/stretchr/testify v1.11.1 // assertions
	golang.org/x/oauth2 v0.27.0 // the interface of token sources; older versions have the vulnerability GO-2025-3488
)

require (
	cloud.google.com/go/compute/metadata v0.3.0 // indirect
	github.com/aws/smithy-go v1.24.2 // indirect
	github.com/bahlo/generic-list-go v0.2.0 // indirect
	github.com/buger/jsonparser v1.1.1 // indirect
	github.com/davecgh/go-spew v1.1.2-0.20180830191138-d8f796af33cc // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/invopop/jsonschema v0.13.0 // indirect
	github.com/looplab/fsm v1.0.3 // indirect
	github.com/mailru/easyjson v0.7.7 // indirect
	github.com/pmezard/go-difflib v1.0.1-0.20181226105442-5d4384ee4fb2 // indirect
	github.com/santhosh-tekuri/jsonschema/v5 v5.3.1 // indirect
	github.com/wk8/go-ordered-map/v2 v2.1.8 // indirect
	golang.org/x/mod v0.26.0 // indirect
	golang.org/x/text v0.28.0 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
)
