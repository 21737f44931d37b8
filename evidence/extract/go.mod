module github.com/elenchus-go/debate/evidence/extract

go 1.26.0

require (
	codeberg.org/readeck/go-readability/v2 v2.1.3 // the main text of HTML pages
	github.com/klippa-app/go-pdfium v1.20.0 // the text of PDF files, by PDFium in WebAssembly: a pure Go library (ledongthuc/pdf) joined words at line ends and garbled text that is not Latin
	github.com/stretchr/testify v1.12.1 // assertions in modules with River, OpenTelemetry or go-pdfium, which require this version
	github.com/tetratelabs/wazero v1.12.0 // the limits of PDFium's memory and time, at go-pdfium's version
	golang.org/x/net v0.59.0 // the HTML parser, which refuses deep nesting, at the lowest version that the modules above select
)

require (
	github.com/andybalholm/cascadia v1.3.3 // indirect
	github.com/go-shiori/dom v0.0.0-20230515143342-73569d674e1c // indirect
	github.com/gogs/chardet v0.0.0-20211120154057-b7413eaefb8f // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/itlightning/dateparse v0.2.1 // indirect
	github.com/jolestar/go-commons-pool/v2 v2.1.2 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/sys v0.48.0 // indirect
	golang.org/x/text v0.42.0 // indirect
)
