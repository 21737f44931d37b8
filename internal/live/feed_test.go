package live

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/transcript"
)

// words are the events of an attempt, as text.
type words string

func (w words) StartEvent() string { return string(w) + " started" }

func (w words) ChunkEvent(offset int, text string) string {
	return fmt.Sprintf("%s at %d: %s", w, offset, text)
}

func attempt(name string) *Attempt[string] {
	return &Attempt[string]{Key: transcript.Key{Actor: name}, Events: words(name)}
}

// take returns what the viewer has not read, as "seq event".
func take(f *Feed[string], v *Viewer[string]) (list []string) {
	read, missed := f.Take(v)
	if missed > 0 {
		list = append(list, fmt.Sprintf("%d missed", missed))
	}
	for _, e := range read {
		list = append(list, fmt.Sprintf("%d %s", e.After, e.Event))
	}
	return list
}

func TestViewersReadAtTheirOwnPace(t *testing.T) {
	var feeds Feeds[string]
	f, leave := feeds.Join("d")
	defer leave()
	var known atomic.Int64
	known.Store(3)
	f.Attach(&known)
	early, gone := f.View()
	defer gone()

	a, b := attempt("Ada"), attempt("Bo")
	f.Begin(a)
	require.Equal(t, 0, f.Add(a, "One "))
	require.Equal(t, []string{"3 Ada started", "3 Ada at 0: One "}, take(f, early))
	require.Equal(t, 4, f.Add(a, "two "))
	require.Equal(t, 8, f.Add(a, "three."))
	f.Begin(b)
	known.Store(5)
	f.Fail(b.Key, "Bo failed")
	require.Equal(t, "One two three.", f.Text(a))
	f.End(a.Key)

	late, gone := f.View()
	require.Equal(t, []string{"3 Bo started", "5 Bo failed"}, take(f, late), "only attempts in flight")
	gone()
	require.Equal(t, []string{"3 Ada at 4: two three.", "3 Bo started", "5 Bo failed"}, take(f, early), "in one piece, and by seq")
	require.Empty(t, take(f, early))
	require.Empty(t, f.ended, "everybody has read it")
}

func TestAnAttemptEndsTheOneBeforeIt(t *testing.T) {
	var f Feed[string]
	v, gone := f.View()
	defer gone()
	f.Begin(attempt("Ada"))
	f.Begin(attempt("Ada"))
	require.Len(t, f.flying, 1)
	require.Equal(t, []string{"0 Ada started", "0 Ada started"}, take(&f, v))
}

func TestASlowViewerMissesAttempts(t *testing.T) {
	var f Feed[string]
	v, gone := f.View()
	defer gone()
	for i := range maxUnread + 2 {
		a := attempt(fmt.Sprint(i))
		f.Begin(a)
		f.End(a.Key)
	}
	list := take(&f, v)
	require.Equal(t, []string{"2 missed", "0 2 started"}, list[:2])
	require.Len(t, list, maxUnread+1)
}

func TestAFeedIsGoneWhenNobodyUsesIt(t *testing.T) {
	var feeds Feeds[string]
	first, leave := feeds.Join("d")
	second, leaveToo := feeds.Join("d")
	require.Same(t, first, second)
	leave()
	require.Len(t, feeds.list, 1)
	leaveToo()
	require.Empty(t, feeds.list)
}
