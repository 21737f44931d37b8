package live

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/transcript"
)

// event is an event of a debate.
type event struct {
	seq     int64
	live    bool
	text    string // "!" at its end means that there is a warning about it
	actor   string // of the step; empty if it is about none
	spoken  bool   // whether it gives the turn
	warning bool
}

func (e event) String() string { return fmt.Sprintf("%d %s", e.seq, e.text) }

// events implements Kind.
type events struct{}

func (events) Seq(e event) (int64, bool) { return e.seq, e.live }

func (events) Restamp(e event, seq int64) event {
	if e.live {
		e.seq = seq
	}
	return e
}

func (events) Warnings(e event) []event {
	if !strings.HasSuffix(e.text, "!") || e.warning {
		return nil
	}
	return []event{{live: true, warning: true, text: "warning: " + e.text}}
}

func (events) Step(e event) (transcript.Key, bool) { return transcript.Key{Actor: e.actor}, e.spoken }

// viewer is a viewer who leaves after a number of events, if that is not 0.
type viewer struct {
	seen  []string
	leave int
}

func (v *viewer) yield(e event, _ error) bool {
	v.seen = append(v.seen, e.String())
	return len(v.seen) != v.leave
}

func deliver(v *viewer) (d *Delivery[event], left *bool) {
	left = new(bool)
	return &Delivery[event]{
		Kind: events{}, Yield: v.yield, Leave: func() { *left = true }, Known: &atomic.Int64{}, Lock: &sync.Mutex{}, Shown: 3,
	}, left
}

func TestCommittedEventsAreShownInOrderAndOnce(t *testing.T) {
	v := &viewer{}
	d, _ := deliver(v)
	for _, seq := range []int64{3, 4, 4, 5} { // the journal may be read again
		d.Enqueue(event{seq: seq, text: "turn!"})
		d.Known.Store(seq)
	}
	require.True(t, d.Waits())
	require.NoError(t, d.Show(event{seq: 3, live: true, text: "chunk"}, 3))
	require.Equal(t, []string{"3 warning: turn!", "4 turn!", "4 warning: turn!", "5 turn!", "5 chunk"}, v.seen,
		"a live event follows the events that were committed before it, and has the seq of the last one")
	require.False(t, d.Waits())
	d.Flush()
	require.Len(t, v.seen, 5)
	d.Enqueue(event{seq: 6, text: "end"})
	d.Flush()
	require.Equal(t, "6 end", v.seen[5])
	require.Equal(t, int64(6), d.Shown)
}

func TestNothingIsShownToAViewerWhoHasLeft(t *testing.T) {
	for _, leave := range []int{1, 2} { // at the warning, or at the event
		v := &viewer{leave: leave}
		d, left := deliver(v)
		d.Enqueue(event{seq: 4, text: "turn!"})
		d.Enqueue(event{seq: 5, text: "turn"})
		d.Flush()
		require.True(t, d.Gone)
		require.True(t, *left)
		require.ErrorIs(t, d.Show(event{live: true, text: "chunk"}, 4), ErrLeft)
		d.Flush()
		require.False(t, d.Waits())
		require.Len(t, v.seen, leave)
	}
}

func TestNobodyWatches(t *testing.T) {
	d := &Delivery[event]{Kind: events{}, Lock: &sync.Mutex{}}
	d.Enqueue(event{seq: 1})
	d.Flush()
	require.False(t, d.Waits())
}

func TestAViewerWhoPanicsIsViewing(t *testing.T) {
	d, _ := deliver(&viewer{})
	d.Yield = func(event, error) bool { panic("broken") }
	require.Panics(t, func() { d.Present(event{}) })
	require.True(t, d.Viewing)
}

func TestAWatcherSeesNoLiveEventsOfTurnsThatItHasSeen(t *testing.T) {
	var feeds Feeds[event]
	f, leave := feeds.Join("d")
	defer leave()
	w, gone := f.Watch(events{}, 3)
	defer gone()
	require.False(t, w.Stale())
	w.Refresh()
	<-w.News
	require.True(t, w.Stale())
	require.False(t, w.Stale(), "once")

	v := &viewer{}
	require.True(t, w.Show([]Timed[event]{
		{Event: event{live: true, text: "chunk", actor: "Ada"}},
		{Event: event{seq: 4, text: "turn!", actor: "Ada", spoken: true}},
		{Event: event{live: true, text: "late chunk", actor: "Ada"}},
		{Event: event{live: true, text: "chunk", actor: "Bo"}},
	}, v.yield))
	require.Equal(t, []string{"3 chunk", "3 warning: turn!", "4 turn!", "4 chunk"}, v.seen)
	require.Equal(t, int64(4), w.Seq)

	list, missed := w.Take()
	require.Empty(t, list)
	require.Zero(t, missed)
	for _, leave := range []int{1, 2} {
		v = &viewer{leave: leave}
		require.False(t, w.Show([]Timed[event]{{Event: event{seq: 5, text: "turn!"}}, {Event: event{seq: 6}}}, v.yield))
		require.Len(t, v.seen, leave)
	}
}
