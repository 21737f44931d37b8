// Package retrieval provides documents and embeddings through the interface [providers.Provider].
//
//	docs := []retrieval.Document{{Title: "Pre-mortem", Text: "Assume that the plan has failed. Why did it?"}}
//	retriever := retrieval.New(retrieval.InMemory(embedder, docs...), "text-embedding-3-small")
//	offline := retrieval.TemplateRetriever()
//
// A retriever takes the topic of a debate and answers with documents that help to think about it, as a JSON object:
//
//	{"documents": [{"title": "Pre-mortem", "text": "Assume that the plan has failed. ..."}]}
//
// [TemplateRetriever] returns a retriever that works offline: it searches the reasoning templates of this package. [New] makes
// a retriever of any [Search]. [InMemory] searches your own documents, and package providers/retrieval/vectorstore takes
// any retriever or vector store of langchaingo. [EmbeddingProvider] answers with embeddings instead of documents.
package retrieval

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/elenchus-go/debate/providers"
)

// What a reply holds at most. In JSON it stays below 64 kB, also where each byte has to be escaped by another.
const (
	maxDocuments = 8
	maxTextSize  = 3800 // bytes
	maxTitleSize = 150  // bytes
)

// Document is a text that was found.
type Document struct {
	Title string `json:"title"`
	Text  string `json:"text"`
}

// Search finds the documents that fit a query best, the best first. It is safe for concurrent use. An error with a
// *providers.Error in its chain keeps that one's kind.
type Search func(ctx context.Context, query string) ([]Document, error)

// New is a retriever. The query is the last user message before any of the assistant's, so that asking again asks for
// the same. The reply holds at most eight documents: blank ones are left out, a title of more than 150 bytes and a text
// of more than 3,800 are cut, and a document without a title bears its first line. The model, which may be empty, names
// what the search embeds with. Usage is not reported.
//
// The search runs on a goroutine of its own. When ctx ends the call returns, and a search that ignores ctx is left
// behind until it returns.
func New(search Search, model string) providers.Provider {
	return provider{model, func(ctx context.Context, texts []string) (any, error) {
		found, err := search(ctx, texts[len(texts)-1])
		if err != nil {
			return nil, fmt.Errorf("search documents: %w", err)
		}
		return map[string][]Document{"documents": trimDocuments(found)}, nil
	}}
}

// trimDocuments keeps what a reply has room for.
func trimDocuments(found []Document) []Document {
	kept := []Document{}
	for _, d := range found {
		d.Text = truncate(strings.TrimSpace(removeControlCharacters(d.Text)), maxTextSize)
		if d.Text == "" {
			continue
		}
		d.Title = strings.Join(strings.Fields(removeControlCharacters(d.Title)), " ")
		if d.Title == "" {
			d.Title, _, _ = strings.Cut(d.Text, "\n")
		}
		d.Title = truncate(strings.TrimSpace(d.Title), maxTitleSize)
		if kept = append(kept, d); len(kept) == maxDocuments {
			break
		}
	}
	return kept
}

// removeControlCharacters is a text without broken characters and without control characters but line breaks and tabs.
func removeControlCharacters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
}

// truncate cuts a text between characters.
func truncate(s string, most int) string {
	const mark = "…"
	if len(s) <= most {
		return s
	}
	end := most - len(mark)
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return strings.TrimSpace(s[:end]) + mark
}

// provider answers with the JSON of what a function makes of the user's texts.
type provider struct {
	model  string
	answer func(ctx context.Context, texts []string) (any, error)
}

// Generate answers in one piece.
func (p provider) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	texts := userTexts(r.Messages)
	if len(texts) == 0 {
		return providers.Response{}, &providers.Error{Kind: providers.InvalidRequest, Err: fmt.Errorf("read request: no user message among %d, give one", len(r.Messages))}
	}
	value, err := p.run(ctx, texts)
	if err != nil {
		return providers.Response{}, err
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return providers.Response{}, &providers.Error{Kind: providers.InvalidResponse, Err: fmt.Errorf("encode reply: %w", err)}
	}
	text := strings.TrimSpace(b.String())
	if r.OnChunk != nil {
		if err := r.OnChunk(text); err != nil {
			return providers.Response{}, err
		}
	}
	if ctx.Err() != nil {
		return providers.Response{}, providers.ContextError(ctx, providers.Response{Text: text, Model: p.model})
	}
	return providers.Response{Text: text, FinishReason: providers.Stop, Model: p.model}, nil
}

// userTexts are the user's texts up to the first reply: what follows asks for the same again.
func userTexts(messages []providers.Message) (texts []string) {
	for _, m := range messages {
		switch m.Role {
		case providers.User:
			texts = append(texts, m.Text)
		case providers.Assistant:
			return texts
		case providers.System:
		}
	}
	return texts
}

// run waits for the answer as long as ctx lasts.
func (p provider) run(ctx context.Context, texts []string) (any, error) {
	if ctx.Err() != nil {
		return nil, providers.ContextError(ctx, providers.Response{})
	}
	type result struct {
		value any
		err   error
	}
	done := make(chan result, 1) // an answer that nobody waits for must not block
	go func() {
		var r result
		defer func() {
			if x := recover(); x != nil {
				r = result{err: fmt.Errorf("answer request: it panicked: %v", x)}
			}
			done <- r
		}()
		r.value, r.err = p.answer(ctx, texts)
	}()
	select {
	case <-ctx.Done():
	case r := <-done:
		if ctx.Err() == nil {
			return r.value, asError(r.err)
		}
	}
	return nil, providers.ContextError(ctx, providers.Response{})
}
