package inspector

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/providers"
)

// clock is a model that streams the time, in nanoseconds, each time it is told to.
type clock chan struct{}

func (c clock) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	var text strings.Builder
	for {
		select {
		case _, more := <-c:
			if !more {
				return providers.Response{Text: text.String()}, nil
			}
			now := strconv.FormatInt(time.Now().UnixNano(), 10) + " "
			text.WriteString(now)
			if err := r.OnChunk(now); err != nil {
				return providers.Response{}, err
			}
		case <-ctx.Done():
			return providers.Response{}, providers.ContextError(ctx, providers.Response{})
		}
	}
}

// BenchmarkFollowers streams a chunk every 20 ms to followers of one debate in another process. It reports the time from the
// model's chunk until a follower has read it, the CPU time of the server for a chunk, and its memory for a follower.
func BenchmarkFollowers(b *testing.B) {
	for _, n := range []int{1, 100, 1000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) { benchFollowers(b, n) })
	}
}

func benchFollowers(b *testing.B, n int) {
	ticks := clock(make(chan struct{}))
	w := open(b, Options{}, ticks)
	cfg := pair("cars")
	debatetest.Call(b, w.engine.Launch, cfg)
	address := strings.TrimPrefix(w.server.URL, "http://")
	before := memory()
	crowd := exec.CommandContext(b.Context(), os.Args[0], "-test.run=^TestFollowers$")
	crowd.Env = append(os.Environ(), "FOLLOW="+address, "FOLLOWERS="+strconv.Itoa(n))
	crowd.Stderr = os.Stderr
	in, err := crowd.StdinPipe()
	require.NoError(b, err)
	out, err := crowd.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, crowd.Start())
	lines := bufio.NewScanner(out)
	require.True(b, lines.Scan())
	require.Equal(b, "ready", lines.Text())
	ticks <- struct{}{} // so that all streams have begun
	each := float64(memory()-before) / float64(n)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	used, began := debatetest.CPUTime(b), time.Now()
	b.ResetTimer()
	for range b.N {
		<-tick.C
		ticks <- struct{}{}
	}
	b.StopTimer()
	used, took := debatetest.CPUTime(b)-used, time.Since(began)
	_, err = fmt.Fprintln(in, n*(b.N+1)) // each follower reads each chunk
	require.NoError(b, err)
	require.True(b, lines.Scan())
	var p50, p99 int
	_, err = fmt.Sscan(lines.Text(), &p50, &p99)
	require.NoError(b, err, lines.Text())
	_, _ = io.Copy(io.Discard, out)
	require.NoError(b, crowd.Wait())
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(p50)/1e6, "ms-p50")
	b.ReportMetric(float64(p99)/1e6, "ms-p99")
	b.ReportMetric(float64(used)/float64(b.N)/1e6, "cpu-ms/chunk")
	b.ReportMetric(100*float64(used)/float64(took), "%cpu")
	b.ReportMetric(each/1000, "kB/follower")
}

// memory returns the heap and the stacks in use, in bytes.
func memory() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// TestFollowers runs the process of the followers. It writes "ready" when all of them are connected, and reads the number of
// chunks that all of them will have read in the end. Then it writes the median and the 99th percentile of the delays.
func TestFollowers(t *testing.T) {
	address := os.Getenv("FOLLOW")
	if address == "" {
		t.Skip("BenchmarkFollowers starts this process")
	}
	n, err := strconv.Atoi(os.Getenv("FOLLOWERS"))
	require.NoError(t, err)
	var mu sync.Mutex
	var delays []int64
	connected := make(chan struct{}, n)
	for range n {
		go follow(t, address, connected, func(sent int64) {
			mu.Lock()
			defer mu.Unlock()
			delays = append(delays, time.Now().UnixNano()-sent)
		})
	}
	for range n {
		<-connected
	}
	fmt.Println("ready")
	var want int
	_, err = fmt.Scan(&want)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(delays) == want
	}, 20*time.Second, 10*time.Millisecond)
	slices.Sort(delays)
	fmt.Println(delays[len(delays)/2], delays[len(delays)*99/100])
}

// follow reads the events of the debate and calls show with each time in a chunk.
func follow(t *testing.T, address string, connected chan<- struct{}, show func(int64)) {
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Error(err)
		return
	}
	defer c.Close()
	_, _ = io.WriteString(c, "GET "+prefix+"/debates/cars/events HTTP/1.1\r\nHost: x\r\n\r\n")
	lines := bufio.NewScanner(c)
	for lines.Scan() {
		switch _, rest, chunk := strings.Cut(lines.Text(), `"text":"`); {
		case strings.HasPrefix(lines.Text(), "event: turn_started"):
			connected <- struct{}{}
		case chunk:
			text, _, _ := strings.Cut(rest, `"`)
			for sent := range strings.FieldsSeq(text) {
				if n, err := strconv.ParseInt(sent, 10, 64); err == nil {
					show(n)
				}
			}
		}
	}
}

// BenchmarkNow opens the page of a debate: of one with more than 10,000 entries for its first visitor, and of a usual one for
// the first and for those who follow it too.
func BenchmarkNow(b *testing.B) {
	w := open(b, Options{Controls: true}, speaker(longSpeech))
	cfg := pair("cars")
	w.run(cfg)
	cfg.ID, cfg.Limits.MaxRounds = "large", 1300
	d := w.run(cfg)
	s, err := d.Status(b.Context())
	require.NoError(b, err)
	require.Greater(b, s.Seq, int64(10_000))
	before := s.Seq // of another page each time, beyond the end, so that it shows all
	for name, path := range map[string]func() string{
		"first of 10,000 entries": func() string { before++; return fmt.Sprint("/debates/large?before=", before) },
		"first":                   func() string { before++; return fmt.Sprint("/debates/cars?before=", before) },
		"following":               func() string { return "/debates/cars" },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				w.get(http.StatusOK, path())
			}
		})
	}
}
