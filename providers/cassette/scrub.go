package cassette

import (
	"bytes"
	"cmp"
	"net/http"
	"net/url"
	"slices"

	"github.com/elenchus-go/debate/providers/internal/fault"
)

// scrubbed replaces a secret.
const scrubbed = "SCRUBBED"

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
		for _, encoding := range fault.Encodings(secret) {
			form := []byte(encoding)
			if !slices.ContainsFunc(s.encodings, func(f []byte) bool { return bytes.Equal(f, form) }) {
				s.encodings = append(s.encodings, form)
			}
		}
	}
	slices.SortStableFunc(s.encodings, func(a, b []byte) int { return cmp.Compare(len(b), len(a)) })
}

// addRequestSecrets adds the values in a request that may be keys: the same as those that providers keep out of errors.
func (s *scrubber) addRequestSecrets(req *http.Request) {
	s.addSecrets(fault.MinSecretLength, fault.Secrets(req)...)
}

func (s *scrubber) addCookieSecrets(cookies []*http.Cookie) {
	for _, c := range cookies {
		s.addSecrets(fault.MinSecretLength, c.Value)
	}
}

// url returns u as text without secrets, in canonical form.
func (s *scrubber) url(u *url.URL) string {
	t := *u
	t.User = nil
	q := t.Query()
	for name := range q {
		if fault.IsKeyParameter(name) {
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
