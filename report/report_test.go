package report_test

import (
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
	"github.com/elenchus-go/debate/internal/secrettest"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/protocol/skeptic"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/report"
	"github.com/elenchus-go/debate/transcript"
)

func TestReportsOfAllPresets(t *testing.T) {
	staged(t, func(t *testing.T, name string, s *scene) {
		r := s.collect(t)
		require.Equal(t, fsm.Completed, r.Result.State, "%v", r.Result.Failure)
		golden(t, name+".md", []byte(markdown(t, r)))
		golden(t, name+".html", []byte(html(t, r)))
	})
}

func TestAReportIsWhatItsJSONSays(t *testing.T) {
	staged(t, func(t *testing.T, _ string, s *scene) {
		for _, r := range []*report.Report{s.collect(t), s.collect(t).Redact()} {
			text, back := encode(t, r), &report.Report{}
			require.NoError(t, json.Unmarshal([]byte(text), back))
			require.Equal(t, r, back)
			require.Equal(t, text, encode(t, back))
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
		require.NotContains(t, page, "://")
	})
}

// Whatever state a debate is in, its report says so.
func TestReportsOfDebatesThatDidNotComplete(t *testing.T) {
	refused := &providers.Error{Kind: providers.Authentication, Err: errors.New("who are you")}
	run := func(t *testing.T, s *scene) { s.run(t, nil) }
	for name, tt := range map[string]struct {
		ada, bo   []any // what they say
		policy    debate.FailurePolicy
		stage     func(*testing.T, *scene)
		want, not []string
	}{
		"new": {
			stage: func(*testing.T, *scene) {},
			want:  []string{"| State | configuring |", "The debate is not over.", "Nothing was said yet."},
			not:   []string{"## Answer", "## Dissent", "## Scores", "## Tokens", "## Path", "## Times", "## Failures", "## Annotations"},
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
			want: []string{"| State | running.awaiting\\_responses |", "The debate is not over.", "> One."}, not: []string{"## Answer"},
		},
		"canceled": {
			stage: func(t *testing.T, s *scene) { require.NoError(t, s.debate.Cancel(t.Context())) },
			want:  []string{"| State | canceled |", "| Outcome | canceled, in round 0 |", "| cancel | configuring → canceled |", "a person canceled the debate"},
			not:   []string{"is not over"},
		},
		"in error": {
			ada: []any{refused}, stage: run,
			want: []string{
				"| State | error |", "It is in error:", "What can be done: provider ada refuses its key", "Steps that failed for good:",
				"| Ada | respond | 1 | 2000-01-01 00:00:02.000 UTC | authentication | ada, large | 1 | authentication: who are you |",
			},
			not: []string{"is not over"},
		},
		"with a question": {
			ada: []any{refused}, policy: debate.Ask, stage: run,
			want: []string{"| State | paused |", "It waits for a person to decide:", "who are you", "- retry: call Ada again", "a question: run step"},
		},
		"after an answer": {
			ada: []any{refused, "One."}, bo: []any{"Two."}, policy: debate.Ask,
			stage: func(t *testing.T, s *scene) {
				s.run(t, nil)
				time.Sleep(time.Minute)
				require.NoError(t, s.debate.Decide(t.Context(), "retry"))
				s.run(t, nil)
			},
			want: []string{"| decided |  |  |  | a person's answer: retry |", "| pause | running.awaiting\\_responses → paused | 1 | 1m0s |"},
		},
		"after a reset": {
			ada: []any{refused, "One."}, bo: []any{"Two."},
			stage: func(t *testing.T, s *scene) {
				s.run(t, nil)
				require.NoError(t, s.debate.Reset(t.Context()))
				s.run(t, nil)
			},
			want: []string{"| reset | error → configuring |", "> One."}, not: []string{"It is in error"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := duel(panel.Protocol{}, says(t, tt.ada...), says(t, tt.bo...), says(t, assessment(false, 6, 6), `{"summary": "Well.", "quality": 50}`))
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
			})
		})
	}
}

func TestWhoDroppedOutIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := &providers.Error{Kind: providers.API, Err: errors.New("overloaded")}
		s := duel(panel.Protocol{}, says(t, "One."), says(t, "Two."), says(t, "no", "no", `{"summary": "Well.", "quality": 50}`))
		s.models["cy"] = says(t, down, down, down)
		s.config.Participants = append(s.config.Participants, debate.Participant{Name: "Cy", Provider: "cy"})
		s.config.Limits = debate.Limits{MaxRounds: 1}
		s.open(t)
		s.run(t, nil)
		text := markdown(t, s.collect(t))
		require.Contains(t, text, "| dropped |  |  |  | Cy takes no further part |")
		require.Contains(t, text, "Who dropped out:\n\n| Name | When | Why |\n|---|---|---|\n| Cy | ")
		require.Contains(t, text, "Steps that failed for good:\n\n")
		require.Equal(t, 1, strings.Count(text, "| cy | 3 | api\\_error: overloaded |"), "once, though it stands in two places")
		require.Contains(t, text, "- Round 1: no valid assessment came. Neutral values stand for it.\n")
		require.Contains(t, text, "the first reply was invalid · no valid reply came, defaults stand for it")
	})
}

// secret stands in everything that goes into prompts alone.
const secret = "swordfish"

func TestARedactedReportHasNoWordsOfPrompts(t *testing.T) {
	quote := &providers.Error{Kind: providers.API, Err: errors.New("cannot process: " + secret)}
	said := func(name string) debate.Participant {
		return debate.Participant{Name: name, Persona: secret, Instructions: secret, Position: name + " is right"}
	}
	for name, p := range map[string]protocol.Protocol{
		"panel":   panel.Protocol{Personas: panel.Binary},
		"refine":  refine.Protocol{Roles: map[string]refine.Role{"own": {System: secret, Source: "a file"}}},
		"skeptic": skeptic.Protocol{Templates: 1},
	} {
		for _, policy := range []debate.FailurePolicy{debate.Degrade, debate.Ask} {
			t.Run(name+" "+string(policy), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := duel(p, says(t, "One.", quote, "Three.", quote, quote), says(t, "Two.", quote, quote, quote),
						says(t, assessment(true, 6, 6), `{"summary": "Well.", "quality": 50}`))
					s.models["cast"] = says(t, protocol.Personas{Personas: []protocol.Persona{
						{Name: "Ada", Persona: secret, Position: secret, KeyArguments: []string{secret}},
						{Name: "Bo", Persona: secret, Position: secret, KeyArguments: []string{secret}},
					}})
					s.models["found"] = says(t, skeptic.Documents{Documents: []skeptic.Document{{Title: secret, Text: secret}}})
					s.config.Retriever.Provider, s.config.Casting.Provider = "found", "cast"
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
					require.Contains(t, encode(t, whole), secret, "the report itself is left as it was")
					for _, text := range []string{encode(t, r), markdown(t, r), html(t, r)} {
						require.NotContains(t, text, secret)
					}
					require.Contains(t, markdown(t, r), "The words of prompts and errors are left out of this report.")
					require.Contains(t, markdown(t, r), "| Ada | ")
					require.Contains(t, markdown(t, r), "Ada is right")
					require.Equal(t, r, r.Redact())
				})
			})
		}
	}
}

func TestARedactedConfigurationThatCannotBeReadIsNone(t *testing.T) {
	require.Nil(t, (&report.Report{Config: json.RawMessage(`[]`)}).Redact().Config)
}

// Providers get their keys in Options, which no debate stores; what a service says is scrubbed before it is stored.
func TestNoKeyIsInAReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const key = "sk-1234567890abcdefghijklmnop"
		s := duel(panel.Protocol{}, says(t, &providers.Error{Kind: providers.Authentication, Err: errors.New("bad key")}), says(t), says(t))
		s.models["ada"] = keyed{s.models["ada"], key}
		s.open(t)
		s.run(t, nil)
		r := s.collect(t)
		require.Equal(t, fsm.Error, r.Result.State)
		secrettest.NotPrinted(t, key, r, markdown(t, r), html(t, r), encode(t, exported(t, s)))
	})
}

// keyed is a provider that holds a key.
type keyed struct {
	providers.Provider
	key string
}

func TestSeveralJudgesGoByTheirBench(t *testing.T) {
	r := &report.Report{Config: json.RawMessage(`{"protocol": {"name": "panel/1", "bench": {"scores": "median"}}}`)}
	for i, ada := range []float64{1, 8, 9} {
		a := assessment(true, ada, 5)
		a.Participants[0].Score, a.Participants[1].Score = ada, 5
		r.Result.Assessments = append(r.Result.Assessments, transcript.Turn{
			Key: transcript.Key{Round: 1, Actor: string(rune('J' + i))}, Output: judge.AssessmentContract.Name(), Data: json.RawMessage(encode(t, a)),
		})
	}
	require.Contains(t, markdown(t, r), "| 1 | 8 | 5 | 6.5 |")
	require.Contains(t, markdown(t, r), "- score of Ada is 1 by J, and 9 by L")
}

func TestAWriterThatFailsIsReported(t *testing.T) {
	r := &report.Report{Result: debate.Result{ID: "d"}}
	require.EqualError(t, report.Markdown(fails{}, r), "write report of debate d as Markdown: disk full")
	require.EqualError(t, report.HTML(fails{}, r), "write report of debate d as HTML: disk full")
}

type fails struct{}

func (fails) Write([]byte) (int, error) { return 0, errors.New("disk full") }
