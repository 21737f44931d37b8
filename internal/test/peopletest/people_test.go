// Package peopletest contains only tests of debates in which people take part: in seats of participants and judges, and at
// gates.
package peopletest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/council"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// table is a debate with people, on a store that other engines can open.
type table struct {
	*debate.Debate
	t     *testing.T
	store store.Store
	model providers.Provider
	keep  bool // engines keep reasoning and replies
}

// sit creates the debate of the participants and a judge in two simultaneous rounds. A name that begins with "@" is a
// person's. Models take a second for each reply.
func sit(t *testing.T, names string, change func(*debate.Config)) *table {
	t.Helper()
	c := debate.Config{ID: "d", Topic: "Ban cars?", Protocol: panel.Protocol{Format: panel.RoundLimited, Mode: panel.Simultaneous}, Limits: debate.Limits{MaxRounds: 2}}
	for name := range strings.FieldsSeq(names) {
		name, human := strings.CutPrefix(name, "@")
		c.Participants = append(c.Participants, debate.Participant{Name: name, Human: human})
	}
	c.Judges = []debate.Participant{{Name: "J"}}
	if change != nil {
		change(&c)
	}
	b := &table{t: t, store: store.Memory(), model: slowly{&debatetest.DigestModel{Names: strings.Fields(strings.ReplaceAll(names, "@", ""))}}}
	d := debatetest.Create(t, b.engine(), c)
	b.Debate = d
	return b
}

// A remark need not fit into the window of a person, who has none.
func TestRemarksReachDebatesWithPeople(t *testing.T) {
	b := sit(t, "A @B", func(c *debate.Config) { c.Judges = []debate.Participant{{Name: "J", Human: true}} })
	require.NoError(t, b.Inject(t.Context(), debate.Remark{From: "Zoe", Text: "Mind the gap."}))
	require.Contains(t, strings.Join(b.said(), "\n"), "Zoe")
	require.ErrorContains(t, b.Inject(t.Context(), debate.Remark{From: "Zoe", Text: strings.Repeat("gap ", 100_000)}), "fit into the window of A beside a reply")
}

// engine returns another engine on the store.
func (b *table) engine() *debate.Engine {
	b.t.Helper()
	e := debatetest.Engine(b.t, debate.Options{
		Store: b.store, Providers: map[string]providers.Provider{"m": b.model}, Contracts: []*reply.Contract{reply.New[mood]("mood/1")},
		KeepReasoning: b.keep, KeepReplies: b.keep,
	})
	b.t.Cleanup(func() { _ = e.Close(context.Background()) })
	return e
}

// elsewhere returns the debate as another process sees it.
func (b *table) elsewhere() *debate.Debate {
	b.t.Helper()
	return debatetest.Open(b.t, b.engine(), "d")
}

// run drives the debate until it ends or waits for people, and returns its state.
func (b *table) run() fsm.State {
	b.t.Helper()
	debatetest.Finish(b.t, b.Debate)
	return b.status().State
}

func (b *table) status() store.Status {
	b.t.Helper()
	return debatetest.Status(b.t, b.Debate)
}

// asked returns what the named person is asked.
func (b *table) asked(name string) debate.Asked {
	b.t.Helper()
	list := debatetest.Waiting(b.t, b.Debate)
	for _, a := range list {
		if a.Key.Actor == name {
			return a
		}
	}
	b.t.Fatalf("%s is not asked, only %v", name, list)
	return debate.Asked{}
}

// answer has the named person reply from another process.
func (b *table) answer(name, text string) {
	b.t.Helper()
	require.NoError(b.t, b.elsewhere().Answer(b.t.Context(), b.asked(name).Key, text, name+" Smith"))
}

// said returns the speakers of the turns, in order.
func (b *table) said() (list []string) {
	for _, t := range debatetest.Result(b.t, b.Debate).Turns {
		list = append(list, fmt.Sprintf("%s %d %s", t.Phase, t.Round, t.Actor))
	}
	return list
}

// slowly is a model that takes a second for each reply.
type slowly struct{ providers.Provider }

func (s slowly) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		return providers.Response{}, ctx.Err()
	}
	return s.Provider.Generate(ctx, r)
}

var wholeDebate = []string{
	"respond 1 A", "respond 1 B", "respond 1 C", "assess 1 J", "respond 2 A", "respond 2 B", "respond 2 C", "assess 2 J", "verdict 2 J",
}

// Models speak while a person thinks. A person who answers first waits for them, and one who answers last continues the
// debate, from any process and after any time.
func TestOneOfThreeIsAPerson(t *testing.T) {
	for name, first := range map[string]bool{"answers first": true, "answers last": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := sit(t, "A @B C", nil)
				if first {
					go b.run()
				}
				for round := 1; round <= 2; round++ {
					if first {
						time.Sleep(time.Second / 2) // A and C are speaking
						require.Equal(t, fsm.AwaitingResponses, b.status().State)
						require.Equal(t, []string{"B"}, b.status().Waiting)
						b.answer("B", fmt.Sprintf("Reply %d.", round))
						time.Sleep(1500 * time.Millisecond) // they have spoken, and J has assessed the round
						continue
					}
					require.Equal(t, fsm.Paused, b.run())
					require.Equal(t, []string{"B"}, b.status().Waiting)
					time.Sleep(30 * 24 * time.Hour)
					b.answer("B", fmt.Sprintf("Reply %d.", round))
				}
				time.Sleep(time.Minute)
				if !first {
					require.Equal(t, fsm.Completed, b.run())
				}
				r := debatetest.Result(t, b.Debate)
				require.Equal(t, fsm.Completed, r.State)
				require.Equal(t, wholeDebate, b.said())
				require.Equal(t, "Reply 2.", r.Turns[5].Text)
				require.Equal(t, "B Smith", r.Turns[5].By)
				require.Zero(t, r.Turns[5].Usage)
				require.Less(t, r.RunningTime, 10*time.Second, "waiting for people is no running time")
				require.Empty(t, b.status().Waiting)
				asked := 0
				for s, err := range b.Replay(t.Context()) {
					require.NoError(t, err)
					if _, ok := s.Event.(debate.Asked); ok {
						asked++
					}
				}
				require.Equal(t, 2, asked, "once for each step")
			})
		})
	}
}

// A person is told what to reply to in words, not as a model is.
func TestWhatAPersonIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sit(t, "A @B", func(c *debate.Config) { c.Judges[0] = debate.Participant{Name: "J", Human: true} })
		require.Equal(t, fsm.Paused, b.run())
		a := b.asked("B")
		require.Contains(t, a.Task, "Round 1 of 2.")
		require.Equal(t, transcript.Speech, a.Kind)
		require.Equal(t, 4096, a.Tokens)
		require.Empty(t, a.Schema)
		require.Empty(t, a.Contract)
		b.answer("B", "No.")
		require.Equal(t, fsm.Paused, b.run())
		a = b.asked("J")
		require.Contains(t, a.Task, "Assess A and B")
		require.NotContains(t, a.Task, "JSON")
		require.Contains(t, a.Fields, "should_continue")
		require.True(t, json.Valid(a.Schema))
		require.Equal(t, "assessment/1", a.Contract)
		require.Contains(t, string(a.Schema), `"A"`, "a judge sees names")
	})
}

// Two people in one parallel phase reply in either order, while a model's call is in flight.
func TestTwoPeopleInAnyOrder(t *testing.T) {
	for _, order := range []string{"A C", "C A"} {
		t.Run(order, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := sit(t, "@A B @C", func(c *debate.Config) { c.Limits.MaxRounds = 1 })
				done := make(chan fsm.State, 1)
				go func() { done <- b.run() }()
				time.Sleep(time.Second / 2)
				names := strings.Fields(order)
				models := b.asked(names[0]).Key
				models.Actor = "B"
				require.ErrorIs(t, b.Answer(t.Context(), models, "I am B.", ""), debate.ErrNotAsked, "a model speaks for B")
				b.answer(names[0], "First.")
				require.Equal(t, fsm.AwaitingResponses, b.status().State)
				require.Equal(t, fsm.Paused, <-done, "the model has replied, and the other person has not")
				require.Equal(t, []string{names[1]}, b.status().Waiting)
				b.answer(names[1], "Second.")
				require.Equal(t, fsm.Completed, b.run())
				require.Equal(t, []string{"respond 1 A", "respond 1 B", "respond 1 C", "assess 1 J", "verdict 1 J"}, b.said())
			})
		})
	}
}

// Replies are checked at once, field by field, as those of models.
func TestRepliesAreChecked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sit(t, "A @B", func(c *debate.Config) {
			c.Judges[0] = debate.Participant{Name: "J", Human: true}
			c.Participants[1].MaxTokens = 100
		})
		b.run()
		key := b.asked("B").Key
		var problems *debate.Problems
		for text, want := range map[string]string{" \n": "it is blank", strings.Repeat("word ", 200): "use at most 100"} {
			require.ErrorAs(t, b.Answer(t.Context(), key, text, ""), &problems)
			require.ErrorContains(t, problems, want)
		}
		require.NoError(t, b.Answer(t.Context(), key, "No.", ""))
		require.NoError(t, b.Answer(t.Context(), key, "No.", ""), "again the same")
		require.Equal(t, "B", debatetest.Result(t, b.Debate).Turns[1].By)
		require.ErrorIs(t, b.Answer(t.Context(), key, "Yes.", ""), debate.ErrAnswered)
		require.ErrorIs(t, b.Decline(t.Context(), key, "", ""), debate.ErrAnswered)
		other := key
		other.Round = 2
		require.ErrorIs(t, b.Answer(t.Context(), other, "No.", ""), debate.ErrNotAsked)
		other = key
		other.Actor = "A"
		require.ErrorIs(t, b.Answer(t.Context(), other, "No.", ""), debate.ErrNotAsked, "A is a model")

		b.run()
		key = b.asked("J").Key
		require.ErrorAs(t, b.Answer(t.Context(), key, `{"participants": [], "should_continue": 3}`, ""), &problems)
		require.Greater(t, len(problems.List), 1)
		require.ErrorContains(t, problems, "should_continue")
		fine := debatetest.Encode(t, debatetest.Assessment(true, "A", "B"))
		require.NoError(t, b.Answer(t.Context(), key, fine, ""))
		require.NoError(t, b.Answer(t.Context(), key, fine, ""))
		require.ErrorIs(t, b.Answer(t.Context(), key, debatetest.Encode(t, debatetest.Assessment(false, "A", "B")), ""), debate.ErrAnswered)
	})
}

// A person's reply to a blind step names others by pseudonyms. Giving it again is not an error, in any format.
func TestABlindReplyIsGivenAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sit(t, "A B @C", func(c *debate.Config) {
			c.Protocol, c.Limits.MaxRounds = council.Protocol{}, 0
		})
		b.run()
		b.answer("C", "No.")
		require.Equal(t, fsm.Paused, b.run())
		a := b.asked("C")
		require.Equal(t, "rank", a.Key.Phase)
		require.NotContains(t, a.Task, "A, B")
		var schema struct {
			Properties struct {
				Ranking struct{ Required []string }
			}
		}
		require.NoError(t, json.Unmarshal(a.Schema, &schema), "%s", a.Schema)
		names := schema.Properties.Ranking.Required
		require.Len(t, names, 2, "%s", a.Schema)
		reply := func(first, second string) string {
			return fmt.Sprintf(`{"comparison": "Both are short.", "ranking": [{"name": %q, "reason": "x"}, {"name": %q, "reason": "y"}]}`, first, second)
		}
		require.NoError(t, b.Answer(t.Context(), a.Key, reply(names[0], names[1]), ""))
		require.NoError(t, b.elsewhere().Answer(t.Context(), a.Key, " "+reply(names[0], names[1])+"\n", ""))
		require.ErrorIs(t, b.elsewhere().Answer(t.Context(), a.Key, reply(names[1], names[0]), ""), debate.ErrAnswered)
	})
}

// A person who declines fails as a model does: the policies apply.
func TestDecline(t *testing.T) {
	for name, tt := range map[string]struct {
		names  string
		change func(*debate.Config)
		who    string
		state  fsm.State // after the debate has gone on
		check  func(*table, *debate.Result)
	}{
		"a participant is dropped": {"A @B C", nil, "B", fsm.Completed, func(b *table, r *debate.Result) {
			require.Equal(b.t, "dropped", r.Participants[1].State)
			require.NotContains(b.t, b.said(), "respond 1 B")
		}},
		"without it, the debate fails": {"A @B", nil, "B", fsm.Error, func(b *table, r *debate.Result) {
			require.Equal(b.t, providers.Declined, r.Failure.Kind)
			require.Contains(b.t, r.Failure.Message, "Bo declined: no time")
			require.NoError(b.t, b.Retry(b.t.Context()))
			require.Equal(b.t, fsm.Paused, b.run())
			require.Equal(b.t, []string{"B"}, b.status().Waiting, "it is asked again")
			b.answer("B", "Well, no.")
			require.Equal(b.t, fsm.Paused, b.run(), "the second round")
		}},
		"somebody is asked": {"A @B C", func(c *debate.Config) { c.OnFailure = debate.Ask }, "B", fsm.Paused, func(b *table, r *debate.Result) {
			require.Equal(b.t, providers.Declined, r.Question.Failure.Kind)
			require.Empty(b.t, b.status().Waiting)
			before := b.status().Seq
			require.NoError(b.t, b.Pause(b.t.Context()))
			require.Equal(b.t, before, b.status().Seq, "it is paused already, until the question is answered")
			require.NoError(b.t, b.Decide(b.t.Context(), r.Question.ID, "retry"))
			require.Equal(b.t, []string{"B"}, b.status().Waiting)
			require.NoError(b.t, b.Decline(b.t.Context(), b.asked("B").Key, "", ""))
			again := debatetest.Result(b.t, b.Debate)
			require.NotEqual(b.t, r.Question.ID, again.Question.ID)
			require.NoError(b.t, b.Decide(b.t.Context(), again.Question.ID, "drop"))
			require.Equal(b.t, fsm.Completed, b.run())
		}},
		"a judge's reply has a default": {"A B", func(c *debate.Config) { c.Judges[0].Human = true }, "J", fsm.Paused, func(b *table, r *debate.Result) {
			t := r.Assessments[0]
			require.Equal(b.t, []transcript.Flag{transcript.Defaulted}, t.Flags)
			require.Equal(b.t, "Bo", t.By)
		}},
		"substitutes do not reply": {"A B", func(c *debate.Config) {
			c.Judges[0].Human, c.Substitutes = true, []debate.Participant{{Model: "other"}}
		}, "J", fsm.Paused, func(b *table, r *debate.Result) {
			require.Equal(b.t, []transcript.Flag{transcript.Defaulted}, r.Assessments[0].Flags)
			require.Empty(b.t, r.Assessments[0].Attempts)
		}},
		"a judge is dropped": {"A B", func(c *debate.Config) { c.Judges[0].Human, c.OnJudgeFailure = true, debate.DropJudge }, "J", fsm.Completed, func(b *table, r *debate.Result) {
			require.Nil(b.t, r.Verdict)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := sit(t, tt.names, tt.change)
				require.Equal(t, fsm.Paused, b.run())
				key := b.asked(tt.who).Key
				require.NoError(t, b.elsewhere().Decline(t.Context(), key, "no time", "Bo"))
				require.NoError(t, b.elsewhere().Decline(t.Context(), key, "no time", "Bo"), "again the same")
				if s := b.status().State; s.Active() {
					b.run()
				}
				r := debatetest.Result(t, b.Debate)
				require.Equal(t, tt.state, r.State)
				tt.check(b, r)
			})
		})
	}
}

// A person who declines while models speak is dropped at once.
func TestDeclineWhileModelsSpeak(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sit(t, "A @B C", nil)
		done := make(chan fsm.State, 1)
		go func() { done <- b.run() }()
		time.Sleep(time.Second / 2)
		require.NoError(t, b.elsewhere().Decline(t.Context(), b.asked("B").Key, "", ""))
		require.Equal(t, "dropped", debatetest.Result(t, b.Debate).Participants[1].State)
		require.Equal(t, fsm.Completed, <-done)
		require.Equal(t, []string{"B declined"}, b.failures())
	})
}

// A judge who declines fails if there is no default for the reply: the step is in free text, or its contract has none.
func TestAJudgeWhoseReplyHasNoDefaultDeclines(t *testing.T) {
	for _, contract := range []string{"", "mood/1"} {
		t.Run("contract "+contract, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := sit(t, "A B", func(c *debate.Config) { withTwoJudges(c, contract) })
				b.run()
				for _, name := range []string{"J", "K", "J"} { // the assessments and the first verdict have defaults
					require.NoError(t, b.Decline(t.Context(), b.asked(name).Key, "", ""))
				}
				require.NoError(t, b.Decline(t.Context(), b.asked("K").Key, "no time", ""))
				r := debatetest.Result(t, b.Debate)
				require.Equal(t, fsm.Error, r.State)
				require.Equal(t, "K declined: no time", r.Failure.Message)
			})
		})
	}
}

// Only a judge's reply has a default. A member of a council who declines to rank the answers is dropped.
func TestAMemberOfACouncilDeclinesToRank(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sit(t, "A B @C D", func(c *debate.Config) {
			c.Protocol, c.Limits.MaxRounds = council.Protocol{}, 0
		})
		b.run()
		b.answer("C", "No.")
		require.Equal(t, fsm.Paused, b.run())
		require.Equal(t, "rank", b.asked("C").Key.Phase)
		require.NoError(t, b.Decline(t.Context(), b.asked("C").Key, "", ""))
		require.Equal(t, "dropped", debatetest.Result(t, b.Debate).Participants[2].State)
		require.Equal(t, fsm.Completed, b.run())
	})
}

// An operator's pause holds a debate that waits for people. Then a reply does not continue it.
func TestAPauseHoldsADebateThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sit(t, "A @B", nil)
		b.run()
		var refused *fsm.Refused
		require.ErrorAs(t, b.Resume(t.Context()), &refused)
		require.Contains(t, refused.Methods, "Answer")
		for range 2 {
			require.NoError(t, b.Pause(t.Context()))
		}
		require.NoError(t, b.Resume(t.Context()), "it ends the hold")
		require.Equal(t, []string{"B"}, b.status().Waiting)
		require.NoError(t, b.Pause(t.Context()))
		b.answer("B", "No.")
		require.Equal(t, fsm.Paused, b.status().State)
		require.Empty(t, b.status().Waiting)
		require.NoError(t, b.Resume(t.Context()))
		require.Equal(t, fsm.Judging, b.status().State)

		require.Equal(t, fsm.Paused, b.run())
		require.NoError(t, b.Pause(t.Context()))
		key := b.asked("B").Key
		require.NoError(t, b.Decline(t.Context(), key, "", ""))
		require.ErrorIs(t, b.Answer(t.Context(), key, "Well, no.", ""), debate.ErrNotAsked)
		require.Equal(t, fsm.Paused, b.status().State, "the policy applies when the debate continues")
		require.NoError(t, b.Resume(t.Context()))
		require.Equal(t, transcript.QuorumLost, debatetest.Result(t, b.Debate).Ending.Outcome)
		require.Equal(t, fsm.Completed, b.run())
	})
}

// A pause during a model's call does not lose what people reply meanwhile.
func TestPeopleReplyWhileTheDebateIsPaused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sit(t, "A @B", nil)
		go b.run()
		time.Sleep(time.Second / 2)
		require.NoError(t, b.Pause(t.Context()))
		b.answer("B", "No.")
		time.Sleep(time.Minute)
		require.Equal(t, fsm.Paused, b.status().State)
		require.Equal(t, []string{"respond 1 A", "respond 1 B"}, b.said())
		require.NoError(t, b.Resume(t.Context()))
		require.Equal(t, fsm.Paused, b.run())
		require.Equal(t, 2, b.status().Cursor.Round)
	})
}

// Whatever ends the debate ends it while it waits, too.
func TestControlsWhileTheDebateWaits(t *testing.T) {
	for name, tt := range map[string]struct {
		act  func(*table) error
		want transcript.Outcome
	}{
		"stop":   {func(b *table) error { return b.Stop(b.t.Context()) }, transcript.Stopped},
		"cancel": {func(b *table) error { return b.Cancel(b.t.Context()) }, transcript.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := sit(t, "A @B", nil)
				b.run()
				key := b.asked("B").Key
				require.NoError(t, tt.act(b))
				require.ErrorIs(t, b.Answer(t.Context(), key, "No.", ""), debate.ErrNotAsked)
				b.run()
				require.Equal(t, tt.want, debatetest.Result(t, b.Debate).Ending.Outcome)
				require.Empty(t, b.status().Waiting)
				for s, err := range b.Replay(t.Context()) {
					require.NoError(t, err)
					require.NotEqual(t, "decided", s.Event.Meta().Type, "nobody declines what no longer matters")
				}
			})
		})
	}
}

// Stop declines the steps of people in the conclusion.
func TestStopWhileTheConclusionWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sit(t, "A B", func(c *debate.Config) { c.Judges[0].Human, c.Limits.MaxRounds = true, 1 })
		b.run()
		b.answer("J", debatetest.Encode(t, debatetest.Assessment(false, "A", "B")))
		b.run()
		require.Equal(t, transcript.Conclusion, b.status().Cursor.Stage)
		require.NoError(t, b.Stop(t.Context()))
		r := debatetest.Result(t, b.Debate)
		require.Equal(t, fsm.Completed, r.State)
		require.Contains(t, r.Verdict.Flags, transcript.Defaulted)
	})
}

// A restart changes nothing: the person is asked once, and any process takes the reply.
func TestARestartWhileTheDebateWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sit(t, "A @B", nil)
		b.run()
		before := b.status().Seq
		b.Debate = b.elsewhere()
		require.Equal(t, fsm.Paused, b.run())
		require.Equal(t, before, b.status().Seq, "nothing was added")
		b.answer("B", "No.")
		require.Equal(t, fsm.Paused, b.run())
		require.Equal(t, []string{"respond 1 A", "respond 1 B", "assess 1 J", "respond 2 A"}, b.said())
	})
}

// A debate that was started goes on in the background after each reply.
func TestStartedDebatesGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sit(t, "A @B", nil)
		require.NoError(t, b.Start(t.Context()))
		for range 2 {
			time.Sleep(time.Hour)
			require.Equal(t, fsm.Paused, b.status().State)
			b.answer("B", "No.")
		}
		time.Sleep(time.Hour)
		require.Equal(t, fsm.Completed, b.status().State)
	})
}

// A person sees what was said before the phase, under the names that the person may know.
func TestWhatAPersonMayRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sit(t, "A @B", func(c *debate.Config) { c.Judges[0] = debate.Participant{Name: "J", Human: true, Blind: true} })
		b.run()
		require.Contains(t, b.said(), "respond 1 A")
		require.Empty(t, b.asked("B").Said, "A speaks in the same phase")
		b.answer("B", "I, B, disagree with A.")
		b.run()
		said := b.asked("J").Said
		require.Len(t, said, 2)
		for _, turn := range said {
			require.Regexp(t, `^Debater [AB]$`, turn.Actor)
			require.NotContains(t, turn.Text, "I, B,")
			require.Positive(t, turn.Seq)
		}
		b.answer("J", debatetest.Encode(t, debatetest.Assessment(true, "Debater A", "Debater B")))
		b.run()
		said = b.asked("B").Said
		require.Len(t, said, 2)
		require.Equal(t, "A", said[0].Actor)
		require.Equal(t, "I, B, disagree with A.", said[1].Text)
	})
}

// mood is the reply of a contract that not every engine knows.
type mood struct {
	Mood string `json:"mood"`
}

func (mood) Check([]string) []string { return nil }

func (m *mood) Text() string { return m.Mood }

// moody is a protocol in which B replies by that contract after A has spoken.
type moody struct{ panel.Protocol }

func (moody) Name() string { return "moody/1" }

func (p moody) Phases(r *protocol.Record) []protocol.Phase {
	list := p.Protocol.Phases(r)
	if r.Cursor.Stage == transcript.Speech {
		list[0].Steps[1].Contract = "mood/1"
	}
	return list
}

// An engine that lacks what a person is asked with commits what it has called, and leaves the rest to another engine.
func TestAnEngineThatCannotAsk(t *testing.T) {
	m, s := &debatetest.DigestModel{Names: []string{"A", "B"}}, store.Memory()
	o := debate.Options{Store: s, Providers: map[string]providers.Provider{"m": m}, Protocols: []protocol.Protocol{moody{}}}
	lacking := debatetest.Engine(t, o)
	o.Contracts = []*reply.Contract{reply.New[mood]("mood/1")}
	able := debatetest.Engine(t, o)
	c := debatetest.PairConfig(moody{panel.Protocol{Format: panel.RoundLimited}})
	c.ID, c.Limits.MaxRounds = "d", 1
	for i := range c.Participants {
		c.Participants[i].Provider = ""
	}
	c.Judges[0].Provider, c.Participants[1].Human = "", true
	d := debatetest.Create(t, able, c)
	other := debatetest.Open(t, lacking, "d")
	_, err := debatetest.Run(t, other)
	require.ErrorIs(t, err, debate.ErrUnsupported, "another engine may have the contract")
	for event, err := range d.Run(t.Context()) { // until A is about to speak
		require.NoError(t, err)
		if _, ok := event.(debate.PhaseStarted); ok {
			break
		}
	}
	_, err = debatetest.Run(t, other)
	require.ErrorIs(t, err, debate.ErrUnsupported)
	require.ErrorContains(t, err, "mood/1")
	require.Len(t, debatetest.Result(t, d).Turns, 1, "what was paid for is committed")

	debatetest.Finish(t, d)
	asked := debatetest.Waiting(t, d)
	require.Len(t, asked, 1)
	require.ErrorIs(t, other.Answer(t.Context(), asked[0].Key, `{"mood": "good"}`, ""), debate.ErrUnsupported)
	require.NoError(t, d.Answer(t.Context(), asked[0].Key, `{"mood": "good"}`, ""))
	require.Equal(t, "good", debatetest.Result(t, d).Turns[1].Text)
}

// A template that fails stops the debate, as it does for a model.
func TestATemplateThatFails(t *testing.T) {
	e := debatetest.Engine(t, debate.Options{
		Providers: map[string]providers.Provider{"m": &debatetest.DigestModel{Names: []string{"A", "B"}}},
		Prompts: fstest.MapFS{"round-limited.tmpl": {Data: []byte(
			`{{define "system"}}You are {{.Me.Name}}.{{end}}Speak.{{if and (eq .Round 2) (eq .Me.Name "B")}}{{slice .Topic 0 1000}}{{end}}`)}},
	})
	c := debatetest.PairConfig(panel.Protocol{Format: panel.RoundLimited})
	c.Limits.MaxRounds = 2
	c.Participants[0].Provider = ""
	c.Judges[0].Provider = ""
	c.Participants[1] = debate.Participant{Name: "B", Human: true}
	d := debatetest.Create(t, e, c)
	debatetest.Finish(t, d)
	asked := debatetest.Waiting(t, d)
	require.NoError(t, d.Answer(t.Context(), asked[0].Key, "No.", ""))
	_, err := debatetest.Run(t, d)
	var failed *debate.Failure
	require.ErrorAs(t, err, &failed)
	require.Equal(t, providers.InvalidRequest, failed.Kind)
	require.Equal(t, "B", failed.Key.Actor)
}

// commits is a store that keeps the types of the entries of each commit.
type commits struct {
	store.Store
	list [][]string
}

func (s *commits) Commit(ctx context.Context, c store.Change) error {
	var types []string
	for _, e := range c.Entries {
		types = append(types, e.Type)
	}
	s.list = append(s.list, types)
	return s.Store.Commit(ctx, c)
}

// The commit after which only people can go on pauses the debate, and that of the last reply continues it up to the next
// step.
func TestOneCommitPausesAndContinues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sit(t, "A @B", nil)
		c := &commits{Store: b.store}
		b.store = c
		b.Debate = b.elsewhere()
		require.Equal(t, fsm.Paused, b.run())
		require.Equal(t, []string{"turn", "state"}, c.list[len(c.list)-1], "A has replied")
		c.list = nil
		b.answer("B", "No.")
		require.Equal(t, [][]string{{"turn", "state", "state", "phase"}}, c.list)
		require.Equal(t, fsm.Judging, b.status().State)
	})
}
