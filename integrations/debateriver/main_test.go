package debateriver

import (
	"os"
	"testing"

	"github.com/elenchus-go/debate/internal/crashtest"
)

func TestMain(m *testing.M) {
	if c := crashtest.ChildFromEnv(); c != nil {
		child(c)
	}
	if address := os.Getenv(victimVariable); address != "" {
		victim(address)
	}
	os.Exit(m.Run())
}
