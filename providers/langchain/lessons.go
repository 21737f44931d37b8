package langchain

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// schemas is how far a model follows schemas.
type schemas int

const (
	bounded   schemas = iota // with bounds
	unbounded                // the shape only
	noSchemas                // not at all
)

// lessons are what the services have refused of a model's requests, and how it is sent since.
type lessons struct {
	without map[string]bool // fields that it does not take
	swapped bool            // it takes the token cap by the other name
	schemas schemas

	unmarked bool // it takes no marks for a cache
}

// memory holds the lessons of all models.
type memory struct {
	mu    sync.Mutex
	known map[string]lessons
}

// of is what was learned of a model, from start on.
func (m *memory) of(model string, start lessons) lessons {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known, ok := m.known[model]; ok {
		return known
	}
	return start
}

func (m *memory) keep(model string, l lessons) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil {
		m.known = map[string]lessons{}
	}
	m.known[model] = l
}

// What a refusal says. It counts only for a field that was sent, and if it sounds like one that is not known or not
// supported: a value out of bounds is the caller's to mend.
var (
	unsupported = regexp.MustCompile(`(?i)unsupported|not supported?|n't support|not permitted|not allowed|not available|unavailable|` +
		`deprecated|unrecognized|unknown|unexpected|extra_forbidden|extra (inputs|fields)|cannot both|only the default`)
	aboutSchema = regexp.MustCompile(`(?i)response_?format|json_?schema|output_(config|format)|structured output|schema|grammar|invalid format`)
)

// learn draws the lesson of a refusal: what to leave out of the next request. It is false where there is none.
func (l lessons) learn(sent, settings object, asked bool, status int, text string) (lessons, bool) {
	refused := status == http.StatusBadRequest || status == http.StatusUnprocessableEntity
	switch {
	case asked && l.schemas < noSchemas && (refused || status == http.StatusInternalServerError || status == http.StatusNotImplemented) &&
		aboutSchema.MatchString(text) && !overflow.MatchString(text):
		l.schemas++
		return l, true
	case !refused || !unsupported.MatchString(text):
		return l, false
	case marked(sent) && names(text, cacheControl):
		l.unmarked = true
		return l, true
	}
	for _, name := range []string{"temperature", "top_p", "topP", "top_k", "topK", "seed", "random_seed", "stop", "stop_sequences", "stream_options"} {
		_, set := settings[name]
		_, outer := sent[name]
		if (set || outer) && names(text, name) {
			l.without = maps.Clone(l.without)
			if l.without == nil {
				l.without = map[string]bool{}
			}
			l.without[name] = true
			return l, true
		}
	}
	return l.swap(sent, text)
}

// caps are the two names of the token cap.
var caps = [2]string{"max_tokens", "max_completion_tokens"}

// swap learns that a model wants the cap by its other name.
func (l lessons) swap(sent object, text string) (lessons, bool) {
	for _, name := range caps {
		if _, set := sent[name]; set && !l.swapped && names(text, name) {
			l.swapped = true
			return l, true
		}
	}
	return l, false
}

// names says whether a text names a field.
func names(text, field string) bool {
	words := strings.FieldsFunc(text, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
	return slices.Contains(words, field)
}
