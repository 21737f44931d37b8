package fault

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/elenchus-go/debate/providers"
)

// Fault is an error that a service reports, with an HTTP status or within a reply.
type Fault struct {
	Status    int // 0 within a reply
	Sent      int // the size of the request in bytes; 0 if it is unknown
	Body      string
	Redirect  string // where the server redirects to
	RequestID string

	// Own returns the kind of an error by the user's own rules, or "". It may be nil.
	Own func(status int, body []byte) providers.ErrorKind

	local   bool // this program, and not the service, found the error
	message string
	words   string   // the texts of the error, and its numbers with their names
	codes   []string // the codes, types and statuses of the error, in lower case
	waits   time.Duration
	resets  time.Duration // when the service's limits end
	retry   retry
}

// retry is what a service says about a retry.
type retry int

const (
	unsaid retry = iota
	canRetry
	cannotRetry
)

// maxNesting limits how deep an error is searched.
const maxNesting = 8

// parse reads the body of an error.
func (f *Fault) parse(raw []byte, now time.Time) {
	f.Body = string(raw)
	f.message = findMessage(raw, maxNesting)
	if json.Valid(raw) {
		var b strings.Builder
		f.collect("", raw, &b, maxNesting)
		f.words = b.String()
	} else {
		f.words = strings.Join(strings.Fields(htmlMarkup.compiled().ReplaceAllString(f.Body, " ")), " ")
	}
	if f.message == "" && !strings.HasPrefix(strings.TrimSpace(f.Body), "{") {
		f.message = f.words
	}
	for _, code := range codePattern.compiled().FindAllString(f.words, -1) {
		f.codes = append(f.codes, strings.ToLower(code))
	}
	f.waits = RetryAfter(f.Body, now)
	if m := waitQuoted.compiled().FindStringSubmatch(f.Body); m != nil {
		f.resets = resetDelay(m[1], now)
	}
}

// htmlMarkup matches the markup of a proxy's error page.
var htmlMarkup = pattern{text: `(?is)<(script|style|head)\b.*?</(script|style|head)>|<[^>]*>|&[a-z]+;`}

// codePattern matches a code within a text, such as the type of an error that a proxy quotes.
var codePattern = pattern{text: `\b[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+\b`}

// codeFields are the fields of an error that hold codes.
var codeFields = []string{"quotaId", "reason", "code", "error_code", "type", "status", "status_code", "Code"}

// quotingFields are the fields of an error that quote the request or the reply if they have more than maxOwnWords bytes.
// Their words are then not those of the service.
var quotingFields = []string{"input", "flagged_input", "failed_generation", "prompt", "messages", "choices", "instructions", "output"}

const maxOwnWords = 200

// collect collects the codes, the texts and the numbers in the JSON of an error.
func (f *Fault) collect(name string, raw json.RawMessage, words *strings.Builder, depth int) {
	raw = bytes.TrimSpace(raw)
	if depth == 0 || len(raw) == 0 || len(raw) > maxOwnWords && slices.Contains(quotingFields, name) {
		return
	}
	switch raw[0] {
	case '[':
		var list []json.RawMessage
		_ = json.Unmarshal(raw, &list) // the whole body is valid
		for _, item := range list {
			f.collect(name, item, words, depth-1)
		}
	case '{':
		var o map[string]json.RawMessage
		_ = json.Unmarshal(raw, &o)
		for _, name := range slices.Sorted(maps.Keys(o)) {
			f.collect(name, o[name], words, depth-1)
		}
	case '"':
		var text string
		_ = json.Unmarshal(raw, &text)
		if slices.Contains(codeFields, name) && text != "" && !strings.ContainsAny(text, " \n{") {
			f.codes = append(f.codes, strings.ToLower(text))
		}
		words.WriteString(text + "\n")
	default:
		if slices.Contains(codeFields, name) {
			f.codes = append(f.codes, string(raw))
		}
		if raw[0] >= '0' && raw[0] <= '9' {
			words.WriteString(name + " " + string(raw) + "\n")
		}
	}
}

// messageFields are the fields of an error that hold its message. Each service uses another one.
var messageFields = []string{
	"error", "message", "detail", "msg", "errors", "error_msg", "error_message", "base_resp", "status_msg", "data", "description",
	"Response", "Error", "Message", "text",
}

// findMessage finds the message in the JSON of an error.
func findMessage(raw json.RawMessage, depth int) string {
	var text string
	switch {
	case depth == 0:
		return ""
	case json.Unmarshal(raw, &text) == nil:
		return text
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		if len(list) == 0 {
			return ""
		}
		return findMessage(list[0], depth-1)
	}
	var o map[string]json.RawMessage
	if json.Unmarshal(raw, &o) != nil {
		return ""
	}
	for _, name := range messageFields {
		if text := findMessage(o[name], depth-1); text != "" {
			return text + messageDetails(o, name, depth)
		}
	}
	return ""
}

// messageDetails returns the type and code that accompany a message, and the error that a proxy quotes.
func messageDetails(o map[string]json.RawMessage, name string, depth int) string {
	if name != "message" {
		return ""
	}
	var words []string
	for _, name := range []string{"type", "code"} {
		if text := findMessage(o[name], depth-1); text != "" && text != "error" {
			words = append(words, text)
		}
	}
	var metadata struct {
		Raw     json.RawMessage `json:"raw"`
		Reasons []string        `json:"reasons"`
	}
	_ = json.Unmarshal(o["metadata"], &metadata) // sent by OpenRouter
	if raw := findMessage(metadata.Raw, depth-1); raw != "" {
		words = append(words, raw)
	}
	words = append(words, metadata.Reasons...)
	if len(words) == 0 {
		return ""
	}
	return " (" + strings.Join(words, ", ") + ")"
}

// isLocal reports whether the error is one of this program. A service that reports an error of the network means its own.
func (f *Fault) isLocal() bool { return f.local }

// text returns the message of the service, or the text of the status.
func (f *Fault) text() string {
	switch {
	case f.message != "":
		return f.message
	case http.StatusText(f.Status) != "":
		return http.StatusText(f.Status)
	}
	return "no error message"
}
