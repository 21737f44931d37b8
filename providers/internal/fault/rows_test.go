package fault

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/servicetest"
)

// decidingRow returns the index of the row of the table that decides about a fault, or -1, and that of the rule for unknown
// words if it applies.
func decidingRow(f *Fault) (row, guess int) {
	row, guess = -1, -1
	for i, r := range table() {
		switch {
		case !r.matches(f):
		case r.kind != "":
			return i, guess
		case guess < 0:
			guess = i
		}
	}
	return row, guess
}

// Each row is needed: it decides about a case of the corpus, or about an error of a client library.
func TestEachRowHasACase(t *testing.T) {
	used := map[int]bool{}
	note := func(f *Fault) {
		row, guess := decidingRow(f)
		used[row], used[guess] = true, true
	}
	for _, c := range servicetest.Load(t) {
		switch {
		case c.Lines != nil:
		case c.InStream():
			f := InEvent([]byte(c.Text()))
			if f == nil {
				f = InReply([]byte(c.Text()))
			}
			f.Sent = c.Sent
			note(f)
		default:
			f := &Fault{Status: c.Status, Sent: c.Sent}
			f.parse([]byte(c.Text()), time.Now())
			note(f)
		}
	}
	for _, text := range []string{
		"too many requests", "Unauthorized", "model x not found", "request timeout: no reply", "connection refused", "empty response",
		`redirect`,
	} {
		note(OfText(0, text, 0))
	}
	note(OfText(http.StatusTemporaryRedirect, "", 0))
	for i, r := range table() {
		raw, err := json.Marshal([]any{r.statuses.from, r.statuses.to, r.row.codes, r.row.words})
		require.NoError(t, err)
		require.NotEmpty(t, r.source, string(raw))
		if !used[i] {
			t.Errorf("row %d decides nothing: %s %s", i, r.kind, raw)
		}
	}
}
