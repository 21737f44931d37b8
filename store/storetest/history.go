package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/store"
)

var historyTests = []testCase{
	{"concurrent calls are linearizable", testLinearizable},
}

// An operation is a call that concerns one debate.
type operation struct {
	method, id string // method: commit, load, list or delete
	change     store.Change
}

// A response is the result of an operation. The zero response is a success without data.
type response struct {
	journal  string          // a load returns all entries, see formatEntries; a list returns formatLast
	notFound bool            // the debate does not exist
	conflict *store.Conflict // a commit conflicted
}

// formatEntries returns entries as text: their types, which are unique, and keys. The model's state is such a text.
func formatEntries(entries []store.Entry) string {
	var b strings.Builder
	for _, e := range entries {
		fmt.Fprintf(&b, "%s,%s;", e.Type, e.Key)
	}
	return b.String()
}

// formatLast returns what a list shows of a journal: its length and its last entry, which is the topic of the status.
func formatLast(journal string) string {
	lines := strings.SplitAfter(journal, ";")
	return fmt.Sprint(len(lines)-1, " ", lines[max(len(lines)-2, 0)])
}

// applyOperation reports whether a debate with the given journal, empty if there is none, may give this response, and
// returns the journal afterwards.
func applyOperation(journal string, a operation, r response) (ok bool, after string) {
	switch a.method {
	case "commit":
		if want := expectedConflict(journal, a.change); want != nil {
			return r.conflict != nil && *r.conflict == *want, journal
		}
		return r.conflict == nil, journal + formatEntries(a.change.Entries)
	case "delete":
		return r.notFound == (journal == ""), ""
	case "list":
		return r.notFound == (journal == "") && (r.notFound || r.journal == formatLast(journal)), journal
	default:
		return r.notFound == (journal == "") && (r.notFound || r.journal == journal), journal
	}
}

// expectedConflict returns the conflict of c with a journal, or nil. At most one key of c may already exist.
func expectedConflict(journal string, c store.Change) *store.Conflict {
	last := int64(strings.Count(journal, ";"))
	for _, e := range c.Entries {
		if e.Key != "" && strings.Contains(journal, ","+e.Key+";") {
			return &store.Conflict{ID: c.ID, After: c.After, LastSeq: last, Key: e.Key}
		}
	}
	if c.After != last {
		return &store.Conflict{ID: c.ID, After: c.After, LastSeq: last}
	}
	return nil
}

// sequential is the model for porcupine. Each debate is independent of the others.
var sequential = porcupine.Model{
	Init: func() any { return "" },
	Step: func(state, input, output any) (bool, any) {
		return applyOperation(state.(string), input.(operation), output.(response))
	},
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		debates := map[string][]porcupine.Operation{}
		for _, op := range history {
			id := op.Input.(operation).id
			debates[id] = append(debates[id], op)
		}
		var parts [][]porcupine.Operation
		for _, ops := range debates {
			parts = append(parts, ops)
		}
		return parts
	},
}

// A client makes random calls and records the responses.
type client struct {
	id       int
	store    store.Store
	clock    *atomic.Int64    // shared by all clients; advances before and after each call
	lastSeqs map[string]int64 // last known seq of each debate
	history  []porcupine.Operation
}

// record records one operation. A list records one for each debate.
func (c *client) record(call, end int64, a operation, r response) {
	c.history = append(c.history, porcupine.Operation{ClientId: c.id, Input: a, Call: call, Output: r, Return: end})
}

// runRandom makes one random call. It returns errors that a correct store never returns.
func (c *client) runRandom(ctx context.Context, n int) error {
	id := debateIDs[rand.IntN(len(debateIDs))]
	switch k := rand.IntN(20); {
	case k < 10:
		return c.commit(ctx, id, n)
	case k < 15:
		return c.load(ctx, id)
	case k < 18:
		return c.list(ctx)
	default:
		return c.delete(ctx, id)
	}
}

// commit appends one or two entries after the last known seq. At most one of them has a key that other clients may use.
func (c *client) commit(ctx context.Context, id string, n int) error {
	keys := []string{""}
	if rand.IntN(3) == 0 {
		keys = append(keys, fmt.Sprint("k", rand.IntN(6)))
	}
	ch := change(id, c.lastSeqs[id], keys...)
	for i := range ch.Entries {
		ch.Entries[i].Type = fmt.Sprint(c.id, "-", n, "-", i)
	}
	ch.Status.Topic = formatEntries(ch.Entries[len(ch.Entries)-1:])
	call := c.clock.Add(1)
	err := c.store.Commit(ctx, ch)
	end := c.clock.Add(1)
	lost, ok := errors.AsType[*store.Conflict](err)
	c.record(call, end, operation{method: "commit", id: id, change: ch}, response{conflict: lost})
	if ok {
		c.lastSeqs[id] = lost.LastSeq
		return nil
	}
	c.lastSeqs[id] = ch.Status.Seq
	return err
}

func (c *client) load(ctx context.Context, id string) error {
	call := c.clock.Add(1)
	status, entries, err := c.store.Load(ctx, id, 0)
	end := c.clock.Add(1)
	absent := errors.Is(err, store.ErrNotFound)
	c.record(call, end, operation{method: "load", id: id}, response{journal: formatEntries(entries), notFound: absent})
	c.lastSeqs[id] = status.Seq
	switch {
	case absent:
		return nil
	case err == nil && fmt.Sprint(status.Seq, " ", status.Topic) != formatLast(formatEntries(entries)):
		return fmt.Errorf("load debate %s: the status is at %d %s, but the entries are %s", id, status.Seq, status.Topic, formatEntries(entries))
	}
	return err
}

func (c *client) delete(ctx context.Context, id string) error {
	call := c.clock.Add(1)
	err := c.store.Delete(ctx, id, 0)
	end := c.clock.Add(1)
	absent := errors.Is(err, store.ErrNotFound)
	c.record(call, end, operation{method: "delete", id: id}, response{notFound: absent})
	c.lastSeqs[id] = 0
	if absent {
		return nil
	}
	return err
}

func (c *client) list(ctx context.Context) error {
	call := c.clock.Add(1)
	found := map[string]string{}
	for h, err := range c.store.List(ctx, store.Query{}) {
		if err != nil {
			return err
		}
		found[h.ID] = fmt.Sprint(h.Seq, " ", h.Topic)
	}
	end := c.clock.Add(1)
	for _, id := range debateIDs {
		journal, listed := found[id]
		c.record(call, end, operation{method: "list", id: id}, response{journal: journal, notFound: !listed})
	}
	return nil
}

// testLinearizable runs clients concurrently and has porcupine search for a sequential order that explains all
// responses.
func testLinearizable(t *testing.T, p Backend) {
	const rounds, steps = 4, 40
	stores := openTwice(t, p)
	for range rounds {
		clock := &atomic.Int64{}
		clients, errs := make([]*client, 4), make([]error, 4)
		for i := range clients {
			clients[i] = &client{id: i, store: stores[i%2], clock: clock, lastSeqs: map[string]int64{}}
		}
		runConcurrently(len(clients), func(i int) {
			for n := 0; n < steps && errs[i] == nil; n++ {
				errs[i] = clients[i].runRandom(t.Context(), n)
			}
		})
		require.NoError(t, errors.Join(errs...))
		var history []porcupine.Operation
		for _, c := range clients {
			history = append(history, c.history...)
		}
		result := porcupine.CheckOperationsTimeout(sequential, history, time.Minute)
		require.Equal(t, porcupine.Ok, result, "%s", formatHistory(history))
		deleteAll(t, stores[0])
	}
}

// formatHistory formats a history for debugging.
func formatHistory(history []porcupine.Operation) string {
	slices.SortFunc(history, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
	var b strings.Builder
	for _, op := range history {
		a, r := op.Input.(operation), op.Output.(response)
		fmt.Fprintf(&b, "%4d-%4d client %d: %s %s", op.Call, op.Return, op.ClientId, a.method, a.id)
		if a.method == "commit" {
			fmt.Fprintf(&b, " after %d %s", a.change.After, formatEntries(a.change.Entries))
		}
		fmt.Fprintf(&b, " -> %s", r.journal)
		if r.notFound {
			b.WriteString("absent")
		}
		if r.conflict != nil {
			fmt.Fprintf(&b, "%+v", *r.conflict)
		}
		b.WriteString("\n")
	}
	return b.String()
}
