package debate_test

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/detect"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// parrot says the same in each round from the second on.
var parrot = &scripted.Provider{Forget: true, Func: func(r providers.Request) scripted.Reply {
	if len(r.Messages) < 4 {
		return scripted.Reply{Text: "Here is how I begin: " + r.Messages[0].Text}
	}
	return scripted.Reply{Text: "As I have always said, it is so and not otherwise. ANSWER 42"}
}}

// final is the answer that a turn gives.
func final(t transcript.Turn) string {
	_, answer, _ := strings.Cut(t.Text, "ANSWER ")
	return answer
}

// watched is a debate that goes on to its limit unless a rule ends it.
func watched(limit int, rules ...detect.Rule) debate.Config {
	c := pair(panel.Protocol{Mode: panel.Simultaneous})
	c.Watch, c.Limits.MaxRounds = rules, limit
	return c
}

func TestWhatFollowsFromAFinding(t *testing.T) {
	same := detect.Rule{Sign: detect.Unanimous}
	repeats := detect.Rule{Sign: detect.Repetitive}
	for _, tt := range []struct {
		name    string
		rule    detect.Rule
		use     string
		min     int
		outcome transcript.Outcome
		round   int
		advised bool
	}{
		{"it is reported", same, detect.Report, 1, transcript.RoundLimit, 5, false},
		{"reporting is the default", same, "", 1, transcript.RoundLimit, 5, false},
		{"it advises the judge", same, detect.Advise, 1, transcript.RoundLimit, 5, true},
		{"it stops the debate", same, detect.Stop, 1, transcript.Unanimous, 2, true},
		{"but not before the minimum of rounds", same, detect.Stop, 4, transcript.Unanimous, 4, true},
		{"a sign without an outcome of its own", repeats, detect.Stop, 1, transcript.EarlyStop, 3, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := watched(5, tt.rule)
			c.Watch[0].Use, c.Limits.MinRounds = tt.use, tt.min
			j := court(t, 9)
			d, err := debate.New(t.Context(), c, debate.Options{Providers: models(parrot, j), Answer: final})
			require.NoError(t, err)
			events, err := run(t, d)
			require.NoError(t, err)
			res := result(t, d)
			require.Equal(t, tt.outcome, res.Ending.Outcome)
			require.Equal(t, tt.round, res.Round)

			require.Len(t, res.Findings, tt.round, "one for each round")
			var told []detect.Finding
			for _, ev := range events {
				if s, ok := ev.(debate.StateChanged); ok {
					told = append(told, s.Findings...)
				}
			}
			require.Equal(t, res.Findings, told)
			found := res.Findings[tt.round-1]
			require.True(t, found.Found, "%v", found)
			if tt.outcome != transcript.RoundLimit {
				require.Equal(t, found.String(), res.Ending.Evidence)
			}
			advised := false
			for _, r := range j.Calls() {
				advised = advised || strings.Contains(r.Messages[len(r.Messages)-1].Text, string(tt.rule.Sign))
			}
			require.Equal(t, tt.advised, advised)
		})
	}
}

func TestFindingsByTheJudgesMarks(t *testing.T) {
	c := watched(5, detect.Rule{Sign: detect.Drifting, Use: detect.Stop}, detect.Rule{Sign: detect.Converged})
	round := 0
	j := &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
		if asked(r, "verdict") {
			return scripted.Reply{Text: verdict}
		}
		round++
		a := assessment(true, "A", "B")
		for i := range a.Participants {
			for k := range a.Participants[i].Criteria {
				if m := &a.Participants[i].Criteria[k]; m.Criterion == judge.Relevance && round == 3 {
					m.Score = 4
				}
			}
		}
		return scripted.Reply{Text: encode(t, a)}
	}}
	d, err := debate.New(t.Context(), c, debate.Options{Providers: models(chatter(), j)})
	require.NoError(t, err)
	_, err = run(t, d)
	require.NoError(t, err)
	res := result(t, d)
	require.Equal(t, transcript.EarlyStop, res.Ending.Outcome)
	require.Equal(t, 3, res.Round)
	require.Contains(t, res.Ending.Evidence, "round 3: drifting")
	require.Len(t, res.Findings, 6)
}

// Findings stand in the journal, each once: a debate that another process takes up has them, and finds what an
// undisturbed one finds.
func TestFindingsAreTheSameInAnotherProcess(t *testing.T) {
	rules := []detect.Rule{{Sign: detect.Repetitive, Use: detect.Advise}, {Sign: detect.Disengaged}, {Sign: detect.Diminishing}}
	drive := func(stops int) *debate.Result {
		s := store.Memory()
		p := &echo{names: []string{"A", "B"}}
		o := debate.Options{Providers: models(p, court(t, 9)), Store: s}
		d, err := debate.New(t.Context(), watched(4, rules...), o)
		require.NoError(t, err)
		for more := true; more; {
			more, err = d.Do(t.Context())
			require.NoError(t, err)
			if stops--; stops > 0 {
				e, err := debate.NewEngine(o)
				require.NoError(t, err)
				d, err = e.Open(t.Context(), "d")
				require.NoError(t, err)
			}
		}
		return result(t, d)
	}
	require.Equal(t, drive(0).Findings, drive(100).Findings)
}

// A debate that failed after its speeches and is tried again passes through them, and finds nothing twice.
func TestARetriedDebateFindsNothingTwice(t *testing.T) {
	c := watched(1, detect.Rule{Sign: detect.Unanimous})
	c.OnJudgeFailure = debate.Ask
	c.Retries = map[providers.Kind]int{providers.Authentication: 0}
	refuse := true
	j := &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
		if refuse {
			refuse = false
			return scripted.Reply{Err: &providers.Error{Kind: providers.Authentication, Err: errors.New("no key")}}
		}
		if asked(r, "verdict") {
			return scripted.Reply{Text: verdict}
		}
		return scripted.Reply{Text: assess(t, true, "A", "B")}
	}}
	c.OnJudgeFailure = ""
	d, err := debate.New(t.Context(), c, debate.Options{Providers: models(parrot, j), Answer: final})
	require.NoError(t, err)
	_, err = run(t, d)
	require.Error(t, err)
	require.Equal(t, fsm.Error, result(t, d).State)
	require.NoError(t, d.Retry(t.Context()))
	_, err = run(t, d)
	require.NoError(t, err)
	require.Len(t, result(t, d).Findings, 1)
}

// embedder gives each text the vector of its first letter.
type embedder struct{ err error }

func (e embedder) reply(r providers.Request) scripted.Reply {
	if e.err != nil {
		return scripted.Reply{Err: e.err}
	}
	var list []string
	for _, m := range r.Messages {
		list = append(list, `"`+base64.StdEncoding.EncodeToString([]byte{127, m.Text[0] - 'A'})+`"`)
	}
	return scripted.Reply{Text: `{"vectors": [` + strings.Join(list, ",") + `]}`}
}

func TestVectorsAreAStep(t *testing.T) {
	for _, tt := range []struct {
		name  string
		err   error
		value float64
		flags []transcript.Flag
	}{
		{"an embedder", nil, 1, nil},
		{"one that fails keeps nobody from debating", &providers.Error{Kind: providers.API, Err: errors.New("broken")}, 0, []transcript.Flag{transcript.Fallback}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := watched(2, detect.Rule{Sign: detect.Repetitive, By: "vectors", Use: detect.Report})
			c.Embedder.Provider = "e"
			c.Retries = map[providers.Kind]int{providers.API: 0}
			e := &scripted.Provider{Func: embedder{tt.err}.reply}
			p := models(&scripted.Provider{Func: func(r providers.Request) scripted.Reply {
				return scripted.Reply{Text: strings.ToUpper(r.Messages[0].Text[8:9]) + " is my name."}
			}}, court(t, 9))
			p["e"] = e
			d, err := debate.New(t.Context(), c, debate.Options{Providers: p})
			require.NoError(t, err)
			_, err = run(t, d)
			require.NoError(t, err)
			res := result(t, d)
			require.Equal(t, []string{
				"1/1/respond/A/", "1/1/respond/B/", "1/1/embed/embedder/", "1/1/assess/J/",
				"1/2/respond/A/", "1/2/respond/B/", "1/2/embed/embedder/", "1/2/assess/J/", "1/2/verdict/J/",
			}, keys(res))
			require.Equal(t, transcript.Vectors, res.Turns[2].Kind)
			require.Equal(t, tt.flags, res.Turns[2].Flags)
			require.Len(t, res.Assessments, 2)
			require.Len(t, res.Findings, 2)
			require.InDelta(t, tt.value, res.Findings[1].Value, 0.001)
			require.Equal(t, []providers.Message{{Role: providers.User, Text: "A is my name."}, {Role: providers.User, Text: "B is my name."}}, e.Calls()[0].Messages)
		})
	}
}

func TestRulesThatMeanNothingAreRefused(t *testing.T) {
	for _, tt := range []struct {
		name string
		edit func(*debate.Config)
		want []protocol.Problem
	}{
		{"an unknown sign", func(c *debate.Config) { c.Watch = []detect.Rule{{Sign: "rude"}} }, []protocol.Problem{
			{Field: "watch[0]", Reason: `sign "rude" is unknown, use one of ["repetitive" "diminishing_returns" "drifting" "disengaged" "converged" "unanimous"]`},
		}},
		{"vectors without an embedder", func(c *debate.Config) { c.Watch = []detect.Rule{{Sign: detect.Repetitive, By: "vectors"}} }, []protocol.Problem{
			{Field: "embedder.provider", Reason: "it is empty, watch[0] goes by vectors and needs one"},
		}},
		{"marks that nobody gives", func(c *debate.Config) {
			c.Watch, c.Protocol = []detect.Rule{{Sign: detect.Diminishing}}, talk{}
		}, []protocol.Problem{
			{Field: "watch[0]", Reason: "diminishing_returns goes by the marks of judges, and nobody assesses the rounds of talk/1"},
		}},
		{"a rubric", func(c *debate.Config) { c.Rubric = judge.Rubric{{Name: "wit", Weight: -1}} }, []protocol.Problem{
			{Field: "rubric"},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := pair(nil)
			tt.edit(&c)
			_, err := debate.New(t.Context(), c, debate.Options{Providers: models(chatter(), chatter())})
			var wrong *debate.Problems
			require.ErrorAs(t, err, &wrong)
			for i := range wrong.List {
				if tt.want[0].Reason == "" {
					wrong.List[i].Reason = ""
				}
			}
			require.Equal(t, tt.want, wrong.List[:1])
		})
	}
}

// talk is a protocol without judges, of sensible defaults.
type talk struct{ panel.Protocol }

func (talk) Name() string { return "talk/1" }

func (talk) Check(*protocol.Record) []protocol.Problem { return nil }

func (p talk) Phases(r *protocol.Record) []protocol.Phase {
	if r.Cursor.Stage != transcript.Speech {
		return nil
	}
	return p.Protocol.Phases(r)
}

func (talk) End(*protocol.Record) transcript.Ending { return transcript.Ending{} }

func (talk) Defaults() protocol.Defaults {
	return protocol.Defaults{MinRounds: 2, MaxRounds: 3, OutputTokens: 90, StepTokens: 10, JudgeTokens: 20, Temperatures: []float64{0.1, 0.2}}
}

func (talk) Answer(r *protocol.Record) protocol.Answer {
	return protocol.Answer{Text: r.Turns[len(r.Turns)-1].Text}
}

func TestAProtocolsDefaults(t *testing.T) {
	heat := 1.5
	for _, tt := range []struct {
		name   string
		config debate.Config
		limits debate.Limits // the fields that are looked at
	}{
		{"its own", debate.Config{}, debate.Limits{MinRounds: 2, MaxRounds: 3, OutputTokens: 90, StepTokens: 10, JudgeTokens: 20}},
		{
			"the configuration's prevail",
			debate.Config{Limits: debate.Limits{MinRounds: 1, MaxRounds: 1, OutputTokens: 70, StepTokens: 9}},
			debate.Limits{MinRounds: 1, MaxRounds: 1, OutputTokens: 70, StepTokens: 9, JudgeTokens: 20},
		},
		{
			"a limit below the minimum lowers that",
			debate.Config{Limits: debate.Limits{MaxRounds: 1}},
			debate.Limits{MinRounds: 1, MaxRounds: 1, OutputTokens: 90, StepTokens: 10, JudgeTokens: 20},
		},
		{
			"a minimum above the limit raises that",
			debate.Config{Limits: debate.Limits{MinRounds: 4}},
			debate.Limits{MinRounds: 4, MaxRounds: 4, OutputTokens: 240, StepTokens: 10, JudgeTokens: 20},
		},
		{
			"the budget has room for all rounds",
			debate.Config{Limits: debate.Limits{MaxRounds: 8}},
			debate.Limits{MinRounds: 2, MaxRounds: 8, OutputTokens: 480, StepTokens: 10, JudgeTokens: 20},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := tt.config
			c.ID, c.Topic, c.Protocol = "d", "Cats?", talk{}
			c.Participants = []debate.Participant{{Name: "A"}, {Name: "B"}, {Name: "C", Temperature: &heat}}
			e, err := debate.NewEngine(debate.Options{Providers: map[string]providers.Provider{"m": chatter()}})
			require.NoError(t, err)
			d, err := e.Create(t.Context(), c)
			require.NoError(t, err)
			var got debate.Config
			for ev, err := range d.Watch(t.Context(), 0) {
				require.NoError(t, err)
				got, err = e.ParseConfig(ev.(debate.ConfigChanged).Config)
				require.NoError(t, err)
				break
			}
			require.Equal(t, tt.limits, debate.Limits{
				MinRounds: got.Limits.MinRounds, MaxRounds: got.Limits.MaxRounds, OutputTokens: got.Limits.OutputTokens,
				StepTokens: got.Limits.StepTokens, JudgeTokens: got.Limits.JudgeTokens,
			})
			require.Equal(t, []float64{0.1, 0.2, 1.5}, []float64{*got.Participants[0].Temperature, *got.Participants[1].Temperature, *got.Participants[2].Temperature})
		})
	}
}
