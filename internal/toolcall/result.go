package toolcall

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/elenchus-go/debate/internal/characters"
	"github.com/elenchus-go/debate/internal/panics"
	"github.com/elenchus-go/debate/providers/tool"
)

// outcome is what a call has returned.
type outcome struct {
	result tool.Result
	err    error
}

// answer gives a call a text in place of a result.
func answer(c *tool.Record, kind tool.ErrorKind, text string) {
	c.Done = true
	c.Error = kind
	c.Text = cut(text, maxMessage)
}

// finish sets what a call has returned, with at most that many bytes of the result.
func finish(within context.Context, c *tool.Record, o outcome, most int) {
	refusal, refused := errors.AsType[tool.Refusal](o.err)
	_, panicked := errors.AsType[*panics.Error](o.err)
	switch {
	case o.err == nil:
		c.Done, c.Sources = true, slices.Clone(o.result.Sources[:min(len(o.result.Sources), tool.MaxSources)])
		for i := range c.Sources {
			s := &c.Sources[i]
			s.URI = clean(s.URI, maxMessage)
			s.Title = clean(s.Title, maxMessage)
			s.Text = characters.Valid(s.Text)
			s.Number = 0
			s.Size = 0
			s.SHA256 = ""
		}
		if setText(c, o.result.String(), most); c.Sources == nil && c.Text != "" {
			c.Sources = []tool.Source{{Title: titleOf(c)}}
		}
	case refused:
		answer(c, tool.Refused, clean(string(refusal), maxMessage))
	case panicked:
		answer(c, tool.Panicked, "The tool failed because of a mistake in its program.")
	case within.Err() != nil:
		answer(c, tool.Timeout, "The tool took too long and was stopped.")
	default:
		answer(c, tool.Failed, "The tool failed.")
	}
}

// setText sets the result of a call, and cuts it if it is too long.
func setText(c *tool.Record, text string, most int) {
	if len(text) <= most {
		text = characters.Valid(text)
		if len(text) <= most {
			c.Text = text
			return
		}
	}
	c.Size, c.SHA256 = len(text), Digest(text)
	c.Text = clean(text, most)
}

// titleOf returns what a result is called that names no source: the call.
func titleOf(c *tool.Record) string {
	if arguments := strings.TrimSpace(string(c.Arguments)); arguments != "{}" {
		return c.Name + " " + cut(characters.Valid(arguments), maxTitle)
	}
	return c.Name
}

// maxTitle limits, in bytes, the arguments in the title of a result.
const maxTitle = 100

// share gives a call the result of an earlier call. The texts of its sources stay with that one.
func share(c, of *tool.Record) {
	c.Done = true
	c.Text = of.Text
	c.Shared = cmp.Or(of.Shared, of.ID)
	c.Size = of.Size
	c.SHA256 = of.SHA256
	c.Error = of.Error
	c.Sources = slices.Clone(of.Sources)
	for i := range c.Sources {
		if s := &c.Sources[i]; s.Text != "" {
			s.Size = len(s.Text)
			s.SHA256 = Digest(s.Text)
			s.Text = ""
		}
	}
}

// Digest returns the SHA-256 of a text as hexadecimal digits. It copies only pieces of the text, which may be large.
func Digest(text string) string {
	const piece = 1 << 16
	h := sha256.New()
	for ; text != ""; text = text[min(piece, len(text)):] {
		h.Write([]byte(text[:min(piece, len(text))])) // never fails
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Cut cuts the result of a call at that many bytes, unless it is shorter.
func Cut(c *tool.Record, most int) {
	if len(c.Text) <= most {
		return
	}
	if c.SHA256 == "" {
		c.Size, c.SHA256 = len(c.Text), Digest(c.Text)
	}
	c.Text = cut(c.Text, most)
}

// clean returns a text as valid UTF-8 of at most that many bytes.
func clean(text string, most int) string {
	if n := most + utf8.UTFMax; len(text) > n {
		text = strings.Clone(text[:n]) // without the rest, which may be large
	}
	return cut(characters.Valid(text), most)
}

// cut returns at most that many bytes of a text, in whole characters and with a mark at the end if it was longer.
func cut(text string, most int) string {
	const mark = "\n[cut]"
	if len(text) <= most {
		return text
	}
	return characters.First(text, max(most-len(mark), 0)) + mark
}

// Fit cuts the longest results so that all results together have at most that many tokens, as tokens counts them.
func Fit(calls []tool.Record, room int, tokens func(*tool.Record) int) {
	sizes := make([]int, len(calls))
	for i := range calls {
		sizes[i] = tokens(&calls[i])
	}
	share := fairShare(sizes, room)
	for i := range calls {
		c := &calls[i]
		for n := sizes[i]; n > share && c.Text != ""; n = tokens(c) {
			Cut(c, min(len(c.Text)*share/n, len(c.Text)-1)) // delimiters and names take tokens too
		}
	}
}

// fairShare returns the most that each of some sizes may have so that their sum is at most room.
func fairShare(sizes []int, room int) (share int) {
	sorted := slices.Sorted(slices.Values(sizes))
	for i, n := range sorted {
		share = room / (len(sorted) - i)
		if n > share {
			return share
		}
		room -= n
	}
	return slices.Max(append(sorted, share))
}

// maxMessage limits, in bytes, what a model reads of an error.
const maxMessage = 1 << 10
