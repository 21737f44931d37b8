package reply_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/golden"
	"github.com/elenchus-go/debate/internal/recorded"
	"github.com/elenchus-go/debate/judge/reply"
)

// ruling is the reply that the recorded judges were asked to give.
type ruling struct {
	Winner string `json:"winner" jsonschema:"enum=PRO,enum=CON"`
	Scores struct {
		ArgumentQuality pair `json:"argument_quality"`
		Evidence        pair `json:"evidence"`
		Clash           pair `json:"clash"`
		Weighing        pair `json:"weighing"`
	} `json:"scores"`
	Confidence  float64 `json:"confidence" jsonschema:"minimum=0,maximum=1"`
	ShortReason string  `json:"short_reason" jsonschema:"minLength=1,maxLength=1000"`
}

type pair struct {
	Pro int `json:"PRO" jsonschema:"minimum=1,maximum=5"`
	Con int `json:"CON" jsonschema:"minimum=1,maximum=5"`
}

var rulings = reply.New[ruling]("ruling/1")

// recording is a recorded reply with its known content.
type recording struct {
	Reply string
	Known ruling
}

// tally counts the results of parsing replies.
type tally struct{ all, strict, extracted, repaired, asked, wrong int }

func (n *tally) usable() int { return n.strict + n.extracted + n.repaired }

// count parses a reply with the known content want, and counts the result.
func (n *tally) count(t *testing.T, text string, want ruling) {
	n.all++
	r, err := rulings.Parse(text, nil)
	if err != nil {
		n.asked++
		return
	}
	var got ruling
	require.NoError(t, json.Unmarshal(r.Data, &got))
	if got != want {
		n.wrong++
		t.Errorf("read %+v from %q", got, text)
	}
	switch {
	case r.Repaired:
		n.repaired++
	case text[0] == '{' && json.Valid([]byte(text)):
		n.strict++
	default:
		n.extracted++
	}
}

// TestRecordedReplies parses recorded replies of judges, unchanged and damaged. It compares the results with the known
// content, and the figures with those in docs/judging.md.
func TestRecordedReplies(t *testing.T) {
	replies := recorded.Lines[recording](t, "judge-replies.jsonl")
	var sound tally
	for _, r := range replies {
		sound.count(t, r.Reply, r.Known)
	}
	require.Equal(t, len(replies), sound.usable(), "every reply is usable without asking again")

	var b strings.Builder
	fmt.Fprintf(&b, soundText, sound.all, sound.strict, share(sound.strict, sound.all), sound.extracted, share(sound.extracted, sound.all),
		sound.repaired, sound.asked, share(sound.usable(), sound.all), sound.wrong, sound.all-sound.strict, share(sound.extracted, sound.all-sound.strict))
	for _, d := range damages {
		var n tally
		for i, r := range replies {
			text, known := d.make(r.Known, i)
			n.count(t, text, known)
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d |\n", d.name, n.strict, n.extracted, n.repaired, n.asked, n.wrong)
	}
	b.WriteString(timesText)
	golden.Section(t, "../../docs/judging.md", "replies", b.String())
}

const soundText = `## Structured replies

The parser reads the whole text. If the whole text is not a valid reply, it reads the last object in the text that matches
the schema. It ignores reasoning, code fences, a list around a single object, and double encoding. If the last object is not
valid JSON, a library repairs it, and the parser compares the result with the original: a repair may only move commas and
quotes and remove comments. So the parser never completes a truncated reply. If a repair is in doubt, the engine asks the
model again and includes the violations.

The parser read %d recorded replies of three judge models. Each model was asked for JSON only.

| result | replies | share |
|---|---|---|
| parsed as is | %d | %s |
| extracted from prose or a code fence | %d | %s |
| repaired | %d | 0 %% |
| asked again | %d | 0 %% |
| **usable without asking again** | | **%s** |
| wrong value | %d | 0 %% |

A strict parser rejects %d of these replies because of the text around the object. This parser recovers %s of them. No
reply has faulty syntax. To measure repair, the test writes the content of each reply again, with the damage that the table
names, and parses it. *Asked again* costs one more call. *Wrong* would be a value that differs from the reply.

| damage | parsed as is | extracted | repaired | asked again | wrong |
|---|---|---|---|---|---|
`

const timesText = `
On one of two virtual cores (AMD EPYC), parsing a clean assessment of 1.9 kB takes 0.14 to 0.19 ms. A code fence around it
adds nothing. An assessment that needs repair takes 0.35 to 0.7 ms:

    go test -run '^$' -bench Parse ./judge

The time to parse is linear in the length of any text, and is a few milliseconds for the worst 64 KiB. The time to repair is
not linear, so the length, depth and number of quotes of a repaired object are limited. A reply is repaired at most once,
and the worst known objects take a quarter of a second:

    go test -run '^$' -bench 'Hostile|Repair' ./judge/reply
`

// contrary makes the other side win.
var contrary = strings.NewReplacer(`"PRO",`, `"CON",`, `"CON",`, `"PRO",`)

// damages are ways to write a ruling that a strict parser rejects. They vary with the number i of the recording.
var damages = []struct {
	name string
	make func(known ruling, i int) (string, ruling)
}{
	{"an extra comma", written(func(s string, _ int) string { return strings.Replace(s, "}", ",}", 1) })},
	{"a missing comma", written(func(s string, _ int) string { return strings.Replace(s, `},"confidence"`, `} "confidence"`, 1) })},
	{"inside a list", written(func(s string, _ int) string { return "[" + s + "]" })},
	{"encoded twice", written(func(s string, _ int) string { return strconv.Quote(s) })},
	{"keys without quotes", written(func(s string, _ int) string {
		for _, key := range []string{"winner", "scores", "confidence", "short_reason", "PRO", "CON"} {
			s = strings.ReplaceAll(s, `"`+key+`":`, key+":")
		}
		return s
	})},
	{"single quotes, as in Python", written(func(s string, _ int) string {
		parts := strings.Split(s, `"short_reason":`)
		if !strings.ContainsAny(parts[1], `'\`) {
			parts[1] = strings.ReplaceAll(parts[1], `"`, "'")
		}
		return strings.ReplaceAll(parts[0], `"`, "'") + "'short_reason':" + parts[1]
	})},
	{"comments", written(func(s string, _ int) string {
		return strings.Replace(s, `,"scores"`, ", // of 5 {each}\n\"scores\"", 1)
	})},
	{"a line break in a string", said(func(s string) (string, string) { return s + "\nSo be it.", s + "\nSo be it." })},
	{"a quoted word in a string", said(func(s string) (string, string) { return `A "clear" case. ` + s, `A "clear" case. ` + s })},
	{"a quotation with a comma in a string", said(func(s string) (string, string) {
		return `It "was, indeed," clear. ` + s, `It "was, indeed," clear. ` + s
	})},
	{"an unpaired quote mark in a string", said(func(s string) (string, string) { return `Of 5" each. ` + s, `Of 5" each. ` + s })},
	{"reasoning with a different ruling", written(func(s string, _ int) string {
		return "<think>At first " + contrary.Replace(s) + "</think>\n" + s
	})},
	{"a draft before the reply", written(func(s string, _ int) string {
		return contrary.Replace(s) + "\nNo:\n" + strings.Replace(s, "}", ",}", 1)
	})},
	{"truncated", written(func(s string, i int) string { return s[:1+(i*7919)%(len(s)-1)] })},
	{"truncated after a draft", written(func(s string, i int) string {
		return contrary.Replace(s) + "\nNo: " + s[:12+(i*7919)%(len(s)-12)]
	})},
	{"truncated, with an extra comma", written(func(s string, i int) string {
		s = strings.Replace(s, "}", ",}", 1)
		return s[:1+(i*7919)%(len(s)-1)]
	})},
}

// written returns a function that damages the JSON of a ruling.
func written(damage func(text string, i int) string) func(ruling, int) (string, ruling) {
	return func(known ruling, i int) (string, ruling) {
		data, _ := json.Marshal(known)
		return damage(string(data), i), known
	}
}

// said returns a function that inserts a reason into the JSON of a ruling without escaping it. The function reason
// returns the raw text and its meaning.
func said(reason func(string) (raw, says string)) func(ruling, int) (string, ruling) {
	return func(known ruling, _ int) (string, ruling) {
		words := strings.NewReplacer(`"`, "", `\`, "").Replace(known.ShortReason)
		raw, says := reason(words)
		known.ShortReason = "@"
		data, _ := json.Marshal(known)
		known.ShortReason = says
		return strings.Replace(string(data), "@", raw, 1), known
	}
}

// share formats n as a percentage of a total, to a tenth.
func share(n, of int) string {
	return strconv.FormatFloat(math.Round(1000*float64(n)/float64(of))/10, 'f', -1, 64) + " %"
}
