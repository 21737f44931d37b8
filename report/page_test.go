package report_test

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/report"
	"github.com/elenchus-go/debate/transcript"
)

// collected returns the report of a scene.
func collected(t *testing.T, name string) (r *report.Report) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { r = scenes[name](t).collect(t) })
	return r
}

// The first sentence says who won or what was decided, by how much, how sure that is, and who dissents.
func TestTheAnswerInOneSentence(t *testing.T) {
	sentences := map[string]string{
		"panel":        "Nobody won, with mean scores of Ada 6.75 and Bo 6.38 of 10; the judges do not agree: Jo chose Ada and Jay chose Bo.",
		"panel-oxford": "The side “for” won the audience: the votes for went from 0 to 2; those against went from 1 to 0; at the end, both members voted for.",
		"skeptic":      "The answer is “A ban in the centre, with deliveries before ten.”; the skeptic considers the answer ready, with a score of 8.5 of 10; it took 2 rounds; 1 issue is open: 1 minor.",
		"refine":       "The solution of Jo is “A toll, then a ban.”, with a confidence of 70 of 100; the agents named 2 weaknesses in 1 round.",
		"arbitration":  "The total score rose from 15 to 15.8 of 30; the advocate won 1 of 2 topics, the challenger 0, and 1 ended in a draw; the mean confidence of the rulings is 70 of 100.",
		"procon":       "Ada won with a score of 8 of 10, against 6 for Bo; the judge is Jo.",
		"vote":         "The answer is “Yes”, with 2 of 3 votes; mean confidence 72.5 of 100; Cy voted “No”.",
		"council":      "The answer is “Tax them.”; it is by Bo, because the chair gave none; the members ranked the answer of Bo first, with a score of 1 of 1 from 2 rankings.",
		"mad":          "The answer is “5 cents”, decided by the judge after 2 rounds; it is the answer of Bo; the moderator preferred no answer in 2 of 2 rounds.",
		"oversight":    "The answer is “Nothing.”, with a probability of 75 %; Ada argued for “Nothing.”; Bo argued for “All of the soup.”.",
		"article":      "Ada won with a mean score of 7 of 10, against 6.5 for Bo; 2 of 3 judges chose Ada; Kim chose Bo.",
		"evidence":     "Ada won with a mean score of 8 of 10, against 5 for Bo; the judge is Jo.",
		"fork":         "Ada won with a mean score of 8 of 10, against 6 for Bo; the judge is Jo.",
		"waiting":      "There is no answer yet: the debate waits in round 1 for a reply of Bo.",
		"gate":         "There is no answer yet: the debate waits in round 1 for a person's decision.",
		"failed":       "The debate stopped with an error in round 1.",
		"canceled":     "The debate was canceled in round 1.",
	}
	require.Len(t, sentences, len(scenes))
	staged(t, func(t *testing.T, name string, s *scene) {
		r := s.collect(t)
		require.Equal(t, sentences[name], r.Summary.Answer)
		require.Equal(t, r.Result.Topic, r.Summary.Topic)
	})
}

// What readers need first stands first in all formats.
func TestTheOrderIsTheSameInAllFormats(t *testing.T) {
	r := collected(t, "council")
	r.Result.Background = "The council votes in May."
	r.Summary = r.Redact().Summary
	ordered := func(text string, parts ...string) {
		t.Helper()
		at := 0
		for _, p := range parts {
			i := strings.Index(text[at:], p)
			require.GreaterOrEqual(t, i, 0, "%q is missing after what stands before it", p)
			at += i + len(p)
		}
	}
	ordered(html(t, r), "<h1", "Before you rely on the answer:", ">Answer</h2>", "The answer is “Tax them.”", "<svg", `aria-label="Contents"`, ">Reasons</h2>", "How they ranked",
		">Background</h2>", ">Transcript</h2>", ">Round 1</h3>", ">Conclusion</h3>", ">Details</h2>", "Participants and models", "Tokens, time and cost", ">States<", ">Failures and warnings<", ">Configuration<")
	ordered(markdown(t, r), "# Should", "Before you rely on the answer:", "## Answer", "The answer is “Tax them.”", "Standings of the answers", "## Reasons", "How they ranked",
		"## Background", "## Transcript", "### Round 1", "### Conclusion", "## Details", "Participants and models", "Tokens, time and cost", ">States<", ">Failures and warnings<", ">Configuration<")
	ordered(debatetest.Encode(t, r), `"topic":`, `"notices":`, `"answer":"The answer is “Tax them.”`, `"reasons":`, `"turns":`, `"transitions":`, `"dropped":`, `"config":`)
}

// The summary of a file follows from its other fields, and is not read.
func TestTheSummaryOfAFileIsNotRead(t *testing.T) {
	r := collected(t, "vote")
	var fields map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(debatetest.Encode(t, r)), &fields))
	delete(fields, "summary")
	without := &report.Report{}
	require.NoError(t, json.Unmarshal([]byte(debatetest.Encode(t, fields)), without))
	require.Equal(t, html(t, r), html(t, without))
	require.Equal(t, markdown(t, r), markdown(t, without))
}

// element is an element of a page with what a reader's program needs.
type element struct {
	name  string
	attrs map[string]string
	path  []string
}

// elementsOf returns the elements of a page in order.
func elementsOf(t *testing.T, page string) (list []element) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(strings.TrimPrefix(page, "<!DOCTYPE html>\n")))
	var path []string
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return list
		}
		require.NoError(t, err)
		switch token := token.(type) {
		case xml.StartElement:
			attrs := map[string]string{}
			for _, a := range token.Attr {
				attrs[a.Name.Local] = a.Value
			}
			list = append(list, element{token.Name.Local, attrs, slices.Clone(path)})
			path = append(path, token.Name.Local)
		case xml.EndElement:
			path = path[:len(path)-1]
		}
	}
}

// A page can be read with a keyboard and a screen reader.
func TestPagesAreStructured(t *testing.T) {
	staged(t, func(t *testing.T, _ string, s *scene) {
		list := elementsOf(t, html(t, s.collect(t)))
		at := slices.IndexFunc(list, func(e element) bool { return e.name == "a" })
		require.Equal(t, "skip", list[at].attrs["class"], "the first link skips to the transcript")
		checkHeadings(t, list)
		ids := map[string]bool{}
		for _, e := range list {
			ids[e.attrs["id"]] = true
		}
		for i, e := range list {
			if to, ok := strings.CutPrefix(e.attrs["href"], "#"); ok {
				require.True(t, ids[to], "a link leads to %q", to)
			}
			for by := range strings.FieldsSeq(e.attrs["aria-labelledby"]) {
				require.True(t, ids[by], "a label is %q", by)
			}
			switch e.name {
			case "th":
				require.Contains(t, []string{"col", "row"}, e.attrs["scope"])
			case "table":
				parent := list[i-1]
				require.Equal(t, []string{"wide", "0"}, []string{parent.attrs["class"], parent.attrs["tabindex"]}, "a table scrolls, and with the keyboard too")
				require.NotEmpty(t, parent.attrs["aria-label"])
			case "svg":
				require.Equal(t, "img", e.attrs["role"])
				require.Equal(t, "figure", e.path[len(e.path)-1])
				rest := list[i+1:]
				if next := slices.IndexFunc(rest, func(e element) bool { return e.name == "svg" }); next >= 0 {
					rest = rest[:next]
				}
				require.Equal(t, []string{"title", "desc"}, []string{rest[0].name, rest[1].name})
				require.True(t, slices.ContainsFunc(rest, func(e element) bool { return e.name == "table" && slices.Contains(e.path, "figure") }), "a drawing has a table")
			case "details":
				require.NotContains(t, e.attrs, "open")
				require.Equal(t, "summary", list[i+1].name)
			}
		}
		for _, name := range []string{"main", "nav", "h1"} {
			require.Equal(t, 1, len(slices.DeleteFunc(slices.Clone(list), func(e element) bool { return e.name != name })), name)
		}
	})
}

// checkHeadings fails if a heading is more than one level below the heading before it.
func checkHeadings(t *testing.T, list []element) {
	t.Helper()
	level := 0
	for i, e := range list {
		if n, err := strconv.Atoi(strings.TrimPrefix(e.name, "h")); err == nil && len(e.name) == 2 {
			require.LessOrEqual(t, n, level+1, "heading %d skips a level", i)
			level = n
		}
	}
}

// Headings in the texts of models are below those of the page around them.
func TestHeadingsOfModelsSkipNoLevel(t *testing.T) {
	const text = "Well.\n\n# A heading\n\nWell."
	r := &report.Report{Result: debate.Result{
		Topic: "Why?", Background: text,
		Turns: []transcript.Turn{{Kind: transcript.Setup, Text: text}, {Key: transcript.Key{Round: 1, Actor: "Ada"}, Kind: transcript.Speech, Text: text}},
	}}
	r.Result.Answer.Data = json.RawMessage(debatetest.Encode(t, judge.Verdict{
		Summary: text, Insights: []string{text}, Participants: []judge.KeyPoints{{Name: "Ada", Points: []string{text}}},
	}))
	page := html(t, concluded(r))
	require.Equal(t, 6, strings.Count(page, ">A heading</h"))
	checkHeadings(t, elementsOf(t, page))
}

// The sentences of the report are in English, also if they begin with a name in another script.
func TestSentencesKeepTheirDirection(t *testing.T) {
	r := &report.Report{Dropped: []debate.Dropped{{Name: "ليلى"}}, Result: debate.Result{Topic: "ليلى?", State: fsm.Completed}}
	r.Result.Answer.Data = json.RawMessage(debatetest.Encode(t, judge.Verdict{Summary: "ليلى.", Winner: "ليلى"}))
	page := html(t, concluded(r))
	for _, part := range []string{`<h1 dir="auto">ليلى?</h1>`, `<li>ليلى dropped out.</li>`, `<p class="lead">ليلى won.</p>`, `<p dir="auto">ليلى.</p>`} {
		require.Contains(t, page, part)
	}
}

// A topic may be a whole document. Then its beginning is the title.
func TestALongTopicHasATitle(t *testing.T) {
	words := strings.Repeat("Say how the service should store sessions. ", 10)
	for topic, title := range map[string]string{
		"Ban cars?": "Ban cars?",
		"\n## Design the **login** ##\n\nWe need **a design**. " + words: "Design the login",
		"Design the login:\nWe need **a design**.":                       "Design the login:",
		words:                                   "Say how the service should store sessions. Say how the service should store sessions. Say how the service should store…",
		"#\n\n---\nWe need **a design**.":       "We need a design.",
		"```\ncode\n```\nWe need **a design**.": "code",
	} {
		r := &report.Report{Result: debate.Result{Topic: topic}}
		whole := title != strings.TrimSpace(topic)
		page, text := html(t, r), markdown(t, r)
		require.Contains(t, page, "<title>"+title+"</title>")
		require.Contains(t, page, `<h1 dir="auto">`+title+`</h1>`)
		require.Equal(t, whole, strings.Contains(page, "<summary>The whole topic</summary>"), topic)
		require.Equal(t, whole, strings.Contains(text, "The whole topic"), topic)
		require.Equal(t, whole && strings.Contains(topic, "**"), strings.Contains(page, "<strong>a design</strong>"), page)
		checkHeadings(t, elementsOf(t, page))
		require.Equal(t, topic, r.Redact().Summary.Topic)
	}
}

// A chart has axes with titles.
func TestChartsHaveAxes(t *testing.T) {
	for name, titles := range map[string][]string{
		"panel": {"Score (0–10)", "Round"}, "panel-oxford": {"Votes"}, "vote": {"Votes", "Confidence (0–100)", "Round"}, "arbitration": {"Score (0–10)"}, "procon": {"Score (0–10)"},
		"skeptic": {"Score (0–10)", "Round"}, "refine": {"Weaknesses"}, "council": {"Score (0–1)"}, "mad": {"Rounds"}, "oversight": {"Probability (0–1)"},
	} {
		page := html(t, collected(t, name))
		require.Contains(t, page, `<polyline class="axis"`, name)
		for _, title := range titles {
			require.Regexp(t, `<text class="(start|end)" x="[0-9.]+" y="[0-9.]+">`+regexp.QuoteMeta(title)+`</text>`, page, name)
		}
	}
}

// The ticks of counts are whole numbers.
func TestCountsHaveWholeTicks(t *testing.T) {
	for votes, want := range map[int]string{1: "0 1", 3: "0 1 2 3", 7: "0 2 4 6 8 10"} {
		r := &report.Report{Result: debate.Result{Protocol: vote.Protocol{}.Name()}}
		r.Result.Answer.Data = json.RawMessage(debatetest.Encode(t, vote.Tally{Answer: "a", Answers: []vote.AnswerVotes{{Answer: "a", AnswerText: "a", Votes: votes}}}))
		var ticks []string
		for _, m := range regexp.MustCompile(`<text class="middle"[^>]*>([^<]*)<`).FindAllStringSubmatch(html(t, concluded(r)), -1) {
			ticks = append(ticks, m[1])
		}
		require.Equal(t, want, strings.Join(ticks, " "))
	}
}

// Each speaker has a color, initials and a place. Judges are next to their round.
func TestSpeakersDiffer(t *testing.T) {
	page := html(t, collected(t, "article"))
	for _, want := range []string{
		`class="turn c0 left" id="turn-1" aria-labelledby="turn-1-by">` + "\n" + `<span class="initials" aria-hidden="true">A</span>`,
		`class="turn c1 right" id="turn-2" aria-labelledby="turn-2-by">` + "\n" + `<span class="initials" aria-hidden="true">B</span>`,
		`class="turn c2 left" id="turn-3" aria-labelledby="turn-3-by">` + "\n" + `<span class="initials" aria-hidden="true">ل</span>`,
		`<bdi>Ada</bdi> <span class="place">for</span>`, `<span class="initials" aria-hidden="true">J</span>`, `<span class="initials" aria-hidden="true">Ja</span>`,
	} {
		require.Contains(t, page, want)
	}
	require.Regexp(t, `(?s)<h3 id="round-1">Round 1</h3>.*id="turn-3".*<div class="assessments">\n<h4>Assessment</h4>.*<h3 id="round-2">`, page)
}

// Markdown of models is rendered, and its headings are below those of the page.
func TestMarkdownIsRendered(t *testing.T) {
	page := html(t, collected(t, "article"))
	for _, want := range []string{
		"<strong>we give a third of it to parked cars</strong>", `<h5 dir="auto">What a ban changes</h5>`, "<li>A parked car takes 12 m²", `<th dir="auto" scope="col">City</th>`,
		`<a href="https://example.org/fire-brigade/2025" rel="nofollow noreferrer noopener" target="_blank">as the fire brigade reports</a> (example.org)`,
		"<code>private &amp;&amp; !disabled &amp;&amp; !delivery</code>", `<p dir="auto">المدن`,
	} {
		require.Contains(t, page, want)
	}
	require.NotContains(t, page, "**we give")
}

// The first lines of a long turn are visible, and the rest is folded. A short turn is not folded.
func TestLongTurnsAreFolded(t *testing.T) {
	r := &report.Report{Result: debate.Result{State: fsm.Completed, Turns: []transcript.Turn{
		{Key: transcript.Key{Actor: "Ada", Round: 1}, Kind: transcript.Speech, Text: "It begins here. " + strings.Repeat("More of it. ", 100) + "It ends here."},
		{Key: transcript.Key{Actor: "Bo", Round: 1}, Kind: transcript.Speech, Text: "Short."},
		{Key: transcript.Key{Actor: "summarizer", Round: 1}, Kind: transcript.Summary, Text: "A summary."},
	}}}
	page := html(t, r)
	require.Equal(t, 1, strings.Count(page, `<details class="more">`))
	require.Regexp(t, `(?s)<div class="text">\n<p dir="auto">It begins here\..*<details class="more">\n<summary>Show the other \d+ words</summary>.*It ends here\.</p>`, page)
	require.Regexp(t, `(?s)<details class="quiet" id="turn-3">\n<summary>.*A summary\.`, page)
}

// Text has enough contrast on each background, in light and in dark colors.
func TestColorsHaveContrast(t *testing.T) {
	style, err := os.ReadFile("page.css")
	require.NoError(t, err)
	roots := regexp.MustCompile(`:root \{([^}]*)\}`).FindAllStringSubmatch(string(style), -1)
	require.Len(t, roots, 2)
	for i, root := range roots {
		colors := map[string]float64{}
		for _, m := range regexp.MustCompile(`--(\w+): (#[0-9a-f]+)`).FindAllStringSubmatch(root[1], -1) {
			colors[m[1]] = luminance(t, m[2])
		}
		pairs := [][2]string{{"fg", "warn"}}
		for _, text := range []string{"fg", "soft", "link", "c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7"} {
			pairs = append(pairs, [2]string{text, "bg"}, [2]string{text, "card"})
		}
		for _, p := range pairs {
			require.Contains(t, colors, p[0])
			require.Contains(t, colors, p[1])
			a, b := colors[p[0]], colors[p[1]]
			require.GreaterOrEqual(t, (max(a, b)+0.05)/(min(a, b)+0.05), 4.5, "%s on %s in palette %d", p[0], p[1], i)
		}
	}
}

// luminance returns the relative luminance of a color, as WCAG 2 defines it.
func luminance(t *testing.T, color string) float64 {
	t.Helper()
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		v, err := strconv.ParseUint(color[1+2*i:3+2*i], 16, 8)
		require.NoError(t, err)
		c := float64(v) / 255
		if c <= 0.03928 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}

// long returns a report with many turns in many rounds.
func long(turns int) *report.Report {
	r := &report.Report{Result: debate.Result{ID: "d", Topic: "Ban cars?", Protocol: "panel/1", State: fsm.Completed}}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for i := range turns {
		actor := []string{"Ada", "Bo", "Cy", "Dee"}[i%4]
		r.Result.Turns = append(r.Result.Turns, transcript.Turn{
			Key: transcript.Key{Run: 1, Round: 1 + i/4, Phase: "respond", Actor: actor}, Kind: transcript.Speech, Started: at, Ended: at.Add(time.Second),
			Text: strings.Repeat(fmt.Sprintf("In turn %d, **%s** names a reason. ", i, actor), 12) + "\n\n- one\n- two",
		})
		at = at.Add(time.Second)
	}
	r.Result.Round = turns / 4
	return r
}

func TestAPageIsSmall(t *testing.T) {
	require.Less(t, len(html(t, long(0))), 20_000)
	ten, hundred := len(html(t, long(100)))-len(html(t, long(0))), len(html(t, long(1000)))-len(html(t, long(0)))
	require.InDelta(t, 10, float64(hundred)/float64(ten), 0.5, "the size is linear in the number of turns")
}

func BenchmarkHTML(b *testing.B) {
	for _, turns := range []int{20, 200, 2000} {
		r := long(turns)
		b.Run(fmt.Sprint(turns), func(b *testing.B) {
			for b.Loop() {
				html(b, r)
			}
		})
	}
}

// The page names the models that replied, which may be others than those of the configuration.
func TestModelsAreTheRealOnes(t *testing.T) {
	r := &report.Report{Config: json.RawMessage(`{"participants": [{"name": "Ada", "provider": "acme", "model": "latest"}]}`)}
	for _, model := range []string{"acme-2026-05", "acme-2026-06", "acme-2026-06"} {
		r.Result.Turns = append(r.Result.Turns, transcript.Turn{Key: transcript.Key{Actor: "Ada"}, Attempts: []transcript.Attempt{
			{Model: "acme-2025-01", ErrorKind: "network"}, {Model: model},
		}})
	}
	require.Contains(t, markdown(t, r), "| Name | Model | Replies by | State |\n|---|---|---|---|\n| Ada | acme, latest | acme-2026-05, acme-2026-06 | judge |")
}

func TestCostsStandWherePricesAreKnown(t *testing.T) {
	require.Contains(t, markdown(t, collected(t, "article")), "| Reasoning tokens | Duration | Cost |\n")
	require.Contains(t, markdown(t, collected(t, "vote")), "| Reasoning tokens | Duration |\n")
}

// Initials differ, whatever the names are.
func TestInitialsDiffer(t *testing.T) {
	for names, want := range map[string]string{
		"Ada,Bo":                 "A,B",
		"Ada,Alan,Anna":          "A,Al,An",
		"Ada,Ada B,AB":           "A,AB,A2",
		"For the motion":         "FM",
		"élan,Élodie":            "É,Él",
		"!,?,…":                  "?,?2,?3",
		"ليلى,لبنى":              "ل,لب",
		"gpt-5,gpt-6":            "G5,G6",
		"Zoe\u0308 Mu\u0308ller": "ZM", // the dots are characters of their own
	} {
		r := &report.Report{}
		for i, name := range strings.Split(names, ",") {
			r.Result.Turns = append(r.Result.Turns, transcript.Turn{Key: transcript.Key{Actor: name, Round: i}, Text: "Yes."})
		}
		var found []string
		for _, m := range regexp.MustCompile(`class="initials" aria-hidden="true">([^<]*)<`).FindAllStringSubmatch(html(t, concluded(r)),
			-1) {
			found = append(found, m[1])
		}
		require.Equal(t, want, strings.Join(found, ","))
	}
}

// The critique at the end of a skeptic's turn is a list, and other JSON stays as it is.
func TestCritiquesAreLists(t *testing.T) {
	for text, want := range map[string]string{
		`Bad. {"issues": [{"severity": "major", "text": "Why?"}], "ready": false, "score": 4}`:                       "> Bad.\n>\n> \\- major: Why?\n>\n> The answer is not ready, with a score of 4 of 10.",
		"Fine.\n```json\n{\n  \"score\": 9,\n  \"ready\": true,\n  \"issues\": []\n}\n```\n":                         "> Fine.\n>\n> The answer is ready, with a score of 9 of 10.",
		`A set {a, b} first. {"ready": true, "score": null, "issues": [{"severity": "minor", "text": "Say when."}]}`: "> A set {a, b} first.\n>\n> \\- minor: Say when.\n>\n> The answer is ready.",
		`An example: {"name": "Bo"}`:                      `> An example: {"name": "Bo"}`,
		`{"issues": [], "score": 1} is what I would say.`: `> {"issues": \[\], "score": 1} is what I would say.`,
	} {
		r := &report.Report{Result: debate.Result{Turns: []transcript.Turn{{
			Key:  transcript.Key{Actor: "Bo", Phase: "attack", Round: 1},
			Kind: transcript.Speech, Text: text,
		}}}}
		require.Contains(t, markdown(t, r), "#### Bo\n\n"+want+"\n\n")
	}
}

// The reasons have at most ten statements of each participant. The transcript has all.
func TestReasonsAreBounded(t *testing.T) {
	r := &report.Report{Result: debate.Result{Protocol: procon.Protocol{}.Name()}}
	for i := range 12 {
		r.Result.Turns = append(r.Result.Turns, transcript.Turn{Key: transcript.Key{Actor: "Ada", Round: i + 1}, Kind: transcript.Speech, Text: fmt.Sprintf("Argument %d.", i+1)})
	}
	reasons := concluded(r).Redact().Summary.Reasons
	require.Len(t, reasons, 1)
	require.Len(t, reasons[0].Points, 11)
	require.Equal(t, []string{"Argument 10.", "2 more, in the transcript"}, reasons[0].Points[9:])
	require.Contains(t, markdown(t, r), "> Argument 12.")
}
