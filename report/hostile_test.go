package report_test

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/protocol/council"
	"github.com/elenchus-go/debate/protocol/mad"
	"github.com/elenchus-go/debate/protocol/oversight"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/protocol/skeptic"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/report"
	"github.com/elenchus-go/debate/transcript"
)

// deepest limits the depth of nested values in a report.
const deepest = 10

// fill sets all strings in a value to a text, and gives slices two items and maps one.
func fill(v reflect.Value, text string, depth int) {
	if !v.CanSet() || depth > deepest {
		return
	}
	switch {
	case v.Type() == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)))
	case v.Type() == reflect.TypeFor[json.RawMessage]():
		raw, _ := json.Marshal(text)
		v.SetBytes(raw)
	case v.Kind() == reflect.String:
		v.SetString(text)
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	case v.CanInt():
		v.SetInt(1)
	case v.CanFloat():
		v.SetFloat(1.5)
	case v.Kind() == reflect.Struct:
		for _, field := range v.Fields() {
			fill(field, text, depth+1)
		}
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), text, depth+1)
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), text, depth+1)
		fill(v.Index(1), text, depth+1)
	case v.Kind() == reflect.Map:
		item := reflect.New(v.Type().Elem()).Elem()
		fill(item, text, depth+1)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf(text).Convert(v.Type().Key()), item)
	}
}

// full returns the JSON of a value that fill has filled with a text.
func full[T any](t testing.TB, text string) json.RawMessage {
	t.Helper()
	var v T
	fill(reflect.ValueOf(&v).Elem(), text, deepest-7) // an opinion consists of opinions
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	return raw
}

// everywhere returns reports that have a text in all fields: one for each kind of answer of a preset, and one for an unknown
// protocol.
func everywhere(t testing.TB, text string) (list []*report.Report) {
	t.Helper()
	for _, answer := range []struct {
		protocol string
		data     json.RawMessage
	}{
		{panel.Protocol{}.Name(), full[judge.Opinion[judge.Verdict]](t, text)},
		{panel.Protocol{}.Name(), full[struct{ Audience panel.Audience }](t, text)},
		{arbitration.Protocol{}.Name(), full[arbitration.Result](t, text)},
		{council.Protocol{}.Name(), full[council.Result](t, text)},
		{mad.Protocol{}.Name(), full[mad.Result](t, text)},
		{oversight.Protocol{}.Name(), full[oversight.Result](t, text)},
		{procon.Protocol{}.Name(), full[procon.Judgment](t, text)},
		{refine.Protocol{}.Name(), full[refine.Result](t, text)},
		{skeptic.Protocol{}.Name(), full[skeptic.Trace](t, text)},
		{vote.Protocol{}.Name(), full[vote.Tally](t, text)},
		{text, full[judge.Verdict](t, text)},
	} {
		r := &report.Report{}
		fill(reflect.ValueOf(r).Elem(), text, 0)
		r.Redacted = false
		r.Config = full[debate.Config](t, text)
		r.Result.Protocol, r.Result.Answer.Data = answer.protocol, answer.data
		for i := range r.Result.Assessments {
			a := &r.Result.Assessments[i]
			said := judge.Assessment{Reasoning: text, Participants: []judge.ParticipantAssessment{{Name: text, Score: 4}}, ShouldContinue: i == 0}
			a.Contract, a.Round = judge.AssessmentContract.Name(), 1
			a.Data, _ = json.Marshal(said)
		}
		r.Result.Turns[0].Contract, r.Result.Turns[0].Data = vote.BallotContract.Name(), full[vote.Ballot](t, text)
		r.Result.Turns[1].Kind, r.Result.Turns[1].Flags = transcript.Remark, nil
		list = append(list, r)
	}
	return list
}

// The elements and attributes that pages may have.
var (
	elements = strings.Fields("html head meta title style body header h1 nav ul li a main section h2 p blockquote div table caption " +
		"thead tr th tbody td details summary h3 article h4 h5 h6 figure figcaption svg desc polyline rect circle text bdi span ol pre code em strong del br hr")
	attributes = strings.Fields("lang charset http-equiv content name href rel target id class aria-hidden aria-label aria-labelledby role tabindex scope dir start " +
		"viewBox fill stroke points x y width height cx cy r")
	anchor = regexp.MustCompile(`^(#[a-z0-9-]+|https?://[A-Za-z0-9.-]+(:[0-9]+)?([/?#].*)?)$`)
)

// texts parses a page as strict XML and returns its texts. It fails if the page has other elements or attributes.
func texts(t testing.TB, page string) (list []string) {
	t.Helper()
	rest, ok := strings.CutPrefix(page, "<!DOCTYPE html>\n")
	require.True(t, ok)
	d := xml.NewDecoder(strings.NewReader(rest))
	styles := 0
	open := []string{}
	ids := map[string]bool{}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			require.Equal(t, 1, styles)
			require.Empty(t, open)
			return list
		}
		require.NoError(t, err)
		switch token := token.(type) {
		case xml.StartElement:
			if !slices.Contains(elements, token.Name.Local) {
				require.Fail(t, "no page has such an element", token.Name.Local)
			}
			open = append(open, token.Name.Local)
			if token.Name.Local == "style" {
				styles++
			}
			for _, a := range token.Attr {
				name, twice := a.Name.Local, a.Name.Local == "id" && ids[a.Value]
				if !slices.Contains(attributes, name) || name == "href" && !anchor.MatchString(a.Value) || twice {
					require.Fail(t, "no page has such an attribute", "%s=%q", name, a.Value)
				}
				ids[a.Value] = ids[a.Value] || name == "id"
				list = append(list, a.Value)
			}
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			list = append(list, string(token))
		default:
			require.Fail(t, "a page has no comments, instructions or directives", "%T", token)
		}
	}
}

// hostile lists texts that try to be markup.
var hostile = []string{
	"<script>alert(1)</script>", "<img src=x onerror=alert(1)>", `" onmouseover="alert(1)`, "' style='x", "]]><script>", "<!-- -->", "</style><script>",
	"</title><svg onload=alert(1)>", "javascript:alert(1)", "https://evil.example/x.png", "![x](https://evil.example/x.png)", "[x](javascript:alert(1))",
	"```\n# heading\n```", "````\n</details>\n````", "# heading\n\n---\n\n1. one\n- two\n+ three\n* four", "a | b\n---|---\nc | d", "a\n:-:", "a\n===", "a\n---",
	"    code\n\tcode", "> quote\n\nafter", "<https://evil.example>", "www.evil.example and me@evil.example", "&lt;script&gt; &#60; &copy;", "\\", "a\\\nb", "[1]: https://evil.example",
	"\x1b[31mred\x1b]0;title\a", "\u202egnp.exe\u2066x\u2069", "a\x00b\x08c\r\nd\re", "\u2028x\u2029y", "\xff\xfe", "\ufffe\uffff", "{{.}} {{template \"x\"}} @policy@ @style@",
	"$x^2$ ~~gone~~ **bold** __bold__ :smile: <details>", "", " ", "\n", strings.Repeat("long ", 50),
}

func TestNothingInATextIsMarkup(t *testing.T) {
	sample := enginetest.NewSample(t, 12)
	for _, text := range hostile {
		for _, r := range everywhere(t, text) {
			if sample.Tries(text) {
				harmless(t, text, r)
			}
		}
	}
}

// FuzzText looks for a text that becomes markup, in a small report.
func FuzzText(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := &report.Report{Result: debate.Result{Topic: text, Warnings: []string{text}, Annotations: map[string]json.RawMessage{text: nil}}}
		r.Result.Turns = []transcript.Turn{{Key: transcript.Key{Actor: text, Phase: "p"}, Text: text}}
		harmless(t, text, r)
	})
}

// harmless renders reports that have a text in many places.
func harmless(t *testing.T, text string, reports ...*report.Report) {
	t.Helper()
	for _, r := range reports {
		found, written := texts(t, html(t, r)), markdown(t, r)
		structured(t, written)
		for _, x := range append(found, written) {
			if unsafe.MatchString(x) {
				require.NotRegexp(t, unsafe, x)
			}
		}
		if plain := strings.Join(strings.Fields(strings.Map(visible, text)), " "); plain != "" && !strings.ContainsAny(text, "\u2028\u2029\r\uFFFD") && strings.ToValidUTF8(text, "") == text {
			require.Contains(t, strings.Join(strings.Fields(strings.Join(found, " ")), " "), plain)
		}
	}
}

func visible(r rune) rune {
	if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.In(r, unicode.Bidi_Control, unicode.Noncharacter_Code_Point) {
		return -1
	}
	return r
}

var (
	// unsafe matches characters that terminals act on, and characters that change the direction of text.
	unsafe = regexp.MustCompile(`[\x00-\x08\x0b-\x1f\x7f-\x9f\x{061c}\x{200e}\x{200f}\x{202a}-\x{202e}\x{2066}-\x{2069}]`)
	// tag matches the report's own markup.
	tag = regexp.MustCompile(`^(<details>|<summary>[A-Z][a-z, ]+</summary>|</details>|    .*)$`)
	// escaped matches escapes and entities.
	escaped = regexp.MustCompile("\\\\[\\\\`*_\\[\\]#|~$.):=+-]|&(amp|lt|gt|nbsp|#64|#58|#46);")
	// markup matches characters that are markup anywhere in a line.
	markup = regexp.MustCompile("[`*_\\[\\]#|~$<>&@\\\\]|://|www\\.")
	// begins matches what a line must not begin with.
	begins = regexp.MustCompile(`^([-+=:]|\d+[.)](\s|$)| {4}|\t)`)
)

// structured checks that each line of Markdown is part of the report's own structure or contains no markup.
func structured(t testing.TB, text string) {
	t.Helper()
	for i, l := range strings.Split(text, "\n") {
		starts := false
		switch {
		case tag.MatchString(l) || l == "" || l == ">":
			continue
		case strings.HasPrefix(l, "> "):
			l = l[2:]
			if n := len(l) - len(strings.TrimRight(l, "\\")); n%2 == 1 { // the line break is escaped
				l = l[:len(l)-1]
			}
			starts = true
		case strings.HasPrefix(l, "| ") && strings.HasSuffix(l, " |"):
			l = strings.ReplaceAll(escaped.ReplaceAllString(l[2:len(l)-2], "x"), " | ", "x")
		case strings.HasPrefix(l, "|---"):
			l = strings.NewReplacer("|---", "").Replace(strings.TrimSuffix(l, "|"))
		case strings.HasPrefix(l, "- "), strings.HasPrefix(l, "# "), strings.HasPrefix(l, "## "), strings.HasPrefix(l, "### "), strings.HasPrefix(l, "#### "):
			_, l, _ = strings.Cut(l, " ")
			starts = true
		case strings.HasPrefix(l, "**") && strings.HasSuffix(l, "**"):
			l = l[2 : len(l)-2]
		default:
			starts = true
		}
		if rest := escaped.ReplaceAllString(l, "x"); markup.MatchString(rest) || starts && begins.MatchString(l) {
			require.Fail(t, "a text is markup", "line %d: %s", i, l)
		}
	}
}

func FuzzReport(f *testing.F) {
	for _, r := range everywhere(f, "x") {
		f.Add([]byte(debatetest.Encode(f, r)))
	}
	f.Add([]byte(`{}`))
	f.Add([]byte(`{"result": {"turns": [{"round": -9223372036854775808}, {"began": "9999-12-31T23:59:59Z", "ended": "0001-01-01T00:00:00Z"}]}, "path": [{}]}`))
	f.Add([]byte(`{"result": {"protocol": "vote/1", "turns": [{"round": 9223372036854775807, "output": "vote/1", "data": {"answer": "a", "confidence": 1e308}}]}}`))
	f.Add([]byte(`{"result": {"assessments": [{"round": 1, "output": "assessment/1", "data": {"participants": [{"name": "A"}, {"name": "A", "criteria": [{"criterion": "x"}]}]}}]}}`))
	f.Add([]byte(`{"dropped": [{}], "result": {"rounds": [{"turns": 1}], "total": {"turns": 1}}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		r := &report.Report{}
		if json.Unmarshal(raw, r) != nil || len(raw) > 1<<18 {
			return
		}
		for _, r := range []*report.Report{r, r.Redact()} {
			texts(t, html(t, r))
			structured(t, markdown(t, r))
		}
	})
}
