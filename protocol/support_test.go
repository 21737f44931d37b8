package protocol_test

import (
	"fmt"

	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// script is a protocol that consists of its phases.
type script func(r *protocol.Record) []protocol.Phase

func (script) Name() string                                 { return "script/1" }
func (script) Check(*protocol.Record) []protocol.Problem    { return nil }
func (f script) Phases(r *protocol.Record) []protocol.Phase { return f(r) }
func (script) End(*protocol.Record) transcript.Ending       { return transcript.Ending{} }

// phases returns a protocol with the given phases in each stage.
func phases(list ...protocol.Phase) script {
	return func(*protocol.Record) []protocol.Phase { return list }
}

func sequential(name string, actors ...string) protocol.Phase {
	return protocol.Phase{Name: name, Steps: steps(actors...)}
}

func parallel(name string, actors ...string) protocol.Phase {
	return protocol.Phase{Name: name, Parallel: true, Steps: steps(actors...)}
}

func steps(actors ...string) (list []protocol.Step) {
	for _, a := range actors {
		list = append(list, protocol.Step{Key: transcript.Key{Actor: a}, Prompt: "speak"})
	}
	return list
}

// journal updates a record like an engine: each call is one entry.
type journal struct{ protocol.Record }

// in returns a journal with three participants in the given stage and round.
func in(stage transcript.Kind, round int) *journal {
	j := &journal{}
	j.Participants = []transcript.Profile{{Name: "a"}, {Name: "b"}, {Name: "c"}}
	j.Judges = []string{"judge"}
	j.Cursor.Run = 1
	j.move(stage, round)
	return j
}

// move enters a stage.
func (j *journal) move(stage transcript.Kind, round int) {
	j.Seq++
	j.Cursor = transcript.Cursor{Run: j.Cursor.Run, Round: round, Stage: stage, PhaseSeq: j.Seq}
}

func (j *journal) begin(phase string) { j.StartPhase(phase, j.Seq+1) }

// say commits the turn of a step.
func (j *journal) say(s protocol.Step) bool {
	return j.Apply(transcript.Turn{
		Key: s.Key, Kind: s.Kind, Order: s.Order, VisibleSeq: s.VisibleSeq, Contract: s.Contract, Seq: j.Seq + 1, Text: "text of " + s.Actor,
	})
}

// remark commits a remark.
func (j *journal) remark(id string) {
	j.Apply(transcript.Turn{
		Key:  transcript.Key{Run: j.Cursor.Run, Phase: "remark", Actor: "guest", Target: id},
		Kind: transcript.Remark, Order: j.RemarkOrder(), Seq: j.Seq + 1, VisibleSeq: j.Seq,
	})
}

// run commits all steps of the current stage.
func (j *journal) run(p protocol.Protocol) {
	for open := protocol.Next(p, &j.Record); len(open) > 0; open = protocol.Next(p, &j.Record) {
		if open[0].Phase != j.Cursor.Phase {
			j.begin(open[0].Phase)
			continue
		}
		if !j.say(open[0]) {
			panic("a step that was done is asked for: " + open[0].Key.String())
		}
	}
}

// plan returns steps as "phase/actor/target order visibleSeq".
func plan(open []protocol.Step) []string {
	list := []string{}
	for _, s := range open {
		list = append(list, fmt.Sprintf("%s/%s/%s %d %d", s.Phase, s.Actor, s.Target, s.Order, s.VisibleSeq))
	}
	return list
}

// order returns the actors of turns, and the texts of remarks.
func order(turns []transcript.Turn) []string {
	list := []string{}
	for _, t := range turns {
		name := t.Actor
		if t.Kind == transcript.Remark {
			name = t.Target
		}
		list = append(list, name)
	}
	return list
}
