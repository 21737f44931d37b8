package core

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/budget"
	"github.com/elenchus-go/debate/internal/chain"
	"github.com/elenchus-go/debate/internal/characters"
	"github.com/elenchus-go/debate/internal/deepcopy"
	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/internal/turns"
	"github.com/elenchus-go/debate/journal"
	"github.com/elenchus-go/debate/judge/agreement"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// ResultOf returns the result of a state. It shares no memory with the state.
func ResultOf(r *State) *journal.Result {
	res := &journal.Result{
		ID:           r.ID,
		Parent:       r.Fork.Parent,
		Topic:        r.Config.Topic,
		Background:   r.Config.Background,
		Protocol:     r.Config.Protocol.Name(),
		State:        r.Lifecycle.State,
		Ending:       r.Ending,
		Round:        r.Cursor.Round,
		Turns:        turns.Copy(r.Turns),
		Sides:        map[string]journal.Totals{},
		Participants: []journal.ParticipantStatus{},
		Rounds:       make([]journal.Totals, r.Cursor.Round+1),
		Question:     deepcopy.Of(r.Decisions.Question),
		Failure:      deepcopy.Of(r.Losses.Failure),
		Problems:     deepcopy.Of(r.Accepted.Problems),
		RunningTime:  r.Times.running,
		Created:      r.Times.Created,
		Started:      r.Started,
		Updated:      r.Times.changed(),
		Completed:    r.Times.completed,
	}
	res.Annotations = deepcopy.Of(r.Notes.Values)
	res.Signature = r.signature()
	if res.Signature != nil {
		delete(res.Annotations, chain.NoteName)
	}
	for _, w := range r.ConfigWarnings() {
		res.Warnings = append(res.Warnings, w.Text)
	}
	r.Agenda.AddTo(res)
	sides := map[string]string{}
	for _, s := range r.Profiles {
		sides[s.Name] = cmp.Or(s.Side, s.Name)
		res.Participants = append(res.Participants, ParticipantStatus(r, s.Name))
	}
	for _, f := range r.Losses.steps {
		addFailure(res, f, sides[f.Key.Actor])
	}
	for i := range res.Turns {
		addTurn(res, i, sides)
	}
	res.Tools = slices.Clone(r.used)
	for _, a := range r.Waiting() {
		res.Waiting = append(res.Waiting, a.Key)
	}
	res.Sources = r.Sources.Report(res.Turns, sides)
	res.Agreement = agreement.MeasureScores(res.Assessments...)
	var failed error
	res.Answer, failed = answerOf(r, res.Verdict)
	if failed != nil {
		res.Warnings = append(res.Warnings, fmt.Sprintf("the protocol cannot compute the answer: panic: %v", failed))
	}
	res.Warnings = append(res.Warnings, res.Answer.Warnings...)
	res.Outcome, failed = outcomeOf(r, res.Answer)
	if failed != nil {
		res.Warnings = append(res.Warnings, fmt.Sprintf("the protocol cannot compute the outcome: panic: %v", failed))
	}
	return res
}

// addTurn adds the turn with an index to what a result says of all turns. sides holds the sides of the participants by name.
func addTurn(res *journal.Result, i int, sides map[string]string) {
	t := &res.Turns[i]
	side := sides[t.Actor]
	res.Sides[side] = withTurn(res.Sides[side], t)
	res.Rounds[t.Round] = withTurn(res.Rounds[t.Round], t)
	res.Total = withTurn(res.Total, t)
	for _, w := range turns.Warnings(t) {
		res.Warnings = append(res.Warnings, fmt.Sprintf("round %d, %s of %s: %s", t.Round, t.Phase, t.Actor, w))
	}
	switch t.Kind {
	case transcript.Assessment:
		room := min(res.Round-t.Round+1, len(res.Turns)-i)
		res.Assessments = append(slices.Grow(res.Assessments, room), *t)
	case transcript.Conclusion:
		otherPhase := res.Verdict == nil || res.Verdict.Phase != t.Phase
		if otherPhase || !slices.Contains(t.Flags, transcript.Defaulted) {
			res.Verdict = t
		}
	default:
	}
}

// answerOf returns the protocol's answer, or the verdict if the protocol computes no answer.
func answerOf(r *State, verdict *transcript.Turn) (a protocol.Answer, err error) {
	p, ok := r.Config.Protocol.(protocol.Answerer)
	if !ok {
		if verdict != nil {
			a.Text = verdict.Text
			a.Data = verdict.Data
			a.Type = verdict.Contract
		}
		return a, nil
	}
	err = r.Safely(func(r *State) { a = deepcopy.Of(p.Answer(&r.Record)) })
	if a.Text != "" || len(a.Data) > 0 {
		a.Type = cmp.Or(a.Type, r.Config.Protocol.Name())
	}
	return a, err
}

// outcomeOf returns what the debate has found.
func outcomeOf(r *State, a protocol.Answer) (o protocol.Outcome, err error) {
	err = r.Safely(func(r *State) {
		o = outcome.Of(r.Config.Protocol, &r.Record, a)
	})
	return o, err
}

// ParticipantStatus returns the status of a participant after its turns and its failures.
func ParticipantStatus(r *State, name string) journal.ParticipantStatus {
	s := journal.ParticipantStatus{Name: name, State: "active"}
	for i := range r.Turns {
		t := &r.Turns[i]
		if t.Actor != name {
			continue
		}
		s.State = "active"
		addAttempts(&s, t.Attempts)
		if t.Window != nil && t.Window.Omitted > 0 {
			s.State = "context_exceeded"
		}
	}
	for _, f := range r.Losses.steps {
		if f.Key.Actor == name {
			addAttempts(&s, f.AttemptDetails)
		}
	}
	if slices.ContainsFunc(r.Losses.dropped, func(d journal.Dropped) bool { return d.Name == name }) {
		s.State = "dropped"
	}
	return s
}

// failedStates maps the kind of a failure to the state of a participant whose last attempt has failed with it.
var failedStates = map[string]string{
	string(providers.RateLimit):       "rate_limited",
	string(providers.ContextOverflow): "context_exceeded",
}

// addAttempts adds attempts at a step to the status of a participant.
func addAttempts(s *journal.ParticipantStatus, list []transcript.Attempt) {
	for _, a := range list {
		s.Attempts++
		if a.ErrorKind != "" {
			s.Errors = append(s.Errors, a.ErrorMessage)
		}
		s.State = cmp.Or(failedStates[a.ErrorKind], s.State)
	}
}

// addFailure adds what a failed step has used to the totals of a result.
func addFailure(r *journal.Result, f *journal.Failure, side string) {
	used := f.Usage()
	of := r.Sides[side]
	of.Usage = of.Usage.Add(used)
	r.Sides[side] = of
	r.Rounds[f.Key.Round].Usage = r.Rounds[f.Key.Round].Usage.Add(used)
	r.Total.Usage = r.Total.Usage.Add(used)
}

// withTurn returns totals with those of a turn.
func withTurn(a journal.Totals, t *transcript.Turn) journal.Totals {
	a.Turns++
	a.Usage = a.Usage.Add(t.Usage)
	a.Duration += t.Ended.Sub(t.Started)
	if t.Window != nil && t.Window.Omitted > 0 {
		a.OmittedTurns++
	}
	return a
}

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
	signed, has := r.Notes.Values[chain.NoteName]
	if !has {
		return nil
	}
	if _, s, ok := chain.SignatureIn(chain.NoteName, signed, r.ID); ok {
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
		return store.Plan{
			Key:     at.String(),
			Timeout: r.Config.Limits.StepTimeout,
		}
	}
	return p
}
