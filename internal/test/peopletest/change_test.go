package peopletest

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// retryWith has B decline, which fails a debate of two, and retries it with a change of its configuration.
func (b *table) retryWith(c debate.Config) {
	b.t.Helper()
	require.NoError(b.t, b.Decline(b.t.Context(), b.asked("B").Key, "", ""))
	require.Equal(b.t, fsm.Error, b.status().State)
	require.NoError(b.t, b.Retry(b.t.Context()))
	require.NoError(b.t, b.Edit(b.t.Context(), c))
	require.Equal(b.t, fsm.Paused, b.run())
}

// After an edit, a model may speak for a person who was asked before.
func TestAModelReplacesAPerson(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c debate.Config
		b := sit(t, "@A @B", func(config *debate.Config) { c = *config })
		b.run()
		key := b.asked("B").Key
		c.Participants = slices.Clone(c.Participants)
		c.Participants[1].Human = false
		b.retryWith(c)
		require.Equal(t, []string{"A"}, b.status().Waiting)
		require.Equal(t, []string{"respond 1 B"}, b.said())
		require.ErrorIs(t, b.Answer(t.Context(), key, "No.", ""), debate.ErrNotAsked)
	})
}

// A model may also replace a person who has spoken, and a person a model.
func TestASeatChangesHandsDuringADebate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c debate.Config
		b := sit(t, "A @B", func(config *debate.Config) { c = *config })
		b.run()
		c.Participants = slices.Clone(c.Participants)
		c.Participants[0].Human, c.Participants[1].Human = true, false
		b.retryWith(c)
		require.Equal(t, []string{"respond 1 A", "respond 1 B", "assess 1 J", "respond 2 B"}, b.said())
		require.Equal(t, []string{"A"}, b.status().Waiting)
		for s, err := range b.Replay(t.Context()) {
			require.NoError(t, err)
			if s.Status().Seq == b.status().Seq {
				require.Equal(t, []string{"A"}, s.Status().Waiting)
			}
		}
		b.answer("A", "Well, no.")
		require.Equal(t, fsm.Completed, b.run())
	})
}

// After an edit, people are asked again, because the edit may change what they are asked.
func TestAnEditChangesWhatAPersonIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c debate.Config
		b := sit(t, "@A @B", func(config *debate.Config) { c = *config })
		b.run()
		c.Participants = slices.Clone(c.Participants)
		c.Participants[0].MaxTokens = 100
		b.retryWith(c)
		require.Equal(t, 100, b.asked("A").Tokens)
		require.Equal(t, []string{"A", "B"}, b.status().Waiting)
	})
}

// A gate comes before people who were asked before a failure.
func TestAGateAfterARetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sit(t, "A @B", func(config *debate.Config) {
			config.Prices, config.AskAboveCost = price.Prices{"m": {Input: 1, Output: 1}}, 0.000001
			config.Participants[0].Model, config.Judges[0].Model = "m", "m"
		})
		b.run()
		require.Equal(t, []string{"respond 1 A"}, b.said())
		key := b.asked("B").Key
		require.NoError(t, b.Decline(t.Context(), key, "", ""))
		require.NoError(t, b.Retry(t.Context()))
		require.Equal(t, fsm.Paused, b.run())
		require.Equal(t, "cost", b.question().Gate)
		require.Empty(t, b.status().Waiting)
		require.ErrorIs(t, b.Answer(t.Context(), key, "No.", ""), debate.ErrNotAsked, "its phase has not begun")
		require.NoError(t, b.Decide(t.Context(), b.question().ID, "approve"))
		require.Equal(t, []string{"B"}, b.status().Waiting)
		b.answer("B", "No.")
		require.Equal(t, fsm.Paused, b.run(), "the second round")
	})
}

// Each of several people who decline has a question of its own, whatever the answer to the first one is.
func TestTwoPeopleDecline(t *testing.T) {
	for _, action := range []string{"drop", "retry", "end"} {
		t.Run(action, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := sit(t, "A @B @C D", func(c *debate.Config) { c.OnFailure, c.Limits.MaxRounds = debate.Ask, 1 })
				b.run()
				second := b.asked("C").Key
				require.NoError(t, b.Decline(t.Context(), b.asked("B").Key, "", ""))
				require.NoError(t, b.Decline(t.Context(), second, "", ""))
				require.Empty(t, b.status().Waiting)
				require.NoError(t, b.Decide(t.Context(), b.question().ID, action))
				if action == "end" {
					require.Equal(t, fsm.Completed, b.run())
					return
				}
				require.Equal(t, "C", b.question().Failure.Key.Actor)
				require.NoError(t, b.Decide(t.Context(), b.question().ID, "drop"))
				if action == "retry" {
					b.answer("B", "No.")
				}
				require.Equal(t, fsm.Completed, b.run())
			})
		})
	}
}

// A person who declines while an operator holds the debate has declined: a blank reply does not change that.
func TestABlankReplyToADeclinedStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sit(t, "A @B C", nil)
		b.run()
		require.NoError(t, b.Pause(t.Context()))
		key := b.asked("B").Key
		require.NoError(t, b.Decline(t.Context(), key, "", ""))
		require.ErrorIs(t, b.Answer(t.Context(), key, "", ""), debate.ErrNotAsked)
	})
}

// Stop at the gate before the conclusion changes nothing, because the debate has been stopped: the gate is left to Decide.
func TestStopAtTheGateBeforeTheVerdict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sit(t, "A B", func(c *debate.Config) { c.AskBeforeRounds, c.AskBeforeVerdict = true, true })
		b.run()
		require.NoError(t, b.Decide(t.Context(), b.question().ID, "approve"))
		b.run()
		require.NoError(t, b.Stop(t.Context()), "at the gate before the second round")
		before := b.status().Seq
		require.Equal(t, "verdict", b.question().Gate)
		require.NoError(t, b.Stop(t.Context()))
		require.Equal(t, before, b.status().Seq)
		require.NoError(t, b.Decide(t.Context(), b.question().ID, "approve"))
		require.Equal(t, fsm.Completed, b.run())
		require.Equal(t, transcript.Stopped, debatetest.Result(t, b.Debate).Ending.Outcome)
	})
}

// Stop declines the steps of people in the conclusion, also while a model's call is in flight.
func TestStopWhileAJurySpeaks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sit(t, "A B", func(c *debate.Config) {
			c.Limits.MaxRounds = 1
			c.Protocol = panel.Protocol{Format: panel.RoundLimited, Jury: judge.Jury{Swap: true}}
			c.Judges = []debate.Participant{{Name: "J"}, {Name: "K", Human: true}}
		})
		b.run()
		b.answer("K", debatetest.Encode(t, debatetest.Assessment(false, "A", "B")))
		done := make(chan fsm.State, 1)
		go func() { done <- b.run() }()
		time.Sleep(time.Second / 2)
		require.Equal(t, fsm.Completing, b.status().State)
		require.Equal(t, []string{"K"}, b.status().Waiting)
		require.NoError(t, b.Stop(t.Context()))
		require.NoError(t, b.Stop(t.Context()), "again")
		require.Equal(t, fsm.Completed, <-done)
	})
}

// Stop ends an operator's pause of the conclusion.
func TestStopWhileTheConclusionIsPaused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sit(t, "A B", func(c *debate.Config) { c.Limits.MaxRounds = 1 })
		go b.run()
		for b.status().State != fsm.Completing {
			time.Sleep(time.Second / 2)
		}
		require.NoError(t, b.Pause(t.Context()))
		require.NoError(t, b.Stop(t.Context()))
		require.Equal(t, fsm.Completing, b.status().State)
		time.Sleep(time.Minute)
		require.Equal(t, fsm.Completed, b.run())
	})
}

// oneByOne is a protocol whose judges conclude one after the other: J as usual, and K by the contract Last, or in free text
// if it is empty. No assessment may ask for another round.
type oneByOne struct {
	panel.Protocol

	Last string `json:"last"`
}

func (oneByOne) Name() string { return "one-by-one/1" }

func (p oneByOne) Phases(r *protocol.Record) []protocol.Phase {
	list := p.Protocol.Phases(r)
	if len(r.Judges) == 0 {
		return list
	}
	switch r.Cursor.Stage {
	case transcript.Assessment:
		list[0].Steps[0].Check = func(v any) []string {
			if v.(*judge.Assessment).ShouldContinue {
				return []string{"should_continue: this is the last round"}
			}
			return nil
		}
	case transcript.Conclusion:
		other := list[0].Steps[0]
		other.Actor, other.Contract = "K", p.Last
		list[0].Steps, list[0].Parallel = append(list[0].Steps[:1:1], other), false
	default:
	}
	return list
}

// Names has assessments name only the first participant.
func (oneByOne) Names(r *protocol.Record, s protocol.Step) []string {
	if s.Kind == transcript.Assessment {
		return []string{r.Participants[0].Name}
	}
	return nil
}

// withTwoJudges makes J and K people who judge one by one. last is the contract of K's conclusion.
func withTwoJudges(c *debate.Config, last string) {
	c.Protocol, c.Limits.MaxRounds = oneByOne{panel.Protocol{Format: panel.RoundLimited}, last}, 1
	c.Judges = []debate.Participant{{Name: "J", Human: true}, {Name: "K", Human: true, Blind: true}}
}

// Stop declines the steps of people who conclude one after the other, too.
func TestStopWhilePeopleConcludeOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sit(t, "A B", func(c *debate.Config) {
			withTwoJudges(c, "")
			c.OnJudgeFailure = debate.DropJudge
		})
		b.run()
		for len(b.status().Waiting) > 0 && b.status().Cursor.Stage == transcript.Assessment {
			reply := debatetest.Encode(t, debatetest.Assessment(false, "A"))
			if b.status().Waiting[0] == "K" {
				reply = debatetest.Encode(t, debatetest.Assessment(false, "Debater A"))
			}
			require.NoError(t, b.Answer(t.Context(), b.asked(b.status().Waiting[0]).Key, reply, ""))
		}
		require.Equal(t, []string{"J"}, b.status().Waiting)
		require.NoError(t, b.Stop(t.Context()))
		require.Equal(t, fsm.Completed, b.status().State)
	})
}

// The check of a step applies to people, and the journal has the names of a reply in free text.
func TestPeopleReplyToAnyStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sit(t, "A B", func(c *debate.Config) { withTwoJudges(c, "") })
		b.run()
		key := b.asked("J").Key
		require.ErrorContains(t, b.Answer(t.Context(), key, debatetest.Encode(t, debatetest.Assessment(true, "A")), ""), "this is the last round")
		require.NoError(t, b.Answer(t.Context(), key, debatetest.Encode(t, debatetest.Assessment(false, "A")), ""))
		require.NoError(t, b.Decline(t.Context(), b.asked("K").Key, "", ""), "the assessment")
		require.NoError(t, b.Decline(t.Context(), b.asked("J").Key, "", ""), "the verdict")
		asked := b.asked("K")
		require.Empty(t, asked.Contract)
		time.Sleep(time.Hour)
		require.NoError(t, b.Answer(t.Context(), asked.Key, "Debater A and Debater B are right.", ""))
		turns := debatetest.Result(t, b.Debate).Turns
		require.NotContains(t, turns[len(turns)-1].Text, "Debater")
		require.Equal(t, asked.At, turns[len(turns)-1].Started)
	})
}

// The default reply of a judge who declines names whom the protocol lists, as that of a model.
func TestADefaultReplyNamesWhomTheProtocolLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sit(t, "A B", func(c *debate.Config) { withTwoJudges(c, "") })
		b.run()
		require.NoError(t, b.Decline(t.Context(), b.asked("J").Key, "", ""))
		first := debatetest.Result(t, b.Debate).Assessments[0]
		a, err := transcript.Decode[judge.Assessment](first)
		require.NoError(t, err)
		require.Len(t, a.Participants, 1)
	})
}

// An engine without the protocol cannot tell whom a debate waits for. It leaves what the status says.
func TestAnEngineWithoutTheProtocol(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sit(t, "A @B", func(c *debate.Config) { withTwoJudges(c, "") })
		b.run()
		key := b.asked("B").Key
		other := b.elsewhere()
		require.NoError(t, other.Annotate(t.Context(), "note", 1))
		require.NoError(t, other.Pause(t.Context()))
		for _, s := range debatetest.List(t, b.engine(), store.Query{Waiting: "B"}) {
			require.Equal(t, []string{"B"}, s.Waiting)
			key.Actor = "found"
		}
		require.Equal(t, "found", key.Actor)
		key.Actor = "B"
		_, err := other.Waiting(t.Context())
		require.ErrorIs(t, err, debate.ErrUnsupported)
		require.ErrorIs(t, other.Answer(t.Context(), key, "No.", ""), debate.ErrUnsupported)
		require.ErrorIs(t, other.Decline(t.Context(), key, "No.", ""), debate.ErrUnsupported)
		require.ErrorIs(t, other.Resume(t.Context()), debate.ErrUnsupported)
		for _, err := range other.WatchAs(t.Context(), "B", 0) {
			require.ErrorIs(t, err, debate.ErrUnsupported, "it cannot tell what to withhold")
			break
		}
		require.NoError(t, other.Cancel(t.Context()))
		require.Empty(t, b.status().Waiting)
	})
}

// An engine without the protocol cannot stop a debate, not even in its conclusion: it does not know whose steps are left.
func TestAnEngineWithoutTheProtocolCannotStopTheConclusion(t *testing.T) {
	for speaker, human := range map[string]bool{"a person": true, "a model": false} {
		t.Run(speaker, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := sit(t, "A @B", func(c *debate.Config) {
					c.Protocol, c.Limits.MaxRounds = moody{panel.Protocol{Format: panel.RoundLimited, Mode: panel.Simultaneous}}, 1
					c.Judges[0].Human = human
				})
				b.run()
				require.NoError(t, b.Answer(t.Context(), b.asked("B").Key, `{"mood": "good"}`, ""))
				go b.run()
				time.Sleep(1500 * time.Millisecond) // a model has assessed the round and concludes
				if human {
					require.NoError(t, b.Decline(t.Context(), b.asked("J").Key, "", ""))
				}
				require.Equal(t, transcript.Conclusion, b.status().Cursor.Stage)
				require.ErrorIs(t, b.elsewhere().Stop(t.Context()), debate.ErrUnsupported)
				time.Sleep(time.Minute)
			})
		})
	}
}

// A debate that waits for weeks outlives the engine that started it. Whoever lets it go on drives it.
func TestWhoLetsADebateGoOnDrivesIt(t *testing.T) {
	for name, act := range map[string]func(*table, *debate.Debate) error{
		"answer":  func(b *table, d *debate.Debate) error { return d.Answer(b.t.Context(), b.asked("B").Key, "No.", "") },
		"decline": func(b *table, d *debate.Debate) error { return d.Decline(b.t.Context(), b.asked("B").Key, "No.", "") },
		"stop":    func(b *table, d *debate.Debate) error { return d.Stop(b.t.Context()) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := sit(t, "A @B C", func(c *debate.Config) { c.Limits.MaxRounds = 1 })
				first := b.engine()
				d := debatetest.Open(t, first, "d")
				require.NoError(t, d.Start(t.Context()))
				time.Sleep(time.Minute)
				require.Equal(t, fsm.Paused, b.status().State)
				require.NoError(t, first.Close(t.Context()))
				time.Sleep(30 * 24 * time.Hour)
				require.NoError(t, act(b, b.elsewhere()))
				time.Sleep(time.Minute)
				require.Equal(t, fsm.Completed, b.status().State)
			})
		})
	}
}

// Preview shows requests, and people get none.
func TestPreviewWithPeople(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sit(t, "A @B", nil)
		list, err := b.Preview(t.Context())
		require.NoError(t, err)
		require.Len(t, list, 1)
		require.Equal(t, "A", list[0].Key.Actor)
	})
}

// Whatever people enter is checked before it is stored.
func TestNamesAndReasonsAreChecked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sit(t, "A @B C", func(c *debate.Config) { c.Participants[1].MaxTokens = 100 })
		b.run()
		key, problems := b.asked("B").Key, &debate.Problems{}
		for _, by := range []string{"\x00", "\xff", "a\nb", "\x1b[31m", strings.Repeat("x", 257)} {
			require.ErrorAs(t, b.Answer(t.Context(), key, "No.", by), &problems, "%q", by)
			require.Equal(t, "by", problems.List[0].Field)
			require.ErrorAs(t, b.Decline(t.Context(), key, "No time.", by), &problems, "%q", by)
		}
		require.ErrorAs(t, b.Decline(t.Context(), key, strings.Repeat("word ", 200), ""), &problems)
		require.Equal(t, "reason", problems.List[0].Field)
		require.NoError(t, b.Decline(t.Context(), key, "No \xff time.", "mailto:bea@example.com"))
		require.Contains(t, b.failures(), "mailto:bea@example.com declined: No \ufffd time.")
	})
}

// failures returns the messages of the failures for which somebody was dropped.
func (b *table) failures() (list []string) {
	for s, err := range b.Replay(b.t.Context()) {
		require.NoError(b.t, err)
		if d, ok := s.Event.(debate.Dropped); ok {
			list = append(list, d.Failure.Message)
		}
	}
	return list
}

// Replies of any size and depth are problems, not panics, and problems are short.
func TestRepliesThatAreHuge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sit(t, "A B", func(c *debate.Config) {
			c.Judges[0] = debate.Participant{Name: "J", Human: true, MaxTokens: 10_000_000}
		})
		b.run()
		key, problems := b.asked("J").Key, &debate.Problems{}
		for _, text := range []string{
			strings.Repeat("[", 1<<20), strings.Repeat(`{"participants":`, 1<<18), strings.Repeat("word ", 1<<25),
			`{"should_continue": "` + strings.Repeat("x", 1<<20) + `"}`, "\x00", "{\x1b}",
		} {
			require.ErrorAs(t, b.Answer(t.Context(), key, text, ""), &problems)
			require.Less(t, len(problems.Error()), 4000)
		}
	})
}
