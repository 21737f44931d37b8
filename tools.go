package debate

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/elenchus-go/debate/internal/step"
	"github.com/elenchus-go/debate/internal/toolcall"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/tool"
	"github.com/elenchus-go/debate/transcript"
)

// This file holds what a record knows of tool calls, and their limits.

// toolRounds holds the rounds of tool calls in a record.
type toolRounds struct {
	open    []*openStep             // steps with rounds and without a turn, in the order of their first rounds
	results map[string]*tool.Record // the first result of each call in the run, for equal calls; see toolcall.Key
	decided map[string]*Decided     // what people have decided about calls, by the ID of the call
}

// openStep holds the rounds of a step that has no turn yet.
type openStep struct {
	key     transcript.Key
	rounds  []ToolsCalled // with the calls of the last entry of each round
	counted int           // rounds whose attempts a failure of the step has
}

// of returns the rounds of a step, or nil if it has none.
func (t *toolRounds) of(k transcript.Key) *openStep {
	for _, o := range t.open {
		if o.key == k {
			return o
		}
	}
	return nil
}

// last returns the last round, or nil if there is none.
func (o *openStep) last() *ToolsCalled {
	if o == nil || len(o.rounds) == 0 {
		return nil
	}
	return &o.rounds[len(o.rounds)-1]
}

// isOpen reports whether a call of the round has no result yet.
func (ev *ToolsCalled) isOpen() bool {
	return ev != nil && slices.ContainsFunc(ev.Calls, func(c tool.Record) bool { return !c.Done })
}

// check returns an error if an entry is not the next one of its step.
func (t *toolRounds) check(ev *ToolsCalled) error {
	last, number := t.of(ev.Key).last(), 1
	if last != nil {
		number = last.Number + 1
	}
	switch {
	case last.isOpen() && ev.Number == last.Number:
		if len(ev.Calls) != len(last.Calls) || ev.Parts != nil || ev.Attempts != nil {
			return fmt.Errorf("it does not continue round %d of the tool calls of its step", ev.Number)
		}
	case last.isOpen() || ev.Number != number:
		return fmt.Errorf("it is round %d of the tool calls of its step, want %d", ev.Number, number)
	case len(ev.Calls) == 0 || len(ev.Attempts) == 0:
		return errors.New("it has no calls")
	}
	return nil
}

// add adds an entry.
func (t *toolRounds) add(ev *ToolsCalled) {
	o := t.of(ev.Key)
	if o == nil {
		o = &openStep{key: ev.Key}
		t.open = append(t.open, o)
	}
	if last := o.last(); last.isOpen() {
		last.Calls = ev.Calls
	} else {
		o.rounds = append(o.rounds, *ev)
	}
	for i := range ev.Calls {
		if c := &ev.Calls[i]; c.Done && c.Error == "" && t.results[toolcall.Key(c)] == nil {
			if t.results == nil {
				t.results = map[string]*tool.Record{}
			}
			t.results[toolcall.Key(c)] = c
		}
	}
}

// end removes the rounds of a step that has a turn with the given attempts. It returns the usage that no turn and no failure
// has: a person has given the reply in place of the model.
func (t *toolRounds) end(k transcript.Key, attempts []transcript.Attempt) (lost transcript.Usage) {
	o := t.of(k)
	if o == nil {
		return lost
	}
	if len(attempts) == 0 {
		lost = o.usage()
	}
	t.open = slices.DeleteFunc(t.open, func(x *openStep) bool { return x == o })
	return lost
}

// failed notes that a failure of a step has the attempts of its rounds.
func (t *toolRounds) failed(f *Failure) {
	if o := t.of(f.Key); o != nil && len(f.AttemptDetails) > 0 {
		o.counted = len(o.rounds)
	}
}

// usage returns the usage of rounds that no failure has counted.
func (o *openStep) usage() (u transcript.Usage) {
	for _, ev := range o.rounds[o.counted:] {
		for _, a := range ev.Attempts {
			u = u.Add(a.Usage)
		}
	}
	return u
}

// stepRounds returns the rounds as a step takes them.
func (o *openStep) stepRounds() (list []step.Round) {
	for i := range o.rounds {
		ev := &o.rounds[i]
		round := step.Round{Attempts: ev.Attempts, Parts: ev.Parts}
		if !ev.isOpen() {
			round.Results = resultsOf(ev.Calls)
		}
		list = append(list, round)
	}
	return list
}

// resultsOf returns the results of calls as a step takes them.
func resultsOf(calls []tool.Record) []step.Result {
	list := make([]step.Result, len(calls))
	for i := range calls {
		list[i] = step.Result{Text: calls[i].Text, Failed: calls[i].Error != ""}
	}
	return list
}

// awaited returns the call about which a person must decide next so that one of the steps can go on, or nil if there is none.
func (t *toolRounds) awaited(steps []protocol.Step) (k transcript.Key, c *tool.Record) {
	for i := range steps {
		last := t.of(steps[i].Key).last()
		if !last.isOpen() {
			continue
		}
		for j := range last.Calls {
			if c := &last.Calls[j]; c.Waits && !c.Done && t.decided[c.ID] == nil {
				return last.Key, c
			}
		}
	}
	return k, nil
}

// callID returns the ID of a call. It is the same in each process.
func callID(debate string, k transcript.Key, round, call int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%d\n%d", debate, k, round, call))
	return hex.EncodeToString(sum[:16])
}

// revealArguments returns the arguments of a call with the names of the participants in place of pseudonyms.
func revealArguments(arguments json.RawMessage, reveal func(string) string) json.RawMessage {
	var v any
	d := json.NewDecoder(strings.NewReader(string(arguments)))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return arguments
	}
	changed := false
	v = mapTexts(v, func(s string) string {
		named := reveal(s)
		changed = changed || named != s
		return named
	})
	if !changed {
		return arguments
	}
	named, _ := json.Marshal(v) // it was decoded from JSON
	return named
}

// mapTexts changes all texts in a JSON value, but not the names of fields.
func mapTexts(v any, f func(string) string) any {
	switch v := v.(type) {
	case string:
		return f(v)
	case []any:
		for i := range v {
			v[i] = mapTexts(v[i], f)
		}
	case map[string]any:
		for name := range v {
			v[name] = mapTexts(v[name], f)
		}
	}
	return v
}

// checkTools adds a problem for each name of a tool that an actor cannot have.
func checkTools(l *problemList, field string, p Participant) {
	field += ".tools"
	switch {
	case len(p.Tools) == 0:
		return
	case p.Human:
		l.add(field, "a person has no tools")
	case strings.HasPrefix(field, "substitutes"):
		l.add(field, "a substitute has the tools of the judge, remove them")
	case !strings.HasPrefix(field, "participants") && !strings.HasPrefix(field, "judges"):
		l.add(field, "only a participant or a judge can have tools")
	}
	for i, name := range p.Tools {
		if err := tool.CheckName(name); err != nil {
			l.add(field, "%v", err)
		} else if slices.Contains(p.Tools[:i], name) {
			l.add(field, "%q is there twice", name)
		}
	}
}

// usesTools reports whether an actor has tools.
func usesTools(c *Config) bool {
	has := func(p Participant) bool { return len(p.Tools) > 0 }
	return slices.ContainsFunc(c.Participants, has) || slices.ContainsFunc(c.Judges, has)
}

// The default limits of tool calls, and the greatest ones.
const (
	defaultToolRounds  = 4
	defaultToolCalls   = 16
	defaultToolBytes   = 8 << 10
	defaultToolTimeout = 30 * time.Second

	maxToolRounds = 16
	maxToolCalls  = 128
	maxToolBytes  = 32 << 10
	minToolBytes  = 256
)

// maxRound limits, in bytes, an entry of the journal with a round of tool calls.
const maxRound = 64 << 10

// fitSources removes the texts of sources for which an entry of the journal has no room. Their sizes and hashes stay.
func fitSources(ev *ToolsCalled) {
	raw, _ := json.Marshal(ev.Parts)
	left := maxRound - len(raw)
	for _, c := range ev.Calls {
		left -= len(c.Arguments) + len(c.Text)
	}
	for i := range ev.Calls {
		for j := range ev.Calls[i].Sources {
			s := &ev.Calls[i].Sources[j]
			if left -= len(s.URI) + len(s.Title); len(s.Text) <= left {
				left -= len(s.Text)
			} else if s.Text != "" {
				s.Size, s.SHA256, s.Text = len(s.Text), toolcall.Digest(s.Text), ""
			}
		}
	}
}

// formatOf returns the format of a journal with the configuration. An engine that knows no documents and no tools would do
// without them, so it must leave the debate alone.
func formatOf(c *Config) int {
	if l := &c.Limits; len(c.Documents) > 0 || usesTools(c) || l.ToolRounds+l.ToolCalls+l.ToolBytes != 0 || l.ToolTimeout != 0 {
		return store.Format
	}
	return store.OldestFormat
}
