package debate

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/actor"
	"github.com/elenchus-go/debate/internal/budget"
	"github.com/elenchus-go/debate/internal/panics"
	"github.com/elenchus-go/debate/internal/sources"
	"github.com/elenchus-go/debate/internal/step"
	"github.com/elenchus-go/debate/internal/turns"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// checkValues adds a problem for each value that no configuration has, whether it is new or stored.
func (c *Config) checkValues(l *problemList) {
	l.checkID(c.ID)
	if len(c.Seed) > 128 {
		l.add("seed", "it has %d bytes, use at most 128", len(c.Seed))
	}
	l.policy("on_failure", c.OnFailure, Degrade, Ask)
	l.policy("on_judge_failure", c.OnJudgeFailure, Continue, DropJudge, End, Ask)
	l.policy("on_retrieval_failure", c.OnRetrievalFailure, Degrade, Continue, Ask)
	l.policy("on_overflow", c.OnOverflow, OverflowTruncate, OverflowSummarize, End, Degrade)
	for _, kind := range slices.Sorted(maps.Keys(c.Retries)) {
		n := c.Retries[kind]
		if _, known := step.DefaultRetries[kind]; !known || n < 0 {
			l.add("retries", "%s: %d is not valid, use 0 or more for each of %q", kind, n, slices.Sorted(maps.Keys(step.DefaultRetries)))
		}
	}
	for i, j := range c.Judges {
		if j.Side != "" || j.Position != "" || j.Disabled {
			l.add(indexed("judges", i), "a judge must not have a side or a position and must not be disabled")
		}
	}
	for field, p := range c.allActors() {
		p.MaxTokens = replyLimit(c, field, p)
		l.problems = append(l.problems, (*actor.Settings)(&p).Check(field)...)
	}
	for _, model := range slices.Sorted(maps.Keys(c.Prices)) {
		p := c.Prices[model]
		for _, x := range []float64{p.Input, p.Cached, p.Written, p.Output} {
			if !(x >= 0) || math.IsInf(x, 0) {
				l.add("prices", "%s: %v is not valid, use 0 or more", model, x)
			}
		}
	}
	checkAttachments(c, l)
	checkDocuments(c, l)
	if c.Reference != "" && len(c.Judges) == 0 {
		l.add("reference", "there are no judges, who alone read it: leave it out")
	}
	if x := c.AskAboveCost; !(x >= 0) || math.IsInf(x, 0) {
		l.add("ask_above_cost", "%v is not valid, use 0 or more", x)
	}
	for _, p := range c.Rubric.Check() {
		l.add("rubric", "%s", p)
	}
	for _, p := range c.History.Check() {
		l.add("history", "%s", p)
	}
}

// validate adds a problem for each invalid limit, and sets it to 0.
func (l *Limits) validate(list *problemList) {
	valid, found := budget.Limits(*l).Valid()
	*l, list.problems = Limits(valid), append(list.problems, found...)
}

// policy adds a problem if a field does not have one of the known policies. It may be empty in an early journal.
func (l *problemList) policy(field string, is FailurePolicy, known ...FailurePolicy) {
	if is != "" && !slices.Contains(known, is) {
		l.add(field, "%q is unknown, use one of %q", is, known)
	}
}

// checkNames adds a problem for each name that an actor cannot have.
func (c *Config) checkNames(l *problemList) {
	seen := map[string]string{}
	for _, name := range systemActors {
		seen[name] = "a system actor"
	}
	for field, p := range c.allActors() {
		if !strings.HasPrefix(field, "participants") && !strings.HasPrefix(field, "judges") {
			continue
		}
		if reason := actor.CheckName(p.Name); reason != "" {
			l.add(field+".name", "%s", reason)
		}
		if other, dup := seen[strings.ToLower(p.Name)]; dup {
			l.add(field+".name", "%q is taken by %s", p.Name, other)
		}
		seen[strings.ToLower(p.Name)] = field
	}
}

// checkStored returns an error if no version of the library has stored the configuration for the debate with the given id.
// A journal may be damaged or forged. Protocols of other packages are not asked, because their rules may have changed.
func (c *Config) checkStored(id string) (err error) {
	defer func() {
		if v := recover(); v != nil { // of the protocol
			err = fmt.Errorf("check protocol: %w", panics.New(v))
		}
	}()
	l := &problemList{}
	if c.ID != "" && c.ID != id {
		l.add("id", "%q is not that of the debate", c.ID)
	}
	c.Limits.validate(l)
	c.checkNames(l)
	c.checkValues(l)
	if len(l.problems) == 0 && isPreset(c.Protocol) {
		l.problems = append(l.problems, c.Protocol.Check(c.protocolRecord())...)
	}
	if err := problemsError(l.problems); err != nil {
		return errors.New(err.Error()) // it is no mistake of the caller, as Problems are
	}
	return nil
}

// protocolRecord returns the record that the protocol checks before the debate starts.
func (c *Config) protocolRecord() *protocol.Record {
	r := &protocol.Record{ID: c.ID, Seed: cmp.Or(c.Seed, c.ID), Topic: c.Topic, Participants: participantProfiles(*c), MinRounds: c.Limits.MinRounds, MaxRounds: c.Limits.MaxRounds}
	r.Cursor = transcript.Cursor{Run: 1}
	for _, j := range c.Judges {
		r.Judges = append(r.Judges, j.Name)
	}
	return r
}

// checkEntry rejects events that no version of the library writes in the record's state. Nothing else checks what a journal
// contains, and a journal may be damaged or forged.
func (r *record) checkEntry(ev Event) error {
	if seq := ev.Meta().Seq; seq != r.Seq+1 {
		return fmt.Errorf("entry %d is missing", r.Seq+1)
	}
	if _, config := ev.(ConfigChanged); r.Seq == 0 && !config {
		return errors.New("the journal must begin with a configuration")
	}
	switch ev := ev.(type) {
	case ConfigChanged:
		return checkTokens("reply", ev.ReplyTokens)
	case StateChanged:
		return r.checkState(ev)
	case PhaseStarted:
		if ev.Round != r.Cursor.Round {
			return fmt.Errorf("it is a phase of round %d, but the debate is in round %d", ev.Round, r.Cursor.Round)
		}
	case Dropped:
		if ev.Failure == nil {
			return errors.New("the entry has no failure")
		}
		return r.checkFailures(append(slices.Clip(ev.OtherFailures), ev.Failure)...)
	case TurnDone:
		return turns.Check(&ev.Turn, r.Cursor)
	case Asked:
		return turns.CheckKey(ev.Key, r.Cursor)
	case ToolsCalled:
		if err := turns.CheckKey(ev.Key, r.Cursor); err != nil {
			return err
		}
		if _, done := r.Find(ev.Key); done {
			return fmt.Errorf("turn %s has been committed before it", ev.Key)
		}
		return cmp.Or(r.tools.Check(ev.round()), sources.Check(ev.Calls), turns.CheckUsages(transcript.Usage{}, ev.Attempts))
	case Decided:
		switch err := turns.CheckKey(ev.Key, r.Cursor); { // of a step that is declined
		case err != nil:
			return err
		case r.decisions.question == nil && ev.Action != actionDecline && ev.Action != actionHold && ev.Action != actionRelease:
			return errors.New("no question is open")
		}
	}
	return nil
}

func (r *record) checkState(ev StateChanged) error {
	if ev.On == fsm.Fail && ev.Failure == nil {
		return errors.New("the entry has no failure")
	}
	if ev.From != r.lifecycle.State {
		return fmt.Errorf("it is a transition from %q, but the debate is %q", ev.From, r.lifecycle.State)
	}
	if is := r.roundAfter(ev.On, ev.To); ev.Round != is {
		return fmt.Errorf("it leads to round %d, but the debate is in round %d then", ev.Round, is)
	}
	if err := cmp.Or(checkTokens("reply", ev.ReplyTokens), checkTokens("window", ev.Windows)); err != nil {
		return err
	}
	return r.checkFailures(append(slices.Clip(ev.OtherFailures), failureOf(ev))...)
}

// checkFailures checks failures, which may be nil.
func (r *record) checkFailures(list ...*Failure) error {
	for _, f := range list {
		if f == nil {
			continue
		}
		if err := cmp.Or(turns.CheckKey(f.Key, r.Cursor), turns.CheckUsages(transcript.Usage{}, f.AttemptDetails)); err != nil {
			return err
		}
	}
	return nil
}

// checkTokens checks the tokens of replies or windows of actors, by field.
func checkTokens(what string, tokens map[string]int) error {
	first := ""
	for field, n := range tokens {
		if (n < 1 || n > turns.MaxTokens) && (first == "" || field < first) {
			first = field
		}
	}
	if first == "" {
		return nil
	}
	return fmt.Errorf("the %s of %s has %d tokens, want 1 to %d", what, first, tokens[first], turns.MaxTokens)
}

// rulesOf returns the rules of the engine that wrote an entry, given those of the entry before it. They are zero if they are not
// known, because an earlier version wrote it.
func rulesOf(m EventMeta, before Rules) Rules {
	switch {
	case m.Rules != nil:
		return *m.Rules
	case m.Revision == 0:
		return Rules{}
	}
	return before
}
