// Package retrieval provides document retrieval and embeddings through the interface [providers.Provider].
//
//	docs := []retrieval.Document{{Title: "Pre-mortem", Text: "Assume that the plan has failed. Why did it?"}}
//	retriever := retrieval.New(retrieval.InMemory(embedder, docs...), "text-embedding-3-small")
//	offline := retrieval.TemplateRetriever()
//
// A retriever takes the topic of a debate and answers with documents that help to think about it, as a JSON object:
//
//	{"documents": [{"title": "Pre-mortem", "text": "Assume that the plan has failed. ..."}]}
//
// [TemplateRetriever] returns a retriever that works offline. It searches the reasoning templates of this package. [New]
// returns a retriever for any [Search]. [InMemory] searches your own documents, and package
// providers/retrieval/vectorstore adapts any langchaingo retriever or vector store. [EmbeddingProvider] returns a
// provider that answers with embeddings instead of documents.
package retrieval

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/elenchus-go/debate/internal/panics"
	"github.com/elenchus-go/debate/providers"
)

// The size limits of a reply. They keep the JSON below 64 kB even if escaping doubles the size of the texts.
const (
	maxDocuments = 8
	maxTextSize  = 3800 // bytes
	maxTitleSize = 150  // bytes
)

// Document is a document that a search returns.
type Document struct {
	Title string `json:"title"`
	Text  string `json:"text"`
}

// Search returns the documents that match a query best, best first. It must be safe for concurrent use. If the error
// wraps a *providers.Error, the retriever's error has the same kind.
type Search func(ctx context.Context, query string) ([]Document, error)

// New returns a retriever that runs search. The query is the last user message before the first assistant message, so a
// retry that appends messages repeats the same query. The reply holds at most eight documents. New omits blank
// documents, truncates titles to 150 bytes and texts to 3,800 bytes, and uses the first line of a document as its title
// if it has none. The model names the embedding model of the search, and may be empty. The retriever reports no usage.
//
// The search runs on its own goroutine. If ctx ends, the call returns at once; a search that ignores ctx continues in
// the background until it returns.
func New(search Search, model string) providers.Provider {
	return provider{model, func(ctx context.Context, texts []string) (any, error) {
		found, err := search(ctx, texts[len(texts)-1])
		if err != nil {
			return nil, fmt.Errorf("search documents: %w", err)
		}
		return map[string][]Document{"documents": trimDocuments(found)}, nil
	}}
}

// trimDocuments cleans the documents and reduces them to the size limits of a reply.
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
		kept = append(kept, d)
		if len(kept) == maxDocuments {
			break
		}
	}
	return kept
}

// removeControlCharacters removes invalid UTF-8 and all control characters except line breaks and tabs.
func removeControlCharacters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
}

// truncate shortens s to at most the given number of bytes. It cuts between characters and appends an ellipsis.
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

// provider passes the user's texts to a function and replies with its result as JSON.
type provider struct {
	model  string
	answer func(ctx context.Context, texts []string) (any, error)
}

// Generate returns the whole reply, and passes it to OnChunk in one chunk.
func (p provider) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	texts := userTexts(r.Messages)
	if len(texts) == 0 {
		return providers.Response{}, &providers.Error{Kind: providers.InvalidRequest, Err: errors.New("read request: no user message before the first assistant message")}
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

// userTexts returns the texts of the user messages before the first assistant message. Later messages belong to a retry.
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

// errUnfinished is the error of an answer whose goroutine ends before the answer is there.
var errUnfinished = errors.New("the goroutine ended early")

// run computes the answer on its own goroutine and waits for it until ctx ends.
func (p provider) run(ctx context.Context, texts []string) (any, error) {
	if ctx.Err() != nil {
		return nil, providers.ContextError(ctx, providers.Response{})
	}
	type result struct {
		value any
		err   error
	}
	done := make(chan result, 1) // buffered, so that the goroutine ends even if ctx has ended
	go func() {
		r := result{err: &providers.Error{Kind: providers.Panic, Err: errUnfinished}}
		defer func() { done <- r }()
		if panicked := panics.Call(func() { r.value, r.err = p.answer(ctx, texts) }); panicked != nil {
			r = result{err: &providers.Error{Kind: providers.Panic, Err: panicked}}
		}
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
