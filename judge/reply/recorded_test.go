package reply_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/golden"
	"github.com/elenchus-go/debate/internal/test/recorded"
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

// opinion is a recorded reply of a moderator or a judge of a published run of MAD, with its known content. The prompts of MAD
// show a reply in Python's notation.
type opinion struct {
	Who   string
	Reply string
	Known opinionReply
}

type opinionReply struct {
	Preference  string `json:"Whether there is a preference,omitempty"`
	Side        string `json:"Supported Side,omitempty"`
	Reason      string `json:"Reason"`
	Translation string `json:"Correct Translation"`
}

var opinions = reply.New[opinionReply]("opinion/1")

// tally counts the results of reading replies with a simple reader and with this one.
type tally struct {
	all, simple, simpleWrong                    int
	strict, extracted, repaired, asked, correct int
}

// count reads a reply with the known content want, and counts the results. If want is nil, the reply means nothing for
// certain, and every reading is wrong.
func count[T comparable](t *testing.T, n *tally, c *reply.Contract, text string, want *T) {
	t.Helper()
	n.all++
	var got T
	if start, end := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}'); start >= 0 && end > start &&
		json.Unmarshal([]byte(text[start:end+1]), &got) == nil {
		if want != nil && got == *want {
			n.simple++
		} else {
			n.simpleWrong++
		}
	}
	r, err := c.Parse(text, nil)
	if err != nil {
		n.asked++
		return
	}
	var read T
	require.NoError(t, json.Unmarshal(r.Data, &read))
	if want != nil && read == *want {
		n.correct++
	} else {
		t.Errorf("read %+v from %q", read, text)
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

// row formats the counts as a row of a table.
func (n *tally) row(name string) string {
	return fmt.Sprintf("| %s | %d | %d | %d | %d | %d | %d | %d | %d |\n", name, n.all, n.simple, n.simpleWrong,
		n.strict, n.extracted, n.repaired, n.asked, n.all-n.asked-n.correct)
}

// TestRecordedReplies parses recorded replies of judges, unchanged and damaged. It compares the results with the known
// content, and the figures with those in docs/measured/replies.md.
func TestRecordedReplies(t *testing.T) {
	var b strings.Builder
	var judges, moderators, debaters tally
	replies := recorded.Lines[recording](t, "judge-replies.jsonl")
	for _, r := range replies {
		count(t, &judges, rulings, r.Reply, &r.Known)
	}
	for _, r := range recorded.Lines[opinion](t, "mad-replies.jsonl") {
		n := &moderators
		if r.Who == "Judge" {
			n = &debaters
		}
		count(t, n, opinions, r.Reply, &r.Known)
	}
	for _, n := range []tally{judges, moderators, debaters} {
		require.LessOrEqual(t, 100*n.asked, n.all, "at least 99 % are usable without asking again")
	}
	b.WriteString(introText)
	b.WriteString(judges.row("three judge models (DebateBench)"))
	b.WriteString(moderators.row("moderators (MAD)"))
	b.WriteString(debaters.row("judges (MAD)"))
	total := judges.all + moderators.all + debaters.all
	fmt.Fprintf(&b, damageText, moderators.repaired, total, boundOfNone(total))
	for _, d := range damages {
		var n tally
		for i, r := range replies {
			text, known := d.make(r.Known, i)
			count(t, &n, rulings, text, known)
		}
		b.WriteString(n.row(d.name))
	}
	b.WriteString(timesText)
	golden.Section(t, "../../docs/measured/replies.md", "replies", b.String())
}

// boundOfNone returns the upper end of the 95 % confidence interval (Wilson) of a share of which n observations show none,
// in percent.
func boundOfNone(n int) string {
	return strconv.FormatFloat(100*1.96*1.96/(float64(n)+1.96*1.96), 'f', 1, 64)
}

const introText = `## Structured replies

The parser reads the whole text. If the whole text is not a valid reply, it reads the object in the text that matches the
schema. It ignores reasoning, code fences, a list around a single object, and double encoding. It reads a reply inside other
objects, such as the arguments of a call, if exactly one object inside follows the schema. A number may be a text with the
scale of its field: ` + "`\"8/10\"`" + ` is 8 where the maximum is 10, and ` + "`\"8/5\"`" + ` is invalid.

If the only object is in Python's notation, with single quotes, ` + "`True`, `False` and `None`" + `, or has a comma before a
closing bracket, the parser writes it as JSON. It repairs nothing else and never completes a truncated reply.

If a reply has another fault or may mean two things, the parser does not choose. The engine asks the model again and includes
the violations if

- the object is not valid JSON,
- the text holds another object with another value for a property of the reply, such as a draft or a counter-example,
- the only object that follows the schema is below a key that names an example or a format,
- a property appears twice in an object with different values,
- or the text is not valid UTF-8.

The table compares this parser with a simple reader that decodes the text from the first brace to the last one. It checks
no schema. The first row has the replies of three judge models that were asked for JSON only. The other rows have replies
of gpt-3.5-turbo in published debates (MAD), whose prompt shows a reply in Python's notation. *Asked again* costs one more
call. *Wrong* counts values that differ from the reply.

| replies | n | simple reader: right | wrong | this parser: as is | extracted | repaired | asked again | wrong |
|---|---|---|---|---|---|---|---|---|
`

const damageText = `
On the first row and the last row, the simple reader does as well as this parser. The difference is in the moderators'
replies: %d of them are Python dictionaries, which are not JSON. That none of the %d replies was read wrongly means that the
share of wrong values in such replies is below %s %%, with 95 %% confidence. Replies of other models may differ.

To measure the rest, the test writes the content of each of the 567 rulings again, with the damage that the table names. In
the last rows, no reading is right.

| damage | n | simple reader: right | wrong | this parser: as is | extracted | repaired | asked again | wrong |
|---|---|---|---|---|---|---|---|---|
`

const timesText = `
Another test damages recorded replies, and replies whose texts look like JSON, at random places of their structure: it
removes, doubles, replaces or exchanges brackets, colons, commas and quotes. None of the results has a wrong value.

On one of two virtual cores (Intel Xeon, while other programs ran), parsing a clean assessment of 1.9 kB takes 0.24 to 0.36
ms, and one that needs repair 0.17 to 0.43 ms. A code fence around it adds nothing:

    go test -run '^$' -bench Parse ./judge

The time to parse and to repair is linear in the length of any text, and at most 8 ms for the worst known text of 64 KiB:

    go test -run '^$' -bench 'Hostile|Repair' ./judge/reply
`

// contrary makes the other side win.
var contrary = strings.NewReplacer(`"PRO",`, `"CON",`, `"CON",`, `"PRO",`)

// damages are ways to write a ruling that a strict parser rejects. They vary with the number i of the recording.
var damages = []struct {
	name string
	make func(known ruling, i int) (string, *ruling)
}{
	{"an extra comma", written(func(s string, _ int) string { return strings.Replace(s, "}", ",}", 1) })},
	{"a missing comma", written(func(s string, _ int) string { return strings.Replace(s, `},"confidence"`, `} "confidence"`, 1) })},
	{"a missing colon", written(func(s string, i int) string { return replaceNth(s, `":`, `"`, i) })},
	{"a missing quote before a key", written(func(s string, i int) string { return replaceNth(s, `,"`, `,`, i) })},
	{"a missing quote after a key", written(func(s string, i int) string { return replaceNth(s, `":`, `:`, i) })},
	{"a missing quote before a text", written(func(s string, i int) string { return replaceNth(s, `:"`, `:`, i) })},
	{"a missing quote after a text", written(func(s string, _ int) string { return strings.Replace(s, `",`, `,`, 1) })},
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
	{"a property twice, with different values", doubtful(func(s string) string {
		return strings.Replace(s, `"winner":`, `"winner":`+contrary.Replace(s[len(`{"winner":`):len(`{"winner":"PRO",`)])+`"winner":`, 1)
	})},
	{"a counter-example after the reply", doubtful(func(s string) string {
		return s + "\nIt would be wrong to write " + contrary.Replace(s) + "."
	})},
	{"a counter-example in single quotes", doubtful(func(s string) string {
		return s + "\nIt would be wrong to write {'winner': 'PRO'} or {'winner': 'CON'}."
	})},
}

// replaceNth replaces one occurrence of old, which depends on i.
func replaceNth(s, old, with string, i int) string {
	parts := strings.SplitAfter(s, old)
	part := &parts[i%(len(parts)-1)]
	*part = strings.TrimSuffix(*part, old) + with
	return strings.Join(parts, "")
}

// doubtful returns a function that writes the JSON of a ruling such that it may mean two things.
func doubtful(damage func(text string) string) func(ruling, int) (string, *ruling) {
	return func(known ruling, _ int) (string, *ruling) {
		data, _ := json.Marshal(known)
		return damage(string(data)), nil
	}
}

// written returns a function that damages the JSON of a ruling.
func written(damage func(text string, i int) string) func(ruling, int) (string, *ruling) {
	return func(known ruling, i int) (string, *ruling) {
		data, _ := json.Marshal(known)
		return damage(string(data), i), &known
	}
}

// said returns a function that inserts a reason into the JSON of a ruling without escaping it. The function reason
// returns the raw text and its meaning.
func said(reason func(string) (raw, says string)) func(ruling, int) (string, *ruling) {
	return func(known ruling, _ int) (string, *ruling) {
		words := strings.NewReplacer(`"`, "", `\`, "").Replace(known.ShortReason)
		raw, says := reason(words)
		known.ShortReason = "@"
		data, _ := json.Marshal(known)
		known.ShortReason = says
		return strings.Replace(string(data), "@", raw, 1), &known
	}
}
