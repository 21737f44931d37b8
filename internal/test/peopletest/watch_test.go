package peopletest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/providers"
)

// watchAs collects what a viewer sees who speaks for a seat: the speakers of turns, and of chunks with a tilde.
func (b *table) watchAs(ctx context.Context, seat string, after int64) (seen *[]string, last *int64) {
	seen, last = &[]string{}, new(int64)
	go func() {
		for ev, err := range b.WatchAs(ctx, seat, after) {
			if err != nil {
				return
			}
			if !ev.Meta().Live {
				*last = ev.Meta().Seq
			}
			switch ev := ev.(type) {
			case debate.TurnDone:
				*seen = append(*seen, fmt.Sprint(ev.Turn.Actor, ev.Turn.Round))
			case debate.Chunk:
				if who := "~" + ev.Key.Actor; !slices.Contains(*seen, who) {
					*seen = append(*seen, who)
				}
			case debate.Ended:
				*seen = append(*seen, "end")
			}
		}
	}()
	return seen, last
}

// A viewer who speaks for a seat sees nothing of the others' statements in a parallel phase before its own.
func TestABlindRoundStaysBlind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sit(t, "A @B @C", nil)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		asB, last := b.watchAs(ctx, "B", 0)
		asC, _ := b.watchAs(ctx, "C", 0)
		all, _ := b.watchAs(ctx, "J", 0)
		b.run()
		synctest.Wait()
		require.Contains(t, *all, "A1", "a judge does not speak in this phase")
		require.Empty(t, *asB)
		require.Empty(t, *asC)

		b.answer("C", "Yes.")
		synctest.Wait()
		require.Equal(t, []string{"A1", "C1"}, *asC)
		require.Empty(t, *asB)
		resumed, _ := b.watchAs(ctx, "B", *last)

		b.answer("B", "No.")
		synctest.Wait()
		require.Equal(t, []string{"A1", "C1", "B1"}, *asB)
		require.Equal(t, []string{"A1", "C1", "B1"}, *resumed, "nothing is lost after a new connection")

		b.run() // J assesses the round, and A speaks in the next one
		synctest.Wait()
		require.Equal(t, []string{"A1", "C1", "B1", "~J", "J1"}, *asB, "what nobody must be blind for is shown live")
		b.answer("B", "No.")
		b.answer("C", "Yes.")
		require.Equal(t, fsm.Completed, b.run())
		synctest.Wait()
		require.Equal(t, []string{"A1", "C1", "B1", "~J", "J1", "A2", "B2", "C2", "J2", "J2", "end"}, *asB)
	})
}

// A judge who knows the participants only by pseudonyms sees their names at the end.
func TestABlindJudgeWatchesNothingBeforeTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sit(t, "A @B", func(c *debate.Config) {
			c.Judges[0] = debate.Participant{Name: "J", Human: true, Blind: true}
			c.Limits.MaxRounds = 2
		})
		var viewers []*[]string // the types of the events that they see
		watch := func(after int64) {
			seen := &[]string{}
			viewers = append(viewers, seen)
			go func() {
				for ev, err := range b.WatchAs(t.Context(), "J", after) {
					if err != nil {
						return
					}
					*seen = append(*seen, ev.Meta().Type)
				}
			}()
			synctest.Wait()
			for _, seen := range viewers {
				require.Empty(t, *seen)
			}
			for _, err := range b.ReplayAs(t.Context(), "J") {
				t.Fatal("ReplayAs shows an entry", err)
			}
		}
		watch(0)
		names := []string{"Debater A", "Debater B"}
		assessment := debatetest.Encode(t, debatetest.Assessment(true, names...))
		verdict := debatetest.Encode(t, judge.Verdict{
			Winner: names[0], Summary: "A spoke well.", Quality: 50,
			Participants: []judge.KeyPoints{{Name: names[0], Points: []string{"One."}}, {Name: names[1], Points: []string{"Two."}}},
		})
		for _, reply := range []struct{ name, text string }{{"B", "No."}, {"J", assessment}, {"B", "No."}, {"J", assessment}, {"J", verdict}} {
			for ev, err := range b.Run(t.Context()) {
				require.NoError(t, err)
				if !b.status().State.Final() {
					watch(ev.Meta().Seq)
				}
			}
			b.answer(reply.name, reply.text)
		}
		require.Equal(t, fsm.Completed, b.run())
		synctest.Wait()
		var all []string
		for s, err := range b.ReplayAs(t.Context(), "J") {
			require.NoError(t, err)
			all = append(all, s.Event.Meta().Type)
		}
		all = append(all, "ended")
		for _, seen := range viewers {
			require.Equal(t, all[len(all)-len(*seen):], *seen)
		}
		require.Equal(t, all, *viewers[0])
	})
}

func TestOnlySeatsWatchBlindly(t *testing.T) {
	b := sit(t, "A @B", nil)
	for _, err := range b.WatchAs(t.Context(), "Zoe", 0) {
		require.ErrorContains(t, err, `seat: no participant or judge has the name "Zoe"`)
	}
	n := 0
	for _, err := range b.ReplayAs(t.Context(), "Zoe") {
		require.ErrorContains(t, err, `seat: no participant or judge has the name "Zoe"`)
		n++
	}
	require.Equal(t, 1, n)
}

// ReplayAs shows exactly what WatchAs shows, at each moment of the debate.
func TestThePastOfABlindRoundStaysBlind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sit(t, "A @B @C", nil)
		last := map[string]*int64{}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for _, seat := range []string{"A", "B", "C", "J"} {
			_, last[seat] = b.watchAs(ctx, seat, 0)
		}
		withheld := 0
		check := func() {
			b.checkRefusals()
			synctest.Wait()
			for seat, watched := range last {
				var end int64
				for s, err := range b.ReplayAs(t.Context(), seat) {
					require.NoError(t, err)
					end = s.Event.Meta().Seq
					require.Equal(t, end, s.Status().Seq)
				}
				require.Equal(t, *watched, end, seat)
				if end < b.status().Seq {
					withheld++
				}
			}
		}
		for b.status().State != fsm.Completed {
			b.run()
			check()
			list := debatetest.Waiting(t, b.Debate)
			for _, a := range list {
				b.answer(a.Key.Actor, "Yes.")
				check()
			}
		}
		require.NotZero(t, withheld)
	})
}

// A debate that fails in a parallel phase may continue it, so the phase stays blind.
func TestABlindRoundStaysBlindAfterAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sit(t, "A @B", func(c *debate.Config) { c.Limits.MaxRounds = 1 })
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		asB, last := b.watchAs(ctx, "B", 0)
		b.run()
		require.NoError(t, b.Decline(t.Context(), b.asked("B").Key, "", ""))
		synctest.Wait()
		require.Equal(t, fsm.Error, b.status().State)
		require.Empty(t, *asB)
		resumed, _ := b.watchAs(ctx, "B", *last)
		require.NoError(t, b.Retry(t.Context()))
		b.run()
		synctest.Wait()
		require.Empty(t, *asB)
		require.Empty(t, *resumed)
		b.answer("B", "No.")
		synctest.Wait()
		require.Equal(t, []string{"A1", "B1"}, *asB)
		require.Equal(t, []string{"A1", "B1"}, *resumed)
	})
}

// A new run shows what was said in the one before.
func TestAResetShowsTheOldRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sit(t, "A @B", nil)
		asB, _ := b.watchAs(t.Context(), "B", 0)
		b.run()
		require.NoError(t, b.Decline(t.Context(), b.asked("B").Key, "", ""))
		require.NoError(t, b.Reset(t.Context()))
		require.Equal(t, fsm.Paused, b.run())
		synctest.Wait()
		require.Equal(t, []string{"A1"}, *asB)
		require.NoError(t, b.Cancel(t.Context()))
		synctest.Wait()
		require.Equal(t, []string{"A1", "A1", "end"}, *asB)
	})
}

// What was withheld is shown when nobody has to be blind any more.
func TestTheEndShowsEverything(t *testing.T) {
	for name, end := range map[string]func(*table) error{
		"stop":   func(b *table) error { return b.Stop(b.t.Context()) },
		"cancel": func(b *table) error { return b.Cancel(b.t.Context()) },
		"cancel after a failure": func(b *table) error {
			require.NoError(b.t, b.Decline(b.t.Context(), b.asked("B").Key, "", ""))
			return b.Cancel(b.t.Context())
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := sit(t, "A @B", nil)
				asB, _ := b.watchAs(t.Context(), "B", 0)
				b.run()
				synctest.Wait()
				require.Empty(t, *asB)
				require.NoError(t, end(b))
				b.run()
				synctest.Wait()
				require.Equal(t, "A1", (*asB)[0])
				require.Equal(t, "end", (*asB)[len(*asB)-1])
			})
		})
	}
}

// aloud is a model whose replies contain what it thinks. That of C and the first one of J contain nothing else.
func aloud(inner providers.Provider) providers.Provider {
	first := true
	return debatetest.ProviderFunc(func(ctx context.Context, r providers.Request) (providers.Response, error) {
		res, err := inner.Generate(ctx, r)
		who := strings.TrimPrefix(r.Model, "model of ")
		thought := "<think>The plan of " + who + ".</think>"
		res.Text = thought + res.Text
		if who == "C" || who == "J" && first {
			res.Text, first = thought, who == "C" && first
		}
		res.Parts = append(res.Parts, providers.Part{Reasoning: &providers.Reasoning{Text: "The plan of " + who + "."}}, providers.Part{Text: res.Text})
		return res, err
	})
}

// thinkAloud replaces the models of a debate, which has not begun, by models that think aloud.
func (b *table) thinkAloud() {
	b.model, b.keep = aloud(b.model.(slowly).Provider), true
	b.Debate = b.elsewhere()
}

// nameModels names each model after its actor.
func nameModels(c *debate.Config) {
	for _, list := range [][]debate.Participant{c.Participants, c.Judges} {
		for i := range list {
			if !list[i].Human {
				list[i].Model = "model of " + list[i].Name
			}
		}
	}
	c.Limits.MaxRounds = 1
}

// past returns all that ReplayAs shows to a seat, as JSON.
func (b *table) past(seat string) string {
	b.t.Helper()
	var all strings.Builder
	write := json.NewEncoder(&all)
	for s, err := range b.ReplayAs(b.t.Context(), seat) {
		require.NoError(b.t, err)
		require.NoError(b.t, write.Encode(s.Event))
		require.NoError(b.t, write.Encode(s.Result()))
	}
	return all.String()
}

// Nobody who speaks for a seat sees what others think, neither during the debate nor in its past.
func TestASeatSeesNoReasoningOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := sit(t, "A @B C", nameModels)
		b.thinkAloud()
		b.run()
		b.answer("B", "No.")
		require.Equal(t, fsm.Completed, b.run())

		shown := func(events iter.Seq2[debate.Event, error]) string {
			var all strings.Builder
			for ev, err := range events {
				require.NoError(t, err)
				if _, end := ev.(debate.Ended); !end {
					require.NoError(t, json.NewEncoder(&all).Encode(ev))
				}
			}
			return all.String()
		}
		for _, who := range []string{"A", "C", "J"} {
			require.Contains(t, shown(b.Watch(t.Context(), 0)), "The plan of "+who)
			require.Contains(t, shown(b.WatchAs(t.Context(), who, 0)), "The plan of "+who)
			require.Contains(t, b.past(""), "The plan of "+who)
			require.Contains(t, b.past(who), "The plan of "+who)
		}
		require.NotContains(t, shown(b.WatchAs(t.Context(), "B", 0)), "The plan of")
		require.NotContains(t, b.past("B"), "The plan of")
	})
}

// An attachment for some seats is not in the configuration that others read.
func TestASeatSeesItsAttachmentsOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		picture := func(name string, readers ...string) debate.Attachment {
			var b bytes.Buffer
			require.NoError(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, 2, 2))))
			return debate.Attachment{Name: name, MediaType: "image/png", Data: b.Bytes(), Readers: readers}
		}
		b := sit(t, "@A @B @C", func(c *debate.Config) {
			c.Judges[0].Human = true
			c.Attachments = []debate.Attachment{picture("for-all"), picture("for-B", "B", "J"), picture("for-A", "A")}
		})
		b.run()
		shown := func(seat string) string {
			for ev, err := range b.WatchAs(t.Context(), seat, 0) {
				require.NoError(t, err)
				return debatetest.Encode(t, ev) + b.past(seat)
			}
			return ""
		}
		for seat, names := range map[string][]string{"A": {"for-all", "for-A"}, "B": {"for-all", "for-B"}, "C": {"for-all"}, "J": {"for-all", "for-B"}} {
			text := shown(seat)
			for _, name := range []string{"for-all", "for-A", "for-B"} {
				require.Equal(t, slices.Contains(names, name), strings.Contains(text, name), "%s reads %s", seat, name)
			}
		}
	})
}

// Failures have the raw replies of their attempts.
func TestASeatSeesNoReasoningInFailures(t *testing.T) {
	for name, test := range map[string]struct {
		seats  string
		policy debate.FailurePolicy
		want   string // in the event
	}{
		"a participant drops out": {"A B C", debate.Degrade, `"type":"dropped"`},
		"a question":              {"A B C", debate.Ask, `"question":{`},
		"an error":                {"A C", debate.Degrade, `"to":"error"`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := sit(t, test.seats, func(c *debate.Config) {
					c.Judges[0].Human, c.OnFailure = true, test.policy
					nameModels(c)
				})
				b.thinkAloud()
				_, _ = debatetest.Run(t, b.Debate)
				require.Contains(t, b.past(""), "The plan of C")
				require.Contains(t, b.past("J"), test.want)
				require.NotContains(t, b.past("J"), "The plan of")
			})
		})
	}
}

// checkRefusals requires that no snapshot refuses the control that came next, and that the last one refuses what the debate
// refuses, for the same reason.
func (b *table) checkRefusals() {
	b.t.Helper()
	controls := map[fsm.Event]func(context.Context) error{}
	if b.status().State == fsm.Paused { // elsewhere a second Resume or Retry changes nothing
		controls = map[fsm.Event]func(context.Context) error{fsm.Resume: b.Resume, fsm.Retry: b.Retry, fsm.Reset: b.Reset}
	}
	refused := map[fsm.Event]error{}
	for s, err := range b.Replay(b.t.Context()) {
		require.NoError(b.t, err)
		if change, ok := s.Event.(debate.StateChanged); ok {
			require.NoError(b.t, refused[change.On])
		}
		for _, on := range []fsm.Event{fsm.Resume, fsm.Pause, fsm.Stop, fsm.Cancel, fsm.Retry, fsm.Reset} {
			refused[on] = s.Refusal(on)
		}
	}
	for on, control := range controls {
		var want, is *fsm.Refused
		require.ErrorAs(b.t, refused[on], &want)
		require.ErrorAs(b.t, control(b.t.Context()), &is)
		require.Equal(b.t, want, is)
	}
}
