package localtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/golden"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/protocol/council"
	"github.com/elenchus-go/debate/protocol/mad"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/protocol/skeptic"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// preset is a debate of a protocol with its defaults.
type preset struct {
	name         string
	protocol     protocol.Protocol
	participants int
	rounds       int // the most rounds that the protocol has; 0 for any number
}

var presets = []preset{
	{"panel", panel.Protocol{Personas: panel.Binary}, 3, 0},
	{"panel, oxford", panel.Protocol{Format: panel.Oxford}, 2, 0},
	{"skeptic", skeptic.Protocol{}, 2, 0},
	{"refine", refine.Protocol{}, 3, 0},
	{"arbitration", arbitration.Protocol{Scores: map[string]float64{"problem": 7, "solution": 5, "market": 6}}, 2, 3}, // one for each topic
	{"procon", procon.Protocol{}, 2, 0},
	{"vote", vote.Protocol{Decision: vote.Judge}, 3, 0},
	{"council", council.Protocol{}, 3, 1},
	{"mad", mad.Protocol{}, 2, 0},
}

// config returns the configuration of a debate with that many rounds, if the protocol has so many. All actors have the same
// window, or the default if it is 0.
func (p preset) config(id string, rounds, window int) debate.Config {
	if p.rounds > 0 {
		rounds = min(rounds, p.rounds)
	}
	c := debate.Config{
		ID: id, Topic: "Should cities ban private cars?", Protocol: p.protocol, Judges: []debate.Participant{{Name: "Judge", Window: window}},
		Limits: debate.Limits{MinRounds: rounds, MaxRounds: rounds, OutputTokens: 1 << 30},
	}
	c.PersonaAssigner.Window = window
	c.Summarizer.Window = window
	c.Retriever.Window = window
	for i, name := range []string{"Ada", "Bo", "Cy"}[:p.participants] {
		side := []string{"for", "against"}[i%2]
		c.Participants = append(c.Participants, debate.Participant{Name: name, Side: side, Position: "What " + name + " holds.", Window: window})
	}
	return c
}

const debates = 20

// replyCounts counts the structured replies of debates.
type replyCounts struct{ replies, attempts, defaults int }

// countReplies runs debates of a preset with a model that follows schemas.
func countReplies(t *testing.T, p preset) (n replyCounts) {
	t.Helper()
	for seed := range uint64(debates) {
		synctest.Test(t, func(t *testing.T) {
			model := &schemaModel{Seed: seed}
			c := p.config(fmt.Sprint("local-", seed), 2, 0)
			d := debatetest.New(t, c, debate.Options{Providers: map[string]providers.Provider{"m": model}})
			debatetest.Finish(t, d)
			for _, turn := range debatetest.Result(t, d).Turns {
				if turn.Contract == "" || len(turn.Attempts) == 0 {
					continue
				}
				n.replies++
				n.attempts += len(turn.Attempts)
				if slices.Contains(turn.Flags, transcript.Defaulted) {
					n.defaults++
				}
			}
		})
	}
	return n
}

const page = "../../../docs/measured/local.md"

// The replies of a model that follows the schema are valid, mostly at the first attempt. Only what no schema can exclude is
// asked for again: a winner with lower scores than another participant, and a preference without a name or an answer.
func TestModelsThatFollowTheSchema(t *testing.T) {
	var b strings.Builder
	fmt.Fprintf(&b, schemaText, debates)
	for _, p := range presets {
		n := countReplies(t, p)
		fmt.Fprintf(&b, "| %s | %d | %d | %d |\n", p.name, n.replies, n.attempts, n.defaults)
		if p.name == "mad" {
			assert.LessOrEqual(t, n.defaults*2, n.replies, p.name)
			continue
		}
		assert.Zero(t, n.defaults, p.name)
		most := n.replies * 101 / 100
		if p.name == "panel" || p.name == "procon" {
			most = n.replies * 12 / 10
		}
		assert.LessOrEqual(t, n.attempts, most, p.name)
	}
	b.WriteString(schemaRest)
	golden.Section(t, page, "schemas", b.String())
}

const schemaText = `Ollama, llama.cpp, LM Studio and vLLM force a reply to follow its schema. A weak model then writes a valid object without
meaning, so the schema decides how often a reply is refused:

- What has an entry for each participant or criterion is an object with one required property for each: a schema cannot
  forbid that a list has a name twice. Other names are enums.
- Every list has a largest number of entries, and texts have a largest length. Optional texts and texts in lists are short,
  because a weak model fills every field to its end.
- Numbers have no bounds, because Ollama ignores them. The prompt describes the scale, and the reply is checked.

` + "`go test ./internal/test/localtest -update`" + ` counts what a model does that follows schemas and knows nothing else, and writes this
section. Its texts and lists have random lengths within their bounds, and its numbers are from 2 to 10. Each protocol runs %d
debates of two rounds (council has one) with the default token limits. The model chooses names at random. *Replies* are
structured replies, *attempts* the calls for them, and *defaults* the replies that were replaced by a default after the last
attempt.

| protocol | replies | attempts | defaults |
|---|---|---|---|
`

const schemaRest = `
A judge of panel or procon is asked once more if its winner has lower scores than another participant, and its second reply
stands. A moderator of mad is refused if it has a preference but names no participant or no answer; without a valid reply it
has no preference, and the debate continues.
`
