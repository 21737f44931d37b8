// Command debatevet finds mistakes in programs that use package debate. Once v0.1.0 is released:
//
//	go install github.com/elenchus-go/debate/tools/debatevet@v0.1.0
//	go vet -vettool=$(which debatevet) ./...
//
// It has one check, eventvalue: events are values, so a case such as *debate.TurnDone compiles and never matches.
// go vet -fix corrects it.
package main

import (
	"golang.org/x/tools/go/analysis/unitchecker"

	"github.com/elenchus-go/debate/tools/debatevet/eventvalue"
)

func main() { unitchecker.Main(eventvalue.Analyzer) }
