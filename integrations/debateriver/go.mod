module github.com/elenchus-go/debate/integrations/debateriver

go 1.26.0

require (
	github.com/elenchus-go/debate v0.0.0
	github.com/elenchus-go/debate/store/postgres v0.0.0
	github.com/jackc/pgx/v5 v5.12.0 // PostgreSQL client, also used by River; modules store/postgres, integrations/debateriver, examples/integrations/worker
	github.com/riverqueue/river v0.51.1 // the job queue; modules integrations/debateriver and examples/integrations/worker. Its licence requires you to publish changes to its own files
	github.com/riverqueue/river/riverdriver/riverpgxv5 v0.51.1 // River on pgx
	github.com/riverqueue/river/rivertype v0.51.1 // River's job types
	github.com/stretchr/testify v1.12.1 // assertions in modules with River, OpenTelemetry or go-pdfium, which require this version
	go.uber.org/goleak v1.3.0 // finds leaked goroutines; only in tests of integrations/debateriver and cmd/debate
)

require (
	github.com/anishathalye/porcupine v1.0.0 // indirect
	github.com/bahlo/generic-list-go v0.2.0 // indirect
	github.com/buger/jsonparser v1.1.1 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/invopop/jsonschema v0.13.0 // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/puddle/v2 v2.2.3 // indirect
	github.com/looplab/fsm v1.0.3 // indirect
	github.com/mailru/easyjson v0.7.7 // indirect
	github.com/riverqueue/river/riverdriver v0.51.1 // indirect
	github.com/riverqueue/river/rivershared v0.51.1 // indirect
	github.com/santhosh-tekuri/jsonschema/v5 v5.3.1 // indirect
	github.com/tidwall/gjson v1.20.0 // indirect
	github.com/tidwall/match v1.2.0 // indirect
	github.com/tidwall/pretty v1.2.1 // indirect
	github.com/tidwall/sjson v1.2.5 // indirect
	github.com/wk8/go-ordered-map/v2 v2.1.8 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/mod v0.42.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
	pgregory.net/rapid v1.2.0 // indirect
)
