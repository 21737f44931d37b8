// Package toolcall runs the calls of tools that a model has asked for. It needs no engine.
//
// A [Set] holds compiled tools. [Set.Prepare] checks the calls of a round, and [Set.Run] runs them: some at the same time,
// each on a goroutine of its own and for a limited time. Whatever a tool does, each call gets a text that the model reads.
package toolcall

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/elenchus-go/debate/internal/characters"
	"github.com/elenchus-go/debate/internal/panics"
	"github.com/elenchus-go/debate/tool"
)

// Parallel is the number of calls of a step that run at the same time.
const Parallel = 4

// maxMessage limits, in bytes, what a model reads of an error.
const maxMessage = 1 << 10

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

// Limits limit the calls of a round.
type Limits struct {
	Calls   int           // calls that may still be made; the others are answered
	Bytes   int           // of a result that the model reads
	Timeout time.Duration // of one call
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
				c.Done, c.Text, c.Shared, c.Size, c.SHA256 = true, before.Text, cmp.Or(before.Shared, before.ID), before.Size, before.SHA256
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
	if reason = strings.TrimSpace(reason); reason != "" {
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

// answer gives a call a text in place of a result.
func answer(c *tool.Record, kind tool.ErrorKind, text string) {
	c.Done, c.Error, c.Text = true, kind, cut(text, maxMessage)
}

// A Hook is told of each call that runs. It returns the context of the call, and what to do with its outcome.
type Hook func(ctx context.Context, c *tool.Record) (context.Context, func(error))

// Run runs the calls that have no result yet. Equal calls run once. If ctx ends, Run returns its cause, and the calls that
// run may go on without anybody who waits for them.
func (s Set) Run(ctx context.Context, calls []tool.Record, l Limits, hook Hook) error {
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
			t.run(ctx, c, l, hook)
		})
	}
	all.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for i := range calls {
		if c := &calls[i]; !c.Done {
			first := &calls[firsts[Key(c)]]
			shared := *first
			shared.ID, shared.Shared, shared.Sources, shared.Duration = c.ID, first.ID, nil, 0
			*c = shared
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

// outcome is what a call has returned.
type outcome struct {
	result tool.Result
	err    error
}

// run runs one call.
func (t *Compiled) run(ctx context.Context, c *tool.Record, l Limits, hook Hook) {
	c.Began = time.Now().UTC()
	within, cancel := context.WithTimeout(ctx, l.Timeout)
	defer cancel()
	end := func(error) {}
	if hook != nil {
		within, end = hook(within, c)
	}
	done := make(chan outcome, 1)
	call := tool.Call{ID: c.ID, Arguments: slices.Clone(c.Arguments)}
	go func() {
		var o outcome
		returned := false
		defer func() {
			if !returned {
				o = outcome{err: panics.New(recover())}
			}
			done <- o
		}()
		o.result, o.err = t.Call(within, call)
		returned = true
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
	finish(c, o, within, l.Bytes)
	end(o.err)
}

// finish sets what a call has returned, with at most that many bytes of the result.
func finish(c *tool.Record, o outcome, within context.Context, most int) {
	refusal, refused := errors.AsType[tool.Refusal](o.err)
	_, panicked := errors.AsType[*panics.Error](o.err)
	switch {
	case o.err == nil:
		c.Done, c.Sources = true, slices.Clone(o.result.Sources)
		for i := range c.Sources {
			s := &c.Sources[i]
			s.URI, s.Title, s.Text = clean(s.URI, maxMessage), clean(s.Title, maxMessage), characters.Valid(s.Text)
			s.Size, s.SHA256 = 0, ""
		}
		setText(c, o.result.String(), most)
	case refused:
		answer(c, tool.Refused, clean(string(refusal), maxMessage))
	case panicked:
		answer(c, tool.Panicked, "The tool failed because of a mistake in its program.")
	case within.Err() != nil:
		answer(c, tool.Timeout, "The tool took too long and was stopped.")
	default:
		answer(c, tool.Failed, "The tool failed.")
	}
}

// setText sets the result of a call, and cuts it if it is too long.
func setText(c *tool.Record, text string, most int) {
	if len(text) <= most {
		if text = characters.Valid(text); len(text) <= most {
			c.Text = text
			return
		}
	}
	c.Size, c.SHA256 = len(text), Digest(text)
	c.Text = clean(text, most)
}

// Digest returns the SHA-256 of a text as hexadecimal digits. It copies only pieces of the text, which may be large.
func Digest(text string) string {
	const piece = 1 << 16
	h := sha256.New()
	for ; text != ""; text = text[min(piece, len(text)):] {
		h.Write([]byte(text[:min(piece, len(text))])) // never fails
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Cut cuts the result of a call at that many bytes, unless it is shorter.
func Cut(c *tool.Record, most int) {
	if len(c.Text) <= most {
		return
	}
	if c.SHA256 == "" {
		c.Size, c.SHA256 = len(c.Text), Digest(c.Text)
	}
	c.Text = cut(c.Text, most)
}

// clean returns a text as valid UTF-8 of at most that many bytes.
func clean(text string, most int) string {
	if n := most + utf8.UTFMax; len(text) > n {
		text = strings.Clone(text[:n]) // without the rest, which may be large
	}
	return cut(characters.Valid(text), most)
}

// cut returns at most that many bytes of a text, in whole characters and with a mark at the end if it was longer.
func cut(text string, most int) string {
	const mark = "\n[cut]"
	if len(text) <= most {
		return text
	}
	return characters.First(text, max(most-len(mark), 0)) + mark
}
