package printer_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/toolviewtest"
	"github.com/elenchus-go/debate/report/printer"
)

// Each call is one line. One that waits for a person has another one when it is decided.
func TestCallsOfToolsArePrinted(t *testing.T) {
	for _, hidden := range []bool{false, true} {
		var b strings.Builder
		p := printer.Printer{Output: &b, Live: true, HideTexts: hidden}
		e, _ := toolviewtest.Engine(t)
		d, q := toolviewtest.Waiting(t, e)
		require.NoError(t, d.Decide(t.Context(), q.ID, "refuse"))
		toolviewtest.Run(t, d)
		for ev, err := range d.Watch(t.Context(), 0) {
			require.NoError(t, err)
			p.Show(ev)
		}
		toolviewtest.RequireSafe(t, b.String(), 8<<10, "\nAda calls look", "\nAda calls no[31m <b>such</b> tool", "\nAda calls order", "\nJ calls look")
		require.NotContains(t, b.String(), "Bo calls")
		if hidden {
			for _, text := range []string{toolviewtest.Asked, toolviewtest.Found, toolviewtest.Ordered} {
				require.NotContains(t, b.String(), text)
			}
			require.Equal(t, 1, strings.Count(b.String(), "Ada calls order"))
			require.NotContains(t, b.String(), "quoted-58b1")
			continue
		}
		for _, checked := range toolviewtest.Checked {
			require.Contains(t, b.String(), "\nAda: "+strings.ReplaceAll(checked, "[2] rules", "[2]"))
		}
		require.Contains(t, b.String(), "\nAda: Not found: “the <b>tenant</b> never [31mpays” is not in [9].\n")
		require.Regexp(t, `\nAda calls look \{"q":"`+toolviewtest.Asked+`[^\n]*: `+toolviewtest.Found, b.String())
		require.Regexp(t, `\nAda calls no[^\n]* failed \(unknown_tool\): There is no tool`, b.String())
		require.Regexp(t, `\nAda calls order \{"q":"`+toolviewtest.Ordered+`[^\n]* waits for a person\n`, b.String())
		require.Regexp(t, `\nAda calls order \{"q":"`+toolviewtest.Ordered+`[^\n]* failed \(disapproved\): A person refused this call\.\n`, b.String())
	}
}
