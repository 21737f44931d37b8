// Package vocabulary counts tokens as OpenAI's models do, by the vocabularies themselves. They are embedded: nothing is
// downloaded, and a program that imports the package grows by about 12 MB. It is a module of its own.
//
// Most debates do well without: what package window estimates comes close once it is calibrated, as docs/windows.md says.
package vocabulary

import (
	"strings"
	"sync"

	"github.com/tiktoken-go/tokenizer"

	"github.com/elenchus-go/debate/context/window"
)

// TokenCounter is a [window.TokenCounter]. It counts with cl100k_base for gpt-4, gpt-3.5 and their variants, and with o200k_base
// for all that came later. What others' models make of a text it cannot know: it counts with o200k_base too.
//
// The first count with a vocabulary takes some hundredths of a second more.
type TokenCounter struct{}

// Count is how many tokens a text has for a model, without what the service adds to each message. It is safe for
// concurrent use.
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

func load(e tokenizer.Encoding) func() tokenizer.Codec {
	return sync.OnceValue(func() tokenizer.Codec {
		c, _ := tokenizer.Get(e) // both are known
		return c
	})
}

// usesCL100K says whether a model is of the time of cl100k_base, whoever serves it.
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
