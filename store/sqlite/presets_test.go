package sqlite_test

import (
	"testing"

	"github.com/elenchus-go/debate/internal/enginetest"
)

func TestEachPresetSurvivesItsProcess(t *testing.T) { enginetest.Presets(t, entryRef) }
