package debate_test

import (
	"testing"

	"github.com/elenchus-go/debate/internal/enginetest"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/store/storetest"
)

func TestDebatesSurviveTheirProcess(t *testing.T) {
	enginetest.Run(t, func(testing.TB) storetest.Place {
		m := store.Memory()
		return storetest.Place{Open: func(testing.TB) store.Store { return m }}
	})
}

func TestDebatesSurviveOverAStoreThatIsAskedForNews(t *testing.T) {
	//t.Skip("defect: a deletion within a second of the begin of a Watch is never told, so the deletion test waits in vain")
	enginetest.Run(t, func(testing.TB) storetest.Place {
		m := store.Memory()
		return storetest.Place{Open: func(testing.TB) store.Store { return struct{ store.Store }{m} }} // no Watcher
	})
}
