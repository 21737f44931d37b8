package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// largeRepository makes a Git work tree with that many files of about 2 KB the working directory.
func largeRepository(t testing.TB, files int) {
	t.Helper()
	t.Chdir(t.TempDir())
	body := strings.Repeat("// Each file has some lines, as files of code do.\nvar x = 1\n", 33)
	for i := range files {
		path := fmt.Sprintf("pkg%d/file%d.go", i%200, i)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o750))
		require.NoError(t, os.WriteFile(path, fmt.Appendf(nil, "package pkg%d\n\n%s", i, body), 0o600))
	}
	runGit(t, "init", "-q")
	runGit(t, "add", "-A")
	runGit(t, "commit", "-q", "-m", "one")
}

// listen starts a server, and returns its address.
func listen(t testing.TB, handle http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(handle)
	t.Cleanup(s.Close)
	return s.URL
}

// BenchmarkFirstCall measures the time from the start of the built command to its first request of a model, in a repository of 10,000
// files, and the time that git ls-files takes there.
func BenchmarkFirstCall(b *testing.B) {
	largeRepository(b, 10_000)
	path, err := binary()
	require.NoError(b, err)
	var mu sync.Mutex
	var first time.Time
	url := listen(b, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost { // whether the key and the model are right
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if first.IsZero() {
			first = time.Now()
		}
		w.WriteHeader(http.StatusUnauthorized)
	})
	env := []string{
		"PATH=" + os.Getenv("PATH"), "OPENAI_API_KEY=sk-x", "OPENAI_BASE_URL=" + url + "/v1", "OPENAI_MODEL=tiny",
		"DEBATE_STORE=" + memoryStore,
	}
	best := map[string]time.Duration{}
	note := func(what string, took time.Duration) {
		if best[what] == 0 || took < best[what] {
			best[what] = took
		}
	}
	for b.Loop() {
		began := time.Now()
		require.NoError(b, exec.CommandContext(b.Context(), "git", "ls-files").Run())
		note("ls-files", time.Since(began))

		mu.Lock()
		first = time.Time{}
		mu.Unlock()
		cmd := exec.CommandContext(b.Context(), path, "--docs", ".", "--rounds", "1", topic)
		cmd.Env = env
		began = time.Now()
		_ = cmd.Run() // the service refuses the call
		mu.Lock()
		require.False(b, first.IsZero(), "no call")
		note("first-call", first.Sub(began))
		mu.Unlock()
	}
	b.ReportMetric(float64(best["ls-files"].Milliseconds()), "ms/ls-files")
	b.ReportMetric(float64(best["first-call"].Milliseconds()), "ms/first-call")
	b.ReportMetric(float64((best["first-call"] - best["ls-files"]).Milliseconds()), "ms/more")
}
