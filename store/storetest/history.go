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

var histories = []test{
	{"what many do at once could have been done one after the other", testLinearizable},
}

// An ask is what a client asks of one debate.
type ask struct {
	verb, id string // verb: commit, load, list or delete
	change   store.Change
}

// A reply is what the client learns. The zero reply is success that says nothing.
type reply struct {
	journal string          // what a load gave, see line; of a list the last entry alone
	absent  bool            // there is no such debate
	lost    *store.Conflict // of a commit
}

// line writes entries as one text: their types, which are unique, and keys. A model's state is such a text.
func line(entries []store.Entry) string {
	var b strings.Builder
	for _, e := range entries {
		fmt.Fprintf(&b, "%s,%s;", e.Type, e.Key)
	}
	return b.String()
}

// lastOf is how a list shows a journal: by its head, whose topic is the last entry's line.
func lastOf(journal string) string {
	lines := strings.SplitAfter(journal, ";")
	return fmt.Sprint(len(lines)-1, " ", lines[max(len(lines)-2, 0)])
}

// step says whether a debate with that journal, empty for none, may reply so, and how it stands then.
func step(journal string, a ask, r reply) (ok bool, after string) {
	switch a.verb {
	case "commit":
		if want := judged(journal, a.change); want != nil {
			return r.lost != nil && *r.lost == *want, journal
		}
		return r.lost == nil, journal + line(a.change.Entries)
	case "delete":
		return r.absent == (journal == ""), ""
	case "list":
		return r.absent == (journal == "") && (r.absent || r.journal == lastOf(journal)), journal
	default:
		return r.absent == (journal == "") && (r.absent || r.journal == journal), journal
	}
}

// judged is the conflict of a change with a journal. Of its keys one at most stands.
func judged(journal string, c store.Change) *store.Conflict {
	last := int64(strings.Count(journal, ";"))
	for _, e := range c.Entries {
		if e.Key != "" && strings.Contains(journal, ","+e.Key+";") {
			return &store.Conflict{ID: c.ID, After: c.After, Last: last, Key: e.Key}
		}
	}
	if c.After != last {
		return &store.Conflict{ID: c.ID, After: c.After, Last: last}
	}
	return nil
}

// sequential tells porcupine of debates, each of which stands for itself.
var sequential = porcupine.Model{
	Init: func() any { return "" },
	Step: func(state, input, output any) (bool, any) {
		return step(state.(string), input.(ask), output.(reply))
	},
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		debates := map[string][]porcupine.Operation{}
		for _, op := range history {
			id := op.Input.(ask).id
			debates[id] = append(debates[id], op)
		}
		var parts [][]porcupine.Operation
		for _, ops := range debates {
			parts = append(parts, ops)
		}
		return parts
	},
}

// A client asks at random and writes down what it learns.
type client struct {
	id      int
	store   store.Store
	clock   *atomic.Int64    // ticks before and after each call, for all clients
	ends    map[string]int64 // what the client believes of each debate
	history []porcupine.Operation
}

// did writes down one call, which a list makes for several debates.
func (c *client) did(call, end int64, a ask, r reply) {
	c.history = append(c.history, porcupine.Operation{ClientId: c.id, Input: a, Call: call, Output: r, Return: end})
}

// act does one thing. It fails on errors that no store should give.
func (c *client) act(ctx context.Context, n int) error {
	id := names[rand.IntN(len(names))]
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

// commit appends up to two entries to what the client knows, one of them at most with a key that another may use too.
func (c *client) commit(ctx context.Context, id string, n int) error {
	keys := []string{""}
	if rand.IntN(3) == 0 {
		keys = append(keys, fmt.Sprint("k", rand.IntN(6)))
	}
	ch := change(id, c.ends[id], keys...)
	for i := range ch.Entries {
		ch.Entries[i].Type = fmt.Sprint(c.id, "-", n, "-", i)
	}
	ch.Head.Topic = line(ch.Entries[len(ch.Entries)-1:])
	call := c.clock.Add(1)
	err := c.store.Commit(ctx, ch)
	end := c.clock.Add(1)
	lost, ok := errors.AsType[*store.Conflict](err)
	c.did(call, end, ask{verb: "commit", id: id, change: ch}, reply{lost: lost})
	if ok {
		c.ends[id] = lost.Last
		return nil
	}
	c.ends[id] = ch.Head.Seq
	return err
}

func (c *client) load(ctx context.Context, id string) error {
	call := c.clock.Add(1)
	head, entries, err := c.store.Load(ctx, id, 0)
	end := c.clock.Add(1)
	absent := errors.Is(err, store.ErrNotFound)
	c.did(call, end, ask{verb: "load", id: id}, reply{journal: line(entries), absent: absent})
	c.ends[id] = head.Seq
	switch {
	case absent:
		return nil
	case err == nil && fmt.Sprint(head.Seq, " ", head.Topic) != lastOf(line(entries)):
		return fmt.Errorf("load debate %s: the head is at %d %s, the entries are %s", id, head.Seq, head.Topic, line(entries))
	}
	return err
}

func (c *client) delete(ctx context.Context, id string) error {
	call := c.clock.Add(1)
	err := c.store.Delete(ctx, id)
	end := c.clock.Add(1)
	absent := errors.Is(err, store.ErrNotFound)
	c.did(call, end, ask{verb: "delete", id: id}, reply{absent: absent})
	c.ends[id] = 0
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
	for _, id := range names {
		journal, listed := found[id]
		c.did(call, end, ask{verb: "list", id: id}, reply{journal: journal, absent: !listed})
	}
	return nil
}

// testLinearizable lets clients loose, and has porcupine look for an order in which all that they learned is right.
func testLinearizable(t *testing.T, p Place) {
	const rounds, steps = 4, 40
	stores := both(t, p)
	for range rounds {
		clock := &atomic.Int64{}
		clients, errs := make([]*client, 4), make([]error, 4)
		for i := range clients {
			clients[i] = &client{id: i, store: stores[i%2], clock: clock, ends: map[string]int64{}}
		}
		atOnce(len(clients), func(i int) {
			for n := 0; n < steps && errs[i] == nil; n++ {
				errs[i] = clients[i].act(t.Context(), n)
			}
		})
		require.NoError(t, errors.Join(errs...))
		var history []porcupine.Operation
		for _, c := range clients {
			history = append(history, c.history...)
		}
		result := porcupine.CheckOperationsTimeout(sequential, history, time.Minute)
		require.Equal(t, porcupine.Ok, result, "%s", told(history))
		vacate(t, stores[0])
	}
}

// told writes a history down, for who has to find out what went wrong in it.
func told(history []porcupine.Operation) string {
	slices.SortFunc(history, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
	var b strings.Builder
	for _, op := range history {
		a, r := op.Input.(ask), op.Output.(reply)
		fmt.Fprintf(&b, "%4d-%4d client %d: %s %s", op.Call, op.Return, op.ClientId, a.verb, a.id)
		if a.verb == "commit" {
			fmt.Fprintf(&b, " after %d %s", a.change.After, line(a.change.Entries))
		}
		fmt.Fprintf(&b, " -> %s", r.journal)
		if r.absent {
			b.WriteString("absent")
		}
		if r.lost != nil {
			fmt.Fprintf(&b, "%+v", *r.lost)
		}
		b.WriteString("\n")
	}
	return b.String()
}
