package localtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/debatetest"
	"github.com/elenchus-go/debate/internal/golden"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/protocol/skeptic"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// presets lists debates of the protocols with their defaults.
var presets = []struct {
	name         string
	protocol     protocol.Protocol
	participants int
}{
	{"panel", panel.Protocol{Personas: panel.Binary}, 3},
	{"proposer-skeptic", skeptic.Protocol{}, 2},
	{"critique-refine", refine.Protocol{}, 3},
	{"arbitration", arbitration.Protocol{Scores: map[string]float64{"problem": 7, "solution": 5, "market": 6}}, 2},
	{"pro-con", procon.Protocol{}, 2},
	{"vote", vote.Protocol{Decision: vote.Judge}, 3},
}

const debates = 20

// replyCounts counts the structured replies of debates.
type replyCounts struct{ replies, attempts, defaults int }

// countReplies runs debates of a preset with a model that follows schemas.
func countReplies(t *testing.T, p protocol.Protocol, participants int, inTurn bool) (n replyCounts) {
	t.Helper()
	for seed := range uint64(debates) {
		synctest.Test(t, func(t *testing.T) {
			model := &schemaModel{Seed: seed, InTurn: inTurn}
			c := debate.Config{
				ID: fmt.Sprint("local-", seed), Topic: "Should cities ban private cars?", Protocol: p, Judges: []debate.Participant{{Name: "Judge"}},
				Limits: debate.Limits{MinRounds: 2, MaxRounds: 2, OutputTokens: 1 << 30},
			}
			for _, name := range []string{"Ada", "Bo", "Cy"}[:participants] {
				c.Participants = append(c.Participants, debate.Participant{Name: name, Position: "What " + name + " holds."})
			}
			d, err := debate.New(t.Context(), c, debate.Options{Providers: map[string]providers.Provider{"m": model}})
			require.NoError(t, err)
			_, err = debatetest.Run(t, d)
			require.NoError(t, err)
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

const page = "../../docs/local.md"

// A model that follows the schema and copies lists of names in their order has a valid reply in nearly all cases, mostly at
// the first attempt. Only a winner with a lower score than another participant, which no schema can exclude, is refused.
func TestModelsThatFollowTheSchema(t *testing.T) {
	var b strings.Builder
	fmt.Fprintf(&b, schemaText, debates)
	for _, p := range presets {
		inTurn, anyOrder := countReplies(t, p.protocol, p.participants, true), countReplies(t, p.protocol, p.participants, false)
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %d |\n", p.name,
			inTurn.replies, inTurn.attempts, inTurn.defaults, anyOrder.replies, anyOrder.attempts, anyOrder.defaults)
		if p.name == "pro-con" {
			assert.LessOrEqual(t, inTurn.defaults, debates/10)
			continue
		}
		assert.Zero(t, inTurn.defaults, p.name)
		assert.LessOrEqual(t, inTurn.attempts, inTurn.replies*101/100, p.name)
	}
	b.WriteString(schemaRest)
	golden.Section(t, page, "schemas", b.String())
}

const schemaText = `Ollama, llama.cpp, LM Studio and vLLM force a reply to follow its schema. A weak model then writes a valid object without
meaning, so the schema decides how often a reply is refused:

- Names are enums. A list with an entry for each participant or criterion has exactly that many entries.
- Every list has a largest number of entries, and texts have a largest length. Optional texts and texts in lists are short,
  because a weak model fills every field to its end.
- Numbers have no bounds, because Ollama ignores them. The prompt describes the scale, and the reply is checked.

` + "`go test ./internal/localtest -update`" + ` counts what a model does that follows schemas and knows nothing else, and writes this
section. Its texts and lists have random lengths within their bounds, and its numbers are from 2 to 10. Each preset runs %d
debates of two rounds with the default token limits. The model either copies names in the order of the enum, as models do
that copy a list, or chooses each name at random. *Replies* are structured replies, *attempts* the calls for them, and
*defaults* the replies that were replaced by a default after the last attempt.

| protocol | in order: replies | attempts | defaults | at random: replies | attempts | defaults |
|---|---|---|---|---|---|---|
`

const schemaRest = `
A name at random is often a name twice, which is refused. A judge of pro-con is also refused if its winner has a lower score
than another participant.
`
