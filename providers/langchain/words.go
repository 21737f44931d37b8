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

// longestMessage is how much of a service's words an error quotes, in runes.
const longestMessage = 500

// message is what an error's body says to people. Without words it is the meaning of the status.
func message(body string, status int) string {
	text := spoken([]byte(body))
	if text == "" && !strings.HasPrefix(strings.TrimSpace(body), "{") {
		text = strings.Join(strings.Fields(markup.ReplaceAllString(body, " ")), " ")
	}
	if text == "" {
		text = http.StatusText(status)
	}
	if text == "" {
		text = "an error without words"
	}
	if runes := []rune(text); len(runes) > longestMessage {
		text = string(runes[:longestMessage]) + "…"
	}
	return text
}

// markup is what a page of a proxy is made of.
var markup = regexp.MustCompile(`(?is)<(script|style|head)\b.*?</(script|style|head)>|<[^>]*>|&[a-z]+;`)

// spoken finds the words in the JSON of an error; each service puts them elsewhere.
func spoken(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		if len(list) == 0 {
			return ""
		}
		return spoken(list[0])
	}
	var o object
	if json.Unmarshal(raw, &o) != nil {
		return ""
	}
	for _, name := range []string{"error", "message", "detail", "msg"} {
		if text := spoken(o[name]); text != "" {
			return text + details(o, name)
		}
	}
	return ""
}

// details are the type and code beside a message, and what a proxy quotes of the service behind it.
func details(o object, name string) string {
	if name != "message" {
		return ""
	}
	var words []string
	for _, name := range []string{"type", "code"} {
		if text := spoken(o[name]); text != "" && text != "error" {
			words = append(words, text)
		}
	}
	if raw := spoken(o.inner("metadata")["raw"]); raw != "" { // of OpenRouter
		words = append(words, raw)
	}
	if len(words) == 0 {
		return ""
	}
	return " (" + strings.Join(words, ", ") + ")"
}

// kindOfEvent is the kind of an error within a reply: by a status that it gives as a code, else by its words.
func kindOfEvent(raw []byte) providers.Kind {
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

// waitOf is how long the headers of an answer ask to wait, 0 where they do not.
func waitOf(h http.Header, now time.Time) time.Duration {
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

// secretsOf are the keys in a request: its parameter, and the values of all headers but those that say what it is.
func secretsOf(r *http.Request) []string {
	keys := []string{r.URL.Query().Get("key")}
	for name, values := range r.Header {
		if harmless[name] {
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

// harmless headers hold no secret.
var harmless = map[string]bool{
	"Accept": true, "Accept-Encoding": true, "Content-Length": true, "Content-Type": true, "User-Agent": true,
	"Anthropic-Beta": true, "Anthropic-Version": true, "X-Goog-Api-Client": true,
}

// secrets are keys by their looks.
var secrets = regexp.MustCompile(`\b(?:sk|gsk|xai|pplx|hf)[-_][\w*.-]{8,}|\bAIza[\w-]{8,}|` +
	`((?i:bearer +|[?&]key=|api[ _-]?key[^:=\n]{0,20}[:=] *))[^\s"'&]*[\d*][^\s"'&]*`)

// shortestSecret is the length from which a word of a text can only be the key, not a word like "none".
const shortestSecret = 8

// clean is a text without the keys that it quotes: those that were sent, and what looks like one.
func clean(text string, sent []string) string {
	for _, key := range sent {
		if len(key) >= shortestSecret {
			text = strings.ReplaceAll(text, key, "[key]")
		}
	}
	return secrets.ReplaceAllString(text, "${1}[key]")
}
