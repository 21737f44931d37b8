package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/consoletest"
	"github.com/elenchus-go/debate/internal/test/golden"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/report"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

func speaker() providers.Provider { return script{offline.Model(false)} }

func engine(t *testing.T, s store.Store, model providers.Provider) *debate.Engine {
	t.Helper()
	o := options(model)
	o.Store = s
	e, err := debate.NewEngine(o)
	require.NoError(t, err)
	return e
}

func create(t *testing.T, e *debate.Engine) *debate.Debate {
	t.Helper()
	c := config("How many bicycles are there?")
	c.ID = "d"
	d, err := e.Create(t.Context(), c)
	require.NoError(t, err)
	return d
}

// finish runs a debate to its end and returns its result.
func finish(t *testing.T, d *debate.Debate) *debate.Result {
	t.Helper()
	for _, err := range d.Run(t.Context()) {
		require.NoError(t, err)
	}
	r, err := d.Result(t.Context())
	require.NoError(t, err)
	return r
}

// said returns the actors and the texts of turns, by phase.
func said(turns []transcript.Turn) (list []string) {
	for i := range turns {
		list = append(list, turns[i].Key.String()+": "+turns[i].Text)
	}
	return list
}

func TestTheProgram(t *testing.T) {
	code, stdout, stderr := consoletest.Run(t, run, "How many bicycles are there?")
	require.Equal(t, 0, code, stderr)
	require.Equal(t, "How many bicycles are there?\n\nThe median of the last estimates is 400, and they are from 390 to 415.\n", stdout)
}

func TestTheSpreadEndsTheDebate(t *testing.T) {
	r := finish(t, create(t, engine(t, nil, speaker())))
	require.Equal(t, fsm.Completed, r.State)
	require.Equal(t, transcript.Ending{Outcome: transcript.Converged, Round: 3, Evidence: "the estimates are [390 400 415]"}, r.Ending)
	require.Len(t, r.Turns, 12, "three estimates and a summary in each of three rounds")
	require.Equal(t, "400", r.Outcome.Answer)
	require.Equal(t, []string{"Ada", "Bo", "Cy"}, r.Outcome.Chart.Series)
	require.Equal(t, map[string]float64{"Ada": 240, "Bo": 640, "Cy": 400}, r.Outcome.Chart.Rows[0].Values)
	require.Equal(t, 640.0, r.Outcome.Chart.Maximum)
}

// In a later round, the experts read the summaries, and nobody knows whose an estimate is.
func TestTheExpertsReadSummariesAndNoNames(t *testing.T) {
	model := &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
		said, err := speaker().Generate(t.Context(), r)
		require.NoError(t, err)
		return scripted.Reply{Text: said.Text}
	}}
	finish(t, create(t, engine(t, nil, model)))
	calls := model.Calls()
	for _, n := range []int{4, 5, 6} {
		var text strings.Builder
		for _, m := range calls[n].Messages {
			text.WriteString(m.Text + "\n")
		}
		require.Contains(t, text.String(), "Facilitator")
		require.NotRegexp(t, "Ada.*Bo|Bo.*Cy|Ada.*Cy", strings.ReplaceAll(text.String(), "\n", " "), "nobody reads two names")
	}
}

// Estimates that stay apart do not end the debate before the limit.
func TestTheLimitEndsADebateWithoutAgreement(t *testing.T) {
	c := config("How many bicycles are there?")
	c.Limits.MaxRounds = 2
	d, err := engine(t, nil, speaker()).Create(t.Context(), c)
	require.NoError(t, err)
	r := finish(t, d)
	require.Equal(t, transcript.RoundLimit, r.Ending.Outcome)
	require.Equal(t, "The median of the last estimates is 400, and they are from 360 to 460.", r.Outcome.String())
}

func TestTheSeats(t *testing.T) {
	c := config("How many bicycles are there?")
	c.Participants = c.Participants[:2]
	c.Judges = nil
	_, err := engine(t, nil, speaker()).Create(t.Context(), c)
	require.ErrorContains(t, err, "participants: 2 enabled, the protocol takes 3 to 16")
	require.ErrorContains(t, err, "judges: none, the protocol takes 1")
}

// Another engine that has only the store continues the debate at any point to the same end.
func TestAnotherEngineTakesOver(t *testing.T) {
	want := finish(t, create(t, engine(t, nil, speaker())))
	for stop := 1; ; stop += 5 {
		kept := store.Memory()
		d := create(t, engine(t, kept, speaker()))
		entries := 0
		for _, err := range d.Run(t.Context()) {
			require.NoError(t, err)
			entries++
			if entries == stop {
				break
			}
		}
		if entries < stop {
			require.Greater(t, stop, 20, "the debate has more entries")
			return
		}
		again, err := engine(t, kept, speaker()).Open(t.Context(), "d")
		require.NoError(t, err)
		r := finish(t, again)
		require.Equal(t, said(want.Turns), said(r.Turns))
		require.Equal(t, want.Outcome, r.Outcome)
	}
}

// A fork with another estimate comes to another result.
func TestAForkChangesAnEstimate(t *testing.T) {
	e := engine(t, store.Memory(), speaker())
	r := finish(t, create(t, e))
	last := r.Turns[10]
	require.Equal(t, "estimate", last.Phase)
	f, err := e.Fork(t.Context(), "d", last.Seq, debate.Edits{Turn: last.Key, Reply: `{"value": 800, "reason": "I counted them."}`})
	require.NoError(t, err)
	again := finish(t, f)
	require.Equal(t, 4, again.Ending.Round, "those of round 3 are now apart")
	require.Equal(t, "The median of the last estimates is 400, and they are from 397.5 to 403.75.", again.Outcome.String())
	require.Equal(t, 800.0, again.Outcome.Chart.Rows[2].Values[last.Actor])
}

func TestTheReportHasTheResultAndAChart(t *testing.T) {
	d := create(t, engine(t, nil, speaker()))
	finish(t, d)
	r, err := report.Collect(t.Context(), d)
	require.NoError(t, err)
	var page, text bytes.Buffer
	require.NoError(t, report.HTML(&page, r))
	require.NoError(t, report.Markdown(&text, r))
	for _, part := range []string{"The median of the last estimates is 400", "Estimates by round", "There are about as many as people."} {
		require.Contains(t, page.String(), part)
		require.Contains(t, text.String(), part)
	}
	require.Contains(t, page.String(), "<svg")
}

const page = "../../docs/protocols.md"

// The page quotes the files of this folder.
func TestThePageQuotesTheProgram(t *testing.T) {
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	whole := string(text)
	for _, file := range []string{"protocol.go", "estimate.tmpl", "summary.tmpl", "main.go"} {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		if file == "main.go" { // the page quotes only config and options
			_, content, _ = bytes.Cut(content, []byte("\n}\n\nfunc config"))
			content = append([]byte("func config"), content...)
		}
		language := "go"
		if strings.HasSuffix(file, ".tmpl") {
			language = "text"
		}
		before, rest, found := strings.Cut(whole, "<!-- examples/delphi/"+file+" -->\n")
		require.True(t, found, "%s does not quote %s", page, file)
		_, after, found := strings.Cut(rest, "\n```\n")
		require.True(t, found, "the quote of %s has no end", file)
		whole = before + "<!-- examples/delphi/" + file + " -->\n```" + language + "\n" + string(content) + "```\n" + after
	}
	golden.Require(t, page, table(t, whole))
}

// The protocol takes 40 lines, not counting imports, comments and blank lines.
func TestTheProtocolIsShort(t *testing.T) {
	text, err := os.ReadFile("protocol.go")
	require.NoError(t, err)
	_, program, _ := strings.Cut(string(text), "\n)\n")
	lines := 0
	for line := range strings.Lines(program) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "//") {
			lines++
		}
	}
	require.LessOrEqual(t, lines, 40)
}
