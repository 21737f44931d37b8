package fault

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"html"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Secrets returns the values in a request that may be keys: the parameters of the URL that hold keys, the password of
// the URL, cookies, and the values of all headers that are not known to be harmless.
func Secrets(r *http.Request) []string {
	var keys []string
	for name, values := range r.URL.Query() {
		if isKeyParameter(name) {
			keys = append(keys, values...)
		}
	}
	if password, ok := r.URL.User.Password(); ok {
		keys = append(keys, password)
	}
	for _, c := range r.Cookies() {
		keys = append(keys, c.Value)
	}
	for name, values := range r.Header {
		if harmlessHeaders[name] {
			continue
		}
		for _, v := range values {
			scheme, key, ok := strings.Cut(v, " ")
			keys = append(keys, v)
			if !ok {
				continue
			}
			keys = append(keys, strings.TrimSpace(key))
			if plain, err := base64.StdEncoding.DecodeString(key); err == nil && strings.EqualFold(scheme, "Basic") {
				_, password, _ := strings.Cut(string(plain), ":")
				keys = append(keys, password)
			}
		}
	}
	return keys
}

// isKeyParameter reports whether a parameter of a URL holds a key.
func isKeyParameter(name string) bool {
	switch strings.ToLower(name) {
	case "key", "api_key", "api-key", "apikey", "access_token", "token", "subscription-key", "sig":
		return true
	}
	return false
}

// harmlessHeaders lists headers that hold no secrets.
var harmlessHeaders = map[string]bool{
	"Accept": true, "Accept-Encoding": true, "Accept-Language": true, "Content-Length": true, "Content-Type": true, "User-Agent": true,
	"Anthropic-Beta": true, "Anthropic-Version": true, "X-Goog-Api-Client": true, "Openai-Organization": true, "Openai-Project": true,
	"Http-Referer": true, "Referer": true, "X-Title": true, "Traceparent": true, "Tracestate": true,
}

// minSecretLength is the length in bytes that a value must have to be replaced. Shorter values may be words such as "none".
const minSecretLength = 8

// encodings returns the forms in which a text may quote a secret, longest first: plain, and as encoded in URLs, in HTML,
// and in JSON, also in JSON inside a JSON string.
func encodings(secret string) []string {
	all := []string{secret, html.EscapeString(secret)}
	for _, form := range []string{url.QueryEscape(secret), url.PathEscape(secret)} {
		all = append(all, form, escapePattern.compiled().ReplaceAllStringFunc(form, strings.ToLower))
	}
	quoted := []string{secret}
	for range 2 {
		var next []string
		for _, form := range quoted {
			next = append(next, quoteJSON(form, false), quoteJSON(form, true), strings.ReplaceAll(quoteJSON(form, false), "/", `\/`))
		}
		quoted = next
		all = append(all, quoted...)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	slices.SortStableFunc(all, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return all
}

var escapePattern = pattern{text: `%[0-9A-F]{2}`}

// quoteJSON returns a text as it stands in a JSON string, without the quotes.
func quoteJSON(text string, escapeHTML bool) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(escapeHTML)
	_ = e.Encode(text) // strings always encode
	return strings.TrimSuffix(strings.TrimPrefix(b.String(), `"`), "\"\n")
}

// secretPattern matches text that looks like a key.
var secretPattern = pattern{text: `\b(?:sk|gsk|xai|pplx|hf|csk|fw|tgp|nvapi|r8|ghp|gho|ghu|github_pat|glpat|hvs|xox[abp])[-_][\w*.-]{8,}|\bAIza[\w-]{8,}|\bya29\.[\w.-]{8,}|` +
	`\bA(?:KIA|SIA)[A-Z0-9]{12,}|\beyJ[\w-]{6,}\.[\w-]{6,}[\w.-]*|` +
	`((?i:bearer +|[?&]key=|api[ _-]?key[^:=\n]{0,20}[:=] *))[^\s"'&]*[\d*][^\s"'&]*`}

// randomPattern matches words that may be keys of a form that nobody knows. It also matches some names of requests.
var randomPattern = pattern{text: `\b[A-Za-z0-9_]{32,}\b`}

// minRandom is how many letters and how many digits a word needs to look random.
const minRandom = 4

// redactText replaces keys in a text: those that were sent, and anything that looks like a key. If the keys are unknown,
// because sent is nil, it also replaces long words that look random.
func redactText(text string, sent []string) string {
	for _, key := range sent {
		if len(key) < minSecretLength {
			continue
		}
		for _, form := range encodings(key) {
			text = strings.ReplaceAll(text, form, "[key]")
		}
	}
	text = secretPattern.compiled().ReplaceAllString(text, "${1}[key]")
	if sent == nil {
		text = randomPattern.compiled().ReplaceAllStringFunc(text, func(word string) string {
			digits := len(word) - len(strings.Map(dropDigits, word))
			if digits < minRandom || len(word)-digits < minRandom {
				return word
			}
			return "[key]"
		})
	}
	return text
}

func dropDigits(r rune) rune {
	if r >= '0' && r <= '9' {
		return -1
	}
	return r
}

// RedactError returns err without the keys that its text quotes. sent are the keys; nil means that they are unknown.
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
	u.User = nil
	u.RawQuery = ""
	u.Fragment = ""
	return u.String()
}

// maxExcerpt limits what [Excerpt] returns, and maxMessage how much of a service's message an error quotes, in runes.
const (
	maxExcerpt = 100
	maxMessage = 500
)

// Excerpt returns the beginning of a text without keys, for errors.
func Excerpt(text string, sent []string) string { return cut(redactText(text, sent), maxExcerpt) }

// cut returns the beginning of a text. Replace keys first: a part of a key is a secret too, and cannot be found.
func cut(text string, length int) string {
	if runes := []rune(text); len(runes) > length {
		return string(runes[:length]) + "…"
	}
	return text
}
