package localtest

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// schemaModel is a model that follows the schema of each request and knows nothing else, as the worst model behind a server
// that enforces schemas. Each choice is random: a text has from one character to its maxLength, or 2,000; a list has from
// minItems to maxItems entries, or 8; a number is whole and from 2 to 10, which fits every scale. A reply that is longer
// than its token limit is truncated. Requests without a schema get a speech of up to 300 words.
type schemaModel struct {
	// Seed makes models differ. The reply to a request depends only on the seed and the request.
	Seed uint64
}

// Generate returns a random reply.
func (m *schemaModel) Generate(_ context.Context, r providers.Request) (providers.Response, error) {
	h := fnv.New64a()
	fmt.Fprintln(h, r.Messages, r.MaxTokens)
	g := schemaGenerator{rand.New(rand.NewPCG(m.Seed, h.Sum64()))}
	text := g.text(6 * (1 + g.IntN(300)))
	if len(r.Schema) > 0 {
		var s jsonSchema
		if err := json.Unmarshal(r.Schema, &s); err != nil {
			return providers.Response{}, err
		}
		raw, err := json.Marshal(g.value(&s))
		if err != nil {
			return providers.Response{}, err
		}
		text = string(raw)
	}
	res := providers.Response{Text: text, FinishReason: providers.Stop}
	if most := r.MaxTokens; most > 0 && window.Estimate(text) > most {
		res.Text, res.FinishReason = text[:len(text)*most/window.Estimate(text)], providers.Length
	}
	for _, message := range r.Messages {
		res.Usage.Input += window.Estimate(message.Text)
	}
	res.Usage = transcript.Usage{Input: max(res.Usage.Input, 1), Output: window.Estimate(res.Text)}
	return res, nil
}

// schemaGenerator generates random values.
type schemaGenerator struct{ *rand.Rand }

// jsonSchema is the part of JSON Schema that contracts send.
type jsonSchema struct {
	Type       string                 `json:"type"`
	Enum       []any                  `json:"enum"`
	AnyOf      []jsonSchema           `json:"anyOf"`
	Properties map[string]*jsonSchema `json:"properties"`
	Required   []string               `json:"required"`
	Items      *jsonSchema            `json:"items"`
	MinItems   int                    `json:"minItems"`
	MaxItems   *int                   `json:"maxItems"`
	MaxLength  *int                   `json:"maxLength"`
}

// value returns a random value of a schema.
func (g schemaGenerator) value(s *jsonSchema) any {
	switch {
	case s.AnyOf != nil:
		return g.value(&s.AnyOf[g.IntN(len(s.AnyOf))])
	case s.Enum != nil:
		return s.Enum[g.IntN(len(s.Enum))]
	}
	switch s.Type {
	case "object":
		object := map[string]any{}
		for _, name := range s.Required {
			object[name] = g.value(s.Properties[name])
		}
		return object
	case "array":
		list := make([]any, s.MinItems+g.IntN(valueOr(s.MaxItems, 8)-s.MinItems+1))
		for i := range list {
			list[i] = g.value(s.Items)
		}
		return list
	case "string":
		return g.text(1 + g.IntN(valueOr(s.MaxLength, 2000)))
	case "boolean":
		return g.IntN(2) == 1
	case "null":
		return nil
	}
	return 2 + g.IntN(9)
}

// text returns a text of n characters.
func (g schemaGenerator) text(n int) string {
	var b strings.Builder
	for b.Len() < n {
		for range 2 + g.IntN(7) {
			b.WriteByte(byte('a' + g.IntN(26)))
		}
		b.WriteByte(' ')
	}
	return b.String()[:n-1] + "."
}

func valueOr(p *int, def int) int {
	if p == nil {
		return def
	}
	return *p
}
