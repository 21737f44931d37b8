package chain

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var secret = []byte("0123456789abcdef")

// The page names every field whose value is a text.
func TestThePageListsTheTexts(t *testing.T) {
	page, err := os.ReadFile("../../docs/record.md")
	require.NoError(t, err)
	require.Contains(t, string(page), "<!-- fields -->\n`"+strings.Join(slices.Sorted(maps.Keys(hidable)), "`, `")+"`\n<!-- /fields -->")
}

// Digests are in place of texts, and the stored bytes come back. No text is left over.
func TestTextsAreHiddenAndShown(t *testing.T) {
	for stored, want := range map[string][]string{
		`{"type":"turn","turn":{"text":"a \"b\" {","data":{"text":[1,"x"]},"reasoning":{"text":"r"},"usage":{"reasoning":3}}}`: {
			"turn.text", "turn.data", "turn.reasoning",
		},
		`{"a":[{"text":"x"},{"text": "y" , "b":[]}],"seq":1}`: {"a[0].text", "a[1].text"},
		`{"value":4,"tokens":[1,2],"empty":{},"null":null}`:   {"value"},
		`"text"`: nil,
	} {
		e, err := Mask(secret, 7, []byte(stored))
		require.NoError(t, err)
		var paths []string
		for _, text := range e.Texts {
			paths = append(paths, text.Path)
			require.NotContains(t, string(e.Payload), `"text":`+string(text.Value))
		}
		require.Equal(t, want, paths)
		again, hidden, err := e.Unmask()
		require.NoError(t, err)
		require.Empty(t, hidden)
		require.Equal(t, stored, string(again))
		if len(want) == 0 {
			continue
		}
		e.Texts = e.Texts[1:]
		again, hidden, err = e.Unmask()
		require.NoError(t, err)
		require.Equal(t, want[:1], hidden)
		require.Contains(t, string(again), "null")
		e.Texts = append(e.Texts, Text{Digest: Hash{1}})
		_, _, err = e.Unmask()
		require.Error(t, err, "no digest stands for it")
	}
	for _, wrong := range []string{"", "{", "{\"a\":\n1}"} {
		_, err := Mask(secret, 1, []byte(wrong))
		require.Error(t, err)
		_, err = New("d", secret).Add([]byte(wrong))
		require.ErrorContains(t, err, "hash entry 1: ")
	}
}

// The hashes of a known entry.
func TestTheHashesStay(t *testing.T) {
	c := New("d", secret)
	e, err := c.Add([]byte(`{"text":"x"}`))
	require.NoError(t, err)
	require.Equal(t, "VaPbDVi_W2OvozQyfarbHxniqkyIsAX5BXT8IXVlh2I", e.Leaf.String())
	require.Equal(t, "5c__-45zFw6SgpLOHVt9jrq2sRSOJmkgl8nnnsbHy38", c.Head.String())
	h, err := Parse(c.Head.String())
	require.NoError(t, err)
	require.Equal(t, c.Head, h)
	for _, wrong := range []string{"", "x", c.Head.String() + "A", strings.Repeat("=", 43)} {
		_, err := Parse(wrong)
		require.Error(t, err)
	}
}

func TestANoteIsRead(t *testing.T) {
	text := Note("d", 12, Hash{1})
	id, n, head, err := ParseNote(text)
	require.NoError(t, err)
	require.Equal(t, "d", id)
	require.Equal(t, int64(12), n)
	require.Equal(t, Hash{1}, head)
	for _, wrong := range []string{
		"", text + "x", strings.Replace(text, "12", "012", 1), strings.Replace(text, "12", "0", 1), strings.Replace(text, "record 1", "record 2", 1), strings.Replace(text, "AQ", "?", 1),
	} {
		_, _, _, err := ParseNote(wrong)
		require.Error(t, err, wrong)
	}
}

func FuzzMask(f *testing.F) {
	f.Add([]byte(`{"text":"a","b":[{"data":{"text":1}}],"c":"\"text\":\\"}`))
	f.Add([]byte(`{"text":{"...":"x"}}`))
	f.Fuzz(func(t *testing.T, stored []byte) {
		e, err := Mask(secret, 1, stored)
		if err != nil {
			return
		}
		again, hidden, err := e.Unmask()
		require.NoError(t, err)
		require.Empty(t, hidden)
		require.Equal(t, string(stored), string(again))
	})
}
