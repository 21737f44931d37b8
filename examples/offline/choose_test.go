package offline

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAddress(t *testing.T) {
	for host, want := range map[string]string{
		"localhost":           "http://localhost:11434",
		"127.0.0.1:8080":      "http://127.0.0.1:8080",
		"http://gpu:11434":    "http://gpu:11434",
		"https://ai.internal": "https://ai.internal",
	} {
		require.Equal(t, want, address(host))
	}
}
