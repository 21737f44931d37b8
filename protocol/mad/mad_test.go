package mad_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/golden"
	"github.com/elenchus-go/debate/internal/test/protocoltest"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/prompts"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/mad"
	"github.com/elenchus-go/debate/transcript"
)

var (
	_ protocol.Defaulter = mad.Protocol{}
	_ protocol.Answerer  = mad.Protocol{}
)

// session is a debate without an engine.
type session struct{ *protocoltest.Session }

var contracts = map[string]*reply.Contract{
	mad.ModerationContract.Name(): mad.ModerationContract, mad.CandidatesContract.Name(): mad.CandidatesContract, mad.DecisionContract.Name(): mad.DecisionContract,
}

// convene returns a debate between Ada and Bo before its first round.
func convene(t testing.TB) *session {
	s := &session{protocoltest.New(t, mad.Protocol{}, []string{"Ada", "Bo"}, []string{"Jo"})}
	s.Contracts = contracts
	return s
}

// say commits a reply to the next step of a stage, and returns the step.
func (s *session) say(stage transcript.Kind, round int, text string) protocol.Step {
	s.T.Helper()
	steps := s.Begin(stage, round)
	require.Len(s.T, steps, 1)
	s.Say(steps[0], text)
	return steps[0]
}

const (
	noPreference = `{"reasoning":"Both may be right.","preference":false}`
	forBo        = `{"reasoning":"Bo's sum is right.","preference":true,"supported":"bo","answer":"5 cents"}`
	invalid      = "It depends."
)

// rounds holds further rounds with the moderator's replies.
func (s *session) rounds(moderations ...string) {
	s.T.Helper()
	for _, m := range moderations {
		n := s.Cursor.Round + 1
		s.say(transcript.Speech, n, "Ten cents.")
		s.say(transcript.Speech, n, "Five cents.")
		require.Empty(s.T, s.Begin(transcript.Speech, n))
		s.say(transcript.Assessment, n, m)
	}
}

// result returns the text and the data of the answer.
func (s *session) result() (string, mad.Result) {
	s.T.Helper()
	a := mad.Protocol{}.Answer(&s.Record)
	a.Type = mad.Protocol{}.Name()
	res, err := mad.DecodeAnswer(a)
	require.NoError(s.T, err)
	return a.Text, res
}

// end ends the debate with an outcome, and with the judge's replies.
func (s *session) end(outcome transcript.Outcome, replies ...string) (string, mad.Result) {
	s.T.Helper()
	s.Ending = transcript.Ending{Outcome: outcome}
	for _, r := range replies {
		s.say(transcript.Conclusion, s.Cursor.Round, r)
	}
	require.Empty(s.T, s.Begin(transcript.Conclusion, s.Cursor.Round))
	s.Cursor.Stage = "" // the debate is over
	return s.result()
}

func TestTheSidesOfARound(t *testing.T) {
	s := convene(t)
	s.Participants[0].Role, s.Participants[1].Role = mad.Negative, mad.Affirmative
	for _, want := range []struct {
		round               int
		actor, prompt, side string
	}{{1, "Bo", "mad-affirm", "affirmative"}, {1, "Ada", "mad-oppose", "negative"}, {2, "Bo", "mad-argue", "affirmative"}, {2, "Ada", "mad-argue", "negative"}} {
		step := s.say(transcript.Speech, want.round, "x")
		require.Equal(t, []string{want.actor, want.prompt, want.side}, []string{step.Actor, step.Prompt, step.Vars["side"]})
		require.Nil(t, step.Show, "it sees the whole debate")
		require.Equal(t, s.Seq-1, step.VisibleSeq, "and what the other side has just said")
	}
}

func TestThePreferenceOfTheModeratorEndsTheDebate(t *testing.T) {
	s := convene(t)
	s.rounds(noPreference)
	require.Zero(t, mad.Protocol{}.End(&s.Record))
	s.rounds(forBo)
	require.Equal(t, transcript.Ending{Outcome: transcript.JudgeDecided, Evidence: "the moderator prefers the answer of Bo: Bo's sum is right."}, mad.Protocol{}.End(&s.Record))
	text, res := s.end(transcript.JudgeDecided)
	require.Equal(t, "5 cents\n\nBo's sum is right.\n\nThe moderator decided after round 2 for the answer of Bo.", text)
	require.Equal(t, []string{"5 cents", "Bo", "moderator"}, []string{res.Answer, res.Supported, res.DecidedBy})
	require.Len(t, res.Rounds, 2)
	require.Empty(t, res.Notes)
}

// A preference that came before MinRounds does not decide: the debate continued.
func TestAnEarlierPreferenceDoesNotCount(t *testing.T) {
	s := convene(t)
	s.rounds(forBo, noPreference)
	require.Zero(t, mad.Protocol{}.End(&s.Record))
	require.Len(t, s.Begin(transcript.Conclusion, 2), 1)
}

func TestTheJudgeDecidesInTwoSteps(t *testing.T) {
	s := convene(t)
	s.rounds(noPreference, noPreference, noPreference)
	s.Ending.Outcome = transcript.RoundLimit
	first := s.say(transcript.Conclusion, 3, `{"candidates":["10 cents","5 cents"]}`)
	second := s.Begin(transcript.Conclusion, 3)[0]
	require.Equal(t, []string{"mad-candidates", "mad-decide"}, []string{first.Prompt, second.Prompt})
	shown := map[string]int{}
	for i := range s.Turns {
		if second.Show(&s.Turns[i]) {
			shown[s.Turns[i].Phase]++
		}
	}
	require.Equal(t, map[string]int{"argue": 6, "candidates": 1}, shown, "the whole debate and the candidates")
	_, res := s.result()
	require.Empty(t, res.Answer+res.DecidedBy, "the judge has not decided yet")
	require.Empty(t, res.Notes)
	text, res := s.end(transcript.RoundLimit, `{"reasoning":"1.05 is 1 more.","answer":"5 cents","supported":"Bo"}`)
	require.Equal(t, "5 cents\n\n1.05 is 1 more.\n\nThe judge decided for the answer of Bo.\n\nThe candidates:\n- 10 cents\n- 5 cents", text)
	require.Equal(t, []string{"5 cents", "Bo", "judge"}, []string{res.Answer, res.Supported, res.DecidedBy})
}

// What is missing stands above the answer, in the text and in the data.
func TestWhatIsMissingStandsAboveTheAnswer(t *testing.T) {
	const list, decision = `{"candidates":["10 cents"]}`, `{"reasoning":"So.","answer":"5 cents"}`
	for _, tt := range []struct {
		name       string
		moderation string
		replies    []string
		noJudge    bool
		notes      []string
		text       string
	}{
		{"nothing", noPreference, []string{list, decision}, false, nil, "5 cents\n\nSo.\n\nThe judge decided for an answer of its own.\n\nThe candidates:\n- 10 cents"},
		{
			"the decision", noPreference,
			[]string{list, invalid},
			false,
			[]string{"There is no answer: the judge gave no valid decision."},
			"There is no answer: the judge gave no valid decision.\n\nThe moderator had no preference up to round 1.\n\nThe candidates:\n- 10 cents",
		},
		{
			"the judge, who dropped out", noPreference, nil, true,
			[]string{"There is no answer: the judge has not decided."},
			"There is no answer: the judge has not decided.\n\nThe moderator had no preference up to round 1.",
		},
		{
			"the candidates", noPreference,
			[]string{invalid, decision},
			false,
			[]string{"The judge listed no candidates."},
			"The judge listed no candidates.\n\n5 cents\n\nSo.\n\nThe judge decided for an answer of its own.",
		},
		{
			"the moderation", invalid,
			[]string{list, decision},
			false,
			[]string{"The moderator gave no valid decision after round 1."},
			"The moderator gave no valid decision after round 1.\n\n5 cents\n\nSo.\n\nThe judge decided for an answer of its own.\n\nThe candidates:\n- 10 cents",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := convene(t)
			s.rounds(tt.moderation)
			if tt.noJudge {
				s.Judges = nil
			}
			text, res := s.end(transcript.RoundLimit, tt.replies...)
			require.Equal(t, tt.notes, res.Notes)
			require.Equal(t, tt.text, text)
		})
	}
}

func TestTheAnswerBeforeTheEnd(t *testing.T) {
	s := convene(t)
	require.Zero(t, mad.Protocol{}.Answer(&s.Record))
	s.say(transcript.Speech, 1, "Ten cents.")
	require.Zero(t, mad.Protocol{}.Answer(&s.Record))
	s.Ending.Outcome, s.Cursor.Stage = transcript.Canceled, ""
	require.Zero(t, mad.Protocol{}.Answer(&s.Record), "a canceled debate has no conclusion")
}

// The judge may decide for the answer of a side that has dropped out.
func TestASideThatDroppedOutCanBeRight(t *testing.T) {
	s := convene(t)
	s.rounds(noPreference)
	s.Drop("Bo")
	s.Ending.Outcome = transcript.QuorumLost
	require.Nil(t, s.Begin(transcript.Speech, 2), "one side alone does not argue")
	s.say(transcript.Conclusion, 2, `{"candidates":["5 cents"]}`)
	step := s.Begin(transcript.Conclusion, 2)[0]
	require.Equal(t, []string{"Ada", "Bo"}, mad.Protocol{}.Names(&s.Record, step))
}

func TestModerationsAreValidated(t *testing.T) {
	names := []string{"Ada", "Bo"}
	for reply, want := range map[string]string{
		forBo:        `{"reasoning":"Bo's sum is right.","preference":true,"supported":"Bo","answer":"5 cents"}`,
		noPreference: noPreference,
		`{"reasoning":"r","preference":false,"supported":"Ada","answer":"10 cents"}`:       `{"reasoning":"r","preference":false}`,
		`{"reasoning":"r","preference":false,"supported":"-"}`:                             `{"reasoning":"r","preference":false}`,
		`{"reasoning":"r","preference":true,"answer":"10 cents"}`:                          "/supported: a preference needs the name of one participant",
		`{"reasoning":"r","preference":true,"supported":"Ada"}`:                            "/answer: a preference needs an answer",
		`{"reasoning":"r","preference":true,"supported":"Zoe","answer":"1"}`:               `/supported: "Zoe" is not a participant; the participants are ["Ada" "Bo"]`,
		`{"reasoning":"r","preference":true,"supported":"Ada and Bo","answer":"10 cents"}`: `/supported: "Ada and Bo" is not a participant; the participants are ["Ada" "Bo"]`,
	} {
		read, err := mad.ModerationContract.Parse(reply, names)
		if strings.HasPrefix(want, "/") {
			require.EqualError(t, err, "parse reply: "+want)
			continue
		}
		require.NoError(t, err, reply)
		require.JSONEq(t, want, string(read.Data))
	}
	_, err := mad.DecisionContract.Parse(`{"reasoning":"r","answer":"a","supported":"Zoe"}`, names)
	require.EqualError(t, err, `parse reply: /supported: "Zoe" is not a participant; the participants are ["Ada" "Bo"]`)
}

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*session)
		want   []string
	}{
		{"two participants and a judge", func(*session) {}, nil},
		{"both roles", func(s *session) { s.Participants[0].Role, s.Participants[1].Role = mad.Negative, mad.Affirmative }, nil},
		{"other roles", func(s *session) { s.Participants[0].Role, s.Participants[1].Role = "physicist", "physicist" }, nil},
		{
			"one role twice", func(s *session) { s.Participants[0].Role, s.Participants[1].Role = mad.Negative, mad.Negative },
			[]string{`participants: "Ada" and "Bo" both have the role "negative", give them different ones or none`},
		},
		{"one participant", func(s *session) { s.Drop("Bo") }, []string{"participants: 1 enabled, mad takes 2"}},
		{"no judge", func(s *session) { s.Judges = nil }, []string{"judges: none, mad needs one"}},
		{
			"two judges", func(s *session) { s.Judges = append(s.Judges, "K") },
			[]string{`judges[1]: "K" has no task, the protocol takes one judge; move a replacement for "Jo" to substitutes`},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := convene(t)
			tt.change(s)
			var got []string
			for _, p := range (mad.Protocol{}).Check(&s.Record) {
				got = append(got, p.String())
			}
			require.Equal(t, tt.want, got)
		})
	}
}

func TestDefaultsAreThoseOfTheSource(t *testing.T) {
	d := mad.Protocol{}.Defaults()
	require.Equal(t, 3, d.MaxRounds)
	require.Equal(t, []float64{0}, d.Temperatures)
	require.Zero(t, *d.JudgeTemperature)
}

func TestGoldenPrompts(t *testing.T) {
	s := convene(t)
	systems := map[string]string{}
	show := func(stage transcript.Kind, round int, text string) {
		step := s.say(stage, round, text)
		d := prompts.Data{
			Topic: "What does the ball cost?", Background: "A bat and a ball cost 1.10.", Round: round, Rounds: 3, Nonce: "mark", Vars: step.Vars, Blind: step.Blind,
			Me: transcript.Profile{Name: step.Actor, Persona: "Checks each sum.", Instructions: "Be brief."}, ActiveNames: []string{"Debater A", "Debater B"},
		}
		for _, p := range s.Participants {
			if p.Name != step.Actor {
				d.Others = append(d.Others, p)
			}
		}
		if c := contracts[step.Contract]; c != nil {
			d.ReplyFields = c.Outline()
		}
		system, user := protocoltest.Render(t, step.Prompt, d)
		if first := systems[step.Actor]; first != "" {
			require.Equal(t, first, system, "the system prompt is the same in all steps")
		}
		systems[step.Actor] = system
		golden.Require(t, "testdata/"+step.Prompt+".golden", "======== system\n"+system+"\n======== user\n"+user+"\n")
	}
	show(transcript.Speech, 1, "x")
	show(transcript.Speech, 1, "x")
	show(transcript.Assessment, 1, noPreference)
	show(transcript.Speech, 2, "x")
	s.Ending.Outcome = transcript.RoundLimit
	show(transcript.Conclusion, 2, `{"candidates":["x"]}`)
	show(transcript.Conclusion, 2, `{"reasoning":"r","answer":"x"}`)
}

// A side is shown all that the configuration says about it.
func TestASideIsToldItsProfile(t *testing.T) {
	for _, prompt := range []string{"mad-affirm", "mad-oppose", "mad-argue"} {
		system, _ := protocoltest.Render(t, prompt, prompts.Data{Topic: "t", Nonce: "mark", Vars: map[string]string{"side": mad.Negative}, Me: transcript.Profile{
			Name: "Ada", Role: "physicist", Side: "science", Position: "5 cents", Persona: "A tutor", KeyArguments: []string{"Add them."}, Instructions: "Be brief.",
		}})
		require.Contains(t, system, "Your role: physicist\nYour side: science\n")
		require.Contains(t, system, "<<<mark begin: your position>>>\n5 cents\n<<<mark end>>>\n<<<mark begin: your persona>>>\nA tutor\n<<<mark end>>>\n"+
			"<<<mark begin: your key arguments>>>\n- Add them.\n<<<mark end>>>\n")
	}
}
