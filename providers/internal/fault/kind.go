package fault

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/elenchus-go/debate/providers"
)

// compiledRow is a row whose codes and words are ready for use.
type compiledRow struct {
	row
	codes []string
	words *regexp.Regexp // nil if the row has none
}

// table returns all rows. It compiles them at the first failure, because most programs see none.
var table = sync.OnceValue(func() (all []compiledRow) {
	for _, part := range rows {
		for _, r := range part {
			c := compiledRow{row: r, codes: strings.Fields(r.codes)}
			c.statuses.to = max(r.statuses.from, r.statuses.to)
			if r.words != "" {
				c.words = regexp.MustCompile(`(?i)` + r.words)
			}
			all = append(all, c)
		}
	}
	return all
})

// matches reports whether a row is about a fault.
func (r *compiledRow) matches(f *Fault) bool {
	switch {
	case r.statuses != (span{}) && (f.Status < r.statuses.from || f.Status > r.statuses.to),
		len(r.codes) > 0 && !slices.ContainsFunc(r.codes, func(code string) bool { return slices.Contains(f.codes, code) }),
		r.words != nil && !r.words.MatchString(f.words):
		return false
	}
	return r.when == nil || r.when(f)
}

// A verdict is what the table says about a fault.
type verdict struct {
	kind      providers.ErrorKind
	otherwise providers.ErrorKind // see [providers.Error.Otherwise]
	hint      string
}

// classify returns what the user's rules or the table say about a fault.
func (f *Fault) classify() verdict {
	if f.Own != nil {
		if kind := f.Own(f.Status, []byte(f.Body)); kind != "" {
			return verdict{kind: kind}
		}
	}
	if inner := f.innerFault(); inner != nil {
		f = inner
	}
	guess := false
	for i, rows := 0, table(); i < len(rows); i++ {
		r := &rows[i]
		switch {
		case r.kind == "" && guess, !r.matches(f):
		case r.kind == "":
			guess = true
		case guess:
			return verdict{providers.ContextOverflow, r.kind, r.hint}
		default:
			return verdict{kind: r.kind, hint: r.hint}
		}
	}
	if guess {
		return verdict{kind: providers.ContextOverflow, otherwise: providers.ServerError}
	}
	return verdict{kind: providers.ServerError}
}

// Certain reports whether a fault is of a kind for certain, and not by the rule for unknown words.
func (f *Fault) Certain(kind providers.ErrorKind) bool {
	v := f.classify()
	return v.kind == kind && v.otherwise == ""
}

// OfText returns the fault of an error of a client library, of which only the text and, if it is not 0, the HTTP status are known. sent is the size of the
// request in bytes.
func OfText(status int, text string, sent int) *Fault {
	f := &Fault{Status: status, Sent: sent, local: true}
	f.parse([]byte(text), time.Now())
	return f
}
