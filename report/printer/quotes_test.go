package printer_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/report/printer"
	"github.com/elenchus-go/debate/transcript"
)

const quoting = `They say <quote source="3">the rent is paid</quote> twice, and a < b <quoted> <quote source="law">it must be`

// A reader sees a quote with its source, and not the tags that the model wrote, however the reply is cut into pieces.
func TestQuotesHaveNoTags(t *testing.T) {
	want := "  They say “the rent is paid” [3] twice, and a < b <quoted> <quote source=\"law\">it must be\n"
	key := transcript.Key{Run: 1, Round: 1, Phase: "respond", Actor: "Ada"}
	for _, size := range []int{1, 2, 3, 7, 20, len(quoting)} {
		var b strings.Builder
		p := printer.Printer{Output: &b, Live: true}
		for at := 0; at < len(quoting); at += size {
			p.Show(debate.Chunk{
				EventMeta: &debate.EventMeta{Live: true}, Attempt: &debate.Attempt{Key: key}, Offset: at,
				Text: quoting[at:min(at+size, len(quoting))],
			})
		}
		p.Show(debate.TurnDone{EventMeta: debate.EventMeta{Seq: 1}, Turn: transcript.Turn{Key: key, Text: quoting}})
		require.Equal(t, "Ada · respond\n"+want, b.String(), "pieces of %d bytes", size)
	}
	var b strings.Builder
	p := printer.Printer{Output: &b}
	p.Show(debate.TurnDone{EventMeta: debate.EventMeta{Seq: 1}, Turn: transcript.Turn{Key: key, Text: quoting}})
	require.Equal(t, "Ada · respond · 0.0s\n"+want, b.String())
}

// Scores stand in columns, whatever their decimals.
func TestScoresAreAligned(t *testing.T) {
	var b strings.Builder
	p := printer.Printer{Output: &b}
	data := `{"participants": [
		{"name": "Ada", "score": 7, "claims": [], "criteria": []}, {"name": "Bernadette", "score": 5.25, "claims": [], "criteria": []}, {"name": "Cy", "score": 10, "claims": [], "criteria": []}
	], "reasoning": "So it is.", "continue": false}`
	turn := transcript.Turn{
		Key: transcript.Key{Run: 1, Round: 1, Phase: "assess", Actor: "J"}, Contract: "assessment/1",
		Data: []byte(data),
	}
	list, _, ok := printer.Scores(&turn)
	require.True(t, ok)
	require.Len(t, list, 3)
	p.Show(debate.TurnDone{EventMeta: debate.EventMeta{Seq: 1}, Turn: turn})
	require.Contains(t, b.String(), "  Ada         7.00 of 10\n  Bernadette  5.25 of 10\n  Cy         10.00 of 10\n")
}
