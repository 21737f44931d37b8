// Package vocabulary counts tokens with the vocabularies of OpenAI's models.
//
//	n := vocabulary.TokenCounter{}.Count("gpt-4o", "How many tokens are these?")
//
// The vocabularies are embedded, so nothing is downloaded. A program that imports the package grows by about 12 MB,
// and the package is therefore a module of its own.
//
// Most debates do not need it: the estimates of package window are close once they are calibrated, as docs/measured/windows.md
// shows.
package vocabulary

import (
	"strings"
	"sync"

	"github.com/tiktoken-go/tokenizer"

	"github.com/elenchus-go/debate/context/window"
)

// TokenCounter is a [window.TokenCounter]. It uses cl100k_base for gpt-4, gpt-3.5 and their variants, and o200k_base
// for all other models. For models of other vendors, whose tokenizers differ, the count is an approximation.
//
// The first count with a vocabulary takes a few hundredths of a second longer.
type TokenCounter struct{}

// Count returns how many tokens a text has for a model, without the tokens that the service adds to each message. It
// is safe for concurrent use.
func (TokenCounter) Count(model, text string) int {
	codec := o200k
	if usesCL100K(model) {
		codec = cl100k
	}
	n, err := codec().Count(text)
	if err != nil {
		return window.Estimate(text)
	}
	return n
}

var (
	o200k  = load(tokenizer.O200kBase)
	cl100k = load(tokenizer.Cl100kBase)
)

// load returns a function that loads a vocabulary on first use.
func load(e tokenizer.Encoding) func() tokenizer.Codec {
	return sync.OnceValue(func() tokenizer.Codec {
		c, _ := tokenizer.Get(e) // cannot fail: both encodings are known
		return c
	})
}

// usesCL100K reports whether a model uses cl100k_base. It ignores the vendor prefix of a model's name.
func usesCL100K(model string) bool {
	model = model[strings.LastIndex(model, "/")+1:]
	model = strings.TrimPrefix(model, "ft:")
	for _, prefix := range []string{"gpt-3.5", "gpt-35"} {
		if strings.HasPrefix(model, prefix) {
			return true
		}
	}
	rest, ok := strings.CutPrefix(model, "gpt-4")
	return ok && (rest == "" || strings.ContainsAny(rest[:1], "-:"))
}
