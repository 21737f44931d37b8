package report_test

import (
	"bytes"
	"cmp"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/internal/protocols"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/detect"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/protocol/council"
	"github.com/elenchus-go/debate/protocol/mad"
	"github.com/elenchus-go/debate/protocol/oversight"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/protocol/skeptic"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/report"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// says returns a model that gives these replies, each after two seconds.
func says(t testing.TB, replies ...any) *scripted.Provider {
	p := &scripted.Provider{}
	for _, reply := range replies {
		r := scripted.Reply{Latency: 2 * time.Second, Usage: transcript.Usage{Input: 1200, Cached: 400, Output: 150, Reasoning: 50}}
		switch reply := reply.(type) {
		case string:
			r.Text = reply
		case scripted.Reply:
			r.ToolCalls = reply.ToolCalls
		case error:
			r.Err, r.Usage = reply, transcript.Usage{}
		default:
			r.Text = debatetest.Encode(t, reply)
		}
		p.Replies = append(p.Replies, r)
	}
	return p
}

// scene is a debate with its store.
type scene struct {
	config debate.Config
	more   func(*debate.Options) // may be nil
	models map[string]providers.Provider
	store  store.Store
	engine *debate.Engine
	debate *debate.Debate
}

// duel returns a debate between Ada and Bo, each with a model of that name, judged by Jo.
func duel(p protocol.Protocol, ada, bo, jo *scripted.Provider) *scene {
	return &scene{
		config: debate.Config{
			ID: "d", Topic: "Should cities ban private cars?", Protocol: p,
			Participants: []debate.Participant{{Name: "Ada", Provider: "ada", Model: "large"}, {Name: "Bo", Provider: "bo", Model: "small"}},
			Judges:       []debate.Participant{{Name: "Jo", Provider: "jo", Model: "wise"}},
		},
		models: map[string]providers.Provider{"ada": ada, "bo": bo, "jo": jo},
		store:  store.Memory(),
	}
}

// open creates the debate.
func (s *scene) open(t *testing.T) *debate.Debate {
	t.Helper()
	options := debate.Options{Providers: s.models, Store: s.store, KeepReplies: true, KeepReasoning: true}
	if s.more != nil {
		s.more(&options)
	}
	s.engine = debatetest.Engine(t, options)
	s.debate = debatetest.Create(t, s.engine, s.config)
	return s.debate
}

// run runs the debate until Run ends, even with an error, and calls see for each event.
func (s *scene) run(t *testing.T, see func(debate.Event)) {
	t.Helper()
	for ev, err := range s.debate.Run(t.Context()) {
		if _, failed := errors.AsType[*debate.Failure](err); failed {
			return
		}
		require.NoError(t, err)
		if see != nil {
			see(ev)
		}
	}
}

// collect returns the current report.
func (s *scene) collect(t *testing.T) *report.Report {
	t.Helper()
	r := debatetest.Call(t, report.Collect, s.debate)
	return r
}

func markdown(t testing.TB, r *report.Report) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, report.Markdown(&b, r))
	return b.String()
}

func html(t testing.TB, r *report.Report) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, report.HTML(&b, r))
	return b.String()
}

// roundAssessment scores Ada and Bo.
func roundAssessment(goOn bool, ada, bo float64) judge.Assessment {
	return judge.Assessment{
		Reasoning: "Ada has the better evidence.", Quality: (ada + bo) / 2, ShouldContinue: goOn,
		Participants: []judge.ParticipantAssessment{
			{Name: "Ada", Criteria: judge.Rubric(nil).UniformScores(ada)}, {Name: "Bo", Criteria: judge.Rubric(nil).UniformScores(bo)},
		},
	}
}

// panelScene returns a panel with nearly everything that a report shows: assigned personas, two judges who disagree, a
// pause, a remark, a failed attempt, prices of some models, findings and a rating.
func panelScene(t *testing.T) *scene {
	personas := protocol.Personas{Personas: []protocol.Persona{
		{Name: "Ada", Persona: "A tram driver", Position: "Ban them", KeyArguments: []string{"Trams wait for no car"}},
		{Name: "Bo", Persona: "A florist", Position: "Keep them", KeyArguments: []string{"Flowers wilt on buses"}},
	}}
	verdict := func(winner string) judge.Verdict {
		return judge.Verdict{
			Summary: "A close debate about space and about work at night.", Winner: winner, Quality: 72, WinnerReasoning: winner + " answered what was asked.",
			Agreement: []string{"buses come too rarely"}, Disagreement: []string{"who pays", "from when on"}, Dissent: "Deliveries were never weighed.",
		}
	}
	slow := &providers.Error{Kind: providers.RateLimit, RetryAfter: 5 * time.Second, Err: errors.New("slow down")} // RetryAfter makes the wait deterministic
	s := duel(panel.Protocol{Personas: panel.Binary, Format: panel.RoundLimited},
		says(t, "Cars take the space that people need.\n\nA parked car takes 12 m².", slow, "Night buses cost less than car parks."),
		says(t, "Ada forgets those who work at night.", "Who pays for the buses?"),
		says(t, personas, roundAssessment(true, 7, 6), roundAssessment(false, 8, 6.5), verdict("Ada")))
	s.models["jay"] = says(t, roundAssessment(true, 5, 6), roundAssessment(true, 7, 7), verdict("Bo"))
	s.config.Participants[0].Side, s.config.Participants[1].Side = "for", "against"
	s.config.Participants[0].Instructions = "Use figures."
	s.config.Background = "The council votes in May."
	s.config.Judges = append(s.config.Judges, debate.Participant{Name: "Jay", Provider: "jay", Model: "wise"})
	s.config.Limits = debate.Limits{MaxRounds: 2}
	s.config.Prices = price.Prices{"large": {Input: 2, Cached: 0.5, Output: 8}, "wise": {Input: 10, Output: 30}}
	s.config.Detect = []detect.Rule{{Signal: detect.Repetitive}}
	d := s.open(t)
	s.run(t, func(ev debate.Event) {
		if p, ok := ev.(debate.PhaseStarted); ok && p.Phase == "assess" && p.Round == 1 {
			require.NoError(t, d.Pause(t.Context()))
		}
	})
	require.NoError(t, d.Inject(t.Context(), debate.Remark{ID: "1", From: "Mayor", Text: "Think of *deliveries*, too."}))
	time.Sleep(3 * time.Second)
	require.NoError(t, d.Resume(t.Context()))
	s.run(t, nil)
	require.NoError(t, d.Annotate(t.Context(), "rating", 4))
	require.NoError(t, d.Annotate(t.Context(), "note", "worth a read"))
	require.Equal(t, fsm.Completed, s.collect(t).Result.State)
	return s
}

// oxfordScene returns an Oxford-style debate before three members of an audience, one of whom drops out after its first vote.
func oxfordScene(t *testing.T) *scene {
	vote := func(v string) panel.AudienceVote { return panel.AudienceVote{Reasoning: "So it seems.", Vote: v} }
	refused := &providers.Error{Kind: providers.ContentFiltered, RetryAfter: 5 * time.Second, Err: errors.New("refused")}
	s := duel(panel.Protocol{Format: panel.Oxford},
		says(t, "Cars take space.", "Space is for people."), says(t, "Night workers need cars.", "Nobody named an alternative."),
		says(t, vote("undecided"), vote("for")))
	s.models["jay"], s.models["kim"] = says(t, vote("against"), vote("for")), says(t, vote("against"), refused, refused)
	s.config.Participants[0].Side, s.config.Participants[1].Side = "for", "against"
	s.config.Judges = append(s.config.Judges, debate.Participant{Name: "Jay", Provider: "jay"}, debate.Participant{Name: "Kim", Provider: "kim"})
	s.config.OnJudgeFailure = debate.DropJudge
	s.config.Limits = debate.Limits{MaxRounds: 2}
	s.open(t)
	s.run(t, nil)
	return s
}

func skepticScene(t *testing.T) *scene {
	s := duel(skeptic.Protocol{Templates: -1},
		says(t, "Ban them in the centre.", "Ban them in the centre, but for deliveries."),
		says(t, "What of deliveries?\n"+`{"issues": [{"severity": "critical", "text": "Shops need goods."}], "ready": false, "score": 4}`,
			"Better.\n"+`{"issues": [{"severity": "minor", "text": "Say when."}], "ready": true, "score": 8.5}`),
		says(t, "A ban in the centre, with deliveries before ten."))
	s.config.Limits = debate.Limits{MinRounds: 1, MaxRounds: 3}
	s.open(t)
	s.run(t, nil)
	return s
}

func refineScene(t *testing.T) *scene {
	critique := func(of string) refine.Critique {
		return refine.Critique{Author: of, Weaknesses: []refine.Weakness{{Issue: "No date.", Severity: "major"}}, Overall: "Sound, but vague."}
	}
	s := duel(refine.Protocol{},
		says(t, "A toll.", critique("Bo"), "A toll from May on."),
		says(t, "A ban.", critique("Ada"), "A ban from June on."),
		says(t, refine.Solution{
			Description: "A toll, then a ban.", Implementation: []string{"Count cars."}, TradeOffs: []string{"Slow."},
			Recommendations: []string{"Ask shops."}, Confidence: 70,
		}))
	s.config.Participants[0].Role = "architect"
	s.config.Limits = debate.Limits{MaxRounds: 1}
	s.open(t)
	s.run(t, nil)
	return s
}

func arbitrationScene(t *testing.T) *scene {
	argument := func(claim string) arbitration.Case {
		return arbitration.Case{Arguments: []arbitration.Argument{{Claim: claim, Reasoning: "It follows.", Evidence: "A survey of 2024."}}}
	}
	s := duel(arbitration.Protocol{Scores: map[string]float64{"problem": 6, "solution": 5, "market": 4}},
		says(t, argument("Jams are real."), argument("Tolls work.")),
		says(t, argument("Jams are rare."), argument("Tolls hurt.")),
		says(t, arbitration.Ruling{Reasoning: "The survey holds.", KeyPoints: []string{"12 cities | 3 years"}, Winner: "advocate", Confidence: 80},
			arbitration.Ruling{Reasoning: "Both hold.", KeyPoints: []string{}, Winner: "draw", Confidence: 60}))
	s.config.Participants[0].Role, s.config.Participants[1].Role = arbitration.Advocate, arbitration.Challenger
	s.config.Limits = debate.Limits{MaxRounds: 2}
	s.open(t)
	s.run(t, nil)
	return s
}

func proconScene(t *testing.T) *scene {
	s := duel(procon.Protocol{}, says(t, "Yes: space."), says(t, "No: freedom."),
		says(t, procon.Judgment{Summary: "Ada had figures.", Participants: []procon.ParticipantScore{{Name: "Ada", Score: 8}, {Name: "Bo", Score: 6}}, Winner: "Ada"}))
	s.config.Participants[0].Position, s.config.Participants[1].Position = "Yes", "No"
	s.config.Limits = debate.Limits{MaxRounds: 1}
	s.open(t)
	s.run(t, nil)
	return s
}

// councilScene returns a council whose third member's ranking and whose chair fail.
func councilScene(t *testing.T) *scene {
	down := &providers.Error{Kind: providers.ServerError, Err: errors.New("overloaded"), RetryAfter: 5 * time.Second}
	ranking := func(names ...string) council.Ranking {
		k := council.Ranking{Comparison: "Both are brief."}
		for _, n := range names {
			k.Ranking = append(k.Ranking, council.Ranked{Name: n, Reason: "It names a cost."})
		}
		return k
	}
	s := duel(council.Protocol{}, says(t, "Ban them in the centre.", ranking("Bo", "Cy")), says(t, "Tax them.", ranking("Cy", "Ada")), says(t, down, down, down))
	s.models["cy"] = says(t, "Widen the pavements.", down, down, down)
	s.config.Participants = append(s.config.Participants, debate.Participant{Name: "Cy", Provider: "cy"})
	s.open(t)
	s.run(t, nil)
	return s
}

// madScene returns a debate that the judge decides, because the moderator prefers no answer.
func madScene(t *testing.T) *scene {
	s := duel(mad.Protocol{}, says(t, "10 cents: 1.10 less 1.", "I agree: 5 cents."), says(t, "5 cents: 1.05 and 0.05.", "5 cents."),
		says(t, mad.Moderation{Reasoning: "Both show a sum."}, "It depends.", "It depends.", mad.Candidates{Candidates: []string{"10 cents", "5 cents"}},
			mad.Decision{Reasoning: "1.05 is 1 more than 0.05.", Answer: "5 cents", Supported: "Bo"}))
	s.config.Limits = debate.Limits{MaxRounds: 2}
	s.open(t)
	s.run(t, nil)
	return s
}

// oversightScene returns a debate of one round about an answer, before a judge who sees one order.
func oversightScene(t *testing.T) *scene {
	s := duel(oversight.Protocol{A: "Nothing.", B: "All of the soup.", MinWords: 1, Once: true}, says(t, "Its bill was too long."), says(t, "It was a guest."),
		says(t, oversight.Credence{Reason: "A long bill cannot drink from a flat dish.", First: .75, Second: .25}))
	s.config.Topic, s.config.Limits = "What did the stork eat?", debate.Limits{MaxRounds: 1}
	s.open(t)
	s.run(t, nil)
	return s
}

func voteScene(t *testing.T) *scene {
	ballot := func(answer string, confidence float64) vote.Ballot {
		return vote.Ballot{Reasoning: "So it seems.", Answer: answer, Confidence: confidence}
	}
	s := duel(vote.Protocol{},
		says(t, ballot("Yes", 80), ballot("Yes", 90)), says(t, ballot("No", 60), ballot("Yes", 55)), says(t))
	s.models["cy"] = says(t, ballot("No", 70), ballot("No", 75))
	s.config.Participants = append(s.config.Participants, debate.Participant{Name: "Cy", Provider: "cy"})
	s.open(t)
	s.run(t, nil)
	return s
}

// scenes contains a debate for each preset, and one for the panel's format with an audience. Then follow one with long turns,
// and some that did not complete.
var scenes = map[string]func(*testing.T) *scene{
	"panel": panelScene, "panel-oxford": oxfordScene, "skeptic": skepticScene, "refine": refineScene,
	"article": articleScene, "evidence": evidenceScene, "fork": forkScene,
	"arbitration": arbitrationScene, "procon": proconScene, "vote": voteScene, "council": councilScene, "mad": madScene, "oversight": oversightScene,
	"waiting": waitingScene, "gate": gateScene, "failed": failedScene, "canceled": canceledScene,
}

// staged calls f for each scene in a synctest bubble.
func staged(t *testing.T, f func(t *testing.T, name string, s *scene)) {
	for name, scene := range scenes {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { f(t, name, scene(t)) })
		})
	}
}

// concluded returns a report that a test has made by hand, with the outcome that its protocol computes from the answer.
func concluded(r *report.Report) *report.Report {
	res := &r.Result
	var p protocol.Protocol = unknown{res.Protocol}
	for _, preset := range protocols.All() {
		if preset.Name() == res.Protocol {
			p = preset
		}
	}
	res.Answer.Type = cmp.Or(res.Answer.Type, res.Protocol)
	record := protocol.Record{Turns: res.Turns, Ending: res.Ending}
	record.Cursor.Round = res.Round
	res.Outcome = outcome.Of(p, &record, res.Answer)
	return r
}

// unknown is a protocol of a user.
type unknown struct{ name string }

func (p unknown) Name() string                             { return p.name }
func (unknown) Check(*protocol.Record) []protocol.Problem  { return nil }
func (unknown) Phases(*protocol.Record) []protocol.Phase   { return nil }
func (unknown) End(*protocol.Record) (e transcript.Ending) { return e }
