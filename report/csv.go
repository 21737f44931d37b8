package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/elenchus-go/debate/internal/markup"
	"github.com/elenchus-go/debate/transcript"
)

// columns are the names of the columns of CSV.
var columns = []string{
	"debate", "seq", "run", "round", "phase", "kind", "actor", "side", "target", "model", "attempts",
	"input_tokens", "output_tokens", "cost", "started", "seconds", "flags", "text",
}

// CSV writes a table with a row for each turn, in order, for a spreadsheet or a program. The first row has the names of the columns.
// Texts have no control characters but line ends and tabs. Where a spreadsheet would take a text for a formula, it begins with an
// apostrophe.
func CSV(w io.Writer, r *Report) error {
	table := csv.NewWriter(w)
	rows := [][]string{columns}
	sides := map[string]string{}
	for _, p := range r.shownConfig().Participants {
		sides[p.Name] = p.Side
	}
	for i := range r.Result.Turns {
		rows = append(rows, r.csvRow(&r.Result.Turns[i], sides))
	}
	if err := table.WriteAll(rows); err != nil {
		return fmt.Errorf("write table of debate %s: %w", r.Result.ID, err)
	}
	return nil
}

// csvRow returns the row of a turn.
func (r *Report) csvRow(t *transcript.Turn, sides map[string]string) []string {
	var flags []string
	for _, f := range t.Flags {
		flags = append(flags, string(f))
	}
	model := ""
	if n := len(t.Attempts); n > 0 {
		model = t.Attempts[n-1].Model
	}
	cost := ""
	if !t.Usage.Unpriced {
		cost = strconv.FormatFloat(t.Usage.Cost, 'f', -1, 64)
	}
	return []string{
		r.Result.ID, strconv.FormatInt(t.Seq, 10), strconv.Itoa(t.Run), strconv.Itoa(t.Round), t.Phase, string(t.Kind),
		csvText(t.Actor), csvText(sides[t.Actor]), csvText(t.Target), csvText(model), strconv.Itoa(len(t.Attempts)),
		strconv.Itoa(t.Usage.Input), strconv.Itoa(t.Usage.Output), cost,
		t.Started.UTC().Format(time.RFC3339Nano), strconv.FormatFloat(t.Ended.Sub(t.Started).Seconds(), 'f', 3, 64),
		strings.Join(flags, " "), csvText(t.Text),
	}
}

// csvText returns a text that a spreadsheet does not take for a formula.
func csvText(text string) string {
	text = markup.Clean(text)
	if text != "" && strings.ContainsRune("=+-@\t\r＝＋－＠", []rune(text)[0]) {
		return "'" + text
	}
	return text
}
