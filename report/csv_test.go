package report_test

import (
	"bytes"
	"encoding/csv"
	"strconv"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/report"
)

// The table has a row for each turn, which a program reads as it was, and none of whose texts a spreadsheet takes for a formula.
func TestATableHasARowForEachTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := debatetest.ShortPanel(1)
		c.Topic = "Ban cars?"
		c.Participants[0].Provider = "ada"
		c.Participants[1].Provider = "bo"
		c.Judges[0].Provider = "jo"
		formula, quoted := "=HYPERLINK(\"x\")", "He said \"no, never\",\nand left;\x1b[31m so."
		d := debatetest.New(t, c, debate.Options{Providers: map[string]providers.Provider{
			"ada": says(t, formula), "bo": says(t, quoted),
			"jo": says(t, debatetest.Assessment(false, "Ada", "Bo"), debatetest.Assessment(false, "Ada", "Bo")),
		}})
		_, _ = debatetest.Run(t, d)
		r, err := report.Collect(t.Context(), d)
		require.NoError(t, err)
		var table bytes.Buffer
		require.NoError(t, report.CSV(&table, r))
		rows, err := csv.NewReader(&table).ReadAll()
		require.NoError(t, err)
		require.Len(t, rows, 1+len(r.Result.Turns))
		at := map[string]int{}
		for i, name := range rows[0] {
			at[name] = i
		}
		for i, turn := range r.Result.Turns {
			row := rows[i+1]
			require.Equal(t, turn.Actor, row[at["actor"]])
			require.Equal(t, turn.Phase, row[at["phase"]])
			require.Equal(t, strconv.FormatInt(turn.Seq, 10), row[at["seq"]])
			require.Equal(t, strconv.Itoa(turn.Usage.Input), row[at["input_tokens"]])
		}
		require.Equal(t, "'"+formula, rows[1][at["text"]])
		require.Equal(t, "for", rows[1][at["side"]])
		require.Equal(t, "2.000", rows[1][at["seconds"]])
		require.Equal(t, "He said \"no, never\",\nand left;[31m so.", rows[2][at["text"]])

		table.Reset()
		require.NoError(t, report.CSV(&table, r.Redact()))
		require.Contains(t, table.String(), "Ada")
	})
}
