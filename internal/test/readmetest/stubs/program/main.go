// Program is a stub: it does what the program with its name does for snippets of documents.
package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/elenchus-go/debate/internal/test/readmetest/stubs"
)

func main() {
	os.Exit(stubs.Run(strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")))
}
