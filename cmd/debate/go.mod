module github.com/elenchus-go/debate/cmd/debate

go 1.26.0

require (
	charm.land/bubbletea/v2 v2.0.10 // progress display that updates in place on a terminal. Not v2.1.1, which lacks a dependency
	github.com/charmbracelet/colorprofile v0.4.3 // which colours a terminal has, and NO_COLOR
	github.com/charmbracelet/x/ansi v0.11.7 // escape sequences, and the width of characters on a terminal
	github.com/charmbracelet/x/term v0.2.2 // the size and the state of a terminal
	github.com/charmbracelet/x/termios v0.1.1 // a terminal that does not show what is typed
	github.com/coder/acp-go-sdk v0.13.0 // the SDK of the Agent Client Protocol, for editors
	github.com/elenchus-go/debate v0.0.0
	github.com/elenchus-go/debate/evidence/extract v0.0.0
	github.com/elenchus-go/debate/integrations/debatemcp v0.0.0
	github.com/elenchus-go/debate/providers/acp v0.0.0
	github.com/elenchus-go/debate/store/sqlite v0.0.0
	github.com/modelcontextprotocol/go-sdk v1.8.0 // the official SDK of the Model Context Protocol
	github.com/owenrumney/go-sarif/v3 v3.3.1 // the schema of SARIF, and its types; only in tests
	github.com/rhysd/actionlint v1.6.27 // parses the workflow of the documents; only in tests
	github.com/santhosh-tekuri/jsonschema/v5 v5.3.1 // validates replies and arguments of tools against those schemas; only judge/reply, internal/toolcall and tests import it
	github.com/spf13/cobra v1.9.1 // commands, help and shell completion
	github.com/spf13/pflag v1.0.9 // flags, through cobra
	github.com/stretchr/testify v1.12.1 // assertions in modules with River, OpenTelemetry or go-pdfium, which require this version
	go.uber.org/goleak v1.3.0 // finds leaked goroutines; only in tests of integrations/debateriver and cmd/debate
	golang.org/x/mod v0.41.0 // package note, to make and read keys
	golang.org/x/sys v0.48.0 // whether a process may change its terminal, and fast reading of many files
)

require (
	codeberg.org/readeck/go-readability/v2 v2.1.3 // indirect
	github.com/andybalholm/cascadia v1.3.3 // indirect
	github.com/fatih/color v1.16.0 // indirect
	github.com/go-shiori/dom v0.0.0-20230515143342-73569d674e1c // indirect
	github.com/gogs/chardet v0.0.0-20211120154057-b7413eaefb8f // indirect
	github.com/itlightning/dateparse v0.2.1 // indirect
	github.com/jolestar/go-commons-pool/v2 v2.1.2 // indirect
	github.com/klippa-app/go-pdfium v1.20.0 // indirect
	github.com/mattn/go-colorable v0.1.13 // indirect
	github.com/robfig/cron/v3 v3.0.1 // indirect
	github.com/tetratelabs/wazero v1.12.0 // indirect
	github.com/xeipuuv/gojsonpointer v0.0.0-20180127040702-4e3ac2762d5f // indirect
	github.com/xeipuuv/gojsonreference v0.0.0-20180127040603-bd5ef7bd5415 // indirect
	github.com/xeipuuv/gojsonschema v1.2.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/text v0.42.0 // indirect
)

require (
	github.com/anishathalye/porcupine v1.0.0 // indirect
	github.com/aymerick/douceur v0.2.0 // indirect
	github.com/bahlo/generic-list-go v0.2.0 // indirect
	github.com/buger/jsonparser v1.1.1 // indirect
	github.com/charmbracelet/ultraviolet v0.0.0-20260703014108-f5a850f9c2b7 // indirect
	github.com/charmbracelet/x/windows v0.2.2 // indirect
	github.com/clipperhouse/displaywidth v0.11.0 // indirect
	github.com/clipperhouse/uax29/v2 v2.7.0 // indirect
	github.com/coder/acp-go-sdk v0.13.0 // indirect
	github.com/dustin/go-humanize v1.0.1 // indirect
	github.com/google/jsonschema-go v0.4.3 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/gorilla/css v1.0.1 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/invopop/jsonschema v0.13.0 // indirect
	github.com/kr/pretty v0.3.1 // indirect
	github.com/looplab/fsm v1.0.3 // indirect
	github.com/lucasb-eyer/go-colorful v1.4.0 // indirect
	github.com/mailru/easyjson v0.7.7 // indirect
	github.com/mattn/go-isatty v0.0.24 // indirect
	github.com/mattn/go-runewidth v0.0.23 // indirect
	github.com/microcosm-cc/bluemonday v1.0.27 // indirect
	github.com/muesli/cancelreader v0.2.2 // indirect
	github.com/ncruces/go-strftime v1.0.0 // indirect
	github.com/remyoudompheng/bigfft v0.0.0-20230129092748-24d4a6f8daec // indirect
	github.com/rivo/uniseg v0.4.7 // indirect
	github.com/rogpeppe/go-internal v1.13.1 // indirect
	github.com/segmentio/asm v1.1.3 // indirect
	github.com/segmentio/encoding v0.5.4 // indirect
	github.com/wk8/go-ordered-map/v2 v2.1.8 // indirect
	github.com/xo/terminfo v0.0.0-20220910002029-abceb7e1c41e // indirect
	github.com/yosida95/uritemplate/v3 v3.0.2 // indirect
	github.com/yuin/goldmark v1.7.8 // indirect
	golang.org/x/exp v0.0.0-20240808152545-0cdaa3abc0fa // indirect
	golang.org/x/net v0.59.0 // indirect
	golang.org/x/oauth2 v0.35.0 // indirect
	golang.org/x/sync v0.23.0 // indirect
	golang.org/x/time v0.15.0 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
	modernc.org/libc v1.77.1 // indirect
	modernc.org/mathutil v1.7.1 // indirect
	modernc.org/memory v1.12.1 // indirect
	modernc.org/sqlite v1.60.1 // indirect
	pgregory.net/rapid v1.2.0 // indirect
)
