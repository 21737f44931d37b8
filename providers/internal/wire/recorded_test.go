package wire_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/leftover"
	"github.com/elenchus-go/debate/internal/test/golden"
	"github.com/elenchus-go/debate/internal/test/recorded"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/internal/wire"
)

// recordedText is a line of recorded data with texts.
type recordedText struct {
	Reply string
	Turns []struct{ Text string }
}

// recordedTexts returns the texts in files of recorded data.
func recordedTexts(t *testing.T, names ...string) (texts []string) {
	t.Helper()
	for _, name := range names {
		for _, line := range recorded.Lines[recordedText](t, name) {
			if strings.TrimSpace(line.Reply) != "" {
				texts = append(texts, line.Reply)
			}
			for _, turn := range line.Turns {
				if strings.TrimSpace(turn.Text) != "" {
					texts = append(texts, turn.Text)
				}
			}
		}
	}
	return texts
}

// tokens matches what a model may write at once.
var tokens = regexp.MustCompile(`(?s)\s?[\pL\pN_]{1,5}|\s?.`)

// sentences matches a sentence with the white space after it.
var sentences = regexp.MustCompile(`(?s).+?(?:[.!?]\s+|$)`)

// streams are the ways in which a service sends a text.
var streams = []struct {
	name string
	cut  func(text string) []string
}{
	{"at once", func(text string) []string { return []string{text} }},
	{"in sentences", func(text string) []string { return sentences.FindAllString(text, -1) }},
	{"in tokens", func(text string) []string { return tokens.FindAllString(text, -1) }},
	{"in single bytes", func(text string) []string { return strings.Split(text, "") }},
}

// received returns what a reply makes of the pieces of a text.
func received(pieces []string) (res providers.Response, err error) {
	r := wire.NewReply(providers.Request{})
	for _, piece := range pieces {
		if err := r.Add(wire.Text(piece)); err != nil {
			return r.Partial(), err
		}
	}
	r.Finish(providers.Stop)
	return r.End()
}

// spoilings are what servers do to a text. A reply removes it.
var spoilings = []struct {
	name  string
	spoil func(text string) []string
}{
	{"each piece is all text so far", func(text string) (pieces []string) {
		so := ""
		for _, token := range sentences.FindAllString(text, -1) {
			so += token
			pieces = append(pieces, so)
		}
		return pieces
	}},
	{"the last piece is the whole text", func(text string) []string { return append(tokens.FindAllString(text, -1), text) }},
	{"reasoning and a reply in channels", func(text string) []string {
		return tokens.FindAllString("<|channel|>analysis<|message|>We should argue.<|end|><|start|>assistant<|channel|>final<|message|>"+text+"<|return|>", -1)
	}},
	{"channels as words", func(text string) []string {
		return tokens.FindAllString("analysisWe should argue.assistantfinal"+text, -1)
	}},
	{"a mark at the end", func(text string) []string { return tokens.FindAllString(text+"<|im_end|>", -1) }},
	{"a message of somebody else", func(text string) []string {
		return tokens.FindAllString(text+"<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nWhy?", -1)
	}},
	{"the name of the model", func(text string) []string { return tokens.FindAllString("assistant: "+text, -1) }},
}

// TestRecordedTexts sends recorded texts as services do, unchanged and spoiled, and compares the figures with those in
// docs/measured/streams.md.
func TestRecordedTexts(t *testing.T) {
	var b strings.Builder
	named := recordedTexts(t, "speeches.jsonl", "panel-debates.jsonl", "mad-replies.jsonl")
	others := recordedTexts(t, "judge-replies.jsonl", "llmbar-replies.jsonl")
	b.WriteString("| recorded texts, sent as they are | n | changed at once | in sentences | in tokens | in single bytes | flagged |\n|---|---|---|---|---|---|---|\n")
	for _, set := range []struct {
		name  string
		texts []string
	}{{"speeches, panel debates and MAD", named}, {"replies of judges", others}} {
		fmt.Fprintf(&b, "| %s | %d |", set.name, len(set.texts))
		for _, way := range streams {
			changed := 0
			for _, text := range set.texts {
				res, err := received(way.cut(text))
				if err != nil || res.Text != text || len(res.Warnings) > 0 {
					changed++
					t.Logf("%s: %v %v %q", way.name, err, res.Warnings, text[:min(80, len(text))])
				}
			}
			require.LessOrEqual(t, changed*1000, len(set.texts))
			fmt.Fprintf(&b, " %d |", changed)
		}
		flagged := 0
		for _, text := range set.texts {
			if leftover.IsSuspect(text) {
				flagged++
			}
		}
		require.LessOrEqual(t, flagged*200, len(set.texts))
		fmt.Fprintf(&b, " %d |\n", flagged)
	}
	b.WriteString("\n| the same texts, as servers spoil them | n | as the text was |\n|---|---|---|\n")
	for _, s := range spoilings {
		right := 0
		for _, text := range named {
			if res, err := received(s.spoil(text)); err == nil && strings.TrimSpace(res.Text) == strings.TrimSpace(text) {
				right++
			} else {
				t.Logf("%s: %v %q", s.name, err, text[:min(80, len(text))])
			}
		}
		fmt.Fprintf(&b, "| %s | %d | %d |\n", s.name, len(named), right)
	}
	golden.Section(t, "../../../docs/measured/streams.md", "recorded", b.String())
}

// TestRecordedLoops has models begin to loop after recorded texts, and compares the figures with those in docs/measured/streams.md.
func TestRecordedLoops(t *testing.T) {
	var b strings.Builder
	b.WriteString("| after each text, without end | n | ended | tokens of 4,000 that were read, at most |\n|---|---|---|---|\n")
	texts := recordedTexts(t, "speeches.jsonl", "panel-debates.jsonl", "mad-replies.jsonl")
	for _, piece := range []string{" the cache", "\n", "\n- The cost\n- The time", " I must say that it costs more than it gives."} {
		ended, most := 0, 0
		loop := tokens.FindAllString(strings.Repeat(piece, 4_000), 4_000)
		for _, text := range texts {
			r := wire.NewReply(providers.Request{})
			require.NoError(t, r.Add(wire.Text(text)))
			for i, token := range loop {
				if err := r.Add(wire.Text(token)); err != nil {
					require.Equal(t, providers.Loop, providers.AsError(err).Kind)
					require.True(t, strings.HasPrefix(text, strings.TrimSpace(r.Partial().Text[:len(text)-len(piece)])))
					ended++
					most = max(most, i+1)
					break
				}
			}
		}
		fmt.Fprintf(&b, "| %q | %d | %d | %d |\n", piece, len(texts), ended, most)
	}
	golden.Section(t, "../../../docs/measured/streams.md", "loops", b.String())
}
