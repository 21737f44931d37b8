package langchain

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/elenchus-go/debate/providers"
)

// maxMessageLength limits how much of a service's message an error quotes, in runes.
const maxMessageLength = 500

// errorMessage returns the message in the body of an error response. Without one, it returns the text of the status.
func errorMessage(body string, status int) string {
	text := findMessage([]byte(body))
	if text == "" && !strings.HasPrefix(strings.TrimSpace(body), "{") {
		text = strings.Join(strings.Fields(htmlMarkup.ReplaceAllString(body, " ")), " ")
	}
	if text == "" {
		text = http.StatusText(status)
	}
	if text == "" {
		text = "no error message"
	}
	if runes := []rune(text); len(runes) > maxMessageLength {
		text = string(runes[:maxMessageLength]) + "…"
	}
	return text
}

// htmlMarkup matches the markup of a proxy's error page.
var htmlMarkup = regexp.MustCompile(`(?is)<(script|style|head)\b.*?</(script|style|head)>|<[^>]*>|&[a-z]+;`)

// findMessage finds the message in the JSON of an error. Each service uses another field for it.
func findMessage(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		if len(list) == 0 {
			return ""
		}
		return findMessage(list[0])
	}
	var o object
	if json.Unmarshal(raw, &o) != nil {
		return ""
	}
	for _, name := range []string{"error", "message", "detail", "msg"} {
		if text := findMessage(o[name]); text != "" {
			return text + messageDetails(o, name)
		}
	}
	return ""
}

// messageDetails returns the type and code that accompany a message, and the error that a proxy quotes.
func messageDetails(o object, name string) string {
	if name != "message" {
		return ""
	}
	var words []string
	for _, name := range []string{"type", "code"} {
		if text := findMessage(o[name]); text != "" && text != "error" {
			words = append(words, text)
		}
	}
	if raw := findMessage(o.inner("metadata")["raw"]); raw != "" { // sent by OpenRouter
		words = append(words, raw)
	}
	if len(words) == 0 {
		return ""
	}
	return " (" + strings.Join(words, ", ") + ")"
}

// kindOfEvent returns the kind of an error within a reply. It uses the error's code if that is an HTTP status, and its
// text otherwise.
func kindOfEvent(raw []byte) providers.ErrorKind {
	var e struct {
		Error struct {
			Code any `json:"code"`
		} `json:"error"`
	}
	_ = json.Unmarshal(raw, &e)
	if code, _ := strconv.Atoi(fmt.Sprint(e.Error.Code)); code >= http.StatusBadRequest && code < 600 {
		return kindOfStatus(code, string(raw))
	}
	return kindOfWords(string(raw))
}

// retryAfterHeader returns the retry delay in the headers of a response, or 0 if there is none.
func retryAfterHeader(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	after := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseFloat(after, 64); err == nil {
		return time.Duration(max(0, min(seconds, 1e9)) * float64(time.Second))
	}
	at, err := http.ParseTime(after)
	if err != nil {
		return 0
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil { // the delay is relative to the service's clock
		now = date
	}
	return max(0, at.Sub(now))
}

// requestSecrets returns the values in a request that may be keys: the query parameter "key" and the values of all
// headers that are not known to be harmless.
func requestSecrets(r *http.Request) []string {
	keys := []string{r.URL.Query().Get("key")}
	for name, values := range r.Header {
		if harmlessHeaders[name] {
			continue
		}
		for _, v := range values {
			keys = append(keys, v)
			if _, key, ok := strings.Cut(v, " "); ok { // the part after the scheme
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// harmlessHeaders lists headers that hold no secrets.
var harmlessHeaders = map[string]bool{
	"Accept": true, "Accept-Encoding": true, "Content-Length": true, "Content-Type": true, "User-Agent": true,
	"Anthropic-Beta": true, "Anthropic-Version": true, "X-Goog-Api-Client": true,
}

// secretPattern matches text that looks like a key.
var secretPattern = regexp.MustCompile(`\b(?:sk|gsk|xai|pplx|hf)[-_][\w*.-]{8,}|\bAIza[\w-]{8,}|` +
	`((?i:bearer +|[?&]key=|api[ _-]?key[^:=\n]{0,20}[:=] *))[^\s"'&]*[\d*][^\s"'&]*`)

// minSecretLength is the length in bytes that a key must have to be redacted. Shorter keys may be words such as "none".
const minSecretLength = 8

// redactText replaces keys in a text: those that were sent, and anything that looks like a key.
func redactText(text string, sent []string) string {
	for _, key := range sent {
		if len(key) >= minSecretLength {
			text = strings.ReplaceAll(text, key, "[key]")
		}
	}
	return secretPattern.ReplaceAllString(text, "${1}[key]")
}
