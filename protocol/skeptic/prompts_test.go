package skeptic_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/golden"
	"github.com/elenchus-go/debate/internal/test/protocoltest"
	"github.com/elenchus-go/debate/prompts"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/skeptic"
	"github.com/elenchus-go/debate/transcript"
)

// rendered returns the prompts of the steps that may run next, as the engine renders them.
func rendered(t *testing.T, d *playedDebate, s protocol.Step) (system, user string) {
	t.Helper()
	data := prompts.Data{
		Topic: "Should cities ban private cars?", Background: "The council votes in May.", Me: transcript.Profile{Name: s.Actor},
		Phase: s.Phase, Round: d.Cursor.Round, Rounds: d.MaxRounds, MinRounds: d.MinRounds, Vars: s.Vars, Nonce: "mark", Blind: s.Blind,
	}
	for _, seat := range d.Participants {
		data.ActiveNames = append(data.ActiveNames, seat.Name)
		if seat.Name == s.Actor {
			data.Me = seat
			continue
		}
		data.Others = append(data.Others, seat)
	}
	if s.Contract != "" {
		data.ReplyFields = skeptic.DocumentsContract.Outline()
	}
	return protocoltest.Render(t, s.Prompt, data)
}

// prompted returns all prompts of a stage.
func prompted(t *testing.T, d *playedDebate, stage transcript.Kind, round int) map[string][2]string {
	t.Helper()
	d.Cursor.Stage, d.Cursor.Round = stage, round
	all := map[string][2]string{}
	for _, phase := range d.protocol.Phases(&d.Record) {
		for _, s := range phase.Steps {
			s.Phase = phase.Name
			system, user := rendered(t, d, s)
			all[phase.Name] = [2]string{system, user}
		}
	}
	return all
}

// dressed returns a debate with templates, before its first round.
func dressed(t *testing.T) *playedDebate {
	t.Helper()
	d := start(t, skeptic.Protocol{}, always(sinks))
	d.Participants = []transcript.Profile{
		{Name: "Ann", Role: "proposer", Persona: "A planner.", Instructions: "Quote prices in euros."},
		{Name: "Bob", Role: "skeptic", Persona: "A judge of appeal.", Instructions: "Be brief."},
	}
	d.found = `{"documents":[
		{"title":"Pre-mortem","text":"Assume that it has failed.\n\n1. Say why.\n2. Prevent it."},
		{"title":"Trade-off\n table","text":"List options and criteria."},
		{"title":"Base rates","text":"Begin with how such cases went."},
		{"title":"A fourth","text":"It is not shown."}]}`
	d.stage(t, transcript.Setup, 0)
	return d
}

func TestGoldenPrompts(t *testing.T) {
	d := dressed(t)
	for name, shown := range map[string]map[string][2]string{
		"retrieval": prompted(t, d, transcript.Setup, 0),
		"round-1":   prompted(t, d, transcript.Speech, 1),
		"round-2":   prompted(t, d, transcript.Speech, 2),
		"round-5":   prompted(t, d, transcript.Speech, 5),
		"synthesis": prompted(t, d, transcript.Conclusion, 5),
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			for _, phase := range []string{"retrieval", "propose", "defend", "attack", "synthesis"} {
				if p, ok := shown[phase]; ok {
					fmt.Fprintf(&b, "######## %s\n======== system\n%s\n======== user\n%s\n", phase, p[0], p[1])
				}
			}
			golden.Require(t, "testdata/"+name+".golden", b.String())
		})
	}
}

func TestTemplatesStandInTheProposersSystemPrompt(t *testing.T) {
	d := dressed(t)
	for _, shown := range []map[string][2]string{prompted(t, d, transcript.Speech, 1), prompted(t, d, transcript.Speech, 2)} {
		for phase, p := range shown {
			titles := strings.Count(p[0], "### Template ")
			if phase == "attack" {
				require.Zero(t, titles, "the skeptic does without")
				continue
			}
			require.Equal(t, 3, titles)
			require.Contains(t, p[0], "### Template 1: Pre-mortem\n\nAssume that it has failed.")
			require.Contains(t, p[0], "### Template 2: Trade-off table\n\nList options")
			require.NotContains(t, p[0]+p[1], "A fourth")
		}
	}
	d = start(t, skeptic.Protocol{Templates: -1}, always(sinks))
	require.NotContains(t, prompted(t, d, transcript.Speech, 1)["propose"][0], "Template", "no templates, no section")
}

// Providers bill repeated prefixes at a lower price.
func TestSystemPromptsStayTheSame(t *testing.T) {
	d := dressed(t)
	first := prompted(t, d, transcript.Speech, 1)
	for round := 2; round <= 5; round++ {
		later := prompted(t, d, transcript.Speech, round)
		require.Equal(t, first["propose"][0], later["defend"][0])
		require.Equal(t, first["attack"][0], later["attack"][0])
	}
}

func TestTheQueryIsTheTopic(t *testing.T) {
	d := start(t, skeptic.Protocol{Templates: 2}, always(sinks))
	p := prompted(t, d, transcript.Setup, 0)["retrieval"]
	require.Equal(t, "Should cities ban private cars?", p[1])
	require.Contains(t, p[0], "up to 2 of them")
}

func TestTheSkepticIsSharperEachRound(t *testing.T) {
	d := dressed(t)
	seen := map[string]bool{}
	for round := 1; round <= 5; round++ {
		user := prompted(t, d, transcript.Speech, round)["attack"][1]
		require.Contains(t, user, fmt.Sprintf("Round %d of 5.", round))
		task := strings.Split(user, "\n\n")[2]
		require.False(t, seen[task], "round %d brings nothing new", round)
		seen[task] = true
		require.Equal(t, round < 3, strings.Contains(user, "continues after this one whatever you say"))
		require.Equal(t, round == 5, strings.Contains(user, "the last round"))
	}
}

func TestTheSkepticIsToldOfTheBlockAndTheMarkers(t *testing.T) {
	system := prompted(t, dressed(t), transcript.Speech, 1)["attack"][0]
	for _, word := range []string{"Ready for Synthesis ✅", "🔴", "issues", "severity", "critical, major or minor", "ready", "score"} {
		require.Contains(t, system, word)
	}
}
