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

// ruling is the reply that the recorded judges were asked for.
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

// recording is a recorded reply, and what it is known to say.
type recording struct {
	Reply string
	Known ruling
}

// tally counts what became of replies.
type tally struct{ all, strict, extracted, repaired, asked, wrong int }

func (n *tally) usable() int { return n.strict + n.extracted + n.repaired }

// count reads a reply that is known to say want.
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

// TestRecordedReplies reads replies of real judges, of which some stand in prose, as they are and damaged. It compares
// what is read with what they are known to say, and the figures with those in docs/judging.md.
func TestRecordedReplies(t *testing.T) {
	replies := recorded.Lines[recording](t, "judge-replies.jsonl")
	var sound tally
	for _, r := range replies {
		sound.count(t, r.Reply, r.Known)
	}
	require.Equal(t, len(replies), sound.usable(), "all are usable without asking again")

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

A reply is read as a whole, or else the last object in it that follows the schema is. Reasoning, fences, a list of one and
double encoding are taken off before. Where the last object is not JSON, a library repairs it, and what it made is held
against what stood there: it may have moved commas and quotes and left out comments, nothing else. So a cut reply is never
completed, and where a repair is in doubt the reply is asked for again, with what is wrong with it.

Of %d recorded replies of three judge models, each asked for JSON only:

| read | replies | share |
|---|---|---|
| as they stand | %d | %s |
| after the object was taken out of prose or a fence | %d | %s |
| after repair | %d | 0 %% |
| asked for again | %d | 0 %% |
| **usable without asking again** | | **%s** |
| read as something that they do not say | %d | 0 %% |

Of the %d that a strict parser refuses because of what stands around the object, %s are recovered. None of these replies
has faulty syntax, so repair is measured on damage that was done to them: what each is known to say was written down anew
in the way that the line names, and read. *Asked again* costs one more call; *wrong* would be a value that the reply does
not say.

| damage | as it stands | taken out | repaired | asked again | wrong |
|---|---|---|---|---|---|
`

const timesText = `
A clean assessment of 1.9 kB takes 0.14 to 0.19 ms to read on one of two virtual cores (AMD EPYC), one in a fence the same,
and one that is repaired 0.35 to 0.7 ms:

    go test -run '^$' -bench Parse ./judge

Reading is linear in the length of the text, whatever the text is, and takes a few milliseconds for 64 KiB of the worst.
Repair is not, so what is repaired is bounded in length, depth and quotes; the worst objects that were found take a quarter
of a second, once a reply:

    go test -run '^$' -bench 'Hostile|Repair' ./judge/reply
`

// contrary gives the win to the other side.
var contrary = strings.NewReplacer(`"PRO",`, `"CON",`, `"CON",`, `"PRO",`)

// damages are ways to write a ruling down that a strict parser refuses. The number of the recording varies them.
var damages = []struct {
	name string
	make func(known ruling, i int) (string, ruling)
}{
	{"a comma too many", written(func(s string, _ int) string { return strings.Replace(s, "}", ",}", 1) })},
	{"a comma too few", written(func(s string, _ int) string { return strings.Replace(s, `},"confidence"`, `} "confidence"`, 1) })},
	{"a list of one", written(func(s string, _ int) string { return "[" + s + "]" })},
	{"encoded twice", written(func(s string, _ int) string { return strconv.Quote(s) })},
	{"keys without quotes", written(func(s string, _ int) string {
		for _, key := range []string{"winner", "scores", "confidence", "short_reason", "PRO", "CON"} {
			s = strings.ReplaceAll(s, `"`+key+`":`, key+":")
		}
		return s
	})},
	{"single quotes, as Python writes them", written(func(s string, _ int) string {
		parts := strings.Split(s, `"short_reason":`)
		if !strings.ContainsAny(parts[1], `'\`) {
			parts[1] = strings.ReplaceAll(parts[1], `"`, "'")
		}
		return strings.ReplaceAll(parts[0], `"`, "'") + "'short_reason':" + parts[1]
	})},
	{"comments", written(func(s string, _ int) string {
		return strings.Replace(s, `,"scores"`, ", // of 5 {each}\n\"scores\"", 1)
	})},
	{"a line break inside a text", said(func(s string) (string, string) { return s + "\nSo be it.", s + "\nSo be it." })},
	{"a quoted word inside a text", said(func(s string) (string, string) { return `A "clear" case. ` + s, `A "clear" case. ` + s })},
	{"a quotation with a comma inside a text", said(func(s string) (string, string) {
		return `It "was, indeed," clear. ` + s, `It "was, indeed," clear. ` + s
	})},
	{"one quote inside a text", said(func(s string) (string, string) { return `Of 5" each. ` + s, `Of 5" each. ` + s })},
	{"reasoning with another ruling", written(func(s string, _ int) string {
		return "<think>At first " + contrary.Replace(s) + "</think>\n" + s
	})},
	{"a draft before it", written(func(s string, _ int) string {
		return contrary.Replace(s) + "\nNo:\n" + strings.Replace(s, "}", ",}", 1)
	})},
	{"cut somewhere", written(func(s string, i int) string { return s[:1+(i*7919)%(len(s)-1)] })},
	{"cut somewhere, after a draft", written(func(s string, i int) string {
		return contrary.Replace(s) + "\nNo: " + s[:12+(i*7919)%(len(s)-12)]
	})},
	{"cut somewhere, with a comma too many", written(func(s string, i int) string {
		s = strings.Replace(s, "}", ",}", 1)
		return s[:1+(i*7919)%(len(s)-1)]
	})},
}

// written damages the JSON of a ruling.
func written(damage func(text string, i int) string) func(ruling, int) (string, ruling) {
	return func(known ruling, i int) (string, ruling) {
		data, _ := json.Marshal(known)
		return damage(string(data), i), known
	}
}

// said puts a reason into the JSON of a ruling without escaping it. The second text is what the reason says.
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

// share is a part in per cent, to a tenth.
func share(n, of int) string {
	return strconv.FormatFloat(math.Round(1000*float64(n)/float64(of))/10, 'f', -1, 64) + " %"
}
