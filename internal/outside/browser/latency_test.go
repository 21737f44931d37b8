package browser

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// BenchmarkChunkToScreen measures the time from the moment when a model sends a chunk to the frame in which the browser
// shows it. A chunk comes every 10 ms.
func BenchmarkChunkToScreen(b *testing.B) {
	m := &speaker{next: make(chan struct{})}
	for range b.N + 1 {
		m.words = append(m.words, "word")
	}
	s := open(b, m)
	c := pair("cars")
	s.start(c)
	s.visit("/debates/cars")
	s.shows("#connection", "Live.")
	s.do(chromedp.Evaluate[chromedp.Void](`
		window.shown = [];
		new MutationObserver(() => requestAnimationFrame(at => {
			const n = document.querySelector("#live .text").textContent.split("word").length - 1;
			while (shown.length < n) shown.push(performance.timeOrigin + performance.now());
		})).observe(document.querySelector("#live"), {childList: true, subtree: true, characterData: true}); null`))
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	b.ResetTimer()
	for range b.N {
		<-ticker.C
		m.next <- struct{}{}
	}
	s.until(`shown.length >= ` + strconv.Itoa(b.N))
	b.StopTimer()
	shown := value[[]float64](s.page, "shown")
	took := make([]float64, b.N)
	for i := range took {
		took[i] = shown[i] - float64(m.sent[i].UnixMicro())/1000
	}
	slices.Sort(took)
	require.Positive(b, took[0])
	b.ReportMetric(took[len(took)/2], "ms-p50")
	b.ReportMetric(took[len(took)*99/100], "ms-p99")
	b.ReportMetric(took[len(took)-1], "ms-max")
}
