package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/internal/fault"
	"github.com/elenchus-go/debate/providers/internal/prompt"
	"github.com/elenchus-go/debate/providers/internal/schema"
)

// Object is a JSON object.
type Object = map[string]any

// Support is what a model supports, as far as it is known. The zero Support is everything.
type Support struct {
	// Schemas is the degree to which the model supports schemas.
	Schemas Schemas
	// NoCache means that the model refuses cache breakpoints.
	NoCache bool
	// NoReasoning means that the model refuses the opaque reasoning of earlier replies.
	NoReasoning bool
	// NeedsReasoning means that the model refuses tool calls without reasoning.
	NeedsReasoning bool
	// NoSystem means that the model refuses messages with the role system.
	NoSystem bool

	lacksAPI        lacking         // who lacks the newest API
	omit            map[string]bool // the fields that the model refused
	otherTokenField bool            // the token limit needs the other one of tokenFields
}

// Schemas is a degree to which a model supports schemas.
type Schemas int

// The degrees.
const (
	SchemasWithBounds Schemas = iota // with bounds such as maxLength
	SchemasPlain                     // without bounds
	SchemasNone                      // no schemas
)

// Schema returns the schema in the form that the model supports, or nil if there is none.
func (s Support) Schema(raw json.RawMessage) (*schema.Schema, error) {
	if len(raw) == 0 || s.Schemas == SchemasNone {
		return nil, nil //nolint:nilnil // no schema is no error
	}
	return schema.Parse(raw, s.Schemas == SchemasWithBounds)
}

// Prompt returns the prompt of a request in the form that the model supports. ids is the pattern of the IDs of tool calls that the
// service accepts, or nil; see package prompt.
func (s Support) Prompt(r providers.Request, ids *regexp.Regexp) (prompt.Prompt, error) {
	p, err := prompt.New(r, ids)
	if err == nil && s.NoSystem {
		p.JoinSystem()
	}
	return p, err
}

// forgetAfter is the time after which a refusal is forgotten. A service may have refused a field by mistake, or may
// support it since.
const forgetAfter = time.Hour

// SupportCache remembers for an hour what models refused. It is safe for concurrent use.
type SupportCache struct {
	mu          sync.Mutex
	byModel     map[string]learned
	serverLacks time.Time // when the server was found to lack the newest API
}

type learned struct {
	support Support
	at      time.Time
}

// Get returns what a model supports, or start if nothing is known.
func (c *SupportCache) Get(model string, start Support) Support {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := start
	if known, ok := c.byModel[model]; ok && time.Since(known.at) < forgetAfter {
		s = known.support
	}
	if time.Since(c.serverLacks) < forgetAfter {
		s.lacksAPI = theServer
	}
	return s
}

// Put remembers what a model supports.
func (c *SupportCache) Put(model string, s Support) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byModel == nil {
		c.byModel = map[string]learned{}
	}
	if s.lacksAPI == theServer {
		if time.Since(c.serverLacks) >= forgetAfter { // what models refuse meanwhile does not extend it
			c.serverLacks = time.Now()
		}
		s.lacksAPI = nobody
	}
	c.byModel[model] = learned{s, time.Now()}
}

// schemaWarnings maps a degree to what the model refuses.
var schemaWarnings = map[Schemas]string{SchemasPlain: "bounds in schemas", SchemasNone: "schemas"}

// Warning returns the text of the warning about what a model refuses, other than expected from start. It is empty if
// the model refuses nothing.
func (s Support) Warning(model string, start Support) string {
	var parts []string
	if s.Schemas > start.Schemas {
		parts = append(parts, schemaWarnings[s.Schemas])
	}
	if s.NoCache {
		parts = append(parts, "cache breakpoints")
	}
	if s.NoReasoning {
		parts = append(parts, "the reasoning of earlier replies")
	}
	if s.NeedsReasoning {
		parts = append(parts, "tool calls without reasoning (a space is sent)")
	}
	if s.NoSystem {
		parts = append(parts, "the role system (the system prompt is sent at the beginning of the first message of the user)")
	}
	parts = append(parts, slices.Sorted(maps.Keys(s.omit))...)
	if s.otherTokenField {
		parts = append(parts, "the usual name of the token limit")
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("model %s does not support: %s: requests omit what it refuses for the next %v", model, strings.Join(parts, ", "), forgetAfter)
}

// lacking says who lacks an API.
type lacking int

// Who may lack an API.
const (
	nobody lacking = iota
	theModel
	theServer
)

// tokenFields are the two names of the field with the token limit.
var tokenFields = [2]string{"max_tokens", "max_completion_tokens"}

// apply removes from a body what the model does not support.
func (s Support) apply(body Object) {
	for name := range s.omit {
		for _, settings := range settingsOf(body) {
			delete(settings, name)
		}
	}
	if !s.otherTokenField {
		return
	}
	for i, name := range tokenFields {
		if value, ok := body[name]; ok {
			delete(body, name)
			body[tokenFields[1-i]] = value
			return
		}
	}
}

// settingsOf returns the objects in a body that hold settings: the body itself, and the objects for settings of Ollama
// and Google.
func settingsOf(body Object) []Object {
	all := []Object{body}
	for _, name := range []string{"options", "generationConfig"} {
		if inner, ok := body[name].(Object); ok {
			all = append(all, inner)
		}
	}
	return all
}

// Patterns for the text of an error response. A response counts as a refusal of a field only if the field was sent and
// the text says that it is unknown or unsupported. A value that is out of range is the caller's error.
var (
	unsupported = regexp.MustCompile(`(?i)unsupported|not support(ed)?|n't support|not permitted|not allowed|not available|unavailable|` +
		`not enabled|deprecated|unrecognized|unknown|unexpected|extra_forbidden|extra (inputs|fields)|cannot both|only the default|must be verified to stream`)
	aboutReasoning = regexp.MustCompile(`(?i)encrypted[_ ]content`)
	// DeepSeek and Moonshot refuse tool calls of other models, which have no reasoning.
	// Sources: https://github.com/QwenLM/qwen-code/issues/3578 and https://api-docs.deepseek.com/guides/thinking_mode
	lacksReasoning = regexp.MustCompile(`(?i)reasoning_content.{0,80}(passed back|missing)|missing.{0,80}reasoning_content`)
	aboutSchema    = regexp.MustCompile(`(?i)response_?format|json_?schema|output_(config|format)|structured output|schema|grammar|invalid format`)
)

// required are the fields without which a request makes no sense, or without which the service stores the reply or may
// never end it.
var required = []string{
	"model", "messages", "contents", "input", "instructions", "system", "systemInstruction", "tools", "options", "generationConfig", "text",
	"max_output_tokens", "store",
}

// without returns s without what a fault refuses. It returns false if the fault refuses no optional part of the
// request. structured reports whether the request has a schema. A refused field of extra, which the user set, is an
// error.
func (s Support) without(sent, extra Object, structured bool, f *fault.Fault) (Support, bool) {
	refused := f.Status == http.StatusBadRequest || f.Status == http.StatusUnprocessableEntity
	switch {
	case !s.NoSystem && f.MayBeField() && hasSystem(sent) && fault.RefusesSystem(f.Body):
		s.NoSystem = true
		return s, true
	case structured && s.Schemas < SchemasNone && (refused || f.Status == http.StatusInternalServerError || f.Status == http.StatusNotImplemented) &&
		aboutSchema.MatchString(f.Body) && !f.Certain(providers.ContextOverflow):
		s.Schemas++
		return s, true
	case refused && !s.NoReasoning && aboutReasoning.MatchString(f.Body) && contains(sent["input"], encryptedContent):
		s.NoReasoning = true
		return s, true
	case refused && !s.NeedsReasoning && lacksReasoning.MatchString(f.Body) && contains(sent["messages"], "tool_calls"):
		s.NeedsReasoning = true
		return s, true
	case !refused || !unsupported.MatchString(f.Body):
		return s, false
	case mentions(f.Body, cacheControl) && (contains(sent["system"], cacheControl) || contains(sent["messages"], cacheControl)):
		s.NoCache = true
		return s, true
	case !s.NoReasoning && mentions(f.Body, reasoningContent) && contains(sent["messages"], reasoningContent):
		s.NoReasoning = true
		return s, true
	}
	given := settingsOf(extra)
	for _, settings := range settingsOf(sent) {
		for _, name := range slices.Sorted(maps.Keys(settings)) {
			if slices.Contains(required, name) || slices.Contains(tokenFields[:], name) || !mentions(f.Body, name) ||
				slices.ContainsFunc(given, func(o Object) bool { _, set := o[name]; return set }) {
				continue
			}
			s.omit = maps.Clone(s.omit)
			if s.omit == nil {
				s.omit = map[string]bool{}
			}
			s.omit[name] = true
			return s, true
		}
	}
	for _, name := range tokenFields {
		if _, set := sent[name]; set && !s.otherTokenField && mentions(f.Body, name) {
			s.otherTokenField = true
			return s, true
		}
	}
	return s, false
}

const (
	penaltyWord      = "penalty"
	cacheControl     = "cache_control"     // asks for a cache breakpoint
	encryptedContent = "encrypted_content" // has the opaque reasoning of an earlier reply
	reasoningContent = "reasoning_content" // has the readable reasoning of an earlier reply
)

// hasSystem reports whether a body has a system prompt.
func hasSystem(body Object) bool {
	for _, field := range []string{"system", "instructions", "systemInstruction"} {
		if body[field] != nil {
			return true
		}
	}
	raw, err := json.Marshal(body["messages"])
	return err == nil && bytes.Contains(raw, []byte(`"role":"system"`))
}

// contains reports whether a part of a body has a field, at any depth.
func contains(part any, field string) bool {
	raw, err := json.Marshal(part)
	return err == nil && bytes.Contains(raw, []byte(`"`+field+`":`))
}

// mentions reports whether a text contains the name of a field as a word. Ollama writes thinking for its field think.
func mentions(text, field string) bool {
	if strings.HasSuffix(strings.ToLower(field), penaltyWord) && strings.Contains(strings.ToLower(text), penaltyWord) { // Google names no field
		return true
	}
	words := strings.FieldsFunc(text, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
	return slices.Contains(words, field) || field == "think" && slices.Contains(words, "thinking")
}
