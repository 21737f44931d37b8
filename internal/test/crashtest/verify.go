package crashtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// actorOfDebate is an actor of a debate. It has at most callsAtOnce calls in progress.
type actorOfDebate struct{ debate, actor string }

// trialResult counts the results of a trial.
type trialResult struct {
	kills                                     map[string]int // by point
	debates, turns, calls, acked, lostEntries int
	people, peoplesTurns                      int // debates with people, and people's turns
	duplicates, mismatched, missedKills       int
	restarts                                  int            // restarts of the database
	failed                                    int            // calls that failed, as the test wants
	kinds                                     map[int]int    // debates by kind
	stops                                     map[string]int // stops of debates by their cause
	steered                                   int            // debates whose course children have changed
	steering                                  steering
	inFlight                                  int             // calls in progress when their process or the database died
	rounds, toolCalls, repeatedTools          int             // of tools
	withTools                                 int             // debates whose models call tools
	results                                   map[string]bool // the IDs of calls with results in journals
}

// verify compares the journals of a store with the ledger and with undisturbed debates.
func verify(t *testing.T, st store.Store, ledger ledger) {
	lines, err := ledger.readFrom(0)
	require.NoError(t, err)
	n := &trialResult{kills: map[string]int{}, kinds: map[int]int{}, stops: map[string]int{}, results: map[string]bool{}, steering: steeringOf(lines)}
	calls, allowed := n.countCalls(t, lines)
	stored := map[string][]store.Entry{}
	spoken := map[actorOfDebate]int{}
	for h, err := range st.List(t.Context(), store.Query{}) {
		require.NoError(t, err)
		n.debates++
		if hasPeople(h.ID) {
			n.people++
		}
		if hasTools(h.ID) {
			n.withTools++
		}
		n.kinds[kindOf(h.ID)]++
		stored[h.ID] = n.checkDebate(t, st, h.ID, spoken)
	}
	n.checkAcknowledged(t, lines, stored)
	n.checkTools(t, lines)
	for _, calls := range allowed {
		n.inFlight += calls
	}
	for s, made := range calls {
		if isSteered(s.debate) { // replies of calls that a control has canceled are no turns
			continue
		}
		assert.LessOrEqual(t, made-spoken[s], allowed[s], "%s of debate %s was called %d times for %d turns", s.actor, s.debate, made, spoken[s])
	}
	t.Log(n)
	assert.Zero(t, n.lostEntries, "lost acknowledged entries")
	assert.Zero(t, n.duplicates, "duplicate turns")
	assert.Zero(t, n.mismatched, "statuses that do not match their journal")
}

// checkDebate compares a debate with its own status and with an undisturbed debate.
func (n *trialResult) checkDebate(t *testing.T, st store.Store, id string, spoken map[actorOfDebate]int) []store.Entry {
	status, entries, err := st.Load(t.Context(), id, 0)
	require.NoError(t, err)
	e := debatetest.Engine(t, debate.Options{Store: replica(t, status, entries), Providers: map[string]providers.Provider{"m": DigestModel(0)}, Tools: Tools()})
	d := debatetest.Open(t, e, id)
	var last *debate.Snapshot
	var errors []string
	for last, err = range d.Replay(t.Context()) {
		require.NoError(t, err)
		errors = append(errors, errorsIn(last.Event)...)
	}
	if is, want := debatetest.Encode(t, status), debatetest.Encode(t, last.Status()); is != want {
		n.mismatched++
		t.Errorf("the status of debate %s is %s, but its journal gives %s", id, is, want)
	}
	res := last.Result()
	for _, turn := range res.Turns {
		spoken[actorOfDebate{id, turn.Key.Actor}]++
		if turn.By != "" {
			n.peoplesTurns++
		}
	}
	seen := map[string]bool{"": false}
	for i, e := range entries {
		if round, ok := roundOf(&entries[i]); ok {
			n.rounds++
			spoken[actorOfDebate{id, round.Key.Actor}]++
			for _, c := range round.Calls {
				n.results[c.ID] = c.Done
			}
		}
		if seen[e.Key] {
			n.duplicates++
		}
		seen[e.Key] = e.Key != ""
	}
	n.turns += len(res.Turns)
	if isSteered(id) {
		n.steered++
		n.steering.check(t, d, res)
	} else {
		all := strings.Join(errors, "\n")
		assert.Equal(t, fsm.Completed, res.State, "debate %s, with the errors:\n%s", id, all)
		assert.Equal(t, runInMemory(t, id), debatetest.Text(res), "debate %s, with the errors:\n%s", id, all)
	}
	return entries
}

// errorsIn returns the errors in an entry: why attempts and steps have failed, and why the debate stopped.
func errorsIn(ev debate.Event) (list []string) {
	var failures []*debate.Failure
	var attempts []transcript.Attempt
	what := ev.Meta().Type
	switch ev := ev.(type) {
	case debate.TurnDone:
		what, attempts = "turn "+ev.Turn.Key.String(), ev.Turn.Attempts
	case debate.Dropped:
		what, failures = "dropped "+ev.Name, append(failures, ev.Failure)
		failures = append(failures, ev.OtherFailures...)
	case debate.StateChanged:
		what, failures = fmt.Sprint("state ", ev.To, " ", ev.Ending), append(failures, ev.Failure)
		failures = append(failures, ev.OtherFailures...)
		if ev.Question != nil {
			failures = append(failures, ev.Question.Failure)
		}
	}
	for _, f := range failures {
		if f != nil {
			list = append(list, fmt.Sprintf("%d %s: %v", ev.Meta().Seq, what, f))
			attempts = append(attempts, f.AttemptDetails...)
		}
	}
	for _, a := range attempts {
		if a.ErrorKind != "" {
			list = append(list, fmt.Sprintf("%d %s: an attempt of %v after %v: %s", ev.Meta().Seq, what, a.Duration, a.Waited, a.ErrorMessage))
		}
	}
	return list
}

// replica returns a store with one debate, so that reading the debate does not change the original.
func replica(t *testing.T, status store.Status, entries []store.Entry) store.Store {
	s := store.Memory()
	status.Seq = int64(len(entries))
	require.NoError(t, s.Commit(t.Context(), store.Change{ID: status.ID, Entries: entries, Status: status}))
	return s
}

// runInMemory returns the transcript of an undisturbed debate.
func runInMemory(t *testing.T, id string) string {
	d := debatetest.New(t, NewConfig(id), debate.Options{Providers: map[string]providers.Provider{"m": DigestModel(0)}, Tools: Tools()})
	for {
		res := debatetest.RunResult(t, d)
		if res.State.Final() {
			return debatetest.Text(res)
		}
		require.NoError(t, enginetest.ReplyForPeople(t.Context(), d, NewConfig(id)))
	}
}

// countCalls counts the calls of each actor in the ledger. It also counts the calls that may have been repeated: those
// whose process was killed, whose database was down, or whose debate was stopped before their turn was acknowledged.
func (n *trialResult) countCalls(t *testing.T, lines []ledgerLine) (calls, allowed map[actorOfDebate]int) {
	calls, allowed = map[actorOfDebate]int{}, map[actorOfDebate]int{}
	flying := map[int]map[actorOfDebate]int{} // calls whose turns are not acknowledged yet, by run
	land := func(run int, debate string) {    // of all debates if debate is empty
		for s, n := range flying[run] {
			if debate == "" || debate == s.debate {
				allowed[s] += n
				delete(flying[run], s)
			}
		}
	}
	for _, l := range lines {
		if flying[l.run] == nil {
			flying[l.run] = map[actorOfDebate]int{}
		}
		switch {
		case l.kind == "call":
			s := actorOfDebate{l.args[0], l.args[1]}
			n.calls++
			calls[s]++
			flying[l.run][s]++
			// The next step of an actor may begin before the previous one is acknowledged.
			assert.True(t, isSteered(s.debate) || flying[l.run][s] <= 1+callsAtOnce(s.debate), "run %d called %s of debate %s during an earlier call", l.run, s.actor, s.debate)
		case l.kind == "stopped":
			n.stops[l.args[1]]++
			for run := range flying {
				land(run, l.args[0])
			}
		case l.kind == "failed":
			s := actorOfDebate{l.args[0], l.args[1]}
			n.failed++
			calls[s]--
			flying[l.run][s] = max(0, flying[l.run][s]-1)
		case l.kind == "round":
			s := actorOfDebate{l.args[0], l.args[1]}
			flying[l.run][s] = max(0, flying[l.run][s]-1)
		case l.key() != "":
			s := actorOfDebate{l.args[0], l.actor()}
			flying[l.run][s] = max(0, flying[l.run][s]-1)
		case l.kind == "dead":
			if l.args[1] == "true" {
				n.kills[l.args[0]]++
			} else {
				n.missedKills++
			}
			land(l.run, "")
		case l.kind == "down", l.kind == "up":
			if l.kind == "up" {
				n.restarts++
			}
			for run := range flying {
				land(run, "")
			}
		}
	}
	return calls, allowed
}

// checkAcknowledged checks that all acknowledged entries are stored.
func (n *trialResult) checkAcknowledged(t *testing.T, lines []ledgerLine, stored map[string][]store.Entry) {
	for _, l := range lines {
		if l.kind != "ack" {
			continue
		}
		n.acked++
		var seq int
		_, err := fmt.Sscan(l.args[1], &seq)
		require.NoError(t, err)
		if entries := stored[l.args[0]]; seq > len(entries) || entries[seq-1].Key != l.key() {
			n.lostEntries++
			t.Errorf("entry %d of debate %s, %q, was acknowledged but is lost", seq, l.args[0], l.key())
		}
	}
}

// checkTools checks that no call of a tool whose result was acknowledged ran again in a process that began later, and that
// the journals have the results of all these calls.
func (n *trialResult) checkTools(t *testing.T, lines []ledgerLine) {
	began, done := map[int]int{}, map[string]int{} // a run and a call, by the line of the ledger
	for i, l := range lines {
		if _, known := began[l.run]; !known {
			began[l.run] = i
		}
		switch l.kind {
		case "result":
			done[l.args[1]] = i
			assert.True(t, n.results[l.args[1]], "the result of call %s in debate %s was acknowledged but is lost", l.args[1], l.args[0])
		case "tool":
			n.toolCalls++
			if at, known := done[l.args[1]]; known && at < began[l.run] {
				n.repeatedTools++
				t.Errorf("call %s of a tool in debate %s ran again after its result was acknowledged", l.args[1], l.args[0])
			}
		}
	}
}

// String returns the counts as text.
func (n *trialResult) String() string {
	var b strings.Builder
	total := 0
	points := make([]string, 0, len(n.kills))
	for p, k := range n.kills {
		points = append(points, fmt.Sprintf("%s %d", p, k))
		total += k
	}
	slices.Sort(points)
	fmt.Fprintf(&b, "%d effective kills: %s; %d more outside a step; %d restarts of the database\n", total, strings.Join(points, ", "), n.missedKills, n.restarts)
	fmt.Fprintf(&b, "%d debates, %d with people, all ended; %d turns, %d of people; %d entries acknowledged, %d lost; %d duplicate turns; %d wrong statuses\n",
		n.debates, n.people, n.turns, n.peoplesTurns, n.acked, n.lostEntries, n.duplicates, n.mismatched)
	fmt.Fprintf(&b, "%d calls, of which %d failed: %d more than turns and rounds of tools, for %d in progress at a kill or a stop", n.calls, n.failed, n.calls-n.failed-n.turns-n.rounds+n.peoplesTurns, n.inFlight)
	fmt.Fprintf(&b, "\n%d debates with tools: %d rounds, %d calls of tools, %d of them repeated although their results were acknowledged", n.withTools, n.rounds, n.toolCalls, n.repeatedTools)
	fmt.Fprintf(&b, "\nstops, after which the debate continued: %d pauses, %d questions, %d errors", n.stops["pause"], n.stops["question"], n.stops["error"])
	if n.steered > 0 {
		fmt.Fprintf(&b, "\n%d debates whose course was changed: %v", n.steered, n.steering.count())
	}
	for i, kind := range kinds {
		fmt.Fprintf(&b, "\n%d debates: %s", n.kinds[i], kind)
	}
	return b.String()
}
