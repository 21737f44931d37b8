package view

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/toolviewtest"
)

// Calls of tools remain in the terminal. A participant who may not read everything sees names only.
func TestCallsOfToolsRemain(t *testing.T) {
	for _, hidden := range []bool{false, true} {
		b := board{columns: 80, hidden: hidden}
		e, _ := toolviewtest.Engine(t)
		var lines []string
		for ev, err := range toolviewtest.Ended(t, e).Watch(t.Context(), 0) {
			require.NoError(t, err)
			b.record(ev)
			lines = append(lines, b.lines(ev)...)
		}
		for _, line := range lines {
			require.LessOrEqual(t, textWidth(ansi.Strip(line)), 80)
		}
		text := strings.Join(strings.Fields(ansi.Strip(strings.Join(lines, " "))), " ")
		toolviewtest.RequireSafe(t, text, 16<<10, "Ada calls look", "Ada calls order", "J calls look")
		require.Equal(t, !hidden, strings.Contains(text, toolviewtest.Asked))
		require.Equal(t, !hidden, strings.Contains(text, toolviewtest.Found))
		require.Equal(t, !hidden, strings.Contains(text, "failed (disapproved)"))
		require.Equal(t, !hidden, strings.Contains(text, "Ada: Verified: “the quoted-58b1 is paid” is in [2]."))
	}
}
