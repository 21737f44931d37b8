package wire_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/calltest"
	"github.com/elenchus-go/debate/internal/fakellm"
	"github.com/elenchus-go/debate/providers"
)

// errorCase is an error as a service sends it. The status 200 means that it is an event of a stream.
type errorCase struct {
	Service    fakellm.Protocol    `json:"service"`
	Status     int                 `json:"status"`
	Kind       providers.ErrorKind `json:"kind"`
	RetryAfter string              `json:"retry_after"`
	Source     string              `json:"source"` // where the error was seen; parts that were not seen are unverified
	Body       json.RawMessage     `json:"body"`
}

// TestErrorsOfTheServices reads the errors in testdata/errors.json. Add an error there if a service sends one that is
// classified wrongly.
func TestErrorsOfTheServices(t *testing.T) {
	raw, err := os.ReadFile("testdata/errors.json")
	require.NoError(t, err)
	var cases []errorCase
	require.NoError(t, json.Unmarshal(raw, &cases))
	for i, test := range cases {
		require.NotEmpty(t, test.Source)
		t.Run(fmt.Sprint(i, " ", test.Service, " ", test.Kind), func(t *testing.T) {
			reply := fakellm.Reply{Status: test.Status, Body: text(test.Body)}
			if test.Status == 200 {
				event := text(test.Body)
				if test.Service != fakellm.Ollama {
					event = "data: " + event + "\n\n"
				}
				reply = fakellm.Reply{Chunks: []string{"So "}, RawLines: []string{event}}
			}
			s := fakellm.Start(t, test.Service, reply)
			_, err := service(t, test.Service, s.Client(t), nil).Generate(t.Context(), calltest.Ask())
			e := calltest.RequireKind(t, test.Kind, err)
			want, _ := time.ParseDuration("0" + test.RetryAfter)
			require.Equal(t, want, e.RetryAfter)
			require.Len(t, s.Requests(), 1, "nothing is repeated")
			require.Less(t, len(err.Error()), 1000)
		})
	}
}

// text returns a body, which is JSON or a JSON string with another text.
func text(body json.RawMessage) string {
	var s string
	if json.Unmarshal(body, &s) == nil {
		return s
	}
	return strings.ReplaceAll(string(body), "\n", " ")
}
