package wire_test

import (
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/providers"
)

// TestLongPromptsTakeLinearMemory sends a prompt of 2,000 messages. To copy the prompt for each message would take a
// gigabyte.
func TestLongPromptsTakeLinearMemory(t *testing.T) {
	text := strings.Repeat("So it is. ", 50)
	r := providers.Request{}
	for range 2000 {
		r.Messages = append(r.Messages, providers.Message{Role: providers.User, Text: text})
	}
	client := &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) { return nil, errEnough })}
	for _, p := range protocols {
		t.Run(string(p), func(t *testing.T) {
			model := service(t, p, client, nil)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := model.Generate(t.Context(), r)
			runtime.ReadMemStats(&after)
			require.ErrorContains(t, err, errEnough.Error())
			require.Less(t, int(after.TotalAlloc-before.TotalAlloc), 30*len(text)*len(r.Messages))
		})
	}
}
