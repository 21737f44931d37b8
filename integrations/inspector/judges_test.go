package inspector

import (
	"context"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/detect"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
)

// assessment returns an assessment that scores the participants the same by each criterion.
func assessment(ada, bo float64, goOn bool) judge.Assessment {
	a := judge.Assessment{Reasoning: "Because.", Quality: 6, ShouldContinue: goOn}
	add := func(name string, score float64) {
		a.Participants = append(a.Participants, judge.ParticipantAssessment{Name: name, Criteria: judge.Rubric(nil).UniformScores(score)})
	}
	add("Ada", ada)
	add("Bo", bo)
	return a
}

// swapped plays two judges, of whom Jo changes its mind if the order is the opposite.
func swapped(t *testing.T) providers.Provider {
	return debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
		step, _ := debate.StepFrom(ctx)
		var reply any
		switch {
		case debatetest.AsksFor(r, "verdict"):
			winner := map[bool]string{true: "Ada", false: ""}[step.Key.Actor == "Jo"]
			reply = judge.Verdict{Summary: "It was <i>close</i>.", Winner: winner, Quality: 60}
		case !debatetest.AsksFor(r, "assessment"):
			return providers.Response{Text: "So it is."}, nil
		case step.Key.Actor == "Kim":
			reply = assessment(6, 6, true)
		case step.Key.Target == judge.Swapped:
			reply = assessment(4, 7, false)
		default:
			reply = assessment(9, 3, true)
		}
		return providers.Response{Text: debatetest.Encode(t, reply)}, nil
	})
}

// Of a large jury that explains itself at length, the page shows fewer rounds.
func TestTheJudgesOfALargeJuryAreOnALightPage(t *testing.T) {
	w := open(t, Options{}, debatetest.ProviderFunc(func(_ context.Context, r providers.Request) (providers.Response, error) {
		if !debatetest.AsksFor(r, "assessment") {
			return offline.Model(false).Generate(t.Context(), r)
		}
		a := assessment(6, 5, true)
		a.Reasoning = longSpeech[:1000]
		return providers.Response{Text: debatetest.Encode(t, a)}, nil
	}))
	cfg := pair("d")
	cfg.Protocol, cfg.Limits.MaxRounds = panel.Protocol{Format: panel.RoundLimited, Jury: judge.Jury{Swap: true}}, 7
	cfg.Judges = nil
	for _, name := range []string{"Jo", "Kim", "Lea", "Max", "Nia"} {
		cfg.Judges = append(cfg.Judges, debate.Participant{Name: name})
	}
	w.run(cfg)
	var rounds []string
	for path := "/debates/d/judges"; path != ""; {
		w.requireLight(path)
		page := w.get(http.StatusOK, path)
		var here []string
		for _, m := range judgedPattern.FindAllStringSubmatch(page, -1) {
			here = append(here, m[1])
		}
		rounds = append(here, rounds...)
		path = ""
		if earlier.MatchString(page) {
			_, query, _ := strings.Cut(html.UnescapeString(earlier.FindStringSubmatch(page)[1]), "?")
			path = "/debates/d/judges?" + query
		}
	}
	require.Equal(t, []string{"1", "2", "3", "4", "5", "6", "7"}, rounds)
}

var judgedPattern = regexp.MustCompile(`id="judged-(\d+)"`)

func TestJudgesAreShownByCriterionAndOrder(t *testing.T) {
	w := open(t, Options{}, swapped(t))
	cfg := pair("d")
	cfg.Protocol, cfg.Limits.MaxRounds = panel.Protocol{Jury: judge.Jury{Swap: true}}, 1
	cfg.Detect = []detect.Rule{{Signal: detect.Repetitive, Effect: detect.Advise}}
	cfg.Judges = []debate.Participant{{Name: "Jo"}, {Name: "Kim"}}
	w.run(cfg)
	page := w.get(http.StatusOK, "/debates/d/judges")
	for _, row := range []string{
		`<thead><tr><td></td><th scope="col">logical consistency</th><th scope="col">evidence</th><th scope="col">engagement</th><th scope="col">novelty</th>` +
			`<th scope="col">persuasiveness</th><th scope="col">relevance</th><th scope="col">total</th></tr></thead>`,
		"<tr><th scope=\"row\" dir=\"auto\">Ada</th>" + strings.Repeat(`<td class="s6 apart">6.25</td>`, 7) + "</tr>\n" +
			"<tr><th scope=\"row\" dir=\"auto\">Bo</th>" + strings.Repeat(`<td class="s5 apart">5.5</td>`, 7) + "</tr>\n</tbody></table>",
		"<tr class=\"of\"><th scope=\"rowgroup\" colspan=\"8\" dir=\"auto\">Ada</th></tr>\n" + // the two orders of a judge are next to each other
			`<tr><th scope="row">Jo</th>` + strings.Repeat(`<td>9</td>`, 7) + "</tr>\n" +
			`<tr><th scope="row">Jo, opposite order</th>` + strings.Repeat(`<td>4</td>`, 7) + "</tr>\n" +
			`<tr><th scope="row">Kim</th>` + strings.Repeat(`<td>6</td>`, 7) + "</tr>\n" +
			`<tr><th scope="row">Kim, opposite order</th>` + strings.Repeat(`<td>6</td>`, 7) + "</tr>\n",
		`another round is worthwhile: <b>yes</b> · converged: <b>no</b>`,
		`quality of the round: <b>6</b></p>`,
		`>Jo</a>, opposite order:</strong>`,
		`<li dir="auto">Jo, another round is worthwhile: the answers differ between the orders</li>`,
		`<h4>Disagreement</h4>`,
		`<li data-signal="repetitive">`,
		`>Jo</a>, opposite order</th>`,
		`It was &lt;i&gt;close&lt;/i&gt;.`,
		`<tr data-series="Ada"><th scope="row" dir="auto">Ada</th><td>6.25</td>`,
		`<p class="meta" id="agreement">Agreement of the judges: in 100 % of cases, the scores of two judges differ by at most 1 point; Krippendorff&#39;s alpha is `,
	} {
		require.Contains(t, page, row)
	}
}

// A single judge is the jury: its scores are there once, without a fold for each judge.
func TestASingleJudgeHasOneTable(t *testing.T) {
	w := open(t, Options{}, swapped(t))
	cfg := pair("d")
	cfg.Protocol, cfg.Limits.MaxRounds = panel.Protocol{}, 1
	cfg.Judges = []debate.Participant{{Name: "Jo"}}
	w.run(cfg)
	page := w.get(http.StatusOK, "/debates/d/judges")
	require.Equal(t, 1, strings.Count(page, `<table class="judgments">`))
	require.NotContains(t, page, "By judge")
	require.NotContains(t, page, "Agreement of the judges")
	require.NotContains(t, page, ` apart"`)
	require.Equal(t, 7, strings.Count(page, `<td class="s9">9</td>`))
	require.Equal(t, 7, strings.Count(page, `<td class="s3">3</td>`))
	require.Regexp(t, `<strong><a href="[^"]*/turn\?seq=\d+">Jo</a>:</strong>`, page)
}

// Ten rounds of five judges and three participants are on two light pages, most of them on the first.
func TestTenRoundsOfFiveJudgesAreOnTwoPages(t *testing.T) {
	w := open(t, Options{}, debatetest.ProviderFunc(func(_ context.Context, r providers.Request) (providers.Response, error) {
		if !debatetest.AsksFor(r, "assessment") {
			return offline.Model(false).Generate(t.Context(), r)
		}
		a := assessment(6.5, 5.5, true)
		a.Reasoning = longSpeech[:150]
		a.Participants = append(a.Participants, judge.ParticipantAssessment{Name: "Cy", Criteria: judge.Rubric(nil).UniformScores(7.5)})
		return providers.Response{Text: debatetest.Encode(t, a)}, nil
	}))
	cfg := pair("d")
	cfg.Protocol, cfg.Limits.MaxRounds = panel.Protocol{Format: panel.RoundLimited}, 10
	cfg.Participants = append(cfg.Participants, debate.Participant{Name: "Cy"})
	cfg.Judges = nil
	for _, name := range []string{"Jo", "Kim", "Lea", "Max", "Nia"} {
		cfg.Judges = append(cfg.Judges, debate.Participant{Name: name})
	}
	w.run(cfg)
	page := w.get(http.StatusOK, "/debates/d/judges")
	require.GreaterOrEqual(t, len(judgedPattern.FindAllString(page, -1)), 6)
	w.requireLight("/debates/d/judges")
	_, query, _ := strings.Cut(html.UnescapeString(earlier.FindStringSubmatch(page)[1]), "?")
	page += w.get(http.StatusOK, "/debates/d/judges?"+query)
	require.Len(t, judgedPattern.FindAllString(page, -1), 10)
	w.requireLight("/debates/d/judges?" + query)
}

// Protocols without assessments show their structured replies, and the scores in them.
func TestStructuredRepliesAreShownFieldByField(t *testing.T) {
	model := &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
		switch r.SchemaName {
		case vote.BallotContract.Name():
			return scripted.Reply{Text: debatetest.Encode(t, vote.Ballot{Reasoning: "So <it> seems.", Answer: "Yes", Confidence: 80})}
		case "":
			return scripted.Reply{Text: "So it is."}
		}
		return scripted.Reply{Text: `{"summary": "Ada had figures.", "no_new_arguments": false, "winner": "Ada",
			"participants": [{"name": "Ada", "score": 8}, {"name": "Bo", "score": 6}]}`}
	}}
	w := open(t, Options{}, model)
	cfg := pair("ballots")
	cfg.Protocol = vote.Protocol{}
	cfg.Judges = nil
	cfg.Limits.MaxRounds = 1
	w.run(cfg)
	page := w.get(http.StatusOK, "/debates/ballots/judges")
	require.Contains(t, page, `<dt>answer</dt><dd dir="auto">Yes</dd>`)
	require.Contains(t, page, `<dd dir="auto">So &lt;it&gt; seems.</dd>`)
	require.Equal(t, []string{"80"}, scoresOn(page)["confidence of Ada"])

	cfg = pair("judgment")
	cfg.Protocol, cfg.Limits.MaxRounds = procon.Protocol{}, 1
	cfg.Participants[0].Position, cfg.Participants[1].Position = "Yes", "No"
	w.run(cfg)
	page = w.get(http.StatusOK, "/debates/judgment/judges")
	require.Equal(t, map[string][]string{"Ada": {"8"}, "Bo": {"6"}}, scoresOn(page))
	require.Contains(t, page, `<dt>winner</dt><dd dir="auto">Ada</dd>`)
	require.Contains(t, w.get(http.StatusOK, "/debates/judgment/judges?at=1"), `id="no-judgments"`)
}

// Each round of a long debate is on one of the pages, once.
func TestRoundsOfJudgesArePaged(t *testing.T) {
	w := open(t, Options{})
	cfg := pair("d")
	cfg.Protocol, cfg.Limits.MaxRounds = panel.Protocol{Format: panel.RoundLimited}, 11
	w.run(cfg)
	var rounds []string
	pages := 0
	for path := "/debates/d/judges"; path != ""; pages++ {
		page := w.get(http.StatusOK, path)
		var here []string
		for _, m := range regexp.MustCompile(`id="judged-(\d+)"`).FindAllStringSubmatch(page, -1) {
			here = append(here, m[1])
		}
		rounds = append(here, rounds...)
		require.Equal(t, pages > 0, strings.Contains(page, `id="latest"`))
		path = ""
		if m := earlier.FindStringSubmatch(page); m != nil {
			_, query, _ := strings.Cut(html.UnescapeString(m[1]), "?")
			path = "/debates/d/judges?" + query
		}
	}
	require.Equal(t, []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"}, rounds)
	require.Equal(t, 2, pages)
}
