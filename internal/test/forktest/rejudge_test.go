package forktest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/derivedtest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/mad"
	"github.com/elenchus-go/debate/protocol/pairwise"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/report/archive"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// judged returns configurations of all presets that judges decide.
func judged() map[string]debate.Config {
	all := enginetest.PresetConfigs()
	scores := all["panel"]
	scores.Protocol = panel.Protocol{ByScores: true}
	all["panel by scores"] = scores
	pairs := all["panel"]
	pairs.Protocol = pairwise.Protocol{A: "Yes.", B: "No.", Challenge: true}
	pairs.Participants = nil
	pairs.Limits.MaxRounds = 1
	all["pairwise"] = pairs
	for _, name := range []string{"vote of samples", "vote with conditions"} {
		delete(all, name)
	}
	return all
}

// rejudge returns a rejudged debate.
func rejudge(t testing.TB, e *debate.Engine, id string, again debate.Rejudge) *debate.Debate {
	t.Helper()
	d, err := e.Rejudge(t.Context(), id, again)
	require.NoError(t, err)
	return d
}

// decides reports whether a step is one of those who decide.
func decides(c debate.Config, k transcript.Key) bool {
	return slices.Contains(c.Protocol.(protocol.Decider).Deciding(), k.Phase)
}

// kept returns the turns of those who do not decide, as JSON without the numbers of entries.
func kept(t testing.TB, c debate.Config, d *debate.Debate) (list []string) {
	t.Helper()
	for _, turn := range debatetest.Result(t, d).Turns {
		if decides(c, turn.Key) {
			continue
		}
		turn.Seq, turn.VisibleSeq = 0, 0
		list = append(list, debatetest.Encode(t, turn))
	}
	return list
}

// course returns the transitions and phases of a debate, without pauses.
func course(t testing.TB, d *debate.Debate) (list []string) {
	t.Helper()
	for m, err := range d.Replay(t.Context()) {
		require.NoError(t, err)
		switch ev := m.Event.(type) {
		case debate.StateChanged:
			if ev.On != fsm.Pause && ev.On != fsm.Resume {
				list = append(list, fmt.Sprintln(ev.On, ev.To, ev.Round, ev.Ending, ev.Findings))
			}
		case debate.PhaseStarted:
			list = append(list, fmt.Sprintln(ev.Round, ev.Phase, ev.Parallel))
		}
	}
	return list
}

// The same judges are asked the same, in the same order, and nobody else is asked anything.
func TestOnlyThoseWhoDecideAreAskedAgain(t *testing.T) {
	for name, cfg := range judged() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, m := newEngine(t, cfg)
			parent := create(t, e, cfg)
			run(t, parent)
			asked := m.take()
			maps.DeleteFunc(asked, func(k transcript.Key, _ []providers.Request) bool { return !decides(cfg, k) })
			d := rejudge(t, e, parent.ID(), debate.Rejudge{ID: "again"})
			require.NoError(t, d.Verify(t.Context()))
			run(t, d)
			again := m.take()
			for key := range again {
				require.Contains(t, asked, key, "no other step")
			}
			require.Equal(t, asked, again)
			is := debatetest.Result(t, d)
			require.Equal(t, kept(t, cfg, parent), kept(t, cfg, d))
			require.Equal(t, course(t, parent), course(t, d))
			require.Equal(t, outcome(t, parent), outcome(t, d))
			require.Equal(t, fsm.Completed, is.State)
			require.NotNil(t, is.Rejudged)
			require.Empty(t, is.Rejudged.Departures)
			for _, turn := range is.Turns {
				if turn.Kind == transcript.Conclusion {
					require.True(t, decides(cfg, turn.Key), "every conclusion decides: %s", turn.Key)
				}
				if len(turn.Attempts) == 0 {
					continue
				}
				p, err := d.PromptOf(t.Context(), turn.Key)
				require.NoError(t, err, turn.Key)
				require.Equal(t, "equal", p.Match, "%s %v", turn.Key, p.Missing)
			}
		})
	}
}

// Whatever new judges say, the rest stays as it was: also if there are other judges, and if they fail at first.
func TestTheCourseIsKept(t *testing.T) {
	for name, cfg := range judged() {
		if strings.HasSuffix(name, "with a selection") { // it is calibrated for its judges
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, m := newEngine(t, cfg)
			parent := create(t, e, cfg)
			run(t, parent)
			m.take()
			m.alter = func(k transcript.Key, n int, reply *scripted.Reply) {
				if strings.HasPrefix(k.Actor, "new") {
					reply.Text = enginetest.PresetReply(cfg, providers.Request{Model: "other", SchemaName: m.last(k).SchemaName, Schema: m.last(k).Schema, Messages: []providers.Message{{Text: fmt.Sprint(k, n)}}})
				}
			}
			judges := []debate.Participant{{Name: "new", Provider: "m"}, {Name: "newer", Provider: "m"}}
			d := rejudge(t, e, parent.ID(), debate.Rejudge{ID: "again", Judges: judges[:min(2, len(cfg.Judges))]})
			run(t, d)
			asked := m.take()
			require.NotEmpty(t, asked)
			for key := range asked {
				require.True(t, strings.HasPrefix(key.Actor, "new") && decides(cfg, key), key)
			}
			require.Equal(t, kept(t, cfg, parent), kept(t, cfg, d))
			require.Equal(t, debatetest.Result(t, parent).Ending, debatetest.Result(t, d).Ending)
			require.Equal(t, fsm.Completed, debatetest.Status(t, d).State)
			for _, turn := range debatetest.Result(t, d).Turns {
				if len(turn.Attempts) == 0 {
					continue
				}
				p, err := d.PromptOf(t.Context(), turn.Key)
				require.NoError(t, err, turn.Key)
				require.Equal(t, "equal", p.Match, "%s %v", turn.Key, p.Missing)
			}
		})
	}
}

// A rejudged debate goes on in other processes, of which each ends after one event, and asks nobody twice.
func TestARejudgedDebateSurvivesItsProcess(t *testing.T) {
	for name, cfg := range judged() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := store.Memory()
			e, _ := newEngine(t, cfg, func(o *debate.Options) { o.Store = st })
			parent := create(t, e, cfg)
			run(t, parent)
			run(t, rejudge(t, e, parent.ID(), debate.Rejudge{ID: "whole", Swap: true}))
			rejudge(t, e, parent.ID(), debate.Rejudge{ID: "again", Swap: true})
			for range 200 {
				e, m := newEngine(t, cfg, func(o *debate.Options) { o.Store = st })
				d := debatetest.Open(t, e, "again")
				if debatetest.Status(t, d).State == fsm.Completed {
					whole := debatetest.Open(t, e, "whole")
					require.Equal(t, outcome(t, whole), outcome(t, d))
					derivedtest.Require(t, d)
					return
				}
				for ev, err := range d.Run(t.Context()) {
					require.NoError(t, err)
					if _, done := ev.(debate.TurnDone); done {
						break
					}
				}
				for key := range m.take() {
					require.True(t, decides(cfg, key), key)
				}
			}
			require.Fail(t, "the debate does not end")
		})
	}
}

// A fork of a rejudged debate follows the course too, from each of its entries.
func TestForksOfRejudgedDebates(t *testing.T) {
	for _, name := range []string{"mad", "arbitration", "panel in Oxford style", "panel by scores"} {
		cfg := judged()[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, m := newEngine(t, cfg)
			parent := create(t, e, cfg)
			run(t, parent)
			d := rejudge(t, e, parent.ID(), debate.Rejudge{ID: "again", Swap: true})
			from, made := debatetest.Status(t, d).Parent.Seq, debatetest.Status(t, d).Seq
			run(t, d)
			m.take()
			sample := enginetest.NewSample(t, 12)
			for seq := from; seq <= debatetest.Status(t, d).Seq; seq++ {
				within := seq > from && seq < made // the change that has made it
				if within || seq > made && !sample.Tries("entry") {
					continue
				}
				f := debatetest.Fork(t, e, "again", seq, debate.Edits{})
				run(t, f)
				require.Equal(t, outcome(t, d), outcome(t, f), seq)
				for key := range m.take() {
					require.True(t, decides(cfg, key), key)
				}
			}
			f := debatetest.Fork(t, e, "again", from-1, debate.Edits{})
			run(t, f)
			require.Nil(t, debatetest.Result(t, f).Rejudged, "it has nothing of the course")
			twice := rejudge(t, e, "again", debate.Rejudge{ID: "twice", Swap: true})
			run(t, twice)
			require.Equal(t, outcome(t, d), outcome(t, twice))
		})
	}
}

// The course of a debate with people, gates, failures and controls is kept, whether the judges decide at its end or after
// each round.
func TestRejudgedLives(t *testing.T) {
	for name, l := range lives() {
		for kind, p := range map[string]panel.Protocol{"verdicts": {}, "scores": {ByScores: true}} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				t.Parallel()
				l, change := l, l.change // the other kind of panel has its own
				l.change = func(c *debate.Config) {
					c.Protocol = p
					if change != nil {
						change(c)
						q := c.Protocol.(panel.Protocol)
						q.ByScores = p.ByScores
						c.Protocol = q
					}
				}
				cfg, e, m, parent := l.lead(t)
				m.take()
				d, err := e.Rejudge(t.Context(), parent.ID(), debate.Rejudge{ID: "again"})
				if debatetest.Status(t, parent).State != fsm.Completed {
					require.Error(t, err)
					return
				}
				require.NoError(t, err)
				l.finish(t, d, cfg, nil)
				require.NoError(t, d.Verify(t.Context()))
				derivedtest.Require(t, d)
				for key := range m.take() {
					require.True(t, decides(cfg, key), key)
				}
				require.Equal(t, kept(t, cfg, parent), kept(t, cfg, d))
				was, is := debatetest.Result(t, parent), debatetest.Result(t, d)
				require.Equal(t, was.Ending, is.Ending)
				require.Equal(t, was.Findings, is.Findings)
				require.Equal(t, was.Answer.Text, is.Answer.Text)
				require.Equal(t, fsm.Completed, is.State)
				require.Empty(t, is.Rejudged.Departures)
			})
		}
	}
}

// moderation replies to the moderator of a debate of the preset mad.
func moderation(preference bool) string {
	if !preference {
		return `{"reasoning":"Both are close.","preference":false}`
	}
	return `{"reasoning":"One is right.","preference":true,"supported":"Debater A","answer":"Yes."}`
}

// The result says where new judges would have taken another course. If they leave no answer, there is none.
func TestDepartures(t *testing.T) {
	for name, x := range map[string]struct {
		was, is    []bool // whether the moderator prefers an answer, by round
		departures []string
		decided    string
	}{
		"earlier":            {was: []bool{false, true}, is: []bool{true, false}, departures: []string{"1:→judge_decided", "2:judge_decided→"}},
		"later":              {was: []bool{true}, is: []bool{false}, departures: []string{"1:judge_decided→"}},
		"the same":           {was: []bool{false, true}, is: []bool{false, true}, decided: "moderator"},
		"earlier and as was": {was: []bool{false, true}, is: []bool{true, true}, departures: []string{"1:→judge_decided"}, decided: "moderator"},
		"at the last round":  {was: []bool{false, false, false}, is: []bool{false, false, true}, departures: []string{"3:round_limit→judge_decided"}, decided: "moderator"},
		"not at the last":    {was: []bool{false, false, true}, is: []bool{false, false, false}, departures: []string{"3:judge_decided→round_limit"}},
		"never":              {was: []bool{false, false, false}, is: []bool{false, false, false}, decided: "judge"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := enginetest.PresetConfigs()["mad"]
			e, m := newEngine(t, cfg)
			prefers := x.was
			m.alter = func(k transcript.Key, _ int, reply *scripted.Reply) {
				if k.Phase == "moderate" {
					reply.Text = moderation(prefers[k.Round-1])
				}
			}
			parent := create(t, e, cfg)
			run(t, parent)
			prefers = x.is
			d := rejudge(t, e, parent.ID(), debate.Rejudge{ID: "again"})
			run(t, d)
			is := debatetest.Result(t, d)
			require.Equal(t, len(x.was), is.Round)
			require.Equal(t, debatetest.Result(t, parent).Ending, is.Ending)
			require.Equal(t, kept(t, cfg, parent), kept(t, cfg, d))
			var departures []string
			for _, x := range is.Rejudged.Departures {
				departures = append(departures, fmt.Sprintf("%d:%s→%s", x.Round, x.Kept.Outcome, x.Instead.Outcome))
			}
			require.Equal(t, x.departures, departures)
			if len(departures) > 0 {
				require.Contains(t, strings.Join(is.Warnings, "\n"), "the new judges would have had the debate")
			}
			answer, err := mad.DecodeAnswer(is.Answer)
			require.NoError(t, err)
			require.Equal(t, x.decided, answer.DecidedBy)
			if x.decided == "" {
				require.Contains(t, is.Answer.Text, "There is no answer")
			}
		})
	}
}

// What is left out is in no prompt of the judges who decide, and nothing else changes in it. Where its words remain, the
// result says so.
func TestOmission(t *testing.T) {
	for name, cfg := range judged() {
		if name == "pairwise" || name == "panel with summaries in its window" { // no speeches; too long for a window
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, m := newEngine(t, cfg)
			said := func(k transcript.Key) string { return fmt.Sprintf("The word that I say is %x now.", k.String()) }
			m.alter = func(k transcript.Key, _ int, reply *scripted.Reply) {
				if m.last(k).SchemaName == "" && !decides(cfg, k) && k.Phase != "summary" && k.Phase != "embeddings" {
					reply.Text = said(k)
				}
			}
			parent := create(t, e, cfg)
			run(t, parent)
			asked := m.take()
			var speech transcript.Turn
			for _, turn := range debatetest.Result(t, parent).Turns {
				if turn.Kind == transcript.Speech && turn.Contract == "" {
					speech = turn
				}
			}
			if speech.Text == "" {
				t.Skip("all speeches are structured")
			}
			d := rejudge(t, e, parent.ID(), debate.Rejudge{ID: "again", Omit: debate.Omission{Turns: []transcript.Key{speech.Key}}})
			run(t, d)
			again := m.take()
			require.NotEmpty(t, again)
			for key, requests := range again {
				messages := slices.Clone(asked[key][0].Messages)
				messages = slices.DeleteFunc(messages, func(x providers.Message) bool { return strings.Contains(x.Text, said(speech.Key)) })
				require.NotContains(t, fmt.Sprint(requests[0].Messages), said(speech.Key))
				if len(debatetest.Result(t, parent).Turns) > 0 && key.Phase != "synthesize" && key.Phase != "decide" && key.Phase != "candidates" { // these see what the judge has said
					require.Equal(t, messages, requests[0].Messages)
				}
			}
			is := debatetest.Result(t, d)
			require.Equal(t, debate.Omission{Turns: []transcript.Key{speech.Key}}, is.Rejudged.Omit)
			require.Empty(t, is.Rejudged.Remains)
			require.Equal(t, kept(t, cfg, parent), kept(t, cfg, d))

			of := rejudge(t, e, parent.ID(), debate.Rejudge{ID: "seat", Omit: debate.Omission{Seats: []string{speech.Actor}}})
			run(t, of)
			for key, requests := range m.take() {
				for _, turn := range is.Turns {
					if turn.Actor == speech.Actor && turn.Kind == transcript.Speech && turn.Contract == "" {
						require.NotContains(t, fmt.Sprint(requests[0].Messages), turn.Text, key)
					}
				}
			}
		})
	}
}

// A quote of a turn that was left out stays in the prompts, and the result names them.
func TestWordsThatRemain(t *testing.T) {
	cfg := lifeConfig()
	const words = "Buses need less room than any number of cars on a street."
	e, m := newEngine(t, cfg)
	m.alter = func(k transcript.Key, _ int, reply *scripted.Reply) {
		switch {
		case k.Actor == "A" && k.Round == 1:
			reply.Text = words
		case k.Actor == "B" && k.Round == 2:
			reply.Text = `A said that "` + strings.ToLower(words) + `" I doubt it.`
		}
	}
	parent := create(t, e, cfg)
	run(t, parent)
	said := transcript.Key{Run: 1, Round: 1, Phase: "respond", Actor: "A"}
	quoted := transcript.Key{Run: 1, Round: 2, Phase: "respond", Actor: "B"}
	one := rejudge(t, e, parent.ID(), debate.Rejudge{Omit: debate.Omission{Turns: []transcript.Key{said}}})
	run(t, one)
	verdict := func(judge string) transcript.Key {
		return transcript.Key{Run: 1, Round: 2, Phase: "verdict", Actor: judge}
	}
	require.ElementsMatch(t, []transcript.Key{verdict("J"), verdict("K")}, debatetest.Result(t, one).Rejudged.Remains)
	both := rejudge(t, e, parent.ID(), debate.Rejudge{Omit: debate.Omission{Turns: []transcript.Key{said, quoted}}})
	run(t, both)
	require.Empty(t, debatetest.Result(t, both).Rejudged.Remains)
}

// A name in a turn that was left out is a pseudonym where a blind judge reads a quote of it.
func TestWordsThatRemainWithPseudonyms(t *testing.T) {
	cfg := lifeConfig()
	cfg.Participants[1].Name = "Bob"
	e, m := newEngine(t, cfg)
	m.alter = func(k transcript.Key, _ int, reply *scripted.Reply) {
		switch {
		case k.Actor == "A" && k.Round == 1:
			reply.Text = "Bob overlooks the rent."
		case k.Actor == "C" && k.Round == 2:
			reply.Text = `A said "Bob overlooks the rent", and I agree.`
		}
	}
	parent := create(t, e, cfg)
	run(t, parent)
	d := rejudge(t, e, parent.ID(), debate.Rejudge{Omit: debate.Omission{Turns: []transcript.Key{{Run: 1, Round: 1, Phase: "respond", Actor: "A"}}}})
	run(t, d)
	require.Len(t, debatetest.Result(t, d).Rejudged.Remains, 2)
}

// A document or an attachment that is left out is in no prompt of those who decide, and in all others as it was. Where somebody
// has quoted it, the result says so.
func TestDocumentsThatAreLeftOut(t *testing.T) {
	const words = "The tram of line nine carries four hundred people in an hour."
	cfg := lifeConfig()
	cfg.Documents = []evidence.Document{evidence.Shared("trams.md", words), evidence.Shared("cars.md", "Cars stand still for most of the day.")}
	cfg.Attachments = []debate.Attachment{{Name: "map.pdf", MediaType: "application/pdf", URL: "https://example.org/map.pdf", Pages: 1}}
	for name, quotes := range map[string]bool{"nobody quotes it": false, "somebody quotes it": true} {
		t.Run(name, func(t *testing.T) {
			e, m := newEngine(t, cfg)
			m.alter = func(k transcript.Key, _ int, reply *scripted.Reply) {
				if quotes && k.Phase == "respond" && k.Actor == "B" && k.Round == 1 {
					reply.Text = "I read this: " + words
				}
			}
			parent := create(t, e, cfg)
			run(t, parent)
			asked := m.take()
			d := rejudge(t, e, parent.ID(), debate.Rejudge{ID: "again", Omit: debate.Omission{Documents: []string{"trams.md", "map.pdf"}}})
			require.NoError(t, d.Verify(t.Context()))
			run(t, d)
			again := m.take()
			require.Len(t, again, 2)
			for key, requests := range again {
				was, is := fmt.Sprint(asked[key][0].Messages), fmt.Sprint(requests[0].Messages)
				require.Contains(t, was, "trams.md")
				require.Contains(t, was, "map.pdf")
				require.NotContains(t, is, "trams.md")
				require.NotContains(t, is, "map.pdf")
				require.Contains(t, is, "Cars stand still for most of the day.")
				require.Equal(t, quotes, strings.Contains(is, words))
			}
			is := debatetest.Result(t, d)
			require.Equal(t, []string{"trams.md", "map.pdf"}, is.Rejudged.Omit.Documents)
			require.Len(t, is.Rejudged.Remains, map[bool]int{true: 2}[quotes])
			require.Equal(t, kept(t, cfg, parent), kept(t, cfg, d))
			derivedtest.Require(t, d)
			for _, turn := range is.Turns {
				p := debatetest.PromptOf(t, d, turn.Key)
				require.Equal(t, "equal", p.Match, "%s %v", turn.Key, p.Missing)
			}
			f := debatetest.Fork(t, e, "again", 0, debate.Edits{})
			require.Equal(t, is.Rejudged, debatetest.Result(t, f).Rejudged)
		})
	}
}

// A budget ends a rejudged debate in the middle of its course: it is concluded there, by the judges, and the rest is left out.
func TestABudgetEndsARejudgedDebate(t *testing.T) {
	cfg := lifeConfig()
	cfg.Protocol = panel.Protocol{ByScores: true}
	cfg.Limits.MaxRounds = 6
	cfg.Limits.OutputTokens = 60_000
	e, m := newEngine(t, cfg)
	m.alter = func(k transcript.Key, _ int, reply *scripted.Reply) {
		reply.Usage = transcript.Usage{Input: 100, Output: 1000}
		if strings.HasPrefix(k.Actor, "new") {
			reply.Usage.Output = 5000
		}
	}
	parent := create(t, e, cfg)
	run(t, parent)
	was := debatetest.Result(t, parent)
	require.Equal(t, 6, was.Round)
	m.take()
	d := rejudge(t, e, parent.ID(), debate.Rejudge{ID: "again", Judges: []debate.Participant{{Name: "new", Provider: "m"}, {Name: "newer", Provider: "m"}}})
	run(t, d)
	is := debatetest.Result(t, d)
	require.Equal(t, transcript.TokenBudget, is.Ending.Outcome)
	require.Less(t, is.Round, was.Round)
	require.Equal(t, fsm.Completed, is.State)
	require.NotEmpty(t, is.Answer.Text)
	list := kept(t, cfg, d)
	require.Equal(t, kept(t, cfg, parent)[:len(list)], list, "until then, it is the course")
	for key := range m.take() {
		require.True(t, decides(cfg, key), key)
	}
	require.NoError(t, d.Verify(t.Context()))
	derivedtest.Require(t, d)
}

// People judge again too, and read what they are to read.
func TestPeopleJudgeAgain(t *testing.T) {
	cfg := lifeConfig()
	e, m := newEngine(t, cfg)
	parent := create(t, e, cfg)
	run(t, parent)
	m.take()
	first := debatetest.Result(t, parent).Turns[0]
	d := rejudge(t, e, parent.ID(), debate.Rejudge{ID: "again", Judges: []debate.Participant{{Name: "Cleo", Human: true}}, Omit: debate.Omission{Turns: []transcript.Key{first.Key}}})
	run(t, d)
	waiting := debatetest.Waiting(t, d)
	require.Len(t, waiting, 1)
	require.Equal(t, "verdict", waiting[0].Key.Phase)
	require.Len(t, waiting[0].Said, 5, "one of six is left out")
	require.NoError(t, d.Answer(t.Context(), waiting[0].Key, `{"summary":"A was clear.","winner":"A","winner_reasoning":"It was clear.","quality":50}`, "Cleo"))
	run(t, d)
	require.Equal(t, fsm.Completed, debatetest.Status(t, d).State)
	require.Empty(t, m.take())
	answer, err := panel.DecodeAnswer(debatetest.Result(t, d).Answer)
	require.NoError(t, err)
	require.Equal(t, "A", answer.Value.Winner)
}

// What cannot be judged again is refused with the reason.
func TestRefusedRejudging(t *testing.T) {
	cfg := lifeConfig()
	e, _ := newEngine(t, cfg)
	parent := create(t, e, cfg)
	requireRefused := func(again debate.Rejudge, id, field, reason string) {
		t.Helper()
		_, err := e.Rejudge(t.Context(), id, again)
		p, ok := errors.AsType[*debate.Problems](err)
		require.True(t, ok, "%v", err)
		require.Equal(t, field, p.List[0].Field)
		require.Contains(t, p.List[0].Reason, reason)
	}
	requireRefused(debate.Rejudge{}, "d", "id", "has not ended, it is configuring")
	for ev, err := range parent.Run(t.Context()) {
		require.NoError(t, err)
		if p, ok := ev.(debate.PhaseStarted); ok && p.Phase == "verdict" {
			break
		}
	}
	requireRefused(debate.Rejudge{}, "d", "id", "has not ended")
	run(t, parent)
	requireRefused(debate.Rejudge{ID: "a/b"}, "d", "id", "a/b")
	requireRefused(debate.Rejudge{Omit: debate.Omission{Turns: []transcript.Key{{Run: 1, Round: 9, Phase: "respond", Actor: "A"}}}}, "d", "omit.turns[0]", "no turn")
	requireRefused(debate.Rejudge{Omit: debate.Omission{Turns: []transcript.Key{{Run: 1, Round: 2, Phase: "verdict", Actor: "J"}}}}, "d", "omit.turns[0]", "no speech")
	requireRefused(debate.Rejudge{Omit: debate.Omission{Seats: []string{"A", "Z"}}}, "d", "omit.seats[1]", "not a participant")
	requireRefused(debate.Rejudge{Judges: []debate.Participant{{Name: "A", Provider: "m"}}}, "d", "config.judges[0].name", "taken")
	_, err := e.Rejudge(t.Context(), "none", debate.Rejudge{})
	require.ErrorIs(t, err, store.ErrNotFound)
	_, err = e.Rejudge(t.Context(), "d", debate.Rejudge{ID: "d"})
	require.ErrorIs(t, err, debate.ErrTaken)

	canceled := cfg
	canceled.ID = "canceled"
	c := create(t, e, canceled)
	require.NoError(t, c.Cancel(t.Context()))
	requireRefused(debate.Rejudge{}, "canceled", "id", "canceled")
	votes := enginetest.PresetConfigs()["vote of samples"]
	votes.ID = "votes"
	run(t, create(t, e, votes))
	requireRefused(debate.Rejudge{}, "votes", "id", "no judge decides")
}

// A change of what a rejudged debate repeats is found.
func TestAForgedRepetitionIsFound(t *testing.T) {
	cfg := judged()["arbitration"]
	e, _ := newEngine(t, cfg)
	parent := create(t, e, cfg)
	run(t, parent)
	d := rejudge(t, e, parent.ID(), debate.Rejudge{ID: "again"})
	run(t, d)
	o, _ := options.Load(e)
	j, err := archive.Export(t.Context(), o.(debate.Options).Store, "again")
	require.NoError(t, err)
	require.NoError(t, archive.Import(t.Context(), store.Memory(), j))
	changed := 0
	for i, entry := range j.Entries {
		raw := string(entry.Data.(json.RawMessage))
		if entry.Seq == 1 || !strings.Contains(raw, `"repeats":`) || !strings.Contains(raw, `"text":"`) {
			continue
		}
		forged := *j
		forged.Entries = slices.Clone(j.Entries)
		forged.Entries[i].Data = json.RawMessage(strings.Replace(raw, `"text":"`, `"text":"Not `, 1))
		require.ErrorContains(t, archive.Import(t.Context(), store.Memory(), &forged), "must follow in the course")
		changed++
	}
	require.Positive(t, changed)
}
