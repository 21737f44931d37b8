package langchain

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// schemaSupport is how far a model follows schemaSupport.
type schemaSupport int

const (
	schemaFull  schemaSupport = iota // with bounds
	schemaShape                      // the shape only
	schemaNone                       // not at all
)

// capabilities are what the services have refused of a model's requests, and how it is sent since.
type capabilities struct {
	unsupportedFields map[string]bool // fields that it does not take
	otherTokenField   bool            // it takes the token cap by the other name
	schemaSupport     schemaSupport

	noCacheBreakpoints bool // it takes no marks for a cache
}

// capabilityCache holds the lessons of all models.
type capabilityCache struct {
	mu      sync.Mutex
	byModel map[string]capabilities
}

// get is what was learned get a model, from start on.
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

// What a refusal says. It counts only for a field that was sent, and if it sounds like one that is not known or not
// supported: a value out of bounds is the caller's to mend.
var (
	unsupported = regexp.MustCompile(`(?i)unsupported|not supported?|n't support|not permitted|not allowed|not available|unavailable|` +
		`deprecated|unrecognized|unknown|unexpected|extra_forbidden|extra (inputs|fields)|cannot both|only the default`)
	aboutSchema = regexp.MustCompile(`(?i)response_?format|json_?schema|output_(config|format)|structured output|schema|grammar|invalid format`)
)

// withoutRefused draws the lesson of a refusal: what to leave out of the next request. It is false where there is none.
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

// tokenFields are the two names of the token cap.
var tokenFields = [2]string{"max_tokens", "max_completion_tokens"}

// withOtherTokenField learns that a model wants the cap by its other name.
func (l capabilities) withOtherTokenField(sent object, text string) (capabilities, bool) {
	for _, name := range tokenFields {
		if _, set := sent[name]; set && !l.otherTokenField && mentions(text, name) {
			l.otherTokenField = true
			return l, true
		}
	}
	return l, false
}

// mentions says whether a text mentions a field.
func mentions(text, field string) bool {
	words := strings.FieldsFunc(text, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
	return slices.Contains(words, field)
}
