package sources

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// short writes mentions as "1" for a source that is cited, and as "1:words" for one that is quoted.
func short(list []mention) (found []string) {
	for _, m := range list {
		text := m.name
		if m.name == "" {
			text = fmt.Sprint(m.number)
		}
		if m.quoted {
			text += ":" + m.quote
		}
		if m.attached {
			text += "?"
		}
		found = append(found, text)
	}
	return found
}

func TestParse(t *testing.T) {
	for text, want := range map[string][]string{
		"":                               nil,
		"Nothing.":                       nil,
		"So it is [1].":                  {"1"},
		"So it is [1, 3] and [ 2; 4 ].":  {"1", "3", "2", "4"},
		"So it is [1][3], again [1].":    {"1", "3"},
		"By 20 %[1].":                    {"1"},
		"By 20 per cent[1].":             {"1?"},
		"First a[7], then [7].":          {"7"},
		"In [2024], [0, 1], [01], [-3].": nil,
		"In [a] and [1-3] and [^1].":     nil,
		"See [1](https://example.com).":  {"1"},
		"In code: `a[1]`, [2].":          {"2"},
		"``a`[1]`` and `b [3]":           {"3"},
		"One ` here.\n\nAnd [4] ` there": {"4"},
		"```go\na[1]\n[2]\n```\n[3]":     {"3"},
		"~~~\n[1]\n```\n[2]\n~~~\n[3]":   {"3"},
		"```\nnever closed [1]":          nil,
		`He says <quote source="2">the rent is 900 euros</quote>.`:               {"2:the rent is 900 euros"},
		`<quote source='2'>a</quote><QUOTE SOURCE=3>b</QUOTE >`:                  {"2:a", "3:b"},
		`<quote source="[2]">a</quote> [2], [3]`:                                 {"2:a", "3"},
		`<quote source="law.md">a</quote>`:                                       {"law.md:a"},
		`<quote lang="en" source="2" x="y">a</quote>`:                            {"2:a"},
		`<quote source="2">as [7] says</quote>`:                                  {"2:as [7] says"},
		`<quote>no source</quote> [1]`:                                           {"1"},
		`<quote source="2">not closed [3]`:                                       {"2", "3"},
		`<quote source="2">not closed <quote source="3">closed</quote>`:          {"3:closed", "2"},
		`</quote> [1] <quote source="2"></quote>`:                                {"2:", "1"},
		"`<quote source=\"2\">code</quote>`":                                     nil,
		`<quotes source="2">a</quotes> <quote source="99999999999999">a</quote>`: {"99999999999999:a"},
		`<quote source="-1">a</quote><quote source="0">b</quote>`:                {"-1:a", "0:b"},
	} {
		require.Equal(t, want, short(parse(text)), text)
	}
}

// A long reply takes no long time, whatever it holds.
func TestParseIsLinear(t *testing.T) {
	for _, text := range []string{"`", "``` ", "[1]", "<quote source=1>", "</quote>", "[1, ", "<quote ", "~~~\n", "`a\n\n"} {
		list := parse(strings.Repeat(text, 1_000_000/len(text)))
		require.LessOrEqual(t, len(list), 1)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("So it is [1, 3]. <quote source=\"2\">the rent</quote> `a[1]`\n```\n[4]\n```")
	f.Add("<quote source=\"law.md\">a<quote source=3>b</quote></quote>``")
	f.Fuzz(func(t *testing.T, text string) {
		for _, m := range parse(text) {
			require.False(t, m.number == 0 && m.name == "" && !m.quoted, "%+v", m)
			require.False(t, m.attached && m.quoted)
			require.Equal(t, strings.TrimSpace(m.quote), m.quote)
			require.Contains(t, text, m.quote)
			if utf8.ValidString(text) {
				require.True(t, utf8.ValidString(m.quote))
			}
		}
		require.Len(t, maskCode(text), len(text))
	})
}

func TestReadable(t *testing.T) {
	for text, want := range map[string]string{
		"So it is [3].": "So it is [3].",
		`He says <quote source="3">so it is</quote>.`:                         "He says “so it is” [3].",
		`<quote source="law.md"> "so" </quote><QUOTE source=[2]>x</QUOTE>`:    "“so” [law.md]“x” [2]",
		"`<quote source=\"3\">code</quote>` <quote source=\"3\">text</quote>": "`<quote source=\"3\">code</quote>` “text” [3]",
		`<quote source="3">open <quote source="4">closed</quote></quote>`:     `<quote source="3">open “closed” [4]</quote>`,
		`<quote>of nothing</quote> <quote source="3">open`:                    `<quote>of nothing</quote> <quote source="3">open`,
	} {
		require.Equal(t, want, Readable(text), text)
	}
}
