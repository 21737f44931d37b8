package report_test

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/golden"
	"github.com/elenchus-go/debate/internal/test/secrettest"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/protocol/skeptic"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/report"
	"github.com/elenchus-go/debate/transcript"
)

func TestReports(t *testing.T) {
	states := map[string]fsm.State{"waiting": fsm.Paused, "gate": fsm.Paused, "failed": fsm.Error, "canceled": fsm.Canceled}
	staged(t, func(t *testing.T, name string, s *scene) {
		r := s.collect(t)
		require.Equal(t, cmp.Or(states[name], fsm.Completed), r.Result.State, "%v", r.Result.Failure)
		golden.Require(t, "testdata/"+name+".md", markdown(t, r))
		golden.Require(t, "testdata/"+name+".html", html(t, r))
	})
}

func TestAReportIsWhatItsJSONSays(t *testing.T) {
	staged(t, func(t *testing.T, _ string, s *scene) {
		for _, r := range []*report.Report{s.collect(t), s.collect(t).Redact()} {
			text, back := debatetest.Encode(t, r), &report.Report{}
			require.NoError(t, json.Unmarshal([]byte(text), back))
			require.Equal(t, r, back)
			require.Equal(t, text, debatetest.Encode(t, back))
			require.Equal(t, html(t, r), html(t, back))
		}
	})
}

func TestAPageIsWellFormedAndItsPolicyKnowsItsStyle(t *testing.T) {
	staged(t, func(t *testing.T, _ string, s *scene) {
		page := html(t, s.collect(t))
		texts(t, page)
		style := regexp.MustCompile(`(?s)<style>(.*)</style>`).FindStringSubmatch(page)[1]
		sum := sha256.Sum256([]byte(style))
		require.Contains(t, page, `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-`+
			base64.StdEncoding.EncodeToString(sum[:])+`'; base-uri 'none'; form-action 'none'" />`)
		require.NotContains(t, style, "url(")
		require.NotContains(t, style, "@import")
	})
}

// A report shows the state of a debate that has not completed.
func TestReportsOfDebatesThatDidNotComplete(t *testing.T) {
	refused := &providers.Error{Kind: providers.Authentication, Err: errors.New("who are you")}
	run := func(t *testing.T, s *scene) { s.run(t, nil) }
	for name, tt := range map[string]struct {
		ada, bo   []any // their replies
		policy    debate.FailurePolicy
		stage     func(*testing.T, *scene)
		want, not []string
	}{
		"new": {
			stage: func(*testing.T, *scene) {},
			want:  []string{"| State | configuring |", "**There is no answer yet: the debate is before round 1.**", "There are no turns yet."},
			not:   []string{"## Reasons", "Tokens, time", "<summary>States", "Timeline", "Failures", "Annotations"},
		},
		"running": {
			ada: []any{"One."},
			stage: func(t *testing.T, s *scene) {
				for ev, err := range s.debate.Run(t.Context()) {
					require.NoError(t, err)
					if _, ok := ev.(debate.TurnDone); ok {
						break
					}
				}
			},
			want: []string{"| State | running.awaiting\\_responses |", "**There is no answer yet: the debate is in round 1.**", "> One."}, not: []string{"## Reasons"},
		},
		"canceled": {
			stage: func(t *testing.T, s *scene) { require.NoError(t, s.debate.Cancel(t.Context())) },
			want:  []string{"| State | canceled |", "**The debate was canceled before round 1.**", "| Ended by | canceled in round 0 |", "| cancel | configuring → canceled |", "a person canceled the debate"},
			not:   []string{"no answer yet"},
		},
		"in error": {
			ada: []any{refused}, stage: run,
			want: []string{
				"| State | error |", "**The debate stopped with an error in round 1.**", "The debate stopped with an error: run step", "Hint: provider ada rejects its key", "Steps that failed in all attempts:",
				"| Ada | respond | 1 | 2000-01-01 00:00:02.000 UTC | authentication | ada, large | 1 | authentication: who are you |",
			},
			not: []string{"no answer yet"},
		},
		"with a question": {
			ada: []any{refused}, policy: debate.Ask, stage: run,
			want: []string{"| State | paused |", "There is no answer yet: the debate waits in round 1 for a person's decision.", "The question: run step", "who are you", "- retry: call Ada again", "question: run step"},
		},
		"after an answer": {
			ada: []any{refused, "One."}, bo: []any{"Two."}, policy: debate.Ask,
			stage: func(t *testing.T, s *scene) {
				s.run(t, nil)
				time.Sleep(time.Minute)
				require.NoError(t, s.debate.Decide(t.Context(), debatetest.Result(t, s.debate).Question.ID, "retry"))
				s.run(t, nil)
			},
			want: []string{"| decided |  |  |  | a person answered: retry |\n| 2000-01-01 00:01:02.000 UTC | resume |", "| pause | running.awaiting\\_responses → paused | 1 | 1m0s |"},
		},
		"after a reset": {
			ada: []any{refused, "One."}, bo: []any{"Two."},
			stage: func(t *testing.T, s *scene) {
				s.run(t, nil)
				require.NoError(t, s.debate.Reset(t.Context()))
				s.run(t, nil)
			},
			want: []string{"| reset | error → configuring |", "> One."}, not: []string{"stopped with an error"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := duel(panel.Protocol{}, says(t, tt.ada...), says(t, tt.bo...), says(t, roundAssessment(false, 6, 6), `{"summary": "Well.", "quality": 50}`))
				s.config.OnFailure = tt.policy
				s.open(t)
				tt.stage(t, s)
				r := s.collect(t)
				texts(t, html(t, r))
				for _, want := range tt.want {
					require.Contains(t, markdown(t, r), want)
				}
				for _, not := range tt.not {
					require.NotContains(t, markdown(t, r), not)
				}
				require.LessOrEqual(t, strings.Count(markdown(t, r), "| authentication | ada, large |"), 1, "a failure is listed once")
			})
		})
	}
}

func TestWhoDroppedOutIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := &providers.Error{Kind: providers.ServerError, Err: errors.New("overloaded")}
		s := duel(panel.Protocol{}, says(t, "One."), says(t, "Two."), says(t, "no", "no", `{"summary": "Well.", "quality": 50}`))
		s.models["cy"] = says(t, down, down, down)
		s.config.Participants = append(s.config.Participants, debate.Participant{Name: "Cy", Provider: "cy"})
		s.config.Limits = debate.Limits{MaxRounds: 1}
		s.open(t)
		s.run(t, nil)
		text := markdown(t, s.collect(t))
		require.Contains(t, text, "| dropped |  |  |  | Cy dropped out |")
		require.Contains(t, text, "Participants who dropped out:\n\n| Name | Time | Reason |\n|---|---|---|\n| Cy | ")
		require.Contains(t, text, "Steps that failed in all attempts:\n\n")
		require.Contains(t, text, "| server error | cy | 3 | server\\_error: overloaded |")
		require.Contains(t, text, "Scores (0–10); defaults, because no valid assessment was received:\n\n| Name | Score |\n|---|---|\n| Ada | 5 |")
		require.Contains(t, text, "asked again, because the first reply was invalid · default, because no valid reply was received")
	})
}

func TestWhoDroppedOutOfAnEarlierRunIsNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := &providers.Error{Kind: providers.ServerError, Err: errors.New("overloaded")}
		s := duel(panel.Protocol{}, says(t, &providers.Error{Kind: providers.Authentication, Err: errors.New("who are you")}), says(t), says(t))
		s.models["cy"] = says(t, down, down, down)
		s.config.Participants = append([]debate.Participant{{Name: "Cy", Provider: "cy"}}, s.config.Participants...)
		s.open(t)
		s.run(t, nil)
		require.Contains(t, markdown(t, s.collect(t)), "Participants who dropped out:")
		require.NoError(t, s.debate.Reset(t.Context()))
		require.NotContains(t, markdown(t, s.collect(t)), "Participants who dropped out:")
	})
}

func TestASeedOfItsOwnIsReported(t *testing.T) {
	r := &report.Report{Result: debate.Result{ID: "d"}, Config: json.RawMessage(`{"seed": "first"}`)}
	require.Contains(t, markdown(t, r), "| Debate ID | d |\n| Seed | first |\n")
	r.Config = json.RawMessage(`{"seed": "d"}`)
	require.NotContains(t, markdown(t, r), "Seed", "the seed is the ID")
}

// A report names the person who replied, as untrusted text.
func TestWhoRepliedIsReported(t *testing.T) {
	r := &report.Report{Result: debate.Result{ID: "d", Turns: []transcript.Turn{{
		Key: transcript.Key{Phase: "respond", Actor: "Ada", Round: 1}, Kind: transcript.Speech, Text: "No.", By: "<b>ada</b>",
	}}, Rounds: make([]debate.Totals, 2)}}
	page := markdown(t, r)
	require.Contains(t, page, "reply of ")
	require.NotContains(t, page, "<b>")
}

func TestEstimatesAndCostsAreMarked(t *testing.T) {
	used := transcript.Usage{Input: 1234567, Output: 10}
	for name, tt := range map[string]struct {
		prices string
		cost   float64
		part   bool // true if the model has no price
		want   string
	}{
		"no prices":           {"", 0, false, "unknown"},
		"an unpriced model":   {`{"m": {}}`, 0, true, "unknown"},
		"some prices unknown": {`{"m": {}}`, 0.25, true, "at least 0.25; some prices are unknown"},
		"priced":              {`{"m": {}}`, 0.25, false, "0.25"},
		"free":                {`{"m": {}}`, 0, false, "0"},
	} {
		t.Run(name, func(t *testing.T) {
			u := used
			u.Estimated = tt.part
			u.Cost = tt.cost
			u.Unpriced = tt.part
			r := &report.Report{Result: debate.Result{Total: debate.Totals{Turns: 1, Usage: u}}}
			if tt.prices != "" {
				r.Config = json.RawMessage(`{"prices": ` + tt.prices + `}`)
			}
			mark := map[bool]string{true: "≈ "}[tt.part]
			require.Contains(t, markdown(t, r), "| Tokens | "+mark+"1,234,567 input, "+mark+"10 output |\n| Cost | "+tt.want+" |")
		})
	}
}

// secret marks all text that is used only in prompts.
const secret = "swordfish"

func TestARedactedReportHasNoWordsOfPrompts(t *testing.T) {
	quote := &providers.Error{Kind: providers.ServerError, Err: errors.New("cannot process: " + secret)}
	said := func(name string) debate.Participant {
		return debate.Participant{Name: name, Persona: secret, Instructions: secret, Position: name + " is right"}
	}
	for name, p := range map[string]protocol.Protocol{
		"panel":   panel.Protocol{Personas: panel.Binary},
		"refine":  refine.Protocol{Roles: map[string]refine.RolePrompt{"own": {System: secret, Source: "roles/" + secret + ".txt"}}},
		"skeptic": skeptic.Protocol{Templates: 1},
	} {
		for _, policy := range []debate.FailurePolicy{debate.Degrade, debate.Ask} {
			t.Run(name+" "+string(policy), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := duel(p, says(t, "One.", quote, "Three.", quote, quote), says(t, "Two.", quote, quote, quote),
						says(t, roundAssessment(true, 6, 6), `{"summary": "Well.", "quality": 50}`))
					s.models["cast"] = says(t, protocol.Personas{Personas: []protocol.Persona{
						{Name: "Ada", Persona: secret, Position: secret, KeyArguments: []string{secret}},
						{Name: "Bo", Persona: secret, Position: secret, KeyArguments: []string{secret}},
					}})
					s.models["found"] = says(t, skeptic.Documents{Documents: []skeptic.Document{{Title: secret, Text: secret}}})
					s.config.Retriever.Provider, s.config.PersonaAssigner.Provider = "found", "cast"
					s.config.Background, s.config.Labels = secret, map[string]string{"client": secret}
					for i, name := range []string{"Ada", "Bo"} {
						seat := said(name)
						seat.Provider, seat.Model = s.config.Participants[i].Provider, s.config.Participants[i].Model
						s.config.Participants[i] = seat
					}
					if name == "refine" {
						s.config.Participants[0].Role = "own"
					}
					s.config.Judges[0].Instructions = secret
					s.config.OnFailure = policy
					s.open(t)
					s.run(t, nil)
					whole := s.collect(t)
					r := whole.Redact()
					require.Contains(t, debatetest.Encode(t, whole), secret, "Redact does not change the report itself")
					for _, text := range []string{debatetest.Encode(t, r), markdown(t, r), html(t, r)} {
						require.NotContains(t, text, secret)
					}
					require.Contains(t, markdown(t, r), "This report omits the text of prompts and errors.")
					require.Contains(t, markdown(t, r), "| Ada | ")
					require.Contains(t, markdown(t, r), "Ada is right")
					require.Equal(t, r, r.Redact())
				})
			})
		}
	}
}

func TestRedactionReachesEveryFailure(t *testing.T) {
	f := &debate.Failure{Message: "said " + secret, Kind: providers.ServerError, AttemptDetails: []transcript.Attempt{{ErrorKind: "server_error", ErrorMessage: secret, Reply: secret}}}
	longer := &debate.Failure{Message: "said " + secret + " and " + secret}
	r := &report.Report{
		Transitions: []debate.StateChanged{{
			Failure: f, OtherFailures: []*debate.Failure{longer}, Question: &debate.Question{Cause: f.Error(), Failure: f},
			Problems: []protocol.Problem{{Field: "judges", Reason: secret}}, Ending: transcript.Ending{Evidence: longer.Error()},
		}},
		Dropped: []debate.Dropped{{Failure: f, OtherFailures: []*debate.Failure{f}}},
		Result: debate.Result{
			Failure: f, Question: &debate.Question{Cause: longer.Error()}, Problems: []protocol.Problem{{Field: "judges", Reason: secret}},
			Turns: []transcript.Turn{{Attempts: []transcript.Attempt{{Reply: secret}}}},
		},
	}
	require.Contains(t, markdown(t, r), "| said swordfish and swordfish |", "other failures are listed")
	r = r.Redact()
	for _, text := range []string{debatetest.Encode(t, r), markdown(t, r), html(t, r)} {
		require.NotContains(t, text, secret)
	}
	require.Contains(t, markdown(t, r), "server error", "kinds remain")
}

func TestARedactedReportSaysWhichRolesAreBuiltIn(t *testing.T) {
	roles := []refine.RoleAssignment{{Agent: "Ada", Role: "own", Source: "roles/" + secret}, {Agent: "Bo", Role: "cost", Source: "configuration"}, {Agent: "Cy", Role: "testing", Source: "built-in"}}
	for name, source := range map[string]string{refine.Protocol{}.Name(): "[redacted]", "another/1": "[redacted]"} {
		r := &report.Report{Result: debate.Result{Protocol: name}}
		r.Result.Answer.Data = json.RawMessage(debatetest.Encode(t, refine.Result{Roles: roles}))
		var res refine.Result
		require.NoError(t, json.Unmarshal(r.Redact().Result.Answer.Data, &res))
		require.Equal(t, []string{source, "configuration", "built-in"}, []string{res.Roles[0].Source, res.Roles[1].Source, res.Roles[2].Source})
	}
}

func TestARedactedConfigurationThatCannotBeReadIsNone(t *testing.T) {
	require.Nil(t, (&report.Report{Config: json.RawMessage(`[]`)}).Redact().Config)
}

// Providers get their keys in Options, which are not stored. Messages of services are scrubbed before they are stored.
func TestNoKeyIsInAReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const key = "sk-1234567890abcdefghijklmnop"
		s := duel(panel.Protocol{}, says(t, &providers.Error{Kind: providers.Authentication, Err: errors.New("bad key")}), says(t), says(t))
		s.models["ada"] = keyed{s.models["ada"], key}
		s.open(t)
		s.run(t, nil)
		r := s.collect(t)
		require.Equal(t, fsm.Error, r.Result.State)
		secrettest.NotPrinted(t, key, r, markdown(t, r), html(t, r))
	})
}

// keyed is a provider that holds a key.
type keyed struct {
	providers.Provider
	key string
}

func TestSeveralJudgesGoByTheirBench(t *testing.T) {
	r := &report.Report{Config: json.RawMessage(`{"protocol": {"name": "panel/1", "jury": {"aggregation": "median"}}}`)}
	for i, ada := range []float64{1, 8, 9} {
		a := roundAssessment(true, ada, 5)
		a.Participants[0].Score, a.Participants[1].Score = ada, 5
		r.Result.Assessments = append(r.Result.Assessments, transcript.Turn{
			Key: transcript.Key{Round: 1, Actor: string(rune('J' + i))}, Kind: transcript.Assessment,
			Contract: judge.AssessmentContract.Name(), Data: json.RawMessage(debatetest.Encode(t, a)),
		})
	}
	r.Result.Turns = r.Result.Assessments
	require.Contains(t, markdown(t, r), "| Ada | 8 |\n| Bo | 5 |\n")
	require.Contains(t, markdown(t, r), "- score of Ada: J gives 1, L gives 9")
}

// assessed returns a report with these assessments.
func assessed(t *testing.T, turns ...transcript.Turn) *report.Report {
	t.Helper()
	for i := range turns {
		turns[i].Kind = transcript.Assessment
		turns[i].Contract = judge.AssessmentContract.Name()
	}
	return &report.Report{Result: debate.Result{Assessments: turns}}
}

// The reader need not know the fields of an assessment.
func TestJudgesDifferInSentences(t *testing.T) {
	for i, want := range []string{
		"Jo: the debate should end: So.", "Jo: the debate is repetitive: So.", "Jo: the debate drifts from the topic: So.",
		"Jo: further rounds bring little: So.", "Jo: the participants have converged: So.",
	} {
		for _, flag := range []bool{true, false} {
			r := &report.Report{Result: debate.Result{Turns: []transcript.Turn{{Key: transcript.Key{Round: 1, Actor: "Jo"}, Kind: transcript.Assessment}}}}
			for n, name := range []string{"Jo", "Jay", "Kim"} {
				a := judge.Assessment{Reasoning: "So.", ShouldContinue: true}
				*[]*bool{&a.ShouldContinue, &a.Repetitive, &a.Drifting, &a.DiminishingReturns, &a.Converged}[i] = flag == (n == 0) == (i > 0)
				r.Result.Assessments = append(r.Result.Assessments, transcript.Turn{
					Key: transcript.Key{Round: 1, Actor: name}, Kind: transcript.Assessment,
					Contract: judge.AssessmentContract.Name(), Data: json.RawMessage(debatetest.Encode(t, a)),
				})
			}
			page := html(t, r)
			require.Equal(t, flag, strings.Contains(page, "<li>"+want+"</li>"), page[strings.Index(page, "Where the judges"):])
			require.NotRegexp(t, ` is (true|false)|<li>[^<]*_`, page)
		}
	}
}

// The picture of an arbitration has each category before and after, and the sentence the sum.
func TestTheScoresOfAnArbitrationAreDrawnBeforeAndAfter(t *testing.T) {
	res := arbitration.Result{
		Scale: 20, Scores: []arbitration.ScoreChange{{Category: "market", Before: 4, After: 3.5, Delta: -0.5}, {Category: "team", Before: 8, After: 8}},
		Total:  arbitration.ScoreChange{Before: 12, After: 11.5, Delta: -0.5},
		Topics: []arbitration.Adjustment{{Round: 1, Topic: "timing", Ruling: arbitration.Ruling{Winner: arbitration.Challenger, Confidence: 25, Reasoning: "Too late."}}},
	}
	r := &report.Report{Result: debate.Result{Protocol: arbitration.Protocol{}.Name()}}
	r.Result.Answer.Data = json.RawMessage(debatetest.Encode(t, res))
	text := markdown(t, concluded(r))
	require.Contains(t, text, "**The total score fell from 12 to 11.5 of 40; the advocate won 0 of 1 topic, the challenger 1, and 0 ended in a draw; the mean confidence of the rulings is 25 of 100.**")
	require.Contains(t, text, "| Name | before | after |\n|---|---|---|\n| market | 4 | 3.5 |\n| team | 8 | 8 |\n")
	require.Contains(t, text, "### On timing: for the challenger\n\n- Too late.\n")
	require.Equal(t, 2, strings.Count(html(t, r), ` before" x="4"`), "one pale bar for each category")
}

func TestALineIsBrokenWhereNobodyWasScored(t *testing.T) {
	turn := func(round int, names ...string) transcript.Turn {
		var a judge.Assessment
		for _, name := range names {
			a.Participants = append(a.Participants, judge.ParticipantAssessment{Name: name, Score: 6})
		}
		return transcript.Turn{Key: transcript.Key{Round: round, Actor: "J"}, Data: json.RawMessage(debatetest.Encode(t, a))}
	}
	page := html(t, assessed(t, turn(1, "Ada", "Bo"), turn(2, "Ada"), turn(3, "Ada", "Bo")))
	require.Equal(t, 2, strings.Count(page, `<polyline class="c0"`), "one line in the chart and one in the legend")
	require.Equal(t, 3, strings.Count(page, `<polyline class="c1"`), "two parts in the chart and one line in the legend")
	require.Contains(t, page, `<tr><th scope="row"><bdi>2</bdi></th><td><bdi>6</bdi></td><td></td></tr>`)
}

func TestADrawingHasNumbersOnly(t *testing.T) {
	turn := func(who, order, score string) transcript.Turn {
		return transcript.Turn{Key: transcript.Key{Round: 1, Actor: who, Target: order}, Data: json.RawMessage(
			`{"participants": [{"name": "Ada", "score": ` + score + `}], "quality": ` + score + `}`)}
	}
	r := assessed(t, turn("J", "", "1e308"), turn("J", judge.Swapped, "1e308"), turn("K", "", "-1e308"), turn("K", judge.Swapped, "-1e308"))
	r.Result.Turns = []transcript.Turn{{Started: time.Unix(1, 0), Ended: time.Unix(1, 0)}} // a turn with no duration
	require.NotContains(t, html(t, r), "NaN")
}

func TestVectorsAreNotSaid(t *testing.T) {
	r := &report.Report{Result: debate.Result{Turns: []transcript.Turn{{Key: transcript.Key{Actor: "embedder"}, Kind: transcript.Embeddings, Text: "vectors"}}}}
	require.NotContains(t, markdown(t, r), "> vectors")
	require.Contains(t, markdown(t, r), "| 1 | embedder, ", "the timeline contains them")
}

func TestSidesAreToldWithoutAConfiguration(t *testing.T) {
	used := debate.Totals{Turns: 1}
	r := &report.Report{Result: debate.Result{Total: used, Sides: map[string]debate.Totals{"": used, "for": used, "against": used}}}
	require.Regexp(t, `(?s)\| against \| 1 .*\| for \| 1 .*\| judges and system actors \| 1 .*\| Total \| 1 `, markdown(t, r))
}

func TestAWriterThatFailsIsReported(t *testing.T) {
	r := &report.Report{Result: debate.Result{ID: "d"}}
	require.EqualError(t, report.Markdown(fails{}, r), "write report of debate d as Markdown: disk full")
	require.EqualError(t, report.HTML(fails{}, r), "write report of debate d as HTML: disk full")
}

type fails struct{}

func (fails) Write([]byte) (int, error) { return 0, errors.New("disk full") }
