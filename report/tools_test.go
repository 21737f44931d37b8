package report_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/toolviewtest"
	"github.com/elenchus-go/debate/report"
)

// rendered returns a report in each format.
func rendered(t *testing.T, r *report.Report) map[string]string {
	t.Helper()
	var markdown, html bytes.Buffer
	require.NoError(t, report.Markdown(&markdown, r))
	require.NoError(t, report.HTML(&html, r))
	return map[string]string{"Markdown": markdown.String(), "HTML": html.String(), "JSON": debatetest.Encode(t, r)}
}

// A report says what was called, by whom, with which arguments, and what it found. It has nothing of a step that reads a private
// document but the number of its rounds.
func TestReportsShowCallsOfTools(t *testing.T) {
	e, _ := toolviewtest.Engine(t)
	d, _ := toolviewtest.Waiting(t, e)
	r := debatetest.Call(t, report.Collect, d)
	for format, text := range rendered(t, r) {
		toolviewtest.RequireSafe(t, withoutEscapes(format, text), 150_000, "Ada wants to call the tool order", toolviewtest.Ordered)
	}

	e, _ = toolviewtest.Engine(t)
	d = toolviewtest.Ended(t, e)
	r = debatetest.Call(t, report.Collect, d)
	for format, text := range rendered(t, r) {
		toolviewtest.RequireSafe(t, withoutEscapes(format, text), 150_000, toolviewtest.Asked, toolviewtest.Found, toolviewtest.Ordered, toolviewtest.Reason)
		if format == "JSON" {
			continue
		}
		for _, want := range []string{"Calls of tools", "unknown tool", "disapproved", "2 rounds of tool calls", "1 round of tool calls"} {
			require.Contains(t, text, want, format)
		}
		require.NotContains(t, text, "<script>alert", format)
		require.NotContains(t, text, "<b>such", format)
		require.NotRegexp(t, `\d attempts`, text, format+": rounds are no attempts")
	}
	for format, text := range rendered(t, r) {
		text = strings.ReplaceAll(text, `\`, "")
		for _, checked := range toolviewtest.Checked {
			require.Equal(t, format != "JSON", strings.Contains(text, checked), format)
		}
		require.Contains(t, text, map[string]string{
			"Markdown": "1 quote verified, 1 altered, 1 not found", "HTML": "1 quote verified, 1 altered, 1 not found", "JSON": `"quoted_by":["Ada"],"misquoted_by":["Ada"]`,
		}[format], format)
		require.Contains(t, text, "2 quotes by Ada are not in the sources that they name.")
		require.NotContains(t, text, "<b>tenant", format)
	}
	require.Len(t, r.Tools, 4, "an approved call has two entries and is one round")
	require.Empty(t, r.Tools[0].Parts)
	require.Equal(t, "Ada", r.Tools[1].Key.Actor)
	require.True(t, r.Tools[1].Calls[0].Done)

	var again report.Report
	require.NoError(t, json.Unmarshal([]byte(debatetest.Encode(t, r)), &again))
	require.Equal(t, rendered(t, r), rendered(t, &again))

	for format, text := range rendered(t, r.Redact()) {
		require.Contains(t, text, toolviewtest.Asked, format)
		require.Contains(t, text, toolviewtest.Found, format+" lacks what statements rest on")
	}
}

// withoutEscapes returns JSON without the escapes of control characters, which are text.
func withoutEscapes(format, text string) string {
	if format != "JSON" {
		return text
	}
	return strings.NewReplacer("\u202e", "", "\u202c", "", "\u009b", "").Replace(text)
}
