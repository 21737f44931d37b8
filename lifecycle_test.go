package debate_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/transcript"
)

// panelOf is a debate of A and B whose judge lets it go on for some rounds.
func panelOf(t testing.TB, rounds int, change func(*debate.Config, *debate.Options)) *debate.Debate {
	t.Helper()
	cfg, opts := pair(nil), debate.Options{Providers: models(chatter(), court(t, rounds))}
	if change != nil {
		change(&cfg, &opts)
	}
	d, err := debate.New(t.Context(), cfg, opts)
	require.NoError(t, err)
	return d
}

func TestADebateRunsToItsVerdict(t *testing.T) {
	d := panelOf(t, 2, nil)
	events, err := run(t, d)
	require.NoError(t, err)

	res := result(t, d)
	require.Equal(t, fsm.Completed, res.State)
	require.Equal(t, transcript.Ending{Outcome: transcript.JudgeDecided, Round: 2, Evidence: "J: because"}, res.Ending)
	require.Equal(t, []string{
		"1/1/respond/A/", "1/1/respond/B/", "1/1/assess/J/",
		"1/2/respond/A/", "1/2/respond/B/", "1/2/assess/J/", "1/2/verdict/J/",
	}, keys(res))
	require.Len(t, res.Assessments, 2)
	require.Equal(t, "1/2/verdict/J/", res.Verdict.Key.String())
	require.Equal(t, res, events[len(events)-1].(debate.Ended).Result, "the last event carries the result")

	_, err = run(t, d) // a debate that has ended says so again
	require.NoError(t, err)
}

func TestEventsSayWhereTheyStand(t *testing.T) {
	events, err := run(t, panelOf(t, 2, nil))
	require.NoError(t, err)
	last := int64(1) // the configuration
	offsets := map[transcript.Key]int{}
	for _, ev := range events {
		s := ev.Event()
		if s.Live {
			require.Equal(t, last, s.Seq, "%+v", ev)
		} else {
			require.Equal(t, last+1, s.Seq, "%+v", ev)
			last = s.Seq
		}
		switch ev := ev.(type) {
		case debate.Chunk:
			require.Equal(t, offsets[ev.Key], ev.Offset)
			require.Equal(t, 1, ev.N)
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
	events, err := run(t, panelOf(t, 2, nil))
	require.NoError(t, err)
	types := map[string]bool{}
	for _, ev := range append(events, samples()...) {
		text := encode(t, ev)
		require.Contains(t, text, `"type":"`+ev.Event().Type+`"`)
		back, err := debate.ParseEvent([]byte(text))
		require.NoError(t, err)
		require.IsType(t, ev, back)
		require.JSONEq(t, text, encode(t, back))
		types[ev.Event().Type] = true
	}
	require.Len(t, types, 12, "of all kinds: %v", types)
}

func samples() []debate.Event {
	failure := &debate.Failure{Kind: providers.Network, Message: "cut", Attempts: 4, Recoverable: true}
	return []debate.Event{
		debate.ConfigChanged{Stamp: debate.Stamp{Type: "config", Seq: 1}, Config: []byte(`{"topic":"T"}`)},
		debate.Dropped{Stamp: debate.Stamp{Type: "dropped", Seq: 2}, Name: "A", Failure: failure},
		debate.Decided{Stamp: debate.Stamp{Type: "decided", Seq: 3}, Action: "retry"},
		debate.Annotated{Stamp: debate.Stamp{Type: "annotated", Seq: 4}, Name: "rating", Value: []byte("5")},
		debate.TurnFailed{Stamp: debate.Stamp{Type: "turn_failed", Live: true}, Attempt: &debate.Attempt{N: 2}, Error: providers.Timeout, Again: time.Second},
		debate.Warning{Stamp: debate.Stamp{Type: "warning", Live: true}, Text: "look"},
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
		f.Add(encode(f, ev))
	}
	f.Fuzz(func(t *testing.T, text string) {
		ev, err := debate.ParseEvent([]byte(text))
		if err == nil {
			require.NotNil(t, ev)
		}
	})
}

// The formats of a panel differ in what ends them.
func TestWhatEndsAPanel(t *testing.T) {
	say := func(goOn, converged, diminishing bool) string {
		a := assessment(goOn, "A", "B")
		a.Converged, a.DiminishingReturns = converged, diminishing
		return encode(t, a)
	}
	for _, tt := range []struct {
		name    string
		format  panel.Format
		limits  debate.Limits
		says    string
		outcome transcript.Outcome
		rounds  int
	}{
		{"free-form: the judge's word", panel.FreeForm, debate.Limits{}, say(false, false, false), transcript.JudgeDecided, 1},
		{"free-form: convergence alone does not end it", panel.FreeForm, debate.Limits{MaxRounds: 2}, say(true, true, true), transcript.RoundLimit, 2},
		{"free-form: never past the limit", panel.FreeForm, debate.Limits{MaxRounds: 3}, say(true, false, false), transcript.RoundLimit, 3},
		{"free-form: never before the minimum", panel.FreeForm, debate.Limits{MinRounds: 3}, say(false, false, false), transcript.JudgeDecided, 3},
		{"round-limited: whatever the judge says", panel.RoundLimited, debate.Limits{MaxRounds: 3}, say(false, true, true), transcript.RoundLimit, 3},
		{"structured: after its closing", panel.StructuredRounds, debate.Limits{MaxRounds: 3}, say(false, true, true), transcript.RoundLimit, 3},
		{"convergence-seeking: convergence", panel.ConvergenceSeeking, debate.Limits{}, say(true, true, true), transcript.Converged, 1},
		{"convergence-seeking: diminishing returns", panel.ConvergenceSeeking, debate.Limits{}, say(true, false, true), transcript.DiminishingReturns, 1},
		{"convergence-seeking: the judge's word", panel.ConvergenceSeeking, debate.Limits{}, say(false, false, false), transcript.JudgeDecided, 1},
		{"convergence-seeking: not before the minimum", panel.ConvergenceSeeking, debate.Limits{MinRounds: 2}, say(true, true, false), transcript.Converged, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			jury := &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
				if asked(r, "verdict") {
					return scripted.Reply{Text: verdict}
				}
				return scripted.Reply{Text: tt.says}
			}}
			d := panelOf(t, 0, func(c *debate.Config, o *debate.Options) {
				c.Protocol, c.Limits, o.Providers["j"] = panel.Protocol{Format: tt.format}, tt.limits, jury
			})
			_, err := run(t, d)
			require.NoError(t, err)
			res := result(t, d)
			require.Equal(t, tt.outcome, res.Ending.Outcome)
			require.Equal(t, tt.rounds, res.Ending.Round)
			require.Len(t, res.Assessments, tt.rounds, "each round is assessed")
			require.NotNil(t, res.Verdict)
		})
	}
}

func TestBudgetsEndADebateWithRoomForTheVerdict(t *testing.T) {
	t.Run("tokens", func(t *testing.T) {
		long := strings.Repeat("word ", 300) // about 100 tokens for each of the 4 bytes a token that scripted counts
		d := panelOf(t, 99, func(c *debate.Config, o *debate.Options) {
			c.Limits = debate.Limits{OutputTokens: 3000, StepTokens: 400, JudgeTokens: 400, MaxRounds: 9}
			o.Providers["m"] = &scripted.Provider{Func: func(providers.Request) scripted.Reply { return scripted.Reply{Text: long} }}
		})
		_, err := run(t, d)
		require.NoError(t, err)
		res := result(t, d)
		require.Equal(t, transcript.TokenBudget, res.Ending.Outcome)
		require.Contains(t, res.Ending.Evidence, "of 3000 output tokens")
		require.NotNil(t, res.Verdict)
		require.LessOrEqual(t, res.Total.Usage.Output, 3000)
		require.Greater(t, res.Total.Usage.Output, 3000-3*400-400, "it stopped no earlier than it had to")
	})
	t.Run("time between rounds", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d := panelOf(t, 99, func(c *debate.Config, o *debate.Options) {
				c.Limits = debate.Limits{Time: 10 * time.Minute, MaxRounds: 100, RoundDelay: 62 * time.Second}
				o.Providers["m"] = &scripted.Provider{Func: func(providers.Request) scripted.Reply {
					return scripted.Reply{Text: "slow", Latency: 49 * time.Second} // no call ends as its time does
				}}
			})
			_, err := run(t, d)
			require.NoError(t, err)
			res := result(t, d)
			require.Equal(t, transcript.TimeBudget, res.Ending.Outcome)
			require.Equal(t, 4, res.Ending.Round, "a fifth, 2 minutes, is kept: 8 minutes are 3 rounds with the delay after each")
			require.Len(t, res.Assessments, 3, "the fourth does not begin")
			require.NotNil(t, res.Verdict)
			require.Equal(t, 8*time.Minute, res.Running)
		})
	})
	t.Run("time during a call", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d := panelOf(t, 99, func(c *debate.Config, o *debate.Options) {
				c.Limits = debate.Limits{Time: 10 * time.Minute, StepTimeout: time.Hour}
				o.Providers["m"] = &scripted.Provider{Func: func(providers.Request) scripted.Reply {
					return scripted.Reply{Text: "slow", Latency: 5 * time.Minute}
				}}
			})
			_, err := run(t, d)
			require.NoError(t, err)
			res := result(t, d)
			require.Equal(t, transcript.TimeBudget, res.Ending.Outcome)
			require.Len(t, res.Turns, 2, "one speech, and the verdict on it")
			require.Equal(t, 8*time.Minute, res.Running)
		})
	})
}

func TestModelsAndTemperaturesReachTheCall(t *testing.T) {
	hot := func(v float64) *float64 { return &v }
	for _, tt := range []struct {
		name string
		set  *float64
		want map[string]float64
	}{
		{"defaults", nil, map[string]float64{"A": 0.7, "J": 0.2, "personas": 0.9, "summarizer": 0.3}},
		{"set", hot(1.1), map[string]float64{"A": 1.1, "J": 1.1, "personas": 1.1, "summarizer": 1.1}},
		{"zero is a temperature", hot(0), map[string]float64{"A": 0, "J": 0, "personas": 0, "summarizer": 0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			seen := map[string]providers.Request{}
			all := &scripted.Provider{Func: func(r providers.Request) scripted.Reply {
				seen[r.Model] = r
				e := &echo{names: []string{"A", "B"}}
				return scripted.Reply{Text: e.say(1, r)}
			}}
			p := debate.Participant{Provider: "m", Temperature: tt.set, MaxTokens: 77}
			with := func(name, model string) debate.Participant {
				p := p
				p.Name, p.Model = name, model
				return p
			}
			d := panelOf(t, 1, func(c *debate.Config, o *debate.Options) {
				c.Protocol = summed{panel.Protocol{Personas: panel.Binary}}
				c.Participants = []debate.Participant{with("A", "A-model"), with("B", "B-model")}
				c.Judges = []debate.Participant{with("J", "J-model")}
				c.Casting, c.Summarizer = with("", "personas-model"), with("", "summarizer-model")
				o.Providers["m"] = all
			})
			_, err := run(t, d)
			require.NoError(t, err)
			for who, want := range tt.want {
				r, called := seen[who+"-model"]
				require.True(t, called, who)
				require.Equal(t, want, *r.Temperature, who)
				require.Equal(t, 77, r.MaxTokens, who)
			}
		})
	}
}

func TestASlowViewerTripsNoTimeout(t *testing.T) {
	for _, mode := range []panel.Mode{panel.Sequential, panel.Simultaneous} {
		t.Run(string(mode), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := panelOf(t, 1, func(c *debate.Config, o *debate.Options) {
					c.Protocol = panel.Protocol{Mode: mode}
					c.Limits = debate.Limits{StepTimeout: time.Minute, Time: 100 * time.Hour}
					o.Providers["m"] = &scripted.Provider{Func: func(providers.Request) scripted.Reply {
						return scripted.Reply{Text: "a statement in pieces", Chunks: 10, Latency: 30 * time.Second}
					}}
				})
				for ev, err := range d.Run(t.Context()) {
					require.NoError(t, err)
					if _, ok := ev.(debate.Chunk); ok {
						time.Sleep(3 * time.Minute) // of the bubble: the viewer thinks longer than a step may take
					}
				}
				res := result(t, d)
				require.Equal(t, fsm.Completed, res.State)
				for _, turn := range res.Turns {
					require.Len(t, turn.Attempts, 1)
				}
			})
		})
	}
}

func TestAStepThatTakesTooLongFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := panelOf(t, 1, func(c *debate.Config, o *debate.Options) {
			c.Limits.StepTimeout = time.Minute
			o.Providers["m"] = &scripted.Provider{Func: func(providers.Request) scripted.Reply {
				return scripted.Reply{Text: "never said in time", Latency: 2 * time.Minute}
			}}
		})
		began := time.Now()
		_, err := run(t, d)
		var failure *debate.Failure
		require.ErrorAs(t, err, &failure)
		require.Equal(t, providers.Timeout, failure.Kind)
		require.ErrorContains(t, err, "the step took longer than 1m0s")
		require.Equal(t, time.Minute, time.Since(began))
		require.Equal(t, fsm.Error, result(t, d).State)
	})
}

func TestSimultaneousSpeakersTakeTheTimeOfTheSlowest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		latency := []time.Duration{7 * time.Second, 3 * time.Second}
		next := make(chan time.Duration, 2)
		next <- latency[0]
		next <- latency[1]
		d := panelOf(t, 1, func(c *debate.Config, o *debate.Options) {
			c.Protocol = panel.Protocol{Mode: panel.Simultaneous}
			o.Providers["m"] = &scripted.Provider{Func: func(providers.Request) scripted.Reply {
				return scripted.Reply{Text: "at once", Chunks: 4, Latency: <-next}
			}}
		})
		began := time.Now()
		_, err := run(t, d)
		require.NoError(t, err)
		require.Equal(t, latency[0], time.Since(began), "the slowest, not the sum")
		require.Equal(t, []string{"1/1/respond/A/", "1/1/respond/B/", "1/1/assess/J/", "1/1/verdict/J/"}, keys(result(t, d)), "in the order of the seats")
	})
}

func TestSimultaneousSpeakersDoNotHearOneAnother(t *testing.T) {
	var model *scripted.Provider
	for mode, want := range map[panel.Mode]int{panel.Simultaneous: 2, panel.Sequential: 3} {
		d := panelOf(t, 1, func(c *debate.Config, o *debate.Options) {
			c.Protocol = panel.Protocol{Mode: mode}
			model = chatter()
			o.Providers["m"] = model
		})
		_, err := run(t, d)
		require.NoError(t, err)
		most := 0
		for _, r := range model.Calls() {
			most = max(most, len(r.Messages))
		}
		require.Equal(t, want, most, mode)
	}
}

func TestRoundDelayWaitsBetweenRounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := panelOf(t, 3, func(c *debate.Config, _ *debate.Options) { c.Limits.RoundDelay = time.Minute })
		began := time.Now()
		_, err := run(t, d)
		require.NoError(t, err)
		require.Equal(t, 2*time.Minute, time.Since(began))
	})
}

func TestRetriesFollowTheKindOfTheError(t *testing.T) {
	for kind, retries := range map[providers.Kind]int{
		providers.Network: 3, providers.RateLimit: 5, providers.API: 2, providers.Timeout: 2, providers.InvalidResponse: 1,
		providers.ContextOverflow: 0, providers.Authentication: 0, providers.Validation: 0,
	} {
		t.Run(string(kind), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				model := &scripted.Provider{Func: func(providers.Request) scripted.Reply {
					return scripted.Reply{Err: &providers.Error{Kind: kind, RetryAfter: 40 * time.Second, Err: errors.New("down")}}
				}}
				d := panelOf(t, 1, func(c *debate.Config, o *debate.Options) {
					c.OnOverflow, c.Participants[1].Provider = debate.Degrade, "j" // whom a rate limit does not hit
					o.Providers["m"] = model
				})
				began := time.Now()
				events, err := run(t, d)
				var failure *debate.Failure
				require.ErrorAs(t, err, &failure)
				require.Equal(t, retries+1, failure.Attempts)
				require.Equal(t, kind, failure.Kind)
				require.True(t, failure.Recoverable)
				require.Len(t, model.Calls(), retries+1)
				require.GreaterOrEqual(t, time.Since(began), time.Duration(retries)*40*time.Second, "never before Retry-After")
				require.LessOrEqual(t, time.Since(began), time.Duration(retries)*time.Minute)
				failed := 0
				for _, ev := range events {
					if f, ok := ev.(debate.TurnFailed); ok {
						failed++
						require.Equal(t, failed, f.N)
						require.Equal(t, failed > retries, f.Again < 0)
					}
				}
				require.Equal(t, retries+1, failed)
			})
		})
	}
}

func TestANewAttemptVoidsWhatWasSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := &scripted.Provider{Replies: []scripted.Reply{
			{Text: "half a", Chunks: 2, Err: &providers.Error{Kind: providers.Network, Err: errors.New("reset")}},
			{Text: "a whole statement", Chunks: 2},
			{Text: "the other side"},
		}}
		d := panelOf(t, 1, func(_ *debate.Config, o *debate.Options) { o.Providers["m"] = model })
		events, err := run(t, d)
		require.NoError(t, err)
		said := map[int]string{}
		for _, ev := range events {
			if c, ok := ev.(debate.Chunk); ok && c.Key.Actor == "A" {
				require.Equal(t, len(said[c.N]), c.Offset)
				said[c.N] += c.Text
			}
		}
		require.Equal(t, map[int]string{1: "half a", 2: "a whole statement"}, said)
		turn := result(t, d).Turns[0]
		require.Equal(t, "a whole statement", turn.Text)
		require.Len(t, turn.Attempts, 2)
		require.Equal(t, "network", turn.Attempts[0].Error)
		require.Equal(t, turn.Attempts[0].Usage.Add(turn.Attempts[1].Usage), turn.Usage, "the spend of all attempts")
	})
}

func TestTheEndOfTheContextEndsTheDrivingOnly(t *testing.T) {
	d := panelOf(t, 1, nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	why := errors.New("the user has closed the lid")
	var got error
	for ev, err := range d.Run(ctx) {
		if got = err; err != nil {
			continue
		}
		if _, ok := ev.(debate.Chunk); ok {
			cancel(why)
		}
	}
	require.ErrorIs(t, got, why)
	require.Equal(t, fsm.Awaiting, result(t, d).State)
	require.Empty(t, result(t, d).Turns)
	_, err := run(t, d)
	require.NoError(t, err)
	require.Len(t, result(t, d).Turns, 4)
}

func TestAPanicOfTheViewerLeavesTheDebateUsable(t *testing.T) {
	for _, mode := range []panel.Mode{panel.Sequential, panel.Simultaneous} {
		d := panelOf(t, 1, func(c *debate.Config, _ *debate.Options) { c.Protocol = panel.Protocol{Mode: mode} })
		require.PanicsWithValue(t, "oops", func() {
			for ev, err := range d.Run(t.Context()) {
				require.NoError(t, err)
				if _, ok := ev.(debate.Chunk); ok {
					panic("oops")
				}
			}
		})
		_, err := run(t, d)
		require.NoError(t, err)
		require.Equal(t, fsm.Completed, result(t, d).State)
	}
}

func TestAPanicOfAProviderReachesTheDriver(t *testing.T) {
	d := panelOf(t, 1, func(c *debate.Config, o *debate.Options) {
		c.Protocol = panel.Protocol{Mode: panel.Simultaneous}
		o.Providers["m"] = &scripted.Provider{Func: func(providers.Request) scripted.Reply { panic("a bug") }}
	})
	require.PanicsWithValue(t, "a bug", func() {
		for _, err := range d.Run(t.Context()) {
			require.NoError(t, err)
		}
	})
}
