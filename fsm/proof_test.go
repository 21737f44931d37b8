package fsm

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheTableIsTheSpecification(t *testing.T) {
	require.NoError(t, conforms(table, specEvents...))
}

// TestEveryPartOfTheTableIsNeeded makes every small change to the table. The specification must detect each.
func TestEveryPartOfTheTableIsNeeded(t *testing.T) {
	for i, r := range table {
		require.Error(t, conforms(slices.Delete(slices.Clone(table), i, i+1), r.on), "without row %d", i)
		for j := range r.from {
			requireNoticed(t, i, "one source less", func(r *row) { r.from = slices.Delete(slices.Clone(r.from), j, j+1) })
		}
		for _, s := range states {
			if s != r.to {
				requireNoticed(t, i, "another target", func(r *row) { r.to = s })
			}
			if !slices.ContainsFunc(r.from, s.in) {
				requireNoticed(t, i, "one source more", func(r *row) { r.from = append(slices.Clone(r.from), s) })
			}
		}
		was := r.when
		requireNoticed(t, i, "the guard negated", func(r *row) {
			r.when = &guard{"not", func(f Facts) bool { return !was.holds(f) }}
		})
		if was != always && was != otherwise {
			requireNoticed(t, i, "no guard", func(r *row) { r.when = always })
		}
	}
}

func requireNoticed(t *testing.T, i int, what string, change func(*row)) {
	t.Helper()
	mutant := slices.Clone(table)
	change(&mutant[i])
	require.Error(t, conforms(mutant, table[i].on), "row %d (%v on %s): %s", i, table[i].from, table[i].on, what)
}

func TestOtherwiseIsTheLastRowOfItsCellAndNoOtherRowsOverlap(t *testing.T) {
	for s, out := range lifecycle().transitions {
		for _, e := range specEvents {
			var guards []*guard
			for _, r := range out {
				if r.on == e {
					guards = append(guards, r.when)
				}
			}
			switch len(guards) {
			case 0:
			case 1:
				require.Equal(t, specGuards[e], guards[0].name, "%s on %s", s.engineName(), e)
			default:
				require.Len(t, guards, 2, "%s on %s", s.engineName(), e)
				require.NotContains(t, []*guard{always, otherwise}, guards[0], "%s on %s", s.engineName(), e)
				require.Same(t, otherwise, guards[1], "%s on %s", s.engineName(), e)
			}
		}
	}
}

func TestTheEngineKnowsEachTransitionByANameOfItsOwn(t *testing.T) {
	names := map[string]bool{}
	for _, d := range lifecycle().events {
		require.Len(t, d.Src, 1)
		names[d.Name] = true
	}
	require.Len(t, names, len(spec))
	require.Len(t, lifecycle().events, len(spec))
}

// TestEveryReachableTransition visits every reachable position with every event and all facts. A real engine executes
// each answer of Next, and the results are compared. A refusal leaves the engine unchanged.
func TestEveryReachableTransition(t *testing.T) {
	reached := []Position{{State: Configuring}}
	executed := map[string]bool{}
	for i := 0; i < len(reached); i++ {
		for _, e := range specEvents {
			for _, f := range everyFacts() {
				next, moved := walk(t, reached[i], e, f)
				if moved {
					executed[reached[i].engineName()+" "+string(e)+" "+next.engineName()] = true
				}
				if !slices.Contains(reached, next) {
					reached = append(reached, next)
				}
			}
		}
	}
	require.ElementsMatch(t, everySnapshot(), reached)
	require.Len(t, reached, 17, "the state that a pause left is forgotten when the pause ends")
	require.Len(t, executed, len(spec))
	for _, s := range states {
		require.True(t, slices.ContainsFunc(reached, func(r Position) bool { return r.State == s }), "%s is reachable", s)
	}
}

func walk(t *testing.T, from Position, e Event, f Facts) (Position, bool) {
	t.Helper()
	m := engaged(t, from)
	want, refused := Next(from, e, f)
	got, err := fire(m, e, f)
	require.Equal(t, refused, err)
	require.Equal(t, want, got)
	require.Equal(t, want, m.Position())
	require.Equal(t, want.engineName(), m.engine.Current())
	require.Equal(t, want.State == Paused, want.PausedFrom != "")
	return want, err == nil
}

func TestEverySnapshotThatIsNotFinalCanEnd(t *testing.T) {
	canceled, completed := Position{State: Canceled}, Position{State: Completed}
	require.ElementsMatch(t, everySnapshot(), append(whatCanBecome(canceled), completed))
	require.ElementsMatch(t, everySnapshot(), append(whatCanBecome(completed), canceled))
}

func whatCanBecome(end Position) []Position {
	found := []Position{end}
	for i := 0; i < len(found); i++ {
		for s, out := range lifecycle().transitions {
			leads := slices.ContainsFunc(out, func(t transition) bool { return t.to == found[i] })
			if leads && !slices.Contains(found, s) {
				found = append(found, s)
			}
		}
	}
	return found
}

func TestFinalIsWhatNothingLeavesAndEverythingElseCanBeCanceled(t *testing.T) {
	for _, s := range everySnapshot() {
		for _, f := range everyFacts() {
			require.Equal(t, s.State.Final(), len(lifecycle().possible(s, f)) == 0)
			next, err := Next(s, Cancel, f)
			if !s.State.Final() {
				require.NoError(t, err)
				require.Equal(t, Position{State: Canceled}, next)
			}
		}
	}
}

func TestNextNeedsNoMemory(t *testing.T) {
	s := Position{State: Paused, PausedFrom: Judging}
	require.Zero(t, testing.AllocsPerRun(100, func() { _, _ = Next(s, Resume, Facts{NoOpenQuestion: true}) }))
}
