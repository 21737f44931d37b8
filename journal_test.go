package debate_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/golden"
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
	"github.com/elenchus-go/debate/protocol/review"
	"github.com/elenchus-go/debate/protocol/skeptic"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/providers/tool"
	"github.com/elenchus-go/debate/report/archive"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

func TestFailuresSayWhoFailedWhereAndWhy(t *testing.T) {
	f := debate.Failure{Key: transcript.Key{Run: 1, Round: 2, Phase: "respond", Actor: "Ada"}, Message: "network: reset"}
	require.EqualError(t, &f, "run step respond of Ada in round 2: network: reset")
	f.Provider = "openai"
	f.Model = "gpt-9"
	f.Attempts = 4
	require.EqualError(t, &f, "run step respond of Ada in round 2: call provider openai, model gpt-9 (4 attempts): network: reset")
	require.NoError(t, errors.Unwrap(&f), "read from the store it has no cause")
}

func TestAFailureLeadsToItsCause(t *testing.T) {
	d := newPanelDebate(t, 1, nil)
	cause := &providers.Error{Kind: providers.InvalidRequest, Err: errors.New("no such model")}
	_, err := debatetest.Run(t, d.OpenWithProvider(t, failingProvider{cause}))
	require.ErrorIs(t, err, cause)
}

// A failure holds everything that a person needs, both in the process and when read from the store.
func TestAFailureSaysEverything(t *testing.T) {
	for kind, advice := range hintsByKind {
		t.Run(string(kind), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cause := errorOfKind(kind, time.Second)
				model := &scripted.Provider{Func: func(providers.Request) scripted.Reply {
					return scripted.Reply{Err: cause, Latency: time.Second, Usage: transcript.Usage{Input: 7}}
				}}
				d := newDebateWithModel(t, model, func(c *debate.Config, _ *debate.Options) { c.Participants[0].Model = "gpt-9" })
				_, err := debatetest.Run(t, d)
				var failure *debate.Failure
				require.ErrorAs(t, err, &failure)
				var inner *providers.Error
				require.ErrorAs(t, err, &inner)
				require.Equal(t, kind, inner.Kind)
				require.Equal(t, time.Second, inner.RetryAfter)
				require.ErrorIs(t, err, cause.Err)

				require.Equal(t, transcript.Key{Run: 1, Round: 1, Phase: "respond", Actor: "A"}, failure.Key)
				require.Equal(t, []any{kind, "m", "gpt-9", string(kind) + ": down", true}, []any{
					failure.Kind, failure.Provider, failure.Model, failure.Message, failure.Recoverable,
				})
				require.Equal(t, time.Now().UTC(), failure.At)
				require.Len(t, failure.AttemptDetails, failure.Attempts)
				for i, a := range failure.AttemptDetails {
					next := transcript.NextRetried
					if i == failure.Attempts-1 {
						next = transcript.NextGivenUp
					}
					require.Equal(t, transcript.Attempt{
						Provider: "m", Model: "gpt-9", ErrorKind: string(kind), ErrorMessage: failure.Message, Next: next,
						Usage: transcript.Usage{Input: 7}, Duration: time.Second, PromptTokens: a.PromptTokens,
						Began: a.Began, Waited: a.Waited, Hash: a.Hash, Counted: kind == providers.InvalidResponse,
					}, a)
				}
				require.Contains(t, failure.Hint(), advice)

				var back debate.Failure
				require.NoError(t, json.Unmarshal([]byte(debatetest.Encode(t, failure)), &back))
				require.Equal(t, debatetest.Encode(t, failure), debatetest.Encode(t, back))
				require.Equal(t, failure.Error(), back.Error())
				require.Equal(t, failure.Hint(), back.Hint())
				require.NotErrorAs(t, &back, &inner, "its cause is in this process alone")
				require.Equal(
					t,
					debatetest.Encode(t, failure),
					debatetest.Encode(t, debatetest.Result(t, d.OpenWithProvider(t, talkingModel())).Failure),
					"another engine reads the same",
				)
			})
		})
	}
}

func TestHintsNameWhatTheyAreAbout(t *testing.T) {
	for kind, advice := range hintsByKind {
		f := debate.Failure{Key: transcript.Key{Actor: "Ada"}, Kind: kind, Provider: "acme", Model: "gpt-9"}
		hint := f.Hint()
		require.Contains(t, hint, advice, kind)
		switch kind {
		case providers.Authentication, providers.Billing, providers.Network, providers.RateLimit, providers.ServerError, providers.WrongAddress:
			require.Contains(t, hint, "provider acme", kind)
		case providers.InvalidRequest, providers.ContentFiltered, providers.OutOfMemory:
			require.Contains(t, hint, "provider acme")
			require.Contains(t, hint, `model "gpt-9"`)
		case providers.Declined:
			require.Contains(t, hint, "Ada gives no reply")
		case providers.Timeout, providers.InvalidResponse, providers.Loop, providers.Refused:
			require.Contains(t, hint, `model "gpt-9"`, kind)
		case providers.ContextOverflow:
			require.Contains(t, hint, `model "gpt-9"`)
			require.Contains(t, hint, "Ada")
		case providers.Panic: // the program's own code
		}
	}
	require.NotEmpty(t, (&debate.Failure{Kind: "weather"}).Hint(), "also about what a newer version wrote")
}

func TestAModelThatDoesNotExistIsAFailureThatOneCanMend(t *testing.T) {
	model := &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
		if r.Model != "gpt-8" {
			return scripted.Reply{Err: &providers.Error{Kind: providers.InvalidRequest, Err: errors.New("no such model")}}
		}
		return scripted.Reply{Text: "Here I am."}
	}}
	var cfg debate.Config
	d := newDebateWithModel(t, model, func(c *debate.Config, _ *debate.Options) {
		c.Participants[0].Model = "gpt-9"
		cfg = *c
	})
	_, err := debatetest.Run(t, d)
	var failure *debate.Failure
	require.ErrorAs(t, err, &failure)
	require.Contains(t, failure.Hint(), `"gpt-9"`)
	require.NoError(t, d.Retry(t.Context()))
	cfg.Participants[0].Model = "gpt-8"
	require.NoError(t, d.Edit(t.Context(), cfg))
	debatetest.Finish(t, d)
	require.Equal(t, fsm.Completed, debatetest.Result(t, d).State)
}

func TestEventsSayWhereTheyStand(t *testing.T) {
	events := debatetest.Finish(t, newPanelDebate(t, 2, nil))
	last := int64(1) // the configuration
	offsets := map[transcript.Key]int{}
	for _, ev := range events {
		s := ev.Meta()
		if s.Live {
			require.Equal(t, last, s.Seq, "%+v", ev)
		} else {
			require.Equal(t, last+1, s.Seq, "%+v", ev)
			last = s.Seq
		}
		switch ev := ev.(type) {
		case debate.Chunk:
			require.Equal(t, offsets[ev.Key], ev.Offset)
			require.Equal(t, 1, ev.Number)
			offsets[ev.Key] += len(ev.Text)
		case debate.PhaseStarted:
			require.Equal(t, map[transcript.Kind]int{transcript.Speech: 2, transcript.Assessment: 1, transcript.Conclusion: 1}[ev.Stage], ev.Steps)
		case debate.TurnDone:
			if ev.Turn.Kind == transcript.Speech {
				require.Equal(t, len(ev.Turn.Text), offsets[ev.Turn.Key])
			}
		}
	}
}

func TestEventsSurviveJSON(t *testing.T) {
	events := debatetest.Finish(t, newPanelDebate(t, 2, nil))
	types := map[string]bool{}
	for _, ev := range append(events, samples()...) {
		text := debatetest.Encode(t, ev)
		require.Contains(t, text, `"type":"`+ev.Meta().Type+`"`)
		back, err := debate.ParseEvent([]byte(text))
		require.NoError(t, err)
		require.IsType(t, ev, back)
		require.JSONEq(t, text, debatetest.Encode(t, back))
		types[ev.Meta().Type] = true
	}
	require.Len(t, types, 12, "of all kinds: %v", types)
}

func samples() []debate.Event {
	failure := &debate.Failure{Kind: providers.Network, Message: "cut", Attempts: 4, Recoverable: true}
	return []debate.Event{
		debate.ConfigChanged{EventMeta: debate.EventMeta{Type: "config", Seq: 1}, Config: []byte(`{"topic":"T"}`)},
		debate.Dropped{EventMeta: debate.EventMeta{Type: "dropped", Seq: 2}, Name: "A", Failure: failure},
		debate.Decided{EventMeta: debate.EventMeta{Type: "decided", Seq: 3}, Action: "retry"},
		debate.Annotated{EventMeta: debate.EventMeta{Type: "annotated", Seq: 4}, Name: "rating", Value: []byte("5")},
		debate.TurnFailed{
			EventMeta: debate.EventMeta{Type: "turn_failed", Live: true},
			Attempt:   &debate.Attempt{Number: 2},
			Error:     providers.Timeout,
			RetryIn:   time.Second,
		},
		debate.Warning{EventMeta: debate.EventMeta{Type: "warning", Live: true}, Text: "look"},
	}
}

func TestParseEventRefusesWhatIsNone(t *testing.T) {
	for text, want := range map[string]string{
		`{`:                             "parse event: unexpected end",
		`{"type":"thunder"}`:            `type "thunder" is unknown`,
		`{"type":"chunk","offset":"x"}`: `parse event of type "chunk"`,
	} {
		_, err := debate.ParseEvent([]byte(text))
		require.ErrorContains(t, err, want)
	}
}

func FuzzParseEvent(f *testing.F) {
	for _, ev := range samples() {
		f.Add(debatetest.Encode(f, ev))
	}
	f.Fuzz(func(t *testing.T, text string) {
		ev, err := debate.ParseEvent([]byte(text))
		if err == nil {
			require.NotNil(t, ev)
		}
	})
}

func TestAResultAddsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		usage := transcript.Usage{Input: 100, Cached: 10, Output: 20, Reasoning: 5}
		d := newPanelDebate(t, 0, func(c *debate.Config, o *debate.Options) {
			c.Limits.MaxRounds = 2
			c.Protocol = panel.Protocol{Personas: panel.Binary, Format: panel.RoundLimited}
			o.Providers["m"] = &scripted.Provider{Func: func(providers.Request) scripted.Reply {
				return scripted.Reply{Text: "so", Latency: time.Second, Usage: usage}
			}}
			o.Providers["j"] = &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
				e := debatetest.DigestModel{Names: []string{"A", "B"}}
				return scripted.Reply{Text: e.Say(1, r), Latency: time.Second, Usage: usage}
			}}
		})
		time.Sleep(time.Minute)
		res := debatetest.RunResult(t, d)
		require.Equal(t, 8, res.Total.Turns)
		require.Equal(t, transcript.Usage{Input: 800, Cached: 80, Output: 160, Reasoning: 40}, res.Total.Usage)
		require.Equal(t, 8*time.Second, res.Total.Duration)
		require.Equal(
			t,
			[]int{1, 3, 4},
			[]int{res.Rounds[0].Turns, res.Rounds[1].Turns, res.Rounds[2].Turns},
			"personas; a round; a round and the verdict",
		)
		require.Equal(t, map[string]int{"for": 2, "against": 2, "": 4}, map[string]int{
			"for": res.Sides["for"].Turns, "against": res.Sides["against"].Turns, "": res.Sides[""].Turns,
		})
		require.Equal(t, time.Minute, res.Started.Sub(res.Created))
		require.Equal(t, 8*time.Second, res.Completed.Sub(res.Started))
		require.Equal(t, res.Completed, res.Updated)
		require.Equal(t, 8*time.Second, res.RunningTime)
		require.Empty(t, res.Warnings)
	})
}

func TestARateLimitedParticipantShows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newPanelDebate(t, 1, func(_ *debate.Config, o *debate.Options) {
			o.Providers["m"] = &scripted.Provider{Replies: []scripted.Reply{
				{Err: &providers.Error{Kind: providers.RateLimit, Err: errors.New("slow down")}}, {Text: "first"}, {
					Text:         "second",
					FinishReason: providers.Length,
				},
			}}
		})
		res := debatetest.RunResult(t, d)
		require.Equal(t, []debate.ParticipantStatus{
			{Name: "A", State: "rate_limited", Attempts: 2, Errors: []string{"rate_limit: slow down"}},
			{Name: "B", State: "active", Attempts: 1},
		}, res.Participants)
		require.Equal(t, []string{"round 1, respond of B: the reply was truncated at its token limit"}, res.Warnings)
	})
}

// The form of an answer's data does not depend on who dropped out.
func TestTheAnswerOfABenchIsAJointOneWhoeverIsLeft(t *testing.T) {
	c := debatetest.PairConfig(panel.Protocol{})
	c.Judges = []debate.Participant{{Name: "J", Provider: "j"}, {Name: "K", Provider: "k"}}
	c.OnJudgeFailure, c.Limits.MaxRounds = debate.DropJudge, 1
	c.Retries = map[providers.ErrorKind]int{providers.ServerError: 0}
	d := debatetest.New(t, c, debate.Options{Providers: map[string]providers.Provider{
		"m": talkingModel(), "j": scriptedJudge(t, 1), "k": failingProvider{&providers.Error{
			Kind: providers.ServerError,
			Err:  errors.New("gone"),
		}},
	}})
	debatetest.Finish(t, d)
	var joint judge.Opinion[judge.Verdict]
	decodeJSON(t, debatetest.Result(t, d).Answer.Data, &joint)
	require.Equal(t, "A draw.", joint.Value.Summary)
}

// refuses returns a function that checks that a turn, or an answer, is decoded into a T only if it has T's type.
func refuses[T, From any](decode func(From) (T, error), with func(typ string) From) func(*testing.T, string, bool) {
	return func(t *testing.T, typ string, own bool) {
		_, err := decode(with(typ))
		if own {
			require.NoError(t, err)
			return
		}
		require.ErrorContains(t, err, fmt.Sprintf("%q, want", typ))
	}
}

func TestRepliesAreDecodedIntoTheirOwnTypes(t *testing.T) {
	turn := func(contract string) transcript.Turn {
		return transcript.Turn{Contract: contract, Data: json.RawMessage(`{}`)}
	}
	requireOwnTypes(t, map[string]func(*testing.T, string, bool){
		judge.AssessmentContract.Name():     refuses(transcript.Decode[judge.Assessment], turn),
		judge.VerdictContract.Name():        refuses(transcript.Decode[judge.Verdict], turn),
		protocol.PersonasContract.Name():    refuses(transcript.Decode[protocol.Personas], turn),
		skeptic.DocumentsContract.Name():    refuses(transcript.Decode[skeptic.Documents], turn),
		skeptic.PlanContract.Name():         refuses(transcript.Decode[skeptic.ImprovedPlan], turn),
		refine.CritiqueContract.Name():      refuses(transcript.Decode[refine.Critique], turn),
		refine.SummaryContract.Name():       refuses(transcript.Decode[refine.Summary], turn),
		refine.SolutionContract.Name():      refuses(transcript.Decode[refine.Solution], turn),
		arbitration.ArgumentContract.Name(): refuses(transcript.Decode[arbitration.Case], turn),
		arbitration.RulingContract.Name():   refuses(transcript.Decode[arbitration.Ruling], turn),
		panel.AudienceContract.Name():       refuses(transcript.Decode[panel.AudienceVote], turn),
		procon.JudgmentContract.Name():      refuses(transcript.Decode[procon.Judgment], turn),
		council.RankingContract.Name():      refuses(transcript.Decode[council.Ranking], turn),
		council.AnswerContract.Name():       refuses(transcript.Decode[council.ChairAnswer], turn),
		mad.ModerationContract.Name():       refuses(transcript.Decode[mad.Moderation], turn),
		mad.CandidatesContract.Name():       refuses(transcript.Decode[mad.Candidates], turn),
		mad.DecisionContract.Name():         refuses(transcript.Decode[mad.Decision], turn),
		vote.BallotContract.Name():          refuses(transcript.Decode[vote.Ballot], turn),
		vote.RulingContract.Name():          refuses(transcript.Decode[vote.Ruling], turn),
		review.ClaimsContract.Name():        refuses(transcript.Decode[review.Claims], turn),
		review.VotesContract.Name():         refuses(transcript.Decode[review.Votes], turn),
		review.RulingsContract.Name():       refuses(transcript.Decode[review.Rulings], turn),
	})
}

func TestAnswersAreDecodedByTheirOwnProtocols(t *testing.T) {
	answer := func(typ string) protocol.Answer { return protocol.Answer{Type: typ, Data: json.RawMessage(`{}`)} }
	requireOwnTypes(t, map[string]func(*testing.T, string, bool){
		panel.Protocol{}.Name():       refuses(panel.DecodeAnswer, answer),
		skeptic.Protocol{}.Name():     refuses(skeptic.DecodeAnswer, answer),
		refine.Protocol{}.Name():      refuses(refine.DecodeAnswer, answer),
		arbitration.Protocol{}.Name(): refuses(arbitration.DecodeAnswer, answer),
		procon.Protocol{}.Name():      refuses(procon.DecodeAnswer, answer),
		council.Protocol{}.Name():     refuses(council.DecodeAnswer, answer),
		mad.Protocol{}.Name():         refuses(mad.DecodeAnswer, answer),
		oversight.Protocol{}.Name():   refuses(oversight.DecodeAnswer, answer),
		vote.Protocol{}.Name():        refuses(vote.DecodeAnswer, answer),
		review.Protocol{}.Name():      refuses(review.DecodeAnswer, answer),
	})
	_, err := vote.DecodeAnswer(protocol.Answer{})
	require.EqualError(t, err, "decode answer: there is none yet")
	_, err = vote.DecodeAnswer(protocol.Answer{Type: "vote/1", Data: json.RawMessage(`{"answer":1}`)})
	require.ErrorContains(t, err, `decode answer of type "vote/1": `)
}

func requireOwnTypes(t *testing.T, decoders map[string]func(*testing.T, string, bool)) {
	for of, check := range decoders {
		for typ := range decoders {
			t.Run(of+" from "+typ, func(t *testing.T) { check(t, typ, typ == of) })
		}
	}
}

// secretsOf returns the secrets in the entries of a stored journal, and the fields of its first entry.
func secretsOf(t *testing.T, s store.Store, id string) (list []string, first map[string]any) {
	t.Helper()
	_, entries, err := s.Load(t.Context(), id, 0)
	require.NoError(t, err)
	for _, e := range entries {
		fields := map[string]any{}
		require.NoError(t, json.Unmarshal([]byte(debatetest.Encode(t, e.Data)), &fields))
		if first == nil {
			first = fields
		}
		if secret, ok := fields["secret"].(string); ok {
			list = append(list, secret)
		}
	}
	return list, first
}

func TestEachDebateHasASecret(t *testing.T) {
	s := store.Memory()
	e := debatetest.Engine(t, debate.Options{Providers: providersOf(talkingModel(), scriptedJudge(t, 1)), Store: s})
	c := debatetest.PairConfig(nil)
	d := debatetest.Create(t, e, c)
	events := debatetest.Finish(t, d)
	secrets, _ := secretsOf(t, s, d.ID())
	require.Len(t, secrets, 1, "in the first entry, and in no other one")
	require.Len(t, secrets[0], 22, "16 bytes")

	c.ID = "other"
	debatetest.Create(t, e, c)
	fork := debatetest.Fork(t, e, d.ID(), 5, debate.Edits{ID: "fork"})
	twice := debatetest.Fork(t, e, fork.ID(), 0, debate.Edits{ID: "twice"})
	for _, id := range []string{"other", "fork", "twice"} {
		own, _ := secretsOf(t, s, id)
		require.Len(t, own, 1, id)
		require.NotContains(t, secrets, own[0], id)
		secrets = append(secrets, own[0])
	}
	for _, h := range []*debate.Debate{d, fork, twice} {
		for m, err := range h.Replay(t.Context()) {
			require.NoError(t, err)
			events = append(events, m.Event)
		}
	}
	for _, ev := range events {
		for _, shown := range []string{debatetest.Encode(t, ev), fmt.Sprintf("%v %+v %#v %s", ev, ev, ev, ev)} {
			for _, secret := range secrets {
				require.NotContains(t, shown, secret)
			}
			require.NotContains(t, shown, "secret")
		}
	}
}

func TestAnImportKeepsTheSecret(t *testing.T) {
	s, other := store.Memory(), store.Memory()
	d := debatetest.New(t, debatetest.PairConfig(nil), debate.Options{Providers: providersOf(talkingModel(), scriptedJudge(t, 1)), Store: s})
	j, err := archive.Export(t.Context(), s, d.ID())
	require.NoError(t, err)
	again := &archive.Journal{}
	require.NoError(t, json.Unmarshal([]byte(debatetest.Encode(t, j)), again))
	require.NoError(t, archive.Import(t.Context(), other, again))
	want, _ := secretsOf(t, s, d.ID())
	is, _ := secretsOf(t, other, d.ID())
	require.Equal(t, want, is)
}

func TestADamagedSecretIsNamedAndNotShown(t *testing.T) {
	row := validConfigRow(t)
	fields := map[string]any{}
	require.NoError(t, json.Unmarshal([]byte(row), &fields))
	secret := fields["secret"].(string)
	e := debatetest.Engine(t, debate.Options{Store: storeOfRows(t, strings.Replace(row, secret, secret[:21], 1))})
	_, err := e.Open(t.Context(), "d")
	require.ErrorContains(t, err, "read entry 1 of debate d")
	require.ErrorContains(t, err, "want 16 bytes in base64url")
	require.NotContains(t, err.Error(), secret[:21])
}

// counter is a window.TokenCounter.
type counter struct{}

func (counter) Count(_, text string) int { return len(text) / 3 }

func TestTheJournalNamesItsRules(t *testing.T) {
	s := store.Memory()
	options := debate.Options{Providers: providersOf(talkingModel(), scriptedJudge(t, 9)), Store: s}
	d := debatetest.New(t, debatetest.PairConfig(nil), options)
	runOnce := func(o debate.Options) {
		e := debatetest.Engine(t, o)
		d := debatetest.Open(t, e, "d")
		_, err := d.RunOnce(t.Context())
		require.NoError(t, err)
	}
	runOnce(options)
	runOnce(options)
	own := options
	own.TokenCounter, own.ExtractAnswer = &counter{}, answerLine
	runOnce(own)
	runOnce(own)
	runOnce(options)

	var list []debate.Rules
	for m, err := range d.Replay(t.Context()) {
		require.NoError(t, err)
		if rules := m.Event.Meta().Rules; rules != nil {
			list = append(list, *rules)
		}
	}
	const here = "github.com/elenchus-go/debate_test."
	number := list[0].Number
	require.Positive(t, number)
	require.Equal(t, []debate.Rules{
		{Number: number},
		{Number: number, Counter: "*" + here + "counter", Extractor: here + "answerLine"},
		{Number: number},
	}, list, "only where they change")
}

func TestTheAnswerOfASpeechIsStored(t *testing.T) {
	s := store.Memory()
	c := configWithRules(5, detect.Rule{Signal: detect.Unanimous, Effect: detect.Stop})
	calls := 0
	extract := func(t transcript.Turn) string {
		calls++
		return answerLine(t)
	}
	o := debate.Options{Providers: providersOf(repeatingModel, scriptedJudge(t, 9)), ExtractAnswer: extract, Store: s}
	d := debatetest.New(t, c, o)
	res := debatetest.RunResult(t, d)
	require.Equal(t, transcript.Unanimous, res.Ending.Outcome)
	speeches := 0
	for _, turn := range res.Turns {
		if turn.Kind != transcript.Speech {
			require.Nil(t, turn.Extracted, "%s", turn.Key)
			continue
		}
		speeches++
		require.NotNil(t, turn.Extracted, "%s", turn.Key)
		require.Equal(t, answerLine(turn), *turn.Extracted)
	}
	require.Equal(t, speeches, calls, "once for each speech")

	o.ExtractAnswer = func(transcript.Turn) string { return "another answer for each " + fmt.Sprint(calls) }
	later := debatetest.Engine(t, o)
	last := int64(0) // the last speech, from which the findings follow
	for _, turn := range res.Turns {
		if turn.Kind == transcript.Speech {
			last = max(last, turn.Seq)
		}
	}
	fork := debatetest.Fork(t, later, "d", last, debate.Edits{ID: "fork"})
	again := debatetest.Result(t, fork)
	require.Equal(t, res.Findings, again.Findings, "the findings follow from what is stored")
}

// A fork recognizes the replies that it has from its parent.
func TestAReplyIsGivenAgainElsewhere(t *testing.T) {
	s := store.Memory()
	c := debatetest.PairConfig(nil)
	c.Participants[0] = debate.Participant{Name: "A", Human: true}
	e := debatetest.Engine(t, debate.Options{Providers: providersOf(talkingModel(), scriptedJudge(t, 9)), Store: s})
	d := debatetest.Create(t, e, c)
	debatetest.Finish(t, d)
	asked := debatetest.Waiting(t, d)
	key := asked[0].Key
	require.NoError(t, d.Answer(t.Context(), key, "No.", ""))

	elsewhere := debatetest.Engine(t, debate.Options{Store: s})
	d = debatetest.Open(t, elsewhere, "d")
	list := []*debate.Debate{d}
	for _, id := range []string{"fork", "twice"} {
		d = debatetest.Fork(t, elsewhere, d.ID(), 0, debate.Edits{ID: id})
		list = append(list, d)
	}
	for _, d := range list {
		require.NoError(t, d.Answer(t.Context(), key, " No.\n", ""), "again the same, in %s", d.ID())
		require.ErrorIs(t, d.Answer(t.Context(), key, "Yes.", ""), debate.ErrAnswered)
	}
}

// A request of each kind has the hash that the journal keeps; see package forktest for all presets.
func TestPromptOfComparesHashes(t *testing.T) {
	s := store.Memory()
	o := debate.Options{Providers: providersOf(talkingModel(), scriptedJudge(t, 9)), Store: s}
	e := debatetest.Engine(t, o)
	d := debatetest.Create(t, e, debatetest.PairConfig(nil))
	res := debatetest.RunResult(t, d)
	fork := debatetest.Fork(t, e, "d", 0, debate.Edits{ID: "fork"})
	twice := debatetest.Fork(t, e, "fork", 0, debate.Edits{ID: "twice"})
	seen := map[string]bool{}
	for _, turn := range res.Turns {
		last := turn.Attempts[len(turn.Attempts)-1]
		require.Len(t, last.Hash, 43)
		require.False(t, seen[last.Hash], "each hash has a key of its own")
		seen[last.Hash] = true
		for _, h := range []*debate.Debate{d, fork, twice} {
			p := debatetest.PromptOf(t, h, turn.Key)
			require.Equal(t, "equal", p.Match, "%s in %s", turn.Key, h.ID())
		}
	}
	secrets, _ := secretsOf(t, s, "d")
	copies, first := secretsOf(t, s, "fork")
	require.Len(t, first["copied_keys"], len(seen))
	require.NotContains(t, debatetest.Encode(t, first), secrets[0], "a fork does not have the secret of its parent")
	require.NotEqual(t, secrets, copies)

	for name, change := range map[string]func(map[string]any){
		"different": func(attempt map[string]any) { attempt["hash"] = strings.Repeat("A", 43) },
		"unknown":   func(attempt map[string]any) { delete(attempt, "hash") },
	} {
		status, entries, err := s.Load(t.Context(), "d", 0)
		require.NoError(t, err)
		for i := range entries {
			fields := map[string]any{}
			require.NoError(t, json.Unmarshal([]byte(debatetest.Encode(t, entries[i].Data)), &fields))
			if turn, ok := fields["turn"].(map[string]any); ok {
				change(turn["attempts"].([]any)[0].(map[string]any))
			}
			entries[i].Data = json.RawMessage(debatetest.Encode(t, fields))
		}
		other := store.Memory()
		require.NoError(t, other.Commit(t.Context(), store.Change{ID: "d", Entries: entries, Status: status}))
		e := debatetest.Engine(t, debate.Options{Store: other})
		d := debatetest.Open(t, e, "d")
		p := debatetest.PromptOf(t, d, res.Turns[0].Key)
		require.Equal(t, name, p.Match)
	}
}

// fieldsOf returns the paths of the fields that a type has in JSON.
func fieldsOf(t reflect.Type, path string, within []reflect.Type) (list []string) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || slices.Contains(within, t) || t.Name() == "Time" {
		return nil
	}
	within = append(slices.Clip(within), t)
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported() && !f.Anonymous:
			continue
		case f.Anonymous && name == "":
			list = append(list, fieldsOf(f.Type, path, within)...)
			continue
		case name == "":
			name = f.Name
		}
		list = append(list, path+"."+name)
		list = append(list, fieldsOf(f.Type, path+"."+name, within)...)
	}
	return list
}

// If this test fails and a version with the present format was published, raise store.Format. Then run the test with -update.
func TestTheFieldsOfEntriesBelongToTheFormat(t *testing.T) {
	text := ""
	for _, v := range []reflect.Type{
		debate.FirstEntry(), reflect.TypeFor[debate.StateChanged](), reflect.TypeFor[debate.PhaseStarted](), reflect.TypeFor[debate.TurnDone](),
		reflect.TypeFor[debate.Dropped](), reflect.TypeFor[debate.Decided](), reflect.TypeFor[debate.Asked](),
		reflect.TypeFor[debate.ToolsCalled](),
		reflect.TypeFor[debate.Annotated](),
	} {
		name := strings.Replace(v.Name(), "storedConfig", "ConfigChanged", 1)
		for _, field := range slices.Sorted(slices.Values(fieldsOf(v, name, nil))) {
			text += field + "\n"
		}
	}
	for _, field := range slices.Sorted(slices.Values(fieldsOf(reflect.TypeFor[debate.Config](), "Config", nil))) {
		text += field + "\n"
	}
	golden.Require(t, filepath.Join("testdata", "entry_fields.txt"), text)
}

// An unknown field is damage, such as a flipped bit in a name.
func TestAnUnknownFieldOfAnEntry(t *testing.T) {
	config := validConfigRow(t)
	with := func(row, old, now string) string {
		require.Contains(t, row, old)
		return strings.Replace(row, old, now, 1)
	}
	note := `{"type": "annotated", "seq": 2, "name": "n", "value": 1}`
	for name, tt := range map[string]struct {
		rows []any
		want string
	}{
		"none": {[]any{config, note}, ""},
		"in an entry": {
			[]any{config, with(note, `"name"`, `"nameW": 1, "name"`)},
			`read entry 2 of debate d: parse event of type "annotated": json: unknown field "nameW"`,
		},
		"in a configuration": {
			[]any{with(config, `"topic"`, `"topicW": 1, "topic"`)},
			`read entry 1 of debate d: json: unknown field "topicW"`,
		},
		"in the parameters of a protocol": {
			[]any{with(config, `"name":"panel/1"`, `"name":"panel/1","modeW":1`)},
			`read entry 1 of debate d: protocol panel/1: json: unknown field "modeW"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := debate.NewEngine(debate.Options{Store: storeOfRows(t, tt.rows...)})
			require.NoError(t, err)
			_, err = e.Open(t.Context(), "d")
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tt.want)
		})
	}
}

// People read the arguments of a call whole, without the escapes that protect HTML.
func TestQuestionsShowTheWholeArguments(t *testing.T) {
	for _, tt := range []struct{ arguments, want string }{
		{
			`{"a":"x \u003c \u0026 \u003E y","b":[1,"\n\u00e9"]}`,
			"A calls send with these arguments:\n{\n  \"a\": \"x < & > y\",\n  \"b\": [\n    1,\n    \"\\n\\u00e9\"\n  ]\n}",
		},
		{"no JSON", "A calls send with these arguments:\nno JSON"},
	} {
		q := debate.Question{Cause: "A calls send", Call: &tool.Record{Arguments: []byte(tt.arguments)}}
		require.Equal(t, tt.want, q.String())
	}
	require.Equal(t, "a gate", (&debate.Question{Cause: "a gate"}).String())
}
