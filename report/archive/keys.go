package archive

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/seal"
	"github.com/elenchus-go/debate/transcript"
)

// call describes a call of a model whose entry has a keyed hash of the request.
type call struct {
	id    string // of the hash
	entry int    // index of the entry
	since int    // number of the first entries that the request was made from
	own   bool   // whether the request may have texts of its entry, too: after an invalid reply, it has the reply
}

// calls returns the calls of a debate. events are those of its entries, or nil where they cannot be read.
func calls(events []debate.Event) (list []call) {
	rounds := map[transcript.Key]int{} // number of the entry with the last round of tool calls of a step
	for i, ev := range events {
		add := func(key transcript.Key, attempts []transcript.Attempt, since int) {
			for n, a := range attempts {
				if a.Hash != "" {
					list = append(list, call{seal.CallID(key.String(), a.Began), i, since, n > 0})
				}
			}
		}
		failed := func(failures ...*debate.Failure) {
			for _, f := range failures {
				if f != nil {
					add(f.Key, f.AttemptDetails, i)
				}
			}
		}
		switch ev := ev.(type) {
		case debate.TurnDone:
			since := max(int(ev.PromptSeq), rounds[ev.Turn.Key])
			add(ev.Turn.Key, ev.Turn.Attempts, min(since, i))
		case debate.ToolsCalled:
			add(ev.Key, ev.Attempts, i)
			rounds[ev.Key] = i + 1
		case debate.StateChanged:
			failed(append(slices.Clip(ev.OtherFailures), ev.Failure)...)
			if ev.Question != nil {
				failed(ev.Question.Failure)
			}
		case debate.Dropped:
			failed(append(slices.Clip(ev.OtherFailures), ev.Failure)...)
		}
	}
	return list
}

// keep removes the secret, and leaves the keys of calls that cannot tell about a hidden text. A request tells about a text that it
// has, and also about one that has led to a finding, to a tally or to a step. So only the keys of calls are left whose requests
// were made from entries without hidden texts.
func keep(f *File, all *seal.Keys) {
	events := make([]debate.Event, len(f.entries))
	hides := make([]bool, len(f.entries))
	hidden := len(f.entries)
	for i := range f.entries {
		stored, paths, err := f.entries[i].Unmask()
		if err != nil {
			hidden = min(hidden, i)
			continue
		}
		paths = slices.DeleteFunc(paths, isKey)
		events[i], hides[i] = eventOf(stored), len(paths) > 0
		if slices.ContainsFunc(paths, isSaid) {
			hidden = min(hidden, i)
		}
	}
	f.header.Secret, f.header.Keys = "", nil
	for _, c := range calls(events) {
		if c.since > hidden || c.own && hides[c.entry] {
			continue
		}
		if key, ok := all.Of(c.id); ok {
			if f.header.Keys == nil {
				f.header.Keys = map[string]seal.Key{}
			}
			f.header.Keys[c.id] = key
		}
	}
}

// isKey reports whether a path is that of the secret, or of keys.
func isKey(path string) bool { return path == "secret" || path == "copied_keys" }

// isSaid reports whether later requests may have, or depend on, the text with a path. They do not depend on what was replied word
// for word, nor on the hash of what a person replied.
func isSaid(path string) bool { return path != "reply" && !strings.HasPrefix(path, "turn.attempts[") }

// keysOf returns the keys of the debate's hashes that a record has.
func keysOf(f *File) *seal.Keys {
	k := &seal.Keys{}
	if stored, _, err := f.entries[0].Unmask(); err == nil {
		_ = json.Unmarshal(stored, k) // Verify reports what is wrong with the entry
	}
	if f.header.Keys != nil {
		k.CopiedKeys = maps.Clone(f.header.Keys)
	}
	return k
}

// withKeys returns the first entry of a redacted record with the keys that the record has.
func withKeys(f *File, stored []byte) ([]byte, error) {
	if f.header.Keys == nil {
		return stored, nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(stored, &fields); err != nil {
		return nil, err
	}
	var err error
	fields["copied_keys"], err = json.Marshal(f.header.Keys)
	if err != nil {
		return nil, err
	}
	return json.Marshal(fields)
}
