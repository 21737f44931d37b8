package fault

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// maxMessageLength limits how much of a service's message an error quotes, in runes.
const maxMessageLength = 500

// maxNesting limits how deep an error is searched.
const maxNesting = 6

// errorMessage returns the message in the body of an error. Without one, it returns the text of the status.
func errorMessage(body []byte, status int) string {
	text := findMessage(body, maxNesting)
	if text == "" && !strings.HasPrefix(strings.TrimSpace(string(body)), "{") {
		text = strings.Join(strings.Fields(htmlMarkup.ReplaceAllString(string(body), " ")), " ")
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
	for _, name := range []string{"error", "message", "detail", "msg"} {
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
	if words = append(words, metadata.Reasons...); len(words) == 0 {
		return ""
	}
	return " (" + strings.Join(words, ", ") + ")"
}

// retryPattern finds the delay in messages such as "Please try again in 1m2.5s" and in Google's RetryInfo.
var retryPattern = regexp.MustCompile(`(?i)(?:try again|retry) (?:in|after) ((?:\d+(?:\.\d+)?(?:h|ms|m|s))+|\d+(?:\.\d+)? ?(?:seconds?|minutes?))|"retryDelay": ?"([\d.]+s)"`)

// RetryAfter returns the retry delay in a text, or 0 if there is none.
func RetryAfter(text string) time.Duration {
	m := retryPattern.FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	delay := strings.ReplaceAll(strings.ToLower(m[1]+m[2]), " ", "")
	for _, unit := range []string{"second", "minute"} {
		if number, _, ok := strings.Cut(delay, unit); ok {
			delay = number + unit[:1]
		}
	}
	d, _ := time.ParseDuration(delay)
	return d
}

// retryAfterHeader returns the retry delay in the headers of a response, or 0 if there is none.
func retryAfterHeader(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return time.Duration(min(ms, 1e12) * float64(time.Millisecond))
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

// Secrets returns the values in a request that may be keys: the query parameter "key" and the values of all
// headers that are not known to be harmless.
func Secrets(r *http.Request) []string {
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

// RedactError returns err without the keys that its text quotes.
func RedactError(err error, sent []string) error {
	text := err.Error()
	if quiet := redactText(text, sent); quiet != text {
		return errors.New(quiet)
	}
	return err
}

// RedactURL returns address without the parts that may contain a secret: user, query and fragment.
func RedactURL(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// Excerpt returns the beginning of a text without keys, for errors.
func Excerpt(text string, sent []string) string {
	const length = 100
	if runes := []rune(redactText(text[:min(len(text), 8*length)], sent)); len(runes) > length {
		return string(runes[:length]) + "…"
	}
	return redactText(text, sent)
}
