package fsm

import (
	"context"
	"testing"

	looplab "github.com/looplab/fsm"
)

var begin, judge = Position{State: AwaitingResponses}, Position{State: Judging}

func BenchmarkNext(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_, _ = Next(judge, Assessed, Facts{})
	}
}

func BenchmarkNextRefused(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_, _ = Next(judge, Edit, Facts{})
	}
}

// BenchmarkFollow decides and executes two events in each iteration: responded and advance.
func BenchmarkFollow(b *testing.B) {
	m, _ := New(begin)
	b.ReportAllocs()
	for b.Loop() {
		_, _ = fire(m, Responded, Facts{})
		_, _ = fire(m, Advance, Facts{})
	}
}

// BenchmarkLooplabEvent executes the events of BenchmarkFollow with looplab/fsm alone.
func BenchmarkLooplabEvent(b *testing.B) {
	out, ctx := lifecycle().transitions, context.Background()
	responded, advance := out[begin][1].name, out[Position{State: RoundComplete}][0].name
	m := looplab.NewFSM(begin.engineName(), lifecycle().events, nil)
	b.ReportAllocs()
	for b.Loop() {
		_, _ = m.Event(ctx, responded), m.Event(ctx, advance)
	}
}

func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_, _ = New(begin)
	}
}

func BenchmarkNewAndFirstFollow(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		m, _ := New(begin)
		_, _ = fire(m, Responded, Facts{})
	}
}

func BenchmarkLooplabNewFSM(b *testing.B) {
	descs := lifecycle().events
	b.ReportAllocs()
	for b.Loop() {
		looplab.NewFSM(begin.engineName(), descs, nil)
	}
}

func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		compile(table)
	}
}

func BenchmarkMermaid(b *testing.B) {
	for b.Loop() {
		Mermaid(Judging)
	}
}
