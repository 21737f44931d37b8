package vote_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/transcript"
)

// hall runs a vote without an engine: it commits the steps of the protocol.
type hall struct {
	protocol.Record
	t testing.TB
	p vote.Protocol
}

// convene returns a vote before its first round. Names with a star are judges.
func convene(t testing.TB, p vote.Protocol, names ...string) *hall {
	h := &hall{t: t, p: p}
	for _, n := range names {
		if name, judge := strings.CutSuffix(n, "*"); judge {
			h.Judges = append(h.Judges, name)
		} else {
			h.Participants = append(h.Participants, transcript.Profile{Name: n})
		}
	}
	h.MinRounds, h.MaxRounds, h.Cursor = 1, p.Defaults().MaxRounds, transcript.Cursor{Run: 1}
	return h
}

// enter enters a stage.
func (h *hall) enter(stage transcript.Kind) {
	h.Seq++
	h.Cursor.Stage, h.Cursor.Phase, h.Cursor.PhaseSeq = stage, "", h.Seq
}

// next begins the phase of the current stage and returns its steps.
func (h *hall) next() []protocol.Step {
	h.t.Helper()
	steps := protocol.Next(h.p, &h.Record)
	if len(steps) > 0 && steps[0].Phase != h.Cursor.Phase {
		h.StartPhase(steps[0].Phase, h.Seq+1)
		steps = protocol.Next(h.p, &h.Record)
	}
	return steps
}

// say commits a reply to a step like an engine: validated by the contract, or the default of the contract.
func (h *hall) say(s protocol.Step, text string) {
	h.t.Helper()
	contract := vote.BallotContract
	if s.Contract == vote.RulingContract.Name() {
		contract = vote.RulingContract
	}
	turn := transcript.Turn{Key: s.Key, Kind: s.Kind, Order: s.Order, VisibleSeq: s.VisibleSeq, Seq: h.Seq + 1, Contract: s.Contract}
	reply, err := contract.Parse(text, h.names())
	if err != nil {
		reply, _ = contract.Default(h.names())
		turn.Flags = []transcript.Flag{transcript.Defaulted}
	}
	turn.Text, turn.Data = reply.Text, reply.Data
	require.True(h.t, h.Apply(turn), "the step %s was done before", s.Key)
}

func (h *hall) names() (names []string) {
	for _, s := range h.Participants {
		names = append(names, s.Name)
	}
	return names
}

// round runs a round with one word for each agent, in order: "42", "42@80" with a confidence, "-" for no answer, "!" for an
// invalid reply, and "x" for an agent who drops out.
func (h *hall) round(words string) {
	h.t.Helper()
	h.Cursor.Round++
	h.enter(transcript.Speech)
	steps := h.next()
	all := strings.Fields(words)
	require.Len(h.t, all, len(steps))
	for i, s := range steps {
		if all[i] == "x" {
			h.Drop(s.Actor)
		} else {
			h.say(s, ballot(all[i]))
		}
	}
	require.Empty(h.t, h.next())
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
	h.t.Helper()
	h.enter(transcript.Conclusion)
	steps := h.next()
	require.Len(h.t, steps, len(winners))
	for i, winner := range winners {
		text := fmt.Sprintf(`{"reasoning":"because","winner":%q}`, winner)
		if winner == "!" {
			text = "I cannot say."
		}
		require.True(h.t, steps[i].Blind)
		h.say(steps[i], text)
	}
	require.Empty(h.t, h.next())
	return h.tally()
}

// conclude commits the judge's ruling if there is a step for it, and reports whether there is.
func (h *hall) conclude(winner string) bool {
	h.t.Helper()
	h.enter(transcript.Conclusion)
	steps := h.next()
	if len(steps) == 0 {
		return false
	}
	require.Len(h.t, steps, 1)
	h.say(steps[0], fmt.Sprintf(`{"reasoning":"it is right","winner":%q}`, winner))
	require.Empty(h.t, h.next())
	return true
}

func (h *hall) tally() (t vote.Tally) {
	h.t.Helper()
	require.NoError(h.t, json.Unmarshal(h.p.Answer(&h.Record).Data, &t))
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
