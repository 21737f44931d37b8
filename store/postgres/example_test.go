package postgres_test

import (
	"context"
	"log"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/store/postgres"
)

func Example() {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	debates, err := postgres.New(pool, postgres.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer debates.Close()
	if err := debates.Migrate(ctx); err != nil {
		log.Fatal(err)
	}
	// use debates as Options.Store of a debate.Engine
}

// A row of your own is written together with the change, or neither is written.
func ExampleStore_CommitTx() {
	var (
		ctx     context.Context
		pool    *pgxpool.Pool
		debates *postgres.Store
	)
	now := time.Now().UTC().Truncate(time.Microsecond)
	err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "insert into jobs (debate) values ($1)", "d1"); err != nil {
			return err
		}
		return debates.CommitTx(ctx, tx, store.Change{
			ID:      "d1",
			Entries: []store.Entry{{Seq: 1, Type: "config", At: now, Data: map[string]string{"topic": "Ban cars?"}}},
			Status:  store.Status{ID: "d1", Seq: 1, Created: now, Updated: now},
		})
	})
	if err != nil {
		log.Fatal(err)
	}
}
