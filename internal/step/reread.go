package step

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/elenchus-go/debate/internal/characters"
	"github.com/elenchus-go/debate/internal/reasoning"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// Reread is what a committed step shows when it is repeated without a call.
type Reread struct {
	Equal   int                // calls whose request has the stored hash
	Unknown int                // calls whose request, or whose hash, is not known
	Differs []int              // numbers of the calls whose request has another hash, from 1
	Missing []string           // why requests are not known
	Request providers.Request  // of the last call
	Fits    bool               // whether the history is fitted into the window as it was
	Read    bool               // whether the reply is known, so that the turn was compared with it
	Wrong   error              // why the turn is not what its reply says; nil if it is
	Next    error              // why something else followed a call than what it says; nil if that is possible
	Costs   []transcript.Usage // of the attempts; those that began after since have their cost by the prices
	seen    map[int]struct{}   // attempts that were compared
	tried   []transcript.Attempt
}

// RereadTurn repeats a committed step without a call, as RereadCalls does, and reads the reply of the last attempt as Do does.
func RereadTurn(r *Run, t *transcript.Turn, since time.Time) *Reread {
	x := RereadCalls(r, t.Attempts, t.Window, since)
	x.Fits = !slices.Contains(x.Missing, otherWindow)
	x.Read, x.Wrong = readAgain(r, t)
	return x
}

// RereadCalls repeats the attempts of a step without a call: it makes each request again and compares its hash, and computes the
// cost of each attempt that began after since. fitted is the window of the turn, if there is one.
func RereadCalls(r *Run, tried []transcript.Attempt, fitted *transcript.Window, since time.Time) *Reread {
	x := &Reread{tried: tried, seen: map[int]struct{}{}}
	skipped := 0
	if tools := r.Plan.Tools; tools != nil {
		skipped = len(attemptsOf(tools.Rounds[:tools.Counted]))
	}
	r.look = func(i int, request *providers.Request, missing []string) {
		x.compare(r, i-skipped, request, missing)
	}
	r.draft.start(&r.Plan.Step)
	x.Request, _, x.Missing = r.Repeat(tried, fitted)
	x.compare(r, len(tried)-1, &x.Request, x.Missing)
	x.Unknown += len(tried) - len(x.seen)
	for _, a := range tried {
		u := a.Usage
		if a.Began.After(since) {
			u.Unpriced = false
			r.price(&u, a.Model, requestedModel(&a))
		}
		x.Costs = append(x.Costs, u)
	}
	return x
}

// requestedModel returns the model that an attempt was for.
func requestedModel(a *transcript.Attempt) string {
	if a.Requested != "" {
		return a.Requested
	}
	return a.Model
}

// compare compares the request of an attempt with its hash.
func (x *Reread) compare(r *Run, i int, request *providers.Request, missing []string) {
	if i < 0 || i >= len(x.tried) {
		return
	}
	if _, again := x.seen[i]; again {
		return
	}
	x.seen[i] = struct{}{}
	if missing == nil && x.Next == nil {
		x.Next = r.follows(x.tried[:i+1])
	}
	switch equal, known := r.Matches(request, x.tried[i].Hash, x.tried[i].Began); {
	case equal && known:
		x.Equal++
	case !known || missing != nil:
		x.Unknown++
	default:
		x.Differs = append(x.Differs, i+1)
	}
}

// readAgain compares a turn with what its last attempt replied. It reports false if that is not known.
func readAgain(r *Run, t *transcript.Turn) (known bool, wrong error) {
	last := &t.Attempts[len(t.Attempts)-1]
	has := func(f transcript.Flag) bool {
		return slices.Contains(t.Flags, f)
	}
	switch {
	case has(transcript.Edited):
		return false, nil
	case has(transcript.Defaulted):
		if !r.useDefault() {
			return true, errors.New("it has the flag defaulted, but its contract has no default")
		}
		return true, sameReply(&r.draft, t, false)
	case r.Plan.Private:
		return false, nil
	case has(transcript.Partial):
		return readPart(r, t)
	case last.ErrorKind != "":
		if r.attempts.doubtful == nil {
			return false, nil
		}
		r.draft.restore(r.attempts.doubtful)
		return true, sameReply(&r.draft, t, true)
	case last.Reply == "" && r.Plan.Speech != nil:
		return false, r.speechAgain(t)
	case last.Reply == "" || last.ReplyCut:
		return false, nil
	}
	if _, err := r.accept(responseOf(last)); err != nil {
		return true, fmt.Errorf("its reply is not valid: %w", err)
	}
	return true, sameReply(&r.draft, t, true)
}

// readPart compares a turn with the partial texts of its attempts.
func readPart(r *Run, t *transcript.Turn) (known bool, wrong error) {
	for _, a := range t.Attempts {
		said, _ := reasoning.Split(a.Reply[:characters.Complete(a.Reply)])
		known = known || a.Reply != ""
		part, flags := r.partOf(strings.TrimSpace(said))
		if r.Plan.Pseudonyms.Reveal(part) == t.Text &&
			r.Plan.KeepPartial &&
			slices.Equal(flags, partFlags(t)) {
			return true, nil
		}
	}
	switch {
	case known:
		return true, errors.New("its text is not that of an attempt that has failed")
	case r.Plan.Speech != nil:
		return false, r.speechAgain(t)
	}
	return false, nil
}

// sameReply returns an error if a turn has another reply than the draft.
func sameReply(d *draft, t *transcript.Turn, flags bool) error {
	switch {
	case t.Text != d.Text:
		return errors.New("its text is not what its reply says")
	case !sameJSON(t.Data, d.Data):
		return errors.New("its data are not what its reply says")
	case t.Tokens != d.Tokens:
		return fmt.Errorf("its text has %d tokens, want %d", t.Tokens, d.Tokens)
	case flags && !slices.Equal(t.Flags, d.Flags):
		return fmt.Errorf("its flags are %v, want %v", t.Flags, d.Flags)
	}
	return nil
}

// sameJSON reports whether two values are equal, whatever the order of their fields: whoever has exported and imported a debate
// may have encoded them again.
func sameJSON(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	read := func(raw json.RawMessage) (v any) {
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		_ = d.Decode(&v) // a value that is not valid is nil
		return v
	}
	return len(a) > 0 && len(b) > 0 && reflect.DeepEqual(read(a), read(b))
}

// flagsOfParts lists the flags that a part of a reply can have.
var flagsOfParts = []transcript.Flag{
	transcript.Partial,
	transcript.SpokeForOthers,
	transcript.Refused,
}

// partFlags returns the flags of a turn that a part of a reply can have.
func partFlags(t *transcript.Turn) []transcript.Flag {
	return slices.DeleteFunc(slices.Clone(t.Flags), func(f transcript.Flag) bool {
		return !slices.Contains(flagsOfParts, f)
	})
}
