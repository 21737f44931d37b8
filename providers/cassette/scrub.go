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

// scrubbed stands in place of a secret.
const scrubbed = "SCRUBBED"

// minSecretLength is the length from which on a value that was found is a secret. Local servers take words such as "none" for
// a key; to replace those everywhere would spoil the texts.
const minSecretLength = 8

var (
	secretHeaders    = []string{"Authorization", "Proxy-Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key"}
	secretParameters = []string{"key", "api_key", "api-key", "apikey", "access_token", "token"}
)

// scrubber knows secrets, and finds them in what is to be written.
type scrubber struct {
	encodings [][]byte // of all secrets, the longest first
}

// addSecrets adds secrets of at least so many bytes.
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

// encodings are the ways to write a secret.
func encodings(secret string) [][]byte {
	all := [][]byte{[]byte(secret), []byte(url.QueryEscape(secret)), []byte(url.PathEscape(secret))}
	for range 2 { // JSON, and JSON in a string in JSON
		text, err := marshal(secret)
		if err != nil || len(text) < 2 {
			break
		}
		secret = string(text[1 : len(text)-1])
		all = append(all, []byte(secret))
	}
	return all
}

// addRequestSecrets learns the secrets of a addRequestSecrets.
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

// url is a URL that may be written.
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

// find is where the secrets stand, in order and apart.
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

// chunks replaces secrets, also those that one piece begins and a later one ends. Pieces of which nothing is left are
// left out.
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
