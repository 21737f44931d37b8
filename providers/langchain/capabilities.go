package langchain

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// schemaSupport is the degree to which a model supports schemas.
type schemaSupport int

const (
	schemaFull  schemaSupport = iota // schemas with bounds
	schemaShape                      // schemas without bounds
	schemaNone                       // no schemas
)

// capabilities records which parts of a request a model refused.
type capabilities struct {
	unsupportedFields map[string]bool // the fields that the model refused
	otherTokenField   bool            // the token limit needs the other one of tokenFields
	schemaSupport     schemaSupport

	noCacheBreakpoints bool // the model refused cache breakpoints
}

// capabilityCache holds the capabilities of all models.
type capabilityCache struct {
	mu      sync.Mutex
	byModel map[string]capabilities
}

// get returns the known capabilities of a model, or start if there are none.
func (m *capabilityCache) get(model string, start capabilities) capabilities {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known, ok := m.byModel[model]; ok {
		return known
	}
	return start
}

func (m *capabilityCache) put(model string, l capabilities) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.byModel == nil {
		m.byModel = map[string]capabilities{}
	}
	m.byModel[model] = l
}

// Patterns for the text of an error response. A response counts as a refusal of a field only if the field was sent and
// the text says that it is unknown or unsupported. A value that is out of range is the caller's error.
var (
	unsupported = regexp.MustCompile(`(?i)unsupported|not supported?|n't support|not permitted|not allowed|not available|unavailable|` +
		`deprecated|unrecognized|unknown|unexpected|extra_forbidden|extra (inputs|fields)|cannot both|only the default`)
	aboutSchema = regexp.MustCompile(`(?i)response_?format|json_?schema|output_(config|format)|structured output|schema|grammar|invalid format`)
)

// withoutRefused returns l without the capability that an error response refuses. It returns false if the response
// refuses no optional part of the request.
func (l capabilities) withoutRefused(sent, settings object, asked bool, status int, text string) (capabilities, bool) {
	refused := status == http.StatusBadRequest || status == http.StatusUnprocessableEntity
	switch {
	case asked && l.schemaSupport < schemaNone && (refused || status == http.StatusInternalServerError || status == http.StatusNotImplemented) &&
		aboutSchema.MatchString(text) && !overflowPattern.MatchString(text):
		l.schemaSupport++
		return l, true
	case !refused || !unsupported.MatchString(text):
		return l, false
	case hasBreakpoints(sent) && mentions(text, cacheControl):
		l.noCacheBreakpoints = true
		return l, true
	}
	for _, name := range []string{"temperature", "top_p", "topP", "top_k", "topK", "seed", "random_seed", "stop", "stop_sequences", "stream_options"} {
		_, set := settings[name]
		_, outer := sent[name]
		if (set || outer) && mentions(text, name) {
			l.unsupportedFields = maps.Clone(l.unsupportedFields)
			if l.unsupportedFields == nil {
				l.unsupportedFields = map[string]bool{}
			}
			l.unsupportedFields[name] = true
			return l, true
		}
	}
	return l.withOtherTokenField(sent, text)
}

// tokenFields are the two names of the field with the token limit.
var tokenFields = [2]string{"max_tokens", "max_completion_tokens"}

// withOtherTokenField switches to the other name of the token limit if the text refuses the name that was sent.
func (l capabilities) withOtherTokenField(sent object, text string) (capabilities, bool) {
	for _, name := range tokenFields {
		if _, set := sent[name]; set && !l.otherTokenField && mentions(text, name) {
			l.otherTokenField = true
			return l, true
		}
	}
	return l, false
}

// mentions reports whether a text contains the name of a field as a word.
func mentions(text, field string) bool {
	words := strings.FieldsFunc(text, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
	return slices.Contains(words, field)
}
