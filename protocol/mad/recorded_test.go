package mad_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/golden"
	"github.com/elenchus-go/debate/internal/test/recorded"
	"github.com/elenchus-go/debate/protocol/mad"
	"github.com/elenchus-go/debate/transcript"
)

// moderation is a recorded reply of the authors' moderator. Its judges' replies are in the same file.
type moderation struct {
	Who   string `json:"who"`
	Known struct {
		Preference string `json:"Whether there is a preference"`
		Side       string `json:"Supported Side"`
		Reason     string `json:"Reason"`
		Answer     string `json:"Correct Translation"`
	} `json:"known"`
}

// TestRecordedModerations applies the rules to the decisions of published debates, and compares the figures with those in
// docs/measured/mad.md.
func TestRecordedModerations(t *testing.T) {
	var all, preferences, ended, asked, answers int
	for _, m := range recorded.Lines[moderation](t, "mad-replies.jsonl") {
		if m.Who != "Moderator" {
			continue
		}
		all++
		k := m.Known
		if k.Preference == "Yes" {
			preferences++
		} else if k.Answer != "" {
			answers++
		}
		s := convene(t)
		s.Participants[0].Name, s.Participants[1].Name = "Affirmative", "Negative"
		reply := debatetest.Encode(t, mad.Moderation{Reasoning: k.Reason, Preference: k.Preference == "Yes", Supported: k.Side, Answer: k.Answer})
		if _, err := mad.ModerationContract.Parse(reply, []string{"Affirmative", "Negative"}); err != nil {
			asked++
			continue
		}
		s.rounds(reply)
		end := mad.Protocol{}.End(&s.Record)
		if end.Outcome == transcript.JudgeDecided {
			ended++
		}
		require.Equal(t, k.Preference == "Yes", end.Outcome == transcript.JudgeDecided, "%+v", k)
	}
	golden.Section(t, "../../docs/measured/mad.md", "mad", fmt.Sprintf(madText, all, preferences, ended, asked, answers, answers+preferences))
}

const madText = `### When the moderator of mad ends a debate

` + "`go test ./protocol/mad -update`" + ` applies the rules of ` + "`mad`" + ` to %d decisions of the moderator in published debates (gpt-3.5-turbo,
translations). Of these, %d state a preference: %d for one side, which ends the debate, and %d for both sides, so that the
moderator is asked again. %d state no preference and yet give an answer. The published program ends a debate if there is an
answer; that is after %d of the decisions.
`
