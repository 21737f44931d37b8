package crashtest

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/transcript"
)

// steering holds the words with which children have changed the course of debates, by control, and by "try" or "done" and the
// debate. The word of a stop is the round in which it happened.
type steering map[string]map[string][]string

func steeringOf(lines []ledgerLine) steering {
	s := steering{}
	for _, l := range lines {
		if l.kind == "try" || l.kind == "done" {
			at := l.kind + " " + l.args[0]
			if s[at] == nil {
				s[at] = map[string][]string{}
			}
			s[at][l.args[1]] = append(s[at][l.args[1]], l.args[2])
		}
	}
	return s
}

// count returns the number of acknowledged controls by name.
func (s steering) count() map[string]int {
	count := map[string]int{}
	for at, words := range s {
		for control, list := range words {
			if strings.HasPrefix(at, "done ") {
				count[control] += len(list)
			}
		}
	}
	return count
}

// digest matches the digest of the request in a reply.
var digest = regexp.MustCompile("[0-9a-f]{16}")

// check checks that what the store has acknowledged has happened, that nothing has happened that no child has tried, and
// that each speech has the digest of its prompt.
func (s steering) check(t *testing.T, d *debate.Debate, res *debate.Result) {
	id := d.ID()
	tried, done := s["try "+id], s["done "+id]
	switch res.State {
	case fsm.Completed:
		assert.Empty(t, done["cancel"], "debate %s", id)
	case fsm.Canceled:
		assert.NotEmpty(t, tried["cancel"], "debate %s", id)
	default:
		t.Errorf("debate %s is in state %s", id, res.State)
	}
	if len(tried["edit"]) == 0 || len(done["edit"]) > 0 && !slices.Contains(tried["edit"], res.Topic) {
		assert.Equal(t, NewConfig(id).Topic, res.Topic, "debate %s", id)
	}
	remarks := map[string]int{}
	for _, turn := range res.Turns {
		switch {
		case turn.Kind == transcript.Remark:
			remarks[turn.Text]++
			assert.Contains(t, tried["inject"], turn.Text, "debate %s", id)
			assert.Equal(t, 1, remarks[turn.Text], "debate %s", id)
		case turn.Kind == transcript.Speech && turn.By == "":
			for _, last := range done["stop"] {
				assert.True(t, len(tried["reset"]) > 0 || strconv.Itoa(turn.Round) <= last, "%s of debate %s, which was stopped in round %s", turn.Key, id, last)
			}
			p, err := d.PromptOf(t.Context(), turn.Key)
			require.NoError(t, err)
			reply, err := DigestModel(0).Generate(t.Context(), p.Request)
			require.NoError(t, err)
			assert.Contains(t, turn.Text, digest.FindString(reply.Text), "%s of debate %s", turn.Key, id)
		}
	}
	if len(tried["reset"]) == 0 {
		for _, word := range done["inject"] {
			assert.Equal(t, 1, remarks[word], "debate %s", id)
		}
	}
}
