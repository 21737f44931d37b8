// Package offline contains the demo model that the examples use if there is no API key. It takes the topic and the
// earlier turns from the prompt, but does not understand them: it only quotes them and counts words. If it has tools, it calls
// the first one with the words of the topic before a speech, and quotes what it finds. It replies to any contract as its schema
// says, unless texts must have a pattern or a format; for those of the library's protocols, it chooses some values by what was said.
package offline

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
)

// Notice tells users that the offline demo model is used.
const Notice = "No API key found; using the offline demo model"

// Model returns the offline demo model. If slow is true, it takes one second for each reply.
func Model(slow bool) providers.Provider {
	return &scripted.Provider{DiscardCalls: true, Func: func(r providers.Request) scripted.Reply {
		reply := replyTo(read(r), r)
		reply.Chunks = 40
		if slow {
			reply.Latency = time.Second
		}
		return reply
	}}
}

// replyTo returns a reply that follows the schema of a request, or prose that fits the system prompt if there is none. It
// chooses values by the contract. If the contract is unknown or the reply was refused, it keeps to the limits that it is told.
func replyTo(p prompt, r providers.Request) scripted.Reply {
	if r.Schema == nil {
		if calls := p.lookUp(r); calls != nil {
			return scripted.Reply{ToolCalls: calls}
		}
		return scripted.Reply{Text: p.prose()}
	}
	choose, known := replies[r.SchemaName]
	if !known || p.violations != nil {
		return accepted(p.limited(), r.Schema).Reply(r)
	}
	reply := accepted(choose(p), r.Schema).Reply(r)
	reply.Text = p.inOrder(reply.Text, r.SchemaName)
	return reply
}

// lookUp returns a call of the first tool with the words of the topic, once for each speech. It returns nil if no tool may be
// called, or if the model cannot fill in the arguments.
func (p prompt) lookUp(r providers.Request) []providers.ToolCall {
	if len(r.Tools) == 0 || r.ToolChoice == "none" || p.lookedUp {
		return nil
	}
	arguments, err := scripted.Values{"": strings.Join(keywords(p.topic), " ")}.Fill(r.Tools[0].Schema)
	if err != nil {
		return nil
	}
	return []providers.ToolCall{{ID: "call-1", Name: r.Tools[0].Name, Arguments: arguments}}
}

// accepted returns the values that a schema accepts. A user's contract may have the name of another one, somebody who spoke
// may have dropped out, and the prompt describes a name as a text.
func accepted(values scripted.Values, schema json.RawMessage) scripted.Values {
	all := maps.Clone(values)
	all[""] = cannotJudge
	if _, err := all.Fill(schema); err == nil {
		return all
	}
	kept := scripted.Values{"": cannotJudge}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		kept[key] = values[key]
		if _, err := kept.Fill(schema); err != nil {
			delete(kept, key)
		}
	}
	return kept
}

// inOrder lists what a reply says about each participant in the order in which they spoke. The properties of the schema would
// have the order of the pseudonyms, which are drawn for each debate.
func (p prompt) inOrder(text, contract string) string {
	value, listed := entryValues[contract]
	var reply map[string]any
	if !listed || json.Unmarshal([]byte(text), &reply) != nil {
		return text
	}
	entries, _ := reply["participants"].(map[string]any)
	var list []any
	for _, w := range p.speakers() {
		said, found := entries[strings.ReplaceAll(w.name, " ", "_")]
		if !found {
			return text // the property has a number in place of the name
		}
		entry, isObject := said.(map[string]any)
		if !isObject {
			entry = map[string]any{value: said}
		}
		entry["name"] = w.name
		list = append(list, entry)
	}
	if len(list) == 0 || len(list) != len(entries) {
		return text
	}
	reply["participants"] = list
	inOrder, _ := json.Marshal(reply) // it was read from JSON
	return string(inOrder)
}

// entryValues has the contracts with an entry for each participant, and the field of an entry that is not an object.
var entryValues = map[string]string{
	judge.AssessmentContract.Name(): "",
	judge.VerdictContract.Name():    "points",
	procon.JudgmentContract.Name():  "score",
}
