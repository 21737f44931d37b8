// Package protocoltest runs protocols in tests without an engine.
package protocoltest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/prompts"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// Session is a debate without an engine. It commits the steps of a protocol.
type Session struct {
	protocol.Record
	T         testing.TB
	Protocol  protocol.Protocol
	Contracts map[string]*reply.Contract // of the structured replies, by name
}

// New returns a debate before its start. Its numbers of rounds are the defaults of the protocol, or 1.
func New(t testing.TB, p protocol.Protocol, participants, judges []string) *Session {
	s := &Session{T: t, Protocol: p}
	for _, name := range participants {
		s.Participants = append(s.Participants, transcript.Profile{Name: name})
	}
	s.Judges = judges
	s.MinRounds = 1
	s.MaxRounds = 1
	s.Cursor.Run = 1
	if d, ok := p.(protocol.Defaulter); ok {
		s.MinRounds, s.MaxRounds = max(d.Defaults().MinRounds, 1), max(d.Defaults().MaxRounds, 1)
	}
	return s
}

// Enter enters a stage of a round.
func (s *Session) Enter(stage transcript.Kind, round int) {
	s.Seq++
	s.Cursor.Round = round
	s.Cursor.Stage = stage
	s.Cursor.Phase = ""
	s.Cursor.PhaseSeq = s.Seq
}

// Next returns the next steps of the current stage, and begins their phase.
func (s *Session) Next() []protocol.Step {
	steps := protocol.Next(s.Protocol, &s.Record)
	if len(steps) > 0 && steps[0].Phase != s.Cursor.Phase {
		s.StartPhase(steps[0].Phase, s.Seq+1)
		steps = protocol.Next(s.Protocol, &s.Record)
	}
	return steps
}

// Begin enters a stage of a round unless it is the current one, and returns its next steps.
func (s *Session) Begin(stage transcript.Kind, round int) []protocol.Step {
	if s.Cursor.Stage != stage || s.Cursor.Round != round {
		s.Enter(stage, round)
	}
	return s.Next()
}

// Say commits a reply to a step like an engine: free text, or a reply that the contract has validated, or its default.
func (s *Session) Say(step protocol.Step, text string, flags ...transcript.Flag) {
	s.T.Helper()
	turn := transcript.Turn{Key: step.Key, Kind: step.Kind, Order: step.Order, VisibleSeq: step.VisibleSeq, Seq: s.Seq + 1, Contract: step.Contract, Text: text, Flags: flags}
	if step.Contract != "" {
		contract := s.Contracts[step.Contract]
		require.NotNil(s.T, contract, "contract %s", step.Contract)
		names := s.names(step)
		r, err := contract.Parse(text, names)
		if err != nil {
			r, _ = contract.Default(names)
			turn.Flags = append(turn.Flags, transcript.Defaulted)
		}
		turn.Text, turn.Data = r.Text, r.Data
	}
	require.True(s.T, s.Apply(turn), "the step %s was done before", step.Key)
}

// names returns the names that the reply to a step may have.
func (s *Session) names(step protocol.Step) []string {
	if p, ok := s.Protocol.(interface {
		Names(*protocol.Record, protocol.Step) []string
	}); ok {
		if names := p.Names(&s.Record, step); names != nil {
			return names
		}
	}
	return s.ParticipantNames()
}

// Render returns the prompts of a step as the library's templates render them.
func Render(t testing.TB, name string, d prompts.Data) (system, user string) {
	t.Helper()
	set, err := prompts.Load(nil)
	require.NoError(t, err)
	system, err = set.System(name, d)
	require.NoError(t, err)
	user, err = set.User(name, d)
	require.NoError(t, err)
	return system, user
}
