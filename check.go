package debate

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/budget"
	"github.com/elenchus-go/debate/internal/panics"
	"github.com/elenchus-go/debate/internal/reasoning"
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
		p.check(l, field)
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
		if reason := nameProblem(p.Name); reason != "" {
			l.add(field+".name", "%s", reason)
		}
		if other, dup := seen[strings.ToLower(p.Name)]; dup {
			l.add(field+".name", "%q is taken by %s", p.Name, other)
		}
		seen[strings.ToLower(p.Name)] = field
	}
}

// nameProblem returns what is wrong with a name, or the empty string.
func nameProblem(name string) string {
	switch {
	case strings.TrimSpace(name) != name || name == "":
		return fmt.Sprintf("%q is not valid, use a name without leading or trailing blanks", name)
	case len(name) > 64:
		return fmt.Sprintf("%d bytes is too long, use at most 64", len(name))
	case strings.ContainsFunc(name, func(r rune) bool { return r == '/' || r == ':' || !unicode.IsPrint(r) }):
		return fmt.Sprintf("%q is not valid, remove '/', ':' and control characters", name)
	}
	return ""
}

// maxStops limits the texts of Participant.Stop.
const maxStops = 16

func (p Participant) check(l *problemList, field string) {
	p.checkHuman(l, field)
	checkTools(l, field, p)
	if t := p.Temperature; t != nil && !(*t >= 0 && *t <= 2) {
		l.add(field+".temperature", "%v is out of range, use 0 to 2", *t)
	}
	if !(p.TopP >= 0 && p.TopP <= 1) {
		l.add(field+".top_p", "%v is out of range, use more than 0, at most 1", p.TopP)
	}
	if len(p.Stop) > maxStops || slices.Contains(p.Stop, "") {
		l.add(field+".stop", "%q is not valid, use up to %d texts that are not empty", p.Stop, maxStops)
	}
	if problem := reasoning.Check(p.Reasoning); problem != "" {
		l.add(field+".reasoning", "%s", problem)
	} else if n := reasoning.Budget(p.Reasoning); n > 0 && p.MaxTokens > 0 && n >= p.MaxTokens {
		l.add(field+".reasoning", "%d tokens leave no room for the reply, max_tokens is %d", n, p.MaxTokens)
	}
	switch {
	case p.MaxTokens < 0 || p.MaxTokens > turns.MaxTokens:
		l.add(field+".max_tokens", "%d is not valid, use 1 to %d", p.MaxTokens, turns.MaxTokens)
	case p.Window < 0 || p.Window > turns.MaxTokens:
		l.add(field+".window", "%d is not valid, use 1 to %d", p.Window, turns.MaxTokens)
	case p.Window > 0 && p.Window <= min(p.MaxTokens, minReply):
		l.add(field+".window", "%d is too small for a prompt and a reply", p.Window)
	}
}

// checkHuman adds a problem for each setting that does not fit a person, or that only a person can have.
func (p Participant) checkHuman(l *problemList, field string) {
	judge := strings.HasPrefix(field, "judges")
	if p.Blind && (!p.Human || !judge) {
		l.add(field+".blind", "only a human judge can choose it")
	}
	if !p.Human {
		return
	}
	if !judge && !strings.HasPrefix(field, "participants") {
		l.add(field+".human", "only a participant or a judge can be a person")
	}
	if p.Provider != humanProvider {
		l.add(field+".provider", "a person has no provider, but it is %q", p.Provider)
	}
	for _, x := range []struct {
		setting string
		set     bool
	}{
		{"model", p.Model != ""},
		{"temperature", p.Temperature != nil},
		{"window", p.Window != 0},
		{"top_p", p.TopP != 0},
		{"seed", p.Seed != nil},
		{"stop", p.Stop != nil},
		{"reasoning", p.Reasoning != ""},
	} {
		if x.set {
			l.add(field+"."+x.setting, "a person has no %s", x.setting)
		}
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
