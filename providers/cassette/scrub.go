package cassette

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// scrubbed replaces a secret.
const scrubbed = "SCRUBBED"

// minSecretLength is the length in bytes that a detected value must have to count as a secret. Local servers accept
// words such as "none" as a key, and replacing such a word everywhere would garble the texts.
const minSecretLength = 8

var (
	secretHeaders    = []string{"Authorization", "Proxy-Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key"}
	secretParameters = []string{"key", "api_key", "api-key", "apikey", "access_token", "token"}
)

// scrubber removes known secrets from recorded data.
type scrubber struct {
	encodings [][]byte // the encodings of all secrets, longest first
}

// addSecrets adds the secrets that have at least the given number of bytes.
func (s *scrubber) addSecrets(least int, secrets ...string) {
	for _, secret := range secrets {
		if len(secret) < least || secret == scrubbed {
			continue
		}
		for _, form := range encodings(secret) {
			if !slices.ContainsFunc(s.encodings, func(f []byte) bool { return bytes.Equal(f, form) }) {
				s.encodings = append(s.encodings, form)
			}
		}
	}
	slices.SortStableFunc(s.encodings, func(a, b []byte) int { return cmp.Compare(len(b), len(a)) })
}

// encodings returns a secret in plain form and in its JSON and URL encodings.
func encodings(secret string) [][]byte {
	all := [][]byte{[]byte(secret), []byte(url.QueryEscape(secret)), []byte(url.PathEscape(secret))}
	for range 2 { // JSON, and JSON inside a JSON string
		text, err := marshal(secret)
		if err != nil || len(text) < 2 {
			break
		}
		secret = string(text[1 : len(text)-1])
		all = append(all, []byte(secret))
	}
	return all
}

// addRequestSecrets adds the secrets in a request's headers, cookies and URL.
func (s *scrubber) addRequestSecrets(req *http.Request) {
	for _, name := range secretHeaders {
		for _, v := range req.Header.Values(name) {
			scheme, credentials, ok := strings.Cut(v, " ")
			if !ok {
				credentials = scheme
			}
			s.addSecrets(minSecretLength, v, strings.TrimSpace(credentials))
			if plain, err := base64.StdEncoding.DecodeString(credentials); err == nil && strings.EqualFold(scheme, "Basic") {
				_, password, _ := strings.Cut(string(plain), ":")
				s.addSecrets(minSecretLength, password)
			}
		}
	}
	s.addCookieSecrets(req.Cookies())
	if password, ok := req.URL.User.Password(); ok {
		s.addSecrets(minSecretLength, password)
	}
	for name, values := range req.URL.Query() {
		if isSecret(name) {
			s.addSecrets(minSecretLength, values...)
		}
	}
}

func (s *scrubber) addCookieSecrets(cookies []*http.Cookie) {
	for _, c := range cookies {
		s.addSecrets(minSecretLength, c.Value)
	}
}

func isSecret(parameter string) bool {
	return slices.Contains(secretParameters, strings.ToLower(parameter))
}

// url returns u as text without secrets, in canonical form.
func (s *scrubber) url(u *url.URL) string {
	t := *u
	t.User = nil
	q := t.Query()
	for name := range q {
		if isSecret(name) {
			q.Set(name, scrubbed)
		}
	}
	t.RawQuery = q.Encode()
	return s.text(canonicalURL(&t))
}

type span struct{ from, to int }

// find returns the positions of secrets in b. The spans are in order and do not overlap.
func (s *scrubber) find(b []byte) (spans []span) {
	for _, form := range s.encodings {
		for from := 0; ; {
			i := bytes.Index(b[from:], form)
			if i < 0 {
				break
			}
			spans = append(spans, span{from + i, from + i + len(form)})
			from += i + 1
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	apart := spans[:0]
	for _, next := range spans {
		if last := len(apart) - 1; last >= 0 && next.from < apart[last].to {
			apart[last].to = max(apart[last].to, next.to)
			continue
		}
		apart = append(apart, next)
	}
	return apart
}

func (s *scrubber) text(text string) string { return string(s.bytes([]byte(text))) }

func (s *scrubber) bytes(b []byte) []byte {
	return bytes.Join(s.chunks([][]byte{b}), nil)
}

// chunks replaces secrets, including secrets that span several pieces. It omits pieces that become empty.
func (s *scrubber) chunks(pieces [][]byte) (clean [][]byte) {
	spans := s.find(bytes.Join(pieces, nil))
	from := 0
	for _, p := range pieces {
		var out []byte
		for at := from; at < from+len(p); {
			if len(spans) == 0 || from+len(p) <= spans[0].from {
				out = append(out, p[at-from:]...)
				break
			}
			if at <= spans[0].from {
				out = append(append(out, p[at-from:spans[0].from-from]...), scrubbed...)
			}
			at = min(spans[0].to, from+len(p))
			if at == spans[0].to {
				spans = spans[1:]
			}
		}
		if len(out) > 0 {
			clean = append(clean, out)
		}
		from += len(p)
	}
	return clean
}
