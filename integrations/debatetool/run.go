package debatetool

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/providers/tool"
	"github.com/elenchus-go/debate/transcript"
)

// errWaited ends a call that has waited for Options.MaxWait.
var errWaited = errors.New("the call has waited long enough")

// Progress is what has happened in a debate.
type Progress struct {
	ID       string
	Position int64
	Text     string  // a sentence without text of models
	Turn     *Turn   // the new turn; nil if there is none
	Output   *Output // in the last progress: the debate as the call leaves it; nil before
}

// Start starts a debate, or continues the one that has the id of the input or of the call, and returns at once.
func (s *Toolset) Start(ctx context.Context, in Input) (Output, error) {
	d, err := s.launch(ctx, in)
	if err != nil {
		return Output{}, err
	}
	return s.describe(ctx, d, in.After)
}

// Run starts or continues a debate like Start, and waits until it has ended or failed, waits for people, or is paused, or
// until Options.MaxWait has passed. The output has turns only if the debate has not ended. If ctx ends, Run returns an
// *Error with the debate's ID. The debate goes on.
func (s *Toolset) Run(ctx context.Context, in Input) (Output, error) { return last(s.Stream(ctx, in)) }

// last returns the output of a stream, or its error.
func last(stream iter.Seq2[Progress, error]) (out Output, err error) {
	for p, err := range stream {
		if err != nil {
			return Output{}, err
		}
		if p.Output != nil {
			out = *p.Output
		}
	}
	return out, nil
}

// Stream does what Run does, and yields what happens meanwhile: first that the debate runs, with its ID, then each turn and
// each round of tool calls, and last the output. If a person takes part, it yields the turns of a parallel phase together when the phase is over. If
// you break out of the loop, the debate goes on.
func (s *Toolset) Stream(ctx context.Context, in Input) iter.Seq2[Progress, error] {
	return s.stream(ctx, in.After, func() (*debate.Debate, error) { return s.launch(ctx, in) })
}

// Follow yields what Stream yields of a debate that exists, after a position. Unlike Stream, it does not try again a debate
// that has failed.
func (s *Toolset) Follow(ctx context.Context, id string, after int64) iter.Seq2[Progress, error] {
	return s.stream(ctx, after, func() (*debate.Debate, error) { return s.Open(ctx, id) })
}

// stream yields what happens after a position in the debate that begin returns.
func (s *Toolset) stream(ctx context.Context, after int64, begin func() (*debate.Debate, error)) iter.Seq2[Progress, error] {
	return func(yield func(Progress, error) bool) {
		d, err := begin()
		if err != nil {
			yield(Progress{}, err)
			return
		}
		if !yield(Progress{ID: d.ID(), Position: after, Text: "The debate runs."}, nil) {
			return
		}
		f := &follower{toolset: s, debate: d, quoter: s.quoter(d.ID()), after: after}
		left, err := f.follow(ctx, func(p Progress) bool { return yield(p, nil) })
		if left {
			return
		}
		var out Output
		if err == nil {
			out, err = s.describe(ctx, d, after)
		}
		if err != nil {
			yield(Progress{}, explain(d.ID(), err))
			return
		}
		if fsm.State(out.Status).Final() { // the answer is enough
			out.Turns, out.Next = nil, ""
		}
		yield(final(out), nil)
	}
}

// final returns the last progress of a call.
func final(o Output) Progress {
	return Progress{ID: o.ID, Position: o.Position, Text: fmt.Sprintf("The debate is %s.", o.Status), Output: &o}
}

// A follower follows a debate until there is nothing to wait for.
type follower struct {
	toolset *Toolset
	debate  *debate.Debate
	quoter  quoter
	after   int64

	people bool       // whether a person takes part
	blind  bool       // whether a person must not know who says what
	held   []Progress // turns of a parallel phase that a person must not see before its end
	hold   bool       // whether such a phase is open
	rounds int
}

// follow shows the turns until the debate rests or the call has waited long enough. It reports whether show has returned
// false.
func (f *follower) follow(ctx context.Context, show func(Progress) bool) (left bool, err error) {
	if most := f.toolset.maxWait; most > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, most, errWaited)
		defer cancel()
	}
	last, err := f.restsAt(ctx)
	if err != nil || last >= 0 && last <= f.after {
		return false, endOf(ctx, err)
	}
	waiting, err := f.debate.Waiting(ctx)
	if err != nil {
		return false, endOf(ctx, err)
	}
	blind, err := f.debate.Blind(ctx)
	if err != nil {
		return false, endOf(ctx, err)
	}
	f.blind = len(blind) > 0
	f.people, f.hold = len(waiting) > 0, len(waiting) > 0
	defer keepDriven(ctx, f.debate)()
	for ev, err := range f.debate.Watch(ctx, f.after) {
		if err != nil {
			return false, endOf(ctx, err)
		}
		for _, p := range f.read(ev) {
			if !show(p) {
				return true, nil
			}
		}
		if s, ok := ev.(debate.StateChanged); ok && rests(s.To) {
			last, err = f.restsAt(ctx)
			if err != nil {
				return false, endOf(ctx, err)
			}
		}
		if m := ev.Meta(); last >= 0 && !m.Live && m.Seq >= last {
			return false, nil
		}
	}
	return false, nil
}

// endOf returns the error that ends a call, or nil if its output tells more.
func endOf(ctx context.Context, err error) error {
	if _, rejected := errors.AsType[*debate.Problems](err); rejected || errors.Is(context.Cause(ctx), errWaited) {
		return nil
	}
	return err
}

// restsAt returns the last seq of a debate that rests, or -1.
func (f *follower) restsAt(ctx context.Context) (int64, error) {
	status, err := f.debate.Status(ctx)
	f.rounds = status.MaxRounds
	if err != nil || !rests(status.State) {
		return -1, err
	}
	return status.Seq, nil
}

// rests reports whether a debate in this state goes on only after a call.
func rests(s fsm.State) bool { return !s.Active() && s != fsm.Ready }

// read returns the progress that an event shows.
func (f *follower) read(ev debate.Event) (list []Progress) {
	if f.blind {
		return nil
	}
	switch ev := ev.(type) {
	case debate.Asked:
		f.people = true
	case debate.PhaseStarted:
		list = f.held
		f.held = nil
		f.hold = ev.Parallel
	case debate.StateChanged:
		if !f.hold || ev.To != fsm.Paused && ev.On != fsm.Resume {
			list = f.held
			f.held = nil
			f.hold = false
		}
	case debate.ToolsCalled:
		if len(ev.Attempts) > 0 && (!f.hold || !f.people) { // the first entry of the round, and nobody must not see it yet
			list = append(list, Progress{ID: f.debate.ID(), Position: ev.Seq, Text: calling(&ev)})
		}
	case debate.TurnDone:
		if !isShown(ev.Turn.Kind) {
			return nil
		}
		t := f.quoter.turn(&ev.Turn)
		p := Progress{ID: f.debate.ID(), Position: t.Position, Text: f.sentence(&ev.Turn), Turn: &t}
		if f.hold && f.people {
			f.held = append(f.held, p)
			return nil
		}
		list = append(list, p)
	}
	return list
}

// calling says who calls which tools. A model may have made up the name of one that it does not have.
func calling(ev *debate.ToolsCalled) string {
	var names []string
	for _, c := range ev.Calls {
		if c.Error != tool.Unknown && !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
	}
	if len(names) == 0 {
		return fmt.Sprintf("%s calls a tool that does not exist.", ev.Key.Actor)
	}
	return fmt.Sprintf("%s calls %s.", ev.Key.Actor, strings.Join(names, ", "))
}

// sentence says who has spoken.
func (f *follower) sentence(t *transcript.Turn) string {
	verb := map[transcript.Kind]string{transcript.Assessment: "has assessed the round", transcript.Conclusion: "has concluded", transcript.Remark: "has made a remark"}[t.Kind]
	if verb == "" {
		verb = "has spoken"
	}
	if t.Round == 0 || t.Kind == transcript.Remark || t.Kind == transcript.Conclusion {
		return fmt.Sprintf("%s %s.", t.Actor, verb)
	}
	return fmt.Sprintf("Round %d of at most %d: %s %s.", t.Round, f.rounds, t.Actor, verb)
}
