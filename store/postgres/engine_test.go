package postgres_test

import (
	"testing"

	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/store/storetest"
)

func TestDebatesSurviveTheirProcess(t *testing.T) {
	enginetest.Run(t, func(t testing.TB) storetest.Backend { return empty(t).place() })
}
