// Package toolcall runs the calls of tools that a model has asked for. It needs no engine.
//
// A [Set] holds compiled tools. [Set.Prepare] checks the calls of a round, and [Set.Run] runs them: some at the same time,
// each on a goroutine of its own and for a limited time. Whatever a tool does, each call gets a text that the model reads.
package toolcall

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/elenchus-go/debate/internal/panics"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/tool"
)

// Parallel is the number of calls of a step that run at the same time.
const Parallel = 4

// Set holds tools by name.
type Set map[string]*Compiled

// Compiled is a tool with its compiled schema.
type Compiled struct {
	tool.Tool

	Spec   tool.Spec
	schema *jsonschema.Schema
}

// Compile checks tools and compiles their schemas. It returns an error for the first tool that is not valid.
func Compile(list []tool.Tool) (Set, error) {
	set := Set{}
	for i, t := range list {
		if t == nil {
			return nil, fmt.Errorf("tool %d is nil", i)
		}
		s := t.Spec()
		if err := s.Check(); err != nil {
			return nil, fmt.Errorf("tool %d: %w", i, err)
		}
		if set[s.Name] != nil {
			return nil, fmt.Errorf("tool %d: the name %q is taken by another tool", i, s.Name)
		}
		schema, err := compile(s.Schema)
		if err != nil {
			return nil, fmt.Errorf("tool %q: compile schema: %w", s.Name, err)
		}
		set[s.Name] = &Compiled{Tool: t, Spec: s, schema: schema}
	}
	return set, nil
}

// compile compiles a schema, which must not refer to files or addresses.
func compile(schema json.RawMessage) (*jsonschema.Schema, error) {
	c := jsonschema.NewCompiler()
	c.LoadURL = func(url string) (io.ReadCloser, error) { return nil, fmt.Errorf("it refers to %q", url) }
	if err := c.AddResource("arguments:", bytes.NewReader(schema)); err != nil {
		return nil, err
	}
	return c.Compile("arguments:")
}

// Named returns what a model is told of tools, and the names of those that the set lacks.
func (s Set) Named(names []string) (list []providers.Tool, missing []string) {
	for _, name := range names {
		if t := s[name]; t != nil {
			list = append(list, providers.Tool{Name: name, Description: t.Spec.Description, Schema: t.Spec.Schema})
		} else {
			missing = append(missing, fmt.Sprintf("%q", name))
		}
	}
	return list, missing
}

// Limits limit the calls of a round.
type Limits struct {
	Calls   int           // calls that may still be made; the others are answered
	Bytes   int           // of a result that the model reads
	Timeout time.Duration // of one call
	Total   time.Duration // of all calls of a round; 0 if there is no limit
}

// Prepare answers the calls that cannot run: of a tool that is not one of names, with arguments that do not follow the
// schema, or beyond the limit. earlier returns the record of an earlier call whose result a call shares, or nil.
func (s Set) Prepare(calls []tool.Record, names []string, l Limits, earlier func(*tool.Record) *tool.Record) {
	for i := range calls {
		c := &calls[i]
		t := s[c.Name]
		switch {
		case c.Done:
		case i >= l.Calls:
			answer(c, tool.LimitReached, "Limit reached: you can make no more calls. Reply with what you have.")
		case t == nil || !slices.Contains(names, c.Name):
			answer(c, tool.Unknown, fmt.Sprintf("There is no tool %q. Your tools are: %s.", cut(c.Name, 100), strings.Join(names, ", ")))
		default:
			if problem := t.check(c.Arguments); problem != "" {
				answer(c, tool.Arguments, "The arguments are not valid: "+problem+". Correct them if you call the tool again.")
			} else if before := earlier(c); before != nil && t.shares() {
				share(c, before)
			}
		}
	}
}

// shares reports whether equal calls share a result.
func (t *Compiled) shares() bool { return !t.Spec.Fresh && !t.Spec.Once }

// check returns what is wrong with arguments, or the empty string.
func (t *Compiled) check(arguments json.RawMessage) string {
	d := json.NewDecoder(bytes.NewReader(arguments))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return "they are not JSON"
	}
	if _, object := v.(map[string]any); !object {
		return "they are not a JSON object"
	}
	err := t.schema.Validate(v)
	if err == nil {
		return ""
	}
	invalid, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return cut(err.Error(), maxMessage)
	}
	var list []string
	for _, e := range leaves(invalid) {
		list = append(list, cmp.Or(e.InstanceLocation, "/")+": "+e.Message)
	}
	slices.Sort(list)
	return cut(strings.Join(slices.Compact(list), "; "), maxMessage)
}

// leaves returns the errors that have no causes of their own.
func leaves(e *jsonschema.ValidationError) (list []*jsonschema.ValidationError) {
	if len(e.Causes) == 0 {
		return append(list, e)
	}
	for _, c := range e.Causes {
		list = append(list, leaves(c)...)
	}
	return list
}

// Refuse answers a call that a person has refused.
func Refuse(c *tool.Record, reason string) {
	text := "A person refused this call"
	reason = strings.TrimSpace(reason)
	if reason != "" {
		text += ": " + reason
	} else {
		text += "."
	}
	answer(c, tool.Disapproved, text)
}

// Interrupt answers a call that had begun when its process ended.
func Interrupt(c *tool.Record) {
	answer(c, tool.Interrupted, "The outcome of this call is unknown, because the program was interrupted while it ran. It may have taken effect. It was not repeated.")
}

// A Hook is told of each call that runs. It returns the context of the call, and what to do with its outcome.
type Hook func(ctx context.Context, c *tool.Record) (context.Context, func(error))

// Run runs the calls that have no result yet. Equal calls run once. If ctx ends, Run returns its cause, and the calls that
// run may go on without anybody who waits for them.
func (s Set) Run(ctx context.Context, calls []tool.Record, l Limits, hook Hook) error {
	var until time.Time
	if l.Total > 0 {
		until = time.Now().Add(l.Total)
	}
	firsts := map[string]int{} // calls that others share, by name and arguments
	slots := make(chan struct{}, Parallel)
	var all sync.WaitGroup
	for i := range calls {
		c := &calls[i]
		if c.Done {
			continue
		}
		t := s[c.Name]
		if t == nil { // the call was prepared by a program that has the tool
			answer(c, tool.Unknown, fmt.Sprintf("There is no tool %q.", cut(c.Name, 100)))
			continue
		}
		if t.shares() {
			key := Key(c)
			if _, again := firsts[key]; again {
				continue
			}
			firsts[key] = i
		}
		slots <- struct{}{}
		if ctx.Err() != nil {
			<-slots
			break
		}
		all.Go(func() {
			defer func() { <-slots }()
			t.run(ctx, c, l, until, hook)
		})
	}
	all.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for i := range calls {
		if c := &calls[i]; !c.Done {
			share(c, &calls[firsts[Key(c)]])
		}
	}
	return nil
}

// Key identifies calls with the same tool and arguments.
func Key(c *tool.Record) string {
	var v any
	d := json.NewDecoder(bytes.NewReader(c.Arguments))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return c.Name + " " + string(c.Arguments)
	}
	b, _ := json.Marshal(v) // with sorted keys
	return c.Name + " " + string(b)
}

// earlier returns the earlier one of two times, of which the second may be zero.
func earlier(a, b time.Time) time.Time {
	if !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// errUnfinished is the error of a tool whose goroutine ends before the tool returns.
var errUnfinished = errors.New("the goroutine ended early")

// run runs one call.
func (t *Compiled) run(ctx context.Context, c *tool.Record, l Limits, until time.Time, hook Hook) {
	defer func() {
		if !c.Done { // the hook has ended the goroutine
			finish(ctx, c, outcome{err: errUnfinished}, l.Bytes)
		}
	}()
	c.Began = time.Now().UTC()
	within, cancel := context.WithDeadline(ctx, earlier(c.Began.Add(l.Timeout), until))
	defer cancel()
	end := func(error) {}
	if hook != nil {
		within, end = hook(within, c)
	}
	done := make(chan outcome, 1)
	call := tool.Call{ID: c.ID, Arguments: slices.Clone(c.Arguments)}
	go func() {
		o := outcome{err: errUnfinished}
		defer func() { done <- o }()
		defer panics.Catch(&o.err)
		o.result, o.err = t.Call(within, call)
	}()
	var o outcome
	select {
	case o = <-done:
	case <-within.Done():
		o.err = context.Cause(within)
		select { // it may have noticed
		case o = <-done:
		default:
		}
	}
	c.Duration = time.Since(c.Began)
	finish(within, c, o, l.Bytes)
	end(o.err)
}
