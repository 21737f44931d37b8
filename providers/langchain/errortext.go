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

// maxMessageLength is how much of a service's words an error quotes, in runes.
const maxMessageLength = 500

// errorMessage is what an error's body says to people. Without words it is the meaning of the status.
func errorMessage(body string, status int) string {
	text := findMessage([]byte(body))
	if text == "" && !strings.HasPrefix(strings.TrimSpace(body), "{") {
		text = strings.Join(strings.Fields(htmlMarkup.ReplaceAllString(body, " ")), " ")
	}
	if text == "" {
		text = http.StatusText(status)
	}
	if text == "" {
		text = "an error without words"
	}
	if runes := []rune(text); len(runes) > maxMessageLength {
		text = string(runes[:maxMessageLength]) + "…"
	}
	return text
}

// htmlMarkup is what a page of a proxy is made of.
var htmlMarkup = regexp.MustCompile(`(?is)<(script|style|head)\b.*?</(script|style|head)>|<[^>]*>|&[a-z]+;`)

// findMessage finds the words in the JSON of an error; each service puts them elsewhere.
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

// messageDetails are the type and code beside a message, and what a proxy quotes of the service behind it.
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
	if raw := findMessage(o.inner("metadata")["raw"]); raw != "" { // of OpenRouter
		words = append(words, raw)
	}
	if len(words) == 0 {
		return ""
	}
	return " (" + strings.Join(words, ", ") + ")"
}

// kindOfEvent is the kind of an error within a reply: by a status that it gives as a code, else by its words.
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

// retryAfterHeader is how long the headers of an answer ask to wait, 0 where they do not.
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
	if date, err := http.ParseTime(h.Get("Date")); err == nil { // their clock, not ours
		now = date
	}
	return max(0, at.Sub(now))
}

// requestSecrets are the keys in a request: its parameter, and the values of all headers but those that say what it is.
func requestSecrets(r *http.Request) []string {
	keys := []string{r.URL.Query().Get("key")}
	for name, values := range r.Header {
		if harmlessHeaders[name] {
			continue
		}
		for _, v := range values {
			keys = append(keys, v)
			if _, key, ok := strings.Cut(v, " "); ok { // after the scheme
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// harmlessHeaders headers hold no secret.
var harmlessHeaders = map[string]bool{
	"Accept": true, "Accept-Encoding": true, "Content-Length": true, "Content-Type": true, "User-Agent": true,
	"Anthropic-Beta": true, "Anthropic-Version": true, "X-Goog-Api-Client": true,
}

// secretPattern are keys by their looks.
var secretPattern = regexp.MustCompile(`\b(?:sk|gsk|xai|pplx|hf)[-_][\w*.-]{8,}|\bAIza[\w-]{8,}|` +
	`((?i:bearer +|[?&]key=|api[ _-]?key[^:=\n]{0,20}[:=] *))[^\s"'&]*[\d*][^\s"'&]*`)

// minSecretLength is the length from which a word of a text can only be the key, not a word like "none".
const minSecretLength = 8

// redactText is a text without the keys that it quotes: those that were sent, and what looks like one.
func redactText(text string, sent []string) string {
	for _, key := range sent {
		if len(key) >= minSecretLength {
			text = strings.ReplaceAll(text, key, "[key]")
		}
	}
	return secretPattern.ReplaceAllString(text, "${1}[key]")
}
