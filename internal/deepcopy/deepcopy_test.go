package deepcopy_test

import (
	"fmt"
	"math/big"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/deepcopy"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/memorytest"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/protocol/council"
	"github.com/elenchus-go/debate/protocol/mad"
	"github.com/elenchus-go/debate/protocol/oversight"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/protocol/review"
	"github.com/elenchus-go/debate/protocol/skeptic"
	"github.com/elenchus-go/debate/protocol/vote"
)

type inner struct{ List []string }

type Inner struct{ Numbers []int }

type embedded struct{ List []string }

type everything struct {
	embedded
	*Inner

	Bytes   []byte
	Structs []inner
	Nested  [][]int
	Array   [2][]int
	Map     map[string][]int
	Structm map[string]inner
	Pointer *inner
	Number  *float64
	Twice   **int
	Any     any
	Time    time.Time
	Empty   []int
	None    map[string]int
}

func TestCopiesShareNothing(t *testing.T) {
	filled := func(v any) any {
		memorytest.Fill(v)
		return reflect.ValueOf(v).Elem().Interface()
	}
	for _, v := range []any{
		filled(new(everything)), filled(new(debate.Config)), filled(new(debate.Result)), filled(new(debate.Failure)), filled(new(debate.Question)),
		filled(new(panel.Protocol)), filled(new(skeptic.Protocol)), filled(new(refine.Protocol)), filled(new(arbitration.Protocol)),
		filled(new(procon.Protocol)), filled(new(vote.Protocol)), filled(new(council.Protocol)), filled(new(mad.Protocol)),
		filled(new(oversight.Protocol)), filled(new(review.Result)),
		everything{Any: &inner{[]string{"x"}}},
		everything{Any: map[string]any{"a": []int{1}}},
	} {
		t.Run(fmt.Sprintf("%T", v), func(t *testing.T) {
			c := deepcopy.Of(v)
			require.Equal(t, v, c)
			require.Empty(t, memorytest.Shared(v, c))
			require.Empty(t, memorytest.Shared(c, deepcopy.Of(c)))
		})
	}
}

// Otherwise the test above could not fail.
func TestSharedMemoryIsFound(t *testing.T) {
	var v everything
	memorytest.Fill(&v)
	v.Any = &inner{[]string{"x"}}
	shared := memorytest.Shared(v, v)
	for _, f := range reflect.VisibleFields(reflect.TypeFor[everything]()) {
		if k := f.Type.Kind(); len(f.Index) == 1 && (k == reflect.Slice || k == reflect.Map || k == reflect.Pointer) {
			require.Contains(t, shared, fmt.Sprintf(".%s is .%s", f.Name, f.Name))
		}
	}
	for _, deep := range []string{".embedded.List", ".Structs[].List", ".Nested[]", ".Array[]", ".Map[]", ".Structm[].List", ".Any", ".Any.List", ".Twice"} {
		require.Contains(t, shared, deep+" is "+deep)
	}
}

func TestNilAndEmptyStay(t *testing.T) {
	v := everything{Empty: []int{}, None: map[string]int{}}
	c := deepcopy.Of(v)
	require.Equal(t, v, c)
	require.NotNil(t, c.Empty)
	require.Nil(t, c.Bytes)
	require.Nil(t, deepcopy.Of[protocol.Protocol](nil))
}

func TestWhatIsNotDataIsShared(t *testing.T) {
	type live struct {
		Call   func() int
		Ch     chan int
		Number *big.Int
		Client *inner `json:"-"`
		hidden *inner
	}
	v := live{Call: func() int { return 7 }, Ch: make(chan int), Number: big.NewInt(1), Client: &inner{}, hidden: &inner{}}
	c := deepcopy.Of(v)
	require.Equal(t, 7, c.Call())
	require.Equal(t, v.Ch, c.Ch)
	require.Same(t, v.Number, c.Number)
	require.Same(t, v.Client, c.Client)
	require.Same(t, v.hidden, c.hidden)
}

type node struct {
	Next *node
	Kids []*node
}

func TestACycleIsNotFollowedForever(t *testing.T) {
	n := &node{}
	n.Next = n
	require.NotSame(t, n, deepcopy.Of(n))
}

func BenchmarkConfig(b *testing.B) {
	c := debatetest.PairConfig(panel.Protocol{})
	b.ReportAllocs()
	for b.Loop() {
		_ = deepcopy.Of(c)
	}
}
