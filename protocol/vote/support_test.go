package vote_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/protocoltest"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/transcript"
)

// hall is a vote without an engine.
type hall struct {
	*protocoltest.Session
	p vote.Protocol
}

// convene returns a vote before its first round. Names with a star are judges.
func convene(t testing.TB, p vote.Protocol, names ...string) *hall {
	var agents, judges []string
	for _, n := range names {
		if name, judge := strings.CutSuffix(n, "*"); judge {
			judges = append(judges, name)
		} else {
			agents = append(agents, name)
		}
	}
	h := &hall{p: p}
	h.Session = protocoltest.New(t, &h.p, agents, judges) // tests change p
	h.Contracts = map[string]*reply.Contract{vote.BallotContract.Name(): vote.BallotContract, vote.RulingContract.Name(): vote.RulingContract}
	return h
}

// enter enters a stage of the current round.
func (h *hall) enter(stage transcript.Kind) { h.Enter(stage, h.Cursor.Round) }

// round runs a round with one word for each agent, in order: "42", "42@80" with a confidence, "-" for no answer, "!" for an
// invalid reply, and "x" for an agent who drops out.
func (h *hall) round(words string) {
	h.T.Helper()
	h.Cursor.Round++
	h.enter(transcript.Speech)
	steps := h.Next()
	all := strings.Fields(words)
	require.Len(h.T, all, len(steps))
	for i, s := range steps {
		if all[i] == "x" {
			h.Drop(s.Actor)
		} else {
			h.Say(s, ballot(all[i]))
		}
	}
	require.Empty(h.T, h.Next())
}

func ballot(word string) string {
	if word == "!" {
		return "I cannot say."
	}
	answer, confidence, found := strings.Cut(word, "@")
	if !found {
		confidence = "50"
	}
	if answer == "-" {
		answer = ""
	}
	return fmt.Sprintf(`{"reasoning":"because","answer":%q,"confidence":%s}`, answer, confidence)
}

// rule commits the rulings of all judges, in order, and returns the tally. "!" is an invalid reply.
func (h *hall) rule(winners ...string) vote.Tally {
	h.T.Helper()
	h.enter(transcript.Conclusion)
	steps := h.Next()
	require.Len(h.T, steps, len(winners))
	for i, winner := range winners {
		text := fmt.Sprintf(`{"reasoning":"because","winner":%q}`, winner)
		if winner == "!" {
			text = "I cannot say."
		}
		require.True(h.T, steps[i].Blind)
		h.Say(steps[i], text)
	}
	require.Empty(h.T, h.Next())
	return h.tally()
}

// conclude commits the judge's ruling if there is a step for it, and reports whether there is.
func (h *hall) conclude(winner string) bool {
	h.T.Helper()
	h.enter(transcript.Conclusion)
	steps := h.Next()
	if len(steps) == 0 {
		return false
	}
	require.Len(h.T, steps, 1)
	h.Say(steps[0], fmt.Sprintf(`{"reasoning":"it is right","winner":%q}`, winner))
	require.Empty(h.T, h.Next())
	return true
}

func (h *hall) tally() (t vote.Tally) {
	h.T.Helper()
	require.NoError(h.T, json.Unmarshal(h.p.Answer(&h.Record).Data, &t))
	return t
}

// seen returns the turns that a step shows, as "name round".
func (h *hall) seen(s protocol.Step) string {
	list := []string{}
	for i := range h.Turns {
		if t := &h.Turns[i]; s.Show(t) && t.Seq <= s.VisibleSeq {
			list = append(list, fmt.Sprintf("%s%d", t.Actor, t.Round))
		}
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}
