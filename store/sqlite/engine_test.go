package sqlite_test

import (
	"testing"

	"github.com/elenchus-go/debate/internal/test/enginetest"
)

func TestDebatesSurviveTheirProcess(t *testing.T) { enginetest.Run(t, entryRef) }
