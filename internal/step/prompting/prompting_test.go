package prompting

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/internal/step"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/prompts"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// seats are the actors of these tests: each has the same model.
type seats struct {
	window      int
	tools       []string
	documents   []evidence.Document
	attachments []*providers.Attachment
}

func (s *seats) ModelOf(string) (Model, bool) {
	return Model{Provider: "p", Name: "m", Window: s.window, MaxTokens: 500}, true
}

func (s *seats) ToolsOf(string) []string { return s.tools }

func (s *seats) DocumentsOf(string) []evidence.Document { return s.documents }

func (s *seats) AttachmentsOf(string) []*providers.Attachment { return s.attachments }

// rules are a protocol that may name only some participants.
type rules struct {
	protocol.Protocol

	named []string
}

func (r rules) Names(*protocol.Record, protocol.Step) []string { return r.named }

type advice []string

func (a advice) Advice(int) []string { return a }

// newDebate returns a debate of Ada and Bo before the judge Cy, in which each has spoken in the given number of rounds.
func newDebate(t *testing.T, s *seats, rounds int) *Debate {
	t.Helper()
	set, err := prompts.Load(nil)
	require.NoError(t, err)
	d := &Debate{
		Settings: Settings{
			Templates: set,
			Actors:    s,
			Protocol:  rules{},
			Tools:     ToolLimits{Rounds: 4, Bytes: 8 << 10},
			Rubric:    judge.Rubric{{Name: "clarity", Weight: 1}},
		},
		Findings: advice{"Ada repeats herself"},
		Env: &Environment{
			Count:    func(_, text string) int { return window.Estimate(text) },
			Contract: func(string) *reply.Contract { return nil },
			Bind:     func(name string) (string, providers.Provider, error) { return name, nil, nil },
			Tools: func(names []string) ([]providers.Tool, []string) {
				return []providers.Tool{{Name: names[0]}}, nil
			},
		},
	}
	d.Seed = "seed"
	d.Topic = "Tea or coffee?"
	d.Judges = []string{"Cy"}
	d.MaxRounds = rounds
	d.SetProfiles([]transcript.Profile{{Name: "Ada", Position: "tea"}, {Name: "Bo", Position: "coffee"}})
	d.Cursor = transcript.Cursor{Run: 1, Round: 1}
	for round := range rounds {
		d.Cursor.Round = round + 1
		d.StartPhase("speech", d.Seq)
		for i, name := range []string{"Ada", "Bo"} {
			add(t, d, transcript.Turn{
				Key: transcript.Key{Run: 1, Round: round + 1, Phase: "speech", Actor: name}, Kind: transcript.Speech, Order: i,
				Text: fmt.Sprintf("%s in round %d. %s", name, round+1, strings.Repeat("word ", 100)), Tokens: 110,
			})
		}
	}
	return d
}

func add(t *testing.T, d *Debate, turn transcript.Turn) {
	t.Helper()
	d.Seq++
	turn.Seq, d.Cursor.Round = d.Seq, turn.Round
	require.True(t, d.Apply(turn))
	d.History.Add(&turn, turn.Round)
}

// build builds the prompt of a step of an actor.
func build(t *testing.T, d *Debate, s protocol.Step) *step.Plan {
	t.Helper()
	s.Prompt = "opening"
	s.VisibleSeq = d.Seq
	s.Run = 1
	s.Round = d.Cursor.Round
	p := &step.Plan{Step: s}
	p.Prompt.Set = d.Settings.Templates
	if s.Contract != "" {
		p.Contract = d.Contract(s.Contract)
	}
	list, own := d.NamesFor(&s)
	p.Names = list
	require.NoError(t, d.Build(p, transcript.Profile{Name: s.Actor}, own))
	t.Cleanup(func() { Release(&p.Prompt) })
	return p
}

func by(actor string) protocol.Step { return protocol.Step{Key: transcript.Key{Actor: actor}} }

func TestAPromptHasTheHistoryByWhoSpoke(t *testing.T) {
	d := newDebate(t, &seats{window: 32_000}, 2)
	p := build(t, d, by("Ada"))
	list := p.Prompt.Messages
	require.Len(t, list, 6)
	require.Nil(t, p.Window)
	var roles []providers.Role
	for _, m := range list {
		roles = append(roles, m.Role)
	}
	require.Equal(
		t,
		[]providers.Role{providers.System, providers.Assistant, providers.User, providers.Assistant, providers.User, providers.User},
		roles,
	)
	require.True(t, strings.HasPrefix(list[1].Text, "Ada in round 1."), "own turns have no delimiters")
	require.Contains(t, list[2].Text, "Bo in round 1.")
	require.False(t, strings.HasPrefix(list[2].Text, "Bo in round 1."), "the turns of others have delimiters")
	require.Zero(t, (p.Prompt.Tokens-p.Prompt.History)%roundingTokens)
	require.Same(t, p.Prompt.Base, build(t, d, by("Ada")).Prompt.Base, "what does not change is made once")
}

func TestASmallWindowCutsTheHistory(t *testing.T) {
	p := build(t, newDebate(t, &seats{window: 3000}, 10), by("Ada"))
	require.NotNil(t, p.Window)
	require.Equal(t, 20, p.Window.Kept+p.Window.Omitted)
	require.Len(t, p.Prompt.Messages, 2+p.Window.Kept)
	last := p.Prompt.Messages[len(p.Prompt.Messages)-2]
	require.Contains(t, last.Text, "Bo in round 10.")
}

func TestABlindJudgeSeesNoNamesAndGetsAdvice(t *testing.T) {
	d := newDebate(t, &seats{window: 32_000}, 1)
	s := by("Cy")
	s.Blind, s.Contract = true, judge.AssessmentContract.Name()
	p := build(t, d, s)
	for _, m := range p.Prompt.Messages {
		require.NotContains(t, m.Text, "Ada")
	}
	schema := string(p.Model.Request.Schema)
	require.NotContains(t, schema, "Ada")
	inSchema := func(name string) string { return strings.ReplaceAll(d.Pseudonyms(&s).Of(name), " ", "_") }
	require.Contains(t, schema, inSchema("Bo"))
	require.Equal(t, d.Pseudonyms(&s).HideAll([]string{"Ada repeats herself"}), p.Prompt.Data.Advice)
	require.Positive(t, p.Prompt.Schema)
	d.Settings.Protocol = rules{named: []string{"Bo"}}
	require.NotContains(t, string(build(t, d, s).Model.Request.Schema), inSchema("Ada"), "the protocol lists the names")
}

func TestDocumentsAttachmentsAndToolsTakeRoom(t *testing.T) {
	d := newDebate(t, &seats{window: 32_000}, 1)
	bare := build(t, d, by("Ada")).Prompt
	d = newDebate(t, &seats{
		window: 32_000, tools: []string{"search"},
		documents:   []evidence.Document{{Name: "report", Text: "Tea is older.", Tokens: 900}},
		attachments: []*providers.Attachment{{Name: "chart", MediaType: "image/png", Data: []byte("x")}},
	}, 1)
	p := build(t, d, by("Ada"))
	require.Contains(t, p.Prompt.Messages[0].Text, "Tea is older.")
	require.Len(t, p.Prompt.Attachments, 1)
	require.Greater(t, p.Prompt.Tokens, bare.Tokens+900)
	require.Positive(t, p.Tools.Room)
	require.Equal(t, 0, ToolLimits{Rounds: 4, Bytes: 1024}.Room(-5))
	require.Equal(t, 4*(256+MinToolRoom), ToolLimits{Rounds: 4, Bytes: 1024}.Room(100_000))
}

func TestTheSummaryThatAStepNeeds(t *testing.T) {
	d := newDebate(t, &seats{window: 6000}, 30)
	d.Settings.History = window.Policy{Manager: window.Hybrid, AllowSummaries: true}
	d.Settings.Summarizer = transcript.Profile{Name: protocol.Summarizer}
	s := by("Ada")
	s.VisibleSeq = d.Seq
	w := d.SummaryFor(&s, d.Profiles[0])
	require.NotNil(t, w)
	require.True(t, strings.HasPrefix(w.Target, "up to 1/"), w.Target)
	d.History.Wanted = w
	add(t, d, transcript.Turn{
		Key: transcript.Key{
			Run:    1,
			Round:  30,
			Phase:  "summary",
			Actor:  protocol.Summarizer,
			Target: w.Target,
		}, Kind: transcript.Summary, Text: "Both agree.", Tokens: 20,
	})
	require.Nil(t, d.History.Wanted)
	p := build(t, d, by("Ada"))
	require.True(t, p.Prompt.Summarized)
	require.Contains(t, p.Prompt.Messages[1].Text, "Both agree.")
	require.Contains(t, p.Prompt.Messages[1].Text, summaryHeading)
	require.Nil(t, newDebate(t, &seats{window: 100_000}, 1).SummaryFor(&s, d.Profiles[0]), "it fits")
}

func TestSupposedPromptsAreApart(t *testing.T) {
	d := newDebate(t, &seats{window: 32_000}, 1)
	s := by("Ada")
	s.Prompt, s.Vars = "opening", map[string]string{"task": "first"}
	sent, err := d.fixed(&s, d.Profiles[0])
	require.NoError(t, err)
	d.BeginSupposing()
	other := s
	other.Vars = maps.Clone(s.Vars)
	other.Vars["task"] = "second"
	supposed, err := d.fixed(&other, d.Profiles[0])
	require.NoError(t, err)
	require.NotSame(t, sent, supposed)
	d.EndSupposing()
	again, err := d.fixed(&other, d.Profiles[0])
	require.NoError(t, err)
	require.Same(t, sent, again)
	d.Forget()
	fresh, err := d.fixed(&other, d.Profiles[0])
	require.NoError(t, err)
	require.NotSame(t, sent, fresh)
}

func TestAPersonReadsWhatAModelWould(t *testing.T) {
	d := newDebate(t, &seats{window: 32_000}, 1)
	s := by("Ada")
	s.Prompt, s.VisibleSeq = "opening", d.Seq
	said := d.Said(&s)
	require.Equal(t, []string{"Ada", "Bo"}, []string{said[0].Actor, said[1].Actor})
	require.Equal(t, build(t, d, by("Ada")).Prompt.Messages[1:3], d.Messages(&s))
	b, err := d.Brief(&s, d.Profiles[0])
	require.NoError(t, err)
	require.Equal(t, []string{"Bo"}, NamesOf(b.Others))
	require.Contains(t, b.Text(), "> Tea or coffee?")
	require.Empty(t, b.Rubric, "only judges have criteria")
	require.Greater(t, d.EstimatedTokens(&s, d.Profiles[0]), slices.Max([]int{d.Tokens(&s, d.Profiles[0]) - 1, 220}))
}

// A turn of a parallel phase may be inserted before one that a prompt has shown.
func TestMessagesFollowTheirTurns(t *testing.T) {
	d := newDebate(t, &seats{window: 32_000}, 2)
	shown := func() []providers.Message {
		q := build(t, d, by("Ada")).Prompt
		for i := range q.Messages {
			require.Equal(t, step.DigestOf(&q.Messages[i]), q.Digests[i])
		}
		return q.Messages
	}
	before := shown()
	first := d.Turns[0]
	inserted := first
	inserted.Seq, inserted.Text = d.Seq+1, "This is new."
	d.Seq++
	d.Turns = slices.Insert(d.Turns, 0, inserted)
	after := shown()
	require.Len(t, after, len(before)+1)
	require.Contains(t, after[1].Text, "This is new.")
	require.Equal(t, before[1:len(before)-1], after[2:len(after)-1])
	d.Turns = d.Turns[1:]
	require.Equal(t, before, shown())
}
