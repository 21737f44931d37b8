package refine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/golden"
	"github.com/elenchus-go/debate/internal/test/protocoltest"
	"github.com/elenchus-go/debate/prompts"
	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/transcript"
)

var (
	ada   = transcript.Profile{Name: "Ada", Role: "architect", Position: "One service will do.", Persona: "A dry Scot.", Instructions: "Draw no diagrams."}
	bo    = transcript.Profile{Name: "Bo", Role: "security"}
	cy    = transcript.Profile{Name: "Cy"}
	chair = transcript.Profile{Name: "Eve", Persona: "A retired engineer.", Instructions: "Be brief."}
)

// data returns the prompt data of a debate with every optional field set.
func data(me transcript.Profile, others ...transcript.Profile) prompts.Data {
	return prompts.Data{
		Topic: "How should the archive store its scans?", Background: "There are two million of them.", Me: me, Others: others,
		ActiveNames: []string{"Ada", "Bo", "Cy"}, Round: 2, Rounds: 3, MinRounds: 1, Nonce: "mark",
	}
}

func show(system, user string) string {
	return "======== system\n" + system + "\n======== user\n" + user + "\n"
}

func TestGoldenPrompts(t *testing.T) {
	x := sit(t, refine.Protocol{SummaryPolicy: refine.SummaryPolicy{Threshold: 1, TargetLength: 2500}, FinalSummaryPolicy: refine.SummaryPolicy{Threshold: 1, TargetLength: 8000}}, "Ada", "Bo", "Cy")
	x.r.Participants = []transcript.Profile{ada, bo, cy}
	x.play(transcript.Speech, 1)
	seats := map[string]prompts.Data{"Ada": data(ada, bo, cy), "J": data(chair, ada, bo, cy), "summarizer": data(transcript.Profile{Name: "summarizer"}, ada, bo, cy)}
	for _, stage := range []transcript.Kind{transcript.Speech, transcript.Conclusion} {
		x.begin(stage, 2)
		for steps := x.next(); len(steps) > 0; steps = x.next() {
			s := steps[0]
			t.Run(s.Phase, func(t *testing.T) {
				d := seats[s.Actor]
				d.Phase, d.Vars = s.Phase, s.Vars
				if c := contracts[s.Contract]; c != nil {
					d.ReplyFields = c.Outline()
				}
				if s.Phase == "critique" {
					require.Equal(t, "Bo", s.Target)
					d.Target = &bo
				}
				if s.Phase == "summarize" {
					require.Equal(t, "Ada", s.Target)
					d.Target = &ada
				}
				golden.Require(t, "testdata/"+s.Phase+".golden", show(protocoltest.Render(t, s.Prompt, d)))
			})
			x.phase()
		}
	}
}

func TestGoldenRoles(t *testing.T) {
	own := refine.Protocol{Roles: map[string]refine.RolePrompt{
		"poet":    {System: "You rhyme.", Propose: "Propose in verse.", Critique: "Count the feet.", Refine: "Polish."},
		"archive": {System: "You have worked in archives."},
	}}
	var b strings.Builder
	for _, role := range []string{"architect", "performance", "security", "testing", "generalist", "poet", "archive"} {
		x := sit(t, own, "A", "B")
		x.r.Participants[0].Role = role
		for i, p := range x.begin(transcript.Speech, 1).p.Phases(x.r) {
			system, user := protocoltest.Render(t, p.Steps[0].Prompt, prompts.Data{Topic: "T", Me: x.r.Participants[0], Vars: p.Steps[0].Vars, Round: 1, Phase: p.Name, Nonce: "mark"})
			if i == 0 { // the system prompt is the same in all phases
				b.WriteString("######## " + role + "\n" + system + "\n")
			}
			b.WriteString("======== " + p.Name + "\n" + user + "\n")
		}
	}
	golden.Require(t, "testdata/roles.golden", b.String())
}

// Providers bill a prompt at a lower price if it begins like the previous one.
func TestAnAgentHasOneSystemPrompt(t *testing.T) {
	x := sit(t, refine.Protocol{Roles: map[string]refine.RolePrompt{"poet": {System: "You rhyme.", Propose: "P", Critique: "C", Refine: "R"}}}, "A", "B")
	x.r.Participants[0].Role = "poet"
	require.True(t, x.r.Apply(transcript.Turn{Key: transcript.Key{Run: 1, Phase: "remark", Actor: "user"}, Kind: transcript.Remark, Seq: 1}))
	seen := map[string]bool{}
	for round := 1; round <= 2; round++ {
		for _, p := range x.begin(transcript.Speech, round).p.Phases(x.r) {
			system, user := protocoltest.Render(t, p.Steps[0].Prompt, prompts.Data{Topic: "T", Me: x.r.Participants[0], Vars: p.Steps[0].Vars, Round: round, Rounds: 2})
			seen[system] = true
			require.Contains(t, user, map[string]string{"propose": "P", "critique": "C", "refine": "R"}[p.Name])
		}
	}
	require.Len(t, seen, 1)
}

func TestTheLastRoundIsSaidToBeTheLast(t *testing.T) {
	for _, name := range []string{"refine-propose", "refine-refine"} {
		d := data(ada, bo)
		_, user := protocoltest.Render(t, name, d)
		require.NotContains(t, user, "last round")
		d.Round = 3
		_, user = protocoltest.Render(t, name, d)
		require.Contains(t, user, "the last round")
	}
}
