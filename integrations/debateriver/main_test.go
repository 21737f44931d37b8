package debateriver

import (
	"os"
	"testing"

	"github.com/elenchus-go/debate/internal/test/crashtest"
)

func TestMain(m *testing.M) {
	if c := crashtest.ChildFromEnv(); c != nil {
		child(c)
	}
	if address := os.Getenv(victimVariable); address != "" {
		victim(address)
	}
	if address := os.Getenv(fleetVariable); address != "" {
		fleetWorker(address)
	}
	os.Exit(m.Run())
}
