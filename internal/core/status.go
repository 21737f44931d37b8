package core

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/budget"
	"github.com/elenchus-go/debate/internal/chain"
	"github.com/elenchus-go/debate/internal/characters"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// StatusOf returns the status that the store keeps of a debate.
func StatusOf(r *State) store.Status {
	status := store.Status{
		ID:          r.ID,
		Seq:         r.Seq,
		State:       r.Lifecycle.State,
		Cursor:      r.Cursor,
		MaxRounds:   r.MaxRounds,
		Ending:      r.Ending,
		Topic:       r.Config.Topic,
		Protocol:    r.Config.Protocol.Name(),
		Labels:      maps.Clone(r.Config.Labels),
		Usage:       r.spent(),
		RunningTime: r.Times.running,
		Format:      store.Format,
		Created:     r.Times.Created,
		Updated:     r.Times.changed(),
		Plan:        PlanOf(r),
		Parent:      r.Fork.Parent,
		Signed:      r.isSigned(),
	}
	if r.CanContinue() != nil { // only an engine that has the protocol can tell
		status.Waiting = slices.Clone(r.Stored.Awaited)
	}
	for _, a := range r.Waiting() {
		status.Waiting = append(status.Waiting, a.Key.Actor)
	}
	for _, p := range r.Accepted.Problems {
		status.Problems = append(status.Problems, p.String())
	}
	if f := r.Losses.Failure; f != nil {
		status.FailureKind = string(f.Kind)
		status.FailureCause = characters.Cut(f.Message, maxFailureCause)
	} else if r.Accepted.Problems != nil {
		status.FailureKind = rejected
		status.FailureCause = characters.Cut(strings.Join(status.Problems, "\n"), maxFailureCause)
	}
	return status
}

// signature returns the last signature of the debate, or nil.
func (r *State) signature() *transcript.Signature {
	if _, s, ok := chain.SignatureIn(chain.NoteName, r.Notes.Values[chain.NoteName], r.ID); ok {
		return &transcript.Signature{
			Signer:  s.Signers[0].Name,
			Entries: s.Entries,
			Head:    s.Head.String(),
		}
	}
	return nil
}

// isSigned reports whether the debate has ended, and has a signature since.
func (r *State) isSigned() bool {
	s := r.signature()
	return s != nil && r.Lifecycle.State.Final() && s.Entries >= r.Cursor.PhaseSeq
}

// LacksSignature reports whether the debate has ended and can be signed, but is not. The last transition has its seq in the
// cursor.
func (r *State) LacksSignature() bool {
	return r.Lifecycle.State.Final() && !r.isSigned()
}

// rejected holds Status.FailureKind of a debate whose last start was refused.
const rejected = "rejected"

// maxFailureCause limits the length of Status.FailureCause in bytes.
const maxFailureCause = 500

// PlanOf returns the steps that may run now, as a plan. The plan's key does not change when the process crashes, the
// debate is paused, a remark is added, or a part of the plan is done.
func PlanOf(r *State) (p store.Plan) {
	if !r.Lifecycle.State.Active() {
		return p
	}
	if r.CanContinue() != nil &&
		r.Lifecycle.State != fsm.Validating { // only an engine that has the protocol can plan
		return r.Stored.Plan
	}
	at := transcript.Key{
		Run:   r.Cursor.Run,
		Round: r.Cursor.Round,
		Phase: string(r.Lifecycle.State),
	}
	err := r.Safely(func(r *State) {
		switch {
		case r.Lifecycle.State == fsm.RoundComplete:
			p.NotBefore = r.NextRoundAt()
		case r.PhaseOpen() && !r.Parallel:
			at = r.Next()[0].Key
		case r.PhaseOpen():
			at.Phase = r.Cursor.Phase
		}
		p.Key = at.String()
		p.Timeout = r.Config.Limits.StepTimeout * time.Duration(budget.LongestChain(r.Next()))
	})
	if err != nil {
		return store.Plan{Key: at.String(), Timeout: r.Config.Limits.StepTimeout}
	}
	return p
}
