package debateotel

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// recorder is telemetry whose spans and metrics are kept.
type recorder struct {
	*Telemetry
	spans  *tracetest.SpanRecorder
	reader *sdkmetric.ManualReader
}

func newRecorder(o Options) *recorder {
	r := &recorder{spans: tracetest.NewSpanRecorder(), reader: sdkmetric.NewManualReader()}
	limits := sdktrace.NewSpanLimits()
	limits.EventCountLimit = 100_000
	o.TracerProvider = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(r.spans), sdktrace.WithRawSpanLimits(limits))
	o.MeterProvider = sdkmetric.NewMeterProvider(sdkmetric.WithReader(r.reader))
	r.Telemetry = New(o)
	return r
}

// model is a provider that plays all actors of a preset.
type model struct {
	cfg debate.Config
	act func(context.Context, debate.Step) error // before a reply; may be nil

	mu   sync.Mutex
	seen []trace.SpanContext // of the calls
}

func (m *model) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	s, _ := debate.StepFrom(ctx)
	m.mu.Lock()
	m.seen = append(m.seen, trace.SpanContextFromContext(ctx))
	m.mu.Unlock()
	if m.act != nil {
		if err := m.act(ctx, s); err != nil {
			return providers.Response{}, err
		}
	}
	resp, err := (&scripted.Provider{Func: func(r providers.Request) scripted.Reply {
		return scripted.Reply{Text: enginetest.PresetReply(m.cfg, r), Latency: time.Duration(3+len(s.Key.Actor)) * time.Second, Chunks: 2}
	}}).Generate(ctx, r)
	resp.Model, resp.Usage = cmp.Or(r.Model, "default")+"-2026", transcript.Usage{Input: 100, Cached: 40, Output: 20, Reasoning: 5}
	return resp, err
}

// pair returns a panel with two judges.
func pair() debate.Config { return enginetest.PresetConfigs()["panel"] }

// start creates a debate that m plays and r records.
func start(t testing.TB, r *recorder, m *model, change func(*debate.Options)) (*debate.Engine, *debate.Debate) {
	t.Helper()
	o := debate.Options{Providers: map[string]providers.Provider{"m": m}, Observer: r.Observer(), Store: store.Memory()}
	if change != nil {
		change(&o)
	}
	e := debatetest.Engine(t, o)
	d := debatetest.Create(t, e, m.cfg)
	return e, d
}

// node is a span with what is below it.
type node struct {
	sdktrace.ReadOnlySpan
	below []*node
}

// trees returns the spans that have no parent among them, in order. It requires that each span has ended, within its parent.
func (r *recorder) trees(t testing.TB) (roots []*node) {
	t.Helper()
	require.Len(t, r.spans.Ended(), len(r.spans.Started()), "a span is open")
	byID := map[trace.SpanID]*node{}
	for _, s := range r.spans.Ended() {
		require.NotContains(t, byID, s.SpanContext().SpanID(), "ended once")
		byID[s.SpanContext().SpanID()] = &node{ReadOnlySpan: s}
	}
	for _, n := range byID {
		require.False(t, n.EndTime().Before(n.StartTime()), n.Name())
		above := byID[n.Parent().SpanID()]
		if above == nil {
			roots = append(roots, n)
			continue
		}
		above.below = append(above.below, n)
		require.Equal(t, above.SpanContext().TraceID(), n.SpanContext().TraceID())
		require.False(t, n.StartTime().Before(above.StartTime()), "%s begins before %s", n.Name(), above.Name())
		require.False(t, n.EndTime().After(above.EndTime()), "%s ends after %s", n.Name(), above.Name())
	}
	for _, n := range byID {
		sortNodes(n.below)
	}
	sortNodes(roots)
	return roots
}

// sortNodes sorts the steps of a phase by their keys, because retries take random times, and other spans by time.
func sortNodes(list []*node) {
	slices.SortFunc(list, func(a, b *node) int {
		return cmp.Or(cmp.Compare(a.attr(keyStep), b.attr(keyStep)), a.StartTime().Compare(b.StartTime()), a.EndTime().Compare(b.EndTime()))
	})
}

// attr returns an attribute as text, or "".
func (n *node) attr(key string) string {
	for _, a := range n.Attributes() {
		if string(a.Key) == key {
			return a.Value.String()
		}
	}
	return ""
}

// all returns the spans of a tree whose names begin with a word.
func (n *node) all(word string) (list []*node) {
	if strings.HasPrefix(n.Name(), word) {
		list = append(list, n)
	}
	for _, b := range n.below {
		list = append(list, b.all(word)...)
	}
	return list
}

func find(roots []*node, word string) (list []*node) {
	for _, n := range roots {
		list = append(list, n.all(word)...)
	}
	return list
}

// outline returns the names, the failures and the number of events of spans.
func outline(roots []*node) string {
	var b strings.Builder
	var write func(n *node, indent string)
	write = func(n *node, indent string) {
		b.WriteString(indent + n.Name())
		if n.Status().Code == codes.Error {
			b.WriteString(" failed: " + n.attr(keyError))
		}
		events := map[string]int{}
		for _, e := range n.Events() {
			events[e.Name]++
		}
		for _, name := range slices.Sorted(maps.Keys(events)) {
			fmt.Fprintf(&b, ", %d %s", events[name], name)
		}
		b.WriteString("\n")
		for _, x := range n.below {
			write(x, indent+"\t")
		}
	}
	for _, n := range roots {
		write(n, "")
	}
	return b.String()
}

// describe returns everything about spans, except attributes and events that without reports.
func describe(roots []*node, without func(attribute.KeyValue) bool) string {
	var b strings.Builder
	base := roots[0].StartTime()
	since := func(at time.Time) time.Duration { return at.Sub(base).Truncate(time.Millisecond) }
	attributes := func(list []attribute.KeyValue) string {
		var words []string
		for _, a := range list {
			if without == nil || !without(a) {
				words = append(words, fmt.Sprintf("%s=%s", a.Key, a.Value.String()))
			}
		}
		slices.Sort(words)
		return strings.Join(words, " ")
	}
	var write func(n *node, indent string)
	write = func(n *node, indent string) {
		fmt.Fprintf(&b, "%s%s [%s, %v to %v, %v] %s\n", indent, n.Name(), n.SpanKind(), since(n.StartTime()), since(n.EndTime()), n.Status().Code, attributes(n.Attributes()))
		if len(n.Links()) > 0 {
			fmt.Fprintf(&b, "%s  linked to the previous drive\n", indent)
		}
		for _, e := range n.Events() {
			fmt.Fprintf(&b, "%s  * %v %s %s\n", indent, since(e.Time), e.Name, attributes(e.Attributes))
		}
		for _, x := range n.below {
			write(x, indent+"\t")
		}
	}
	for _, n := range roots {
		write(n, "")
	}
	return b.String()
}

// attempts returns the number of calls that led to turns.
func attempts(turns []transcript.Turn) (n int) {
	for _, u := range turns {
		n += len(u.Attempts)
	}
	return n
}
