package arbitration_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/golden"
	"github.com/elenchus-go/debate/internal/test/protocoltest"
	"github.com/elenchus-go/debate/prompts"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/transcript"
)

var full = arbitration.Protocol{
	Evidence:   []string{"Forty interviews with clinics.", "A pilot of six weeks."},
	Scores:     map[string]float64{"problem": 7, "solution": 5.5, "market": 4, "team": 8},
	Challenges: []string{"Who pays?"},
}

func TestGoldenPrompts(t *testing.T) {
	ada := transcript.Profile{Name: "Ada", Role: "advocate", Persona: "A dry Scot.", Instructions: "Quote prices in euros."}
	bo := transcript.Profile{Name: "Bo", Role: "challenger"}
	eve := transcript.Profile{Name: "Eve", Persona: "A retired judge.", Instructions: "Be brief."}
	c := sit(t, full).round(1, "challenger", 80)
	c.begin(transcript.Speech, 2)
	prompt := func(name, contract string, me transcript.Profile, vars map[string]string, others ...transcript.Profile) {
		d := prompts.Data{
			Topic: "Should we fund the scheduler for clinics?", Background: "The board meets in May.", Me: me, Others: others,
			ActiveNames: []string{"Ada", "Bo"}, Round: 2, Rounds: 3, Vars: vars, ReplyFields: contract,
			Nonce: "mark", Blind: me.Name == "Eve",
		}
		system, user := protocoltest.Render(t, name, d)
		side := ""
		if s := vars["side"]; s != "" {
			side = "-" + s
		}
		golden.Require(t, "testdata/"+name+side+".golden", "======== system\n"+system+"\n======== user\n"+user+"\n")
	}
	prompt("arbitration-argue", arbitration.ArgumentContract.Outline(), ada, c.say(argues("A")).Vars, bo)
	prompt("arbitration-argue", arbitration.ArgumentContract.Outline(), bo, c.say(argues("B")).Vars, ada)
	vars := c.begin(transcript.Assessment, 2).next()[0].Vars // the engine replaces names by pseudonyms
	vars["for"], vars["against"] = "Debater 2", "Debater 1"
	prompt("arbitration-rule", arbitration.RulingContract.Outline(), eve, vars, transcript.Profile{Name: "Debater 1"}, transcript.Profile{Name: "Debater 2"})
}

// Providers bill a prompt at a lower price if it begins like the previous one.
func TestSystemPromptsDoNotChange(t *testing.T) {
	c := sit(t, full)
	seen := map[string]map[string]bool{}
	for round := 1; round <= 3; round++ {
		for _, stage := range []transcript.Kind{transcript.Speech, transcript.Assessment} {
			for _, p := range c.begin(stage, round).p.Phases(c.r) {
				for _, s := range p.Steps {
					system, _ := protocoltest.Render(t, s.Prompt, prompts.Data{Topic: "T", Me: transcript.Profile{Name: s.Actor}, Vars: s.Vars, Round: round, Rounds: 3})
					if seen[s.Actor] == nil {
						seen[s.Actor] = map[string]bool{}
					}
					seen[s.Actor][system] = true
				}
			}
		}
		c.round(round, "advocate", 90)
	}
	require.Len(t, seen, 3)
	for actor, prompts := range seen {
		require.Len(t, prompts, 1, actor)
	}
}

func TestGoldenTranscript(t *testing.T) {
	c := sit(t, full)
	c.begin(transcript.Speech, 1).say(`{"arguments":[{"claim":"It <b>hurts</b>","reasoning":"- first\n- second","evidence":"[x](javascript:y)"},{"claim":"It costs","reasoning":"R","evidence":"none"}]}`)
	c.say(argues("It does *not*"))
	c.begin(transcript.Assessment, 1).say(`{"reasoning":"# Clear","key_points":["1. The interviews","a | b"],"winner":"advocate","confidence":75}`)
	c.round(2, "draw", 0, transcript.Defaulted)
	c.begin(transcript.Speech, 3).say(argues("Unanswered"))
	a := c.p.Answer(c.r)
	golden.Require(t, "testdata/transcript.golden", a.Text)
	golden.Require(t, "testdata/result.golden", string(a.Data)+"\n")
}
