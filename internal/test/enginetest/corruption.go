package enginetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/store/storetest"
	"github.com/elenchus-go/debate/transcript"
)

var corruptionTests = map[string]func(*env){
	"opening a debate repairs a wrong status":              (*env).wrongStatus,
	"a missing or corrupt entry stops only its own debate": (*env).wrongEntry,
	"missing last entries are not paid for again":          (*env).lastEntriesMissing,
}

// statusCorruptions returns functions that damage a status.
func (s *env) statusCorruptions() map[string]func(id string, status store.Status) {
	harms := map[string]func(string, store.Status){
		"has another state": func(id string, status store.Status) {
			status.State = fsm.Error
			status.Usage = transcript.Usage{Output: 1 << 20}
			status.Topic = "Ban bikes?"
			require.NoError(s, s.backend.Open(s).Commit(s.ctx, store.Change{ID: id, After: status.Seq, Status: status}))
		},
	}
	if d := s.backend.Corruption; d != nil {
		harms["is lost"] = func(id string, _ store.Status) { d.DeleteStatus(s, id) }
		harms["unreadable"] = func(id string, _ store.Status) { d.CorruptStatus(s, id) }
		harms["is behind"] = func(id string, status store.Status) { d.SetStatusSeq(s, id, status.Seq-2) }
	}
	return harms
}

func (s *env) wrongStatus() {
	for name := range s.statusCorruptions() {
		for lived, events := range map[string]int{"begun": 1, "halfway": 9, "completed": 99} {
			s.runSubtest(name+", "+lived, func(s *env) {
				cfg := pair(nil)
				cfg.ID = strings.ReplaceAll(name+"-"+lived, " ", "-")
				d := s.create(s.newProcess(), cfg)
				s.runUntilEvent(d, events)
				before := s.stored(cfg.ID, 0)
				right := s.status(d)
				s.statusCorruptions()[name](cfg.ID, right)

				d = s.openInNewProcess(cfg.ID)
				require.Equal(s, s.json(right), s.json(s.listedStatus(cfg.ID)), "the list shows the repaired status")
				require.JSONEq(s, before, s.stored(cfg.ID, 0))
				require.Equal(s, s.json(right), s.json(s.status(d)))
				s.runToEnd(d)
				require.Equal(s, s.runInMemory(cfg).text, s.transcript(s.openInNewProcess(cfg.ID)))
				s.requireJournalValid(cfg.ID)
			})
		}
	}
}

func (s *env) wrongEntry() {
	d := s.backend.Corruption
	if d == nil {
		s.Skip("the backend has no Corruption")
	}
	for name, tt := range map[string]struct {
		harm func(t testing.TB, id string, seq int64)
		seq  int64
	}{
		"first entry missing":  {d.DeleteEntry, 1},
		"middle entry missing": {d.DeleteEntry, 5},
		"first entry corrupt":  {d.CorruptEntry, 1},
		"middle entry corrupt": {d.CorruptEntry, 5},
		"type altered":         {setField(d, "type", "annotated"), 5},
		"time altered":         {setField(d, "at", "2026-01-02T03:04:05Z"), 5},
		"actor altered":        {setField(d, "turn.actor", "B"), 7},
		"phase altered":        {setField(d, "turn.phase", "verdict"), 7},
	} {
		s.runSubtest(name, func(s *env) {
			cfg := pair(nil)
			cfg.ID = strings.ReplaceAll(name, " ", "-")
			require.True(s, s.runUntilEvent(s.create(s.newProcess(), cfg), 8))
			id := cfg.ID
			cfg.ID = "beside-" + id
			beside := s.create(s.newProcess(), cfg)
			before := []string{s.json(s.listedStatus(id)), s.stored(id, tt.seq)}
			tt.harm(s, id, tt.seq)

			for verb, err := range s.callAll(id) {
				require.ErrorContains(s, err, fmt.Sprintf("entry %d", tt.seq), verb)
				require.ErrorContains(s, err, "debate "+id, verb)
			}
			require.Equal(s, before, []string{s.json(s.listedStatus(id)), s.stored(id, tt.seq)}, "the stored data is unchanged")
			s.runToEnd(beside)
			cfg.ID = "after-" + id
			s.runToEnd(s.create(s.newProcess(), cfg))
		})
	}
}

// setField returns a function that replaces a string in an entry's data.
func setField(d *storetest.Corruption, path, value string) func(testing.TB, string, int64) {
	return func(t testing.TB, id string, seq int64) { d.SetEntryField(t, id, seq, path, value) }
}

// callAll calls the methods of a debate that cannot be read, and returns their errors.
func (s *env) callAll(id string) map[string]error {
	s.Helper()
	d, opened := s.newProcess().Open(s.ctx, id)
	require.NotNil(s, d)
	errs := map[string]error{"open": opened, "run": s.runDebate(d).err, "start": d.Start(s.ctx), "pause": d.Pause(s.ctx), "cancel": d.Cancel(s.ctx)}
	_, errs["status"] = d.Status(s.ctx)
	_, errs["result"] = d.Result(s.ctx)
	for _, err := range d.Replay(s.ctx) {
		errs["replay"] = err
	}
	for _, err := range d.Watch(s.ctx, 0) {
		errs["watch"] = err
	}
	return errs
}

// lastEntriesMissing removes the last entries of a journal, or has the status claim more. The debate does not go on, but a
// fork of what is left does.
func (s *env) lastEntriesMissing() {
	d := s.backend.Corruption
	if d == nil {
		s.Skip("the backend has no Corruption")
	}
	for name, harm := range map[string]func(id string, last int64) (end int64){
		"one": func(id string, last int64) int64 { d.DeleteEntry(s, id, last); return last - 1 },
		"two": func(id string, last int64) int64 {
			d.DeleteEntry(s, id, last)
			d.DeleteEntry(s, id, last-1)
			return last - 2
		},
		"a status ahead": func(id string, last int64) int64 { d.SetStatusSeq(s, id, last+3); return last },
	} {
		s.runSubtest(name, func(s *env) {
			cfg := pair(nil)
			cfg.ID = strings.ReplaceAll(name, " ", "-")
			created := s.create(s.newProcess(), cfg)
			require.True(s, s.runUntilEvent(created, 8))
			end := harm(cfg.ID, s.status(created).Seq)
			d, opened := s.newProcess().Open(s.ctx, cfg.ID)
			_, status := d.Status(s.ctx)
			for verb, err := range map[string]error{"open": opened, "status": status, "run": s.runDebate(d).err, "start": d.Start(s.ctx), "pause": d.Pause(s.ctx)} {
				var damaged *store.Damaged
				require.ErrorAs(s, err, &damaged, verb)
				require.Equal(s, end+1, damaged.Seq, verb)
				require.ErrorContains(s, err, "in a fork", verb)
			}
			p := s.newProcess()
			fork, err := p.Fork(s.ctx, cfg.ID, 0, debate.Edits{ID: "fork-" + cfg.ID})
			require.NoError(s, err)
			require.Empty(s, p.model.requests(), "nothing was asked again")
			s.runToEnd(fork)
			require.Equal(s, fsm.Completed, s.status(fork).State)
		})
	}
}
