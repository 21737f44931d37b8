package debate

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
	"github.com/elenchus-go/debate/internal/clients"
	"github.com/elenchus-go/debate/internal/deepcopy"
	"github.com/elenchus-go/debate/internal/forks"
	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/internal/panics"
	"github.com/elenchus-go/debate/internal/step/prompting"
	"github.com/elenchus-go/debate/internal/turns"
	"github.com/elenchus-go/debate/judge/agreement"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

func statusOf(r *record) store.Status {
	status := store.Status{
		ID:          r.ID,
		Seq:         r.Seq,
		State:       r.lifecycle.State,
		Cursor:      r.Cursor,
		MaxRounds:   r.MaxRounds,
		Ending:      r.Ending,
		Topic:       r.config.Topic,
		Protocol:    r.config.Protocol.Name(),
		Labels:      maps.Clone(r.config.Labels),
		Usage:       r.spent(),
		RunningTime: r.times.running,
		Format:      store.Format,
		Created:     r.times.created,
		Updated:     r.times.changed(),
		Plan:        planOf(r),
		Parent:      r.fork.Parent,
		Signed:      r.isSigned(),
	}
	if r.canContinue() != nil { // only an engine that has the protocol can tell
		status.Waiting = slices.Clone(r.stored.awaited)
	}
	for _, a := range r.waiting() {
		status.Waiting = append(status.Waiting, a.Key.Actor)
	}
	for _, p := range r.accepted.problems {
		status.Problems = append(status.Problems, p.String())
	}
	if f := r.losses.failure; f != nil {
		status.FailureKind = string(f.Kind)
		status.FailureCause = characters.Cut(f.Message, maxFailureCause)
	} else if r.accepted.problems != nil {
		status.FailureKind = rejected
		status.FailureCause = characters.Cut(strings.Join(status.Problems, "\n"), maxFailureCause)
	}
	return status
}

// signature returns the last signature of the debate, or nil.
func (r *record) signature() *transcript.Signature {
	if _, s, ok := chain.SignatureIn(chain.NoteName, r.notes.Values[chain.NoteName], r.ID); ok {
		return &transcript.Signature{
			Signer:  s.Signers[0].Name,
			Entries: s.Entries,
			Head:    s.Head.String(),
		}
	}
	return nil
}

// isSigned reports whether the debate has ended, and has a signature since.
func (r *record) isSigned() bool {
	s := r.signature()
	return s != nil && r.lifecycle.State.Final() && s.Entries >= r.Cursor.PhaseSeq
}

// lacksSignature reports whether the debate has ended and can be signed, but is not. The last transition has its seq in the
// cursor.
func (r *record) lacksSignature() bool {
	return r.lifecycle.State.Final() && !r.isSigned()
}

// ask calls f, which reads what the protocol of the record says, for those who do not drive the debate. It returns a panic of the
// protocol. Readers do without what it says: the driver meets the panic too, and reports it.
func (r *record) ask(f func(*record)) error { return panics.Call(func() { f(r) }) }

// waiting returns what the debate asks people for, in the order of the steps.
func (r *record) waiting() (list []*Asked) {
	if !r.config.HasPeople() || r.lifecycle.State.Final() {
		return nil
	}
	_ = r.ask(func(r *record) {
		for _, s := range r.next() {
			if r.waitsFor(s) {
				list = append(list, r.people.asked[s.Key])
			}
		}
	})
	return list
}

// addPeople notes in the profiles who is a person.
func (r *record) addPeople() {
	for _, list := range []*[]transcript.Profile{&r.Participants, &r.Profiles} {
		*list = slices.Clone(*list) // personas and calls in flight keep the old list
		for i := range *list {
			(*list)[i].Human = r.isHuman((*list)[i].Name)
		}
	}
}

// asModels changes profiles to those of models: a person may take over from a model, and a model from a person.
func asModels(list []transcript.Profile) []transcript.Profile {
	for i := range list {
		list[i].Human = false
	}
	return list
}

// waitsFor reports whether the debate waits for a person's reply to a next step. If its phase has not begun, a gate may be
// open, or the debate may end first.
func (r *record) waitsFor(s protocol.Step) bool {
	return !forks.IsSilent(s) && r.people.asked[s.Key] != nil && r.people.declined[s.Key] == nil &&
		s.Phase == r.Cursor.Phase
}

// awaitsPeople reports whether nothing can happen before a person replies.
func (r *record) awaitsPeople() bool {
	return r.config.HasPeople() && len(r.next()) > 0 && len(r.waiting()) == len(r.next())
}

// facts returns the facts that guards read, except AssessmentDue. AssessmentDue is expensive and only one event needs
// it.
func (r *record) facts() fsm.Facts {
	f := fsm.Facts{
		ValidConfig:    r.accepted.valid,
		HasOutcome:     r.Ending.Outcome != "",
		Recoverable:    r.losses.failure != nil && r.losses.failure.Recoverable,
		NoOpenQuestion: r.decisions.question == nil,
	}
	_ = r.ask(func(r *record) { f.AwaitsPeople = r.awaitsPeople() }) // a failure is reported whatever the protocol does
	return f
}

func (r *record) configWarnings() []Warning {
	if r.config.Judges == nil && r.config.Substitutes == nil { // the other warnings are about them
		return slices.Concat(r.accepted.mismatched, r.accepted.limited)
	}
	return slices.Concat(
		warningsAbout(r.Cursor.Run, clients.WarnOfPreferences(r.config.Actors(), r.env.identify)),
		r.accepted.mismatched,
		r.accepted.limited,
		r.accepted.biased,
	)
}

// position returns the key of a failure that belongs to no step.
func (r *record) position() transcript.Key {
	return transcript.Key{
		Run:   r.Cursor.Run,
		Round: r.Cursor.Round,
		Phase: r.Cursor.Phase,
	}
}

// gateQuestion returns the question of a gate that the debate has reached, or nil if there is none.
func gateQuestion(r *record) *Question {
	gate := ""
	cause := ""
	switch r.Cursor.Stage {
	case transcript.Speech:
		gate = fmt.Sprintf("round %d", r.Cursor.Round)
		if r.config.AskBeforeRounds && !r.decisions.passed[gate] {
			cause = fmt.Sprintf("round %d of %d is next", r.Cursor.Round, r.MaxRounds)
		}
	case transcript.Conclusion:
		gate = "verdict"
		if r.config.AskBeforeVerdict && !r.decisions.passed[gate] {
			cause = "the conclusion is next"
		}
	case transcript.Setup, transcript.Assessment, transcript.Remark, transcript.Summary, transcript.Embeddings, transcript.Silence:
	}
	if most := r.config.AskAboveCost; cause == "" && most > 0 && r.spent().Cost > most &&
		!r.decisions.passed["cost"] {
		gate = "cost"
		cause = fmt.Sprintf("%.4f are spent, more than %.4f", r.spent().Cost, most)
	}
	if cause == "" {
		return nil
	}
	return &Question{
		Gate:  gate,
		Cause: cause,
		Choices: []Choice{
			{
				Action:      actionApprove,
				Label:       "Continue",
				Description: "go on as planned",
			},
			{
				Action:      actionEdit,
				Label:       "Continue with a remark",
				Description: "add a remark that the next steps see, and go on",
			},
			{
				Action:      actionStop,
				Label:       "Stop here",
				Description: "end the debate; before the conclusion, cancel it",
			},
		},
	}
}

// callQuestion returns the question about a call that must wait for a person, or nil if there is none.
func callQuestion(r *record, steps []protocol.Step) *Question {
	k, c := r.tools.Awaited(steps)
	if c == nil {
		return nil
	}
	return &Question{
		Cause: fmt.Sprintf("%s wants to call the tool %s", k.Actor, c.Name),
		Step:  k,
		Call:  c,
		Choices: []Choice{
			{
				Action:      actionApprove,
				Label:       "Approve",
				Description: "call the tool with these arguments",
			},
			{
				Action:      actionRefuse,
				Label:       "Refuse",
				Description: "do not call the tool; a remark says why",
			},
		},
	}
}

// rejected holds Status.FailureKind of a debate whose last start was refused.
const rejected = "rejected"

// maxFailureCause limits the length of Status.FailureCause in bytes.
const maxFailureCause = 500

// withoutPastDriver returns a status without a heartbeat that no longer says anything: the debate has ended, or was driven
// by another engine after this one lacked something.
func withoutPastDriver(s store.Status) store.Status {
	if h := s.Driver; s.State.Final() || len(h.Missing) > 0 && s.Updated.After(h.At) {
		s.Driver = store.Heartbeat{}
	}
	return s
}

// planOf returns the steps that may run now, as a plan. The plan's key does not change when the process crashes, the
// debate is paused, a remark is added, or a part of the plan is done.
func planOf(r *record) (p store.Plan) {
	if !r.lifecycle.State.Active() {
		return p
	}
	if r.canContinue() != nil &&
		r.lifecycle.State != fsm.Validating { // only an engine that has the protocol can plan
		return r.stored.plan
	}
	at := transcript.Key{
		Run:   r.Cursor.Run,
		Round: r.Cursor.Round,
		Phase: string(r.lifecycle.State),
	}
	err := r.ask(func(r *record) {
		switch {
		case r.lifecycle.State == fsm.RoundComplete:
			p.NotBefore = r.nextRoundAt()
		case r.phaseOpen() && !r.Parallel:
			at = r.next()[0].Key
		case r.phaseOpen():
			at.Phase = r.Cursor.Phase
		}
		p.Key = at.String()
		p.Timeout = r.config.Limits.StepTimeout * time.Duration(budget.LongestChain(r.next()))
	})
	if err != nil {
		return store.Plan{Key: at.String(), Timeout: r.config.Limits.StepTimeout}
	}
	return p
}

// resultOf returns the result of a record. It shares no memory with the record.
func resultOf(r *record) *Result {
	res := &Result{
		ID:           r.ID,
		Parent:       r.fork.Parent,
		Rejudged:     r.course.Result(),
		Topic:        r.config.Topic,
		Background:   r.config.Background,
		Protocol:     r.config.Protocol.Name(),
		State:        r.lifecycle.State,
		Ending:       r.Ending,
		Round:        r.Cursor.Round,
		Turns:        turns.Copy(r.Turns),
		Sides:        map[string]Totals{},
		Participants: []ParticipantStatus{},
		Rounds:       make([]Totals, r.Cursor.Round+1),
		Question:     deepcopy.Of(r.decisions.question),
		Failure:      deepcopy.Of(r.losses.failure),
		Problems:     deepcopy.Of(r.accepted.problems),
		Findings:     deepcopy.Of(r.findings.List),
		RunningTime:  r.times.running,
		Created:      r.times.created,
		Started:      r.Started,
		Updated:      r.times.changed(),
		Completed:    r.times.completed,
	}
	res.Annotations = deepcopy.Of(r.notes.Values)
	res.Signature = r.signature()
	if res.Signature != nil {
		delete(res.Annotations, chain.NoteName)
	}
	for _, w := range r.configWarnings() {
		res.Warnings = append(res.Warnings, w.Text)
	}
	res.Warnings = append(res.Warnings, r.course.Warnings()...)
	sides := map[string]string{}
	for _, s := range r.Profiles {
		sides[s.Name] = cmp.Or(s.Side, s.Name)
		res.Participants = append(res.Participants, participantStatus(r, s.Name))
	}
	for _, f := range r.losses.steps {
		addFailure(res, f, sides[f.Key.Actor])
	}
	for i := range res.Turns {
		addTurn(res, i, sides)
	}
	res.Tools = slices.Clone(r.used)
	for _, a := range r.waiting() {
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
func addTurn(res *Result, i int, sides map[string]string) {
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
	case transcript.Setup, transcript.Speech, transcript.Remark, transcript.Summary, transcript.Embeddings, transcript.Silence:
	}
}

// answerOf returns the protocol's answer, or the verdict if the protocol computes no answer.
func answerOf(r *record, verdict *transcript.Turn) (a protocol.Answer, err error) {
	p, ok := r.config.Protocol.(protocol.Answerer)
	if !ok {
		if verdict != nil {
			a.Text = verdict.Text
			a.Data = verdict.Data
			a.Type = verdict.Contract
		}
		return a, nil
	}
	err = r.ask(func(r *record) { a = deepcopy.Of(p.Answer(&r.Record)) })
	if a.Text != "" || len(a.Data) > 0 {
		a.Type = cmp.Or(a.Type, r.config.Protocol.Name())
	}
	return a, err
}

// outcomeOf returns what the debate has found.
func outcomeOf(r *record, a protocol.Answer) (o protocol.Outcome, err error) {
	err = r.ask(func(r *record) { o = outcome.Of(r.config.Protocol, &r.Record, a) })
	return o, err
}

func participantStatus(r *record, name string) ParticipantStatus {
	s := turns.StatusOf(name, r.Turns)
	for _, f := range r.losses.steps {
		if f.Key.Actor == name {
			s.Add(f.AttemptDetails)
		}
	}
	if slices.ContainsFunc(r.losses.dropped, func(d Dropped) bool { return d.Name == name }) {
		s.State = "dropped"
	}
	return ParticipantStatus(s)
}

// setConfig changes the configuration. Calls in flight keep the old one.
func (r *record) setConfig(c *Config) {
	if r.course.Begun() {
		r.hidden = r.course.Plan.Omit.Documents
	}
	r.config = c
	r.Settings = prompting.Settings{
		Background: c.Background,
		Reference:  c.Reference,
		Rubric:     c.Rubric,
		Protocol:   c.Protocol,
		Templates:  r.env.sets[c.Prompts],
		History:    c.History,
		Tools:      prompting.ToolLimits{Rounds: c.Limits.ToolRounds, Bytes: c.Limits.ToolBytes},
		Summarizer: transcript.Profile{Name: protocol.Summarizer, Instructions: c.Summarizer.Instructions},
		Actors:     r.seats(),
		Cites:      hasSources(c),
	}
	if r.Settings.Templates == nil { // the engine lacks them, and does not drive the debate
		r.Settings.Templates = r.env.sets[""]
	}
}

func (r *record) addParticipants() {
	r.SetProfiles(participantProfiles(*r.config))
	r.losses.dropped = nil
}
