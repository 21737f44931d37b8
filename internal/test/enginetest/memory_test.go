package enginetest_test

import (
	"testing"

	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/store/storetest"
)

func TestEachPresetSurvivesItsProcess(t *testing.T) {
	enginetest.Presets(t, func(testing.TB) storetest.Backend {
		m := store.Memory()
		return storetest.Backend{Open: func(testing.TB) store.Store { return m }}
	})
}

func TestDebatesSurviveTheirProcess(t *testing.T) {
	enginetest.Run(t, func(testing.TB) storetest.Backend {
		m := store.Memory()
		return storetest.Backend{Open: func(testing.TB) store.Store { return m }}
	})
}

func TestDebatesSurviveOverAStoreThatIsAskedForNews(t *testing.T) {
	enginetest.Run(t, func(testing.TB) storetest.Backend {
		m := store.Memory()
		return storetest.Backend{Open: func(testing.TB) store.Store { return struct{ store.Store }{m} }} // hides the Watcher
	})
}
