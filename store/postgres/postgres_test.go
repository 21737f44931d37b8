package postgres_test

import (
	"testing"

	"github.com/elenchus-go/debate/store/storetest"
)

func TestPostgres(t *testing.T) {
	storetest.Run(t, func(t testing.TB) storetest.Backend { return empty(t).place() })
}
