package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDraw(t *testing.T) {
	got := draw("plain <b>\n\x1b[36;1mAda\x1b[0;2m\x1b[39m · for\x1b[0m  end\n   \n\n", 20)
	requireXML(t, got)
	for _, want := range []string{
		`viewBox="0 0 200 86"`,
		`<text x="16.0" y="30" textLength="75.6">plain &lt;b&gt;</text>`,
		`<text x="16.0" y="48" textLength="25.2" fill="#39c5cf" font-weight="bold">Ada</text>`,
		`<text x="49.6" y="48" textLength="42.0" fill="#9198a1">· for</text>`,
		`<text x="108.4" y="48" textLength="25.2">end</text>`,
	} {
		require.Contains(t, got, want)
	}
	require.Equal(t, 4, strings.Count(got, "<text"), "blank text is not drawn")
}

func TestStylesFollowTheCodes(t *testing.T) {
	var s style
	for _, step := range []struct {
		codes string
		want  style
	}{
		{"1;36", style{color: palette[6], bold: true}},
		{"22", style{color: palette[6]}},
		{"2;39;48", style{faint: true}},
		{"", style{}},
	} {
		s = s.apply(step.codes)
		require.Equal(t, step.want, s, step.codes)
	}
}

// The picture in the documentation is a small SVG file without scripts or links.
func TestThePicture(t *testing.T) {
	b, err := os.ReadFile("../../docs/images/terminal.svg")
	require.NoError(t, err, "run make picture")
	require.Less(t, len(b), 100_000)
	requireXML(t, string(b))
	for _, word := range []string{"<script", "href", "url(", "/tmp"} {
		require.NotContains(t, string(b), word)
	}
	require.Contains(t, string(b), "Should cities ban private cars?")
}

func requireXML(t *testing.T, text string) {
	t.Helper()
	dec := xml.NewDecoder(strings.NewReader(text))
	for {
		_, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(t, err)
	}
}
