package sqlite_test

import (
	"testing"

	"github.com/elenchus-go/debate/internal/test/enginetest"
)

func TestEachPresetSurvivesItsProcess(t *testing.T) { enginetest.Presets(t, entryRef) }
