// Worker runs debates on many machines that share a PostgreSQL database.
//
//	export DATABASE_URL=postgres://localhost/debates
//	go run ./examples/integrations/worker work                                   # run this on as many machines as you like
//	go run ./examples/integrations/worker submit "Should cities ban private cars?"
//	go run ./examples/integrations/worker watch ID                               # show the debate from the beginning
//	go run ./examples/integrations/worker pause ID                               # or resume, stop or cancel
//	go run ./examples/integrations/worker eval tasks.jsonl                       # find out whether a debate helps; see docs/evaluation.md
//
// If OPENAI_API_KEY is set, a worker calls OpenAI; otherwise it uses an offline demo model. If you kill a worker during a
// debate, another worker continues the debate. Ctrl-C lets a worker finish its current steps. The other commands need no
// key, and the debate continues when you stop them.
package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/integrations/debateriver"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/openai"
	"github.com/elenchus-go/debate/report/printer"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr, os.Getenv))
}

// run is like main, but takes what main takes from the process as arguments. It returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, env func(string) string) int {
	slow := printer.IsTerminal(stderr)
	stdout, stderr = printer.SafeWriter{Writer: stdout}, printer.SafeWriter{Writer: stderr}
	if len(args) == 0 || (args[0] == "work") != (len(args) == 1) || len(args) > 2 {
		fmt.Fprintln(stderr, usage)
		return 2
	}
	pool, err := connect(ctx, env("DATABASE_URL"))
	if err != nil {
		fmt.Fprintln(stderr, "worker:", err)
		return 1
	}
	defer pool.Close()
	schema := cmp.Or(env("DATABASE_SCHEMA"), "debate")
	store, err := debateriver.NewStore(pool, debateriver.Config{Schema: schema, RiverSchema: schema})
	if err == nil {
		defer store.Close()
		err = store.Migrate(ctx)
	}
	switch {
	case err != nil:
	case len(args) < 2:
		err = runWorker(ctx, pool, store, schema, stderr, env, slow)
	default:
		err = client{ctx, store, stdout, stderr}.runCommand(args[0], args[1]) //nolint:contextcheck // an evaluation that is stopped reads its results
	}
	if err != nil {
		fmt.Fprintln(stderr, "worker:", err)
		return 1
	}
	return 0
}

func connect(ctx context.Context, url string) (*pgxpool.Pool, error) {
	if url == "" {
		return nil, fmt.Errorf("connect to PostgreSQL: DATABASE_URL is not set, want a URL such as postgres://localhost/debates")
	}
	pool, err := pgxpool.New(ctx, url)
	if err == nil {
		err = pool.Ping(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("connect to PostgreSQL: %w", err)
	}
	return pool, nil
}

// runWorker runs debates until ctx ends, and then finishes the steps that it has started.
func runWorker(ctx context.Context, pool *pgxpool.Pool, store *debateriver.Store, schema string, w io.Writer, env func(string) string, slow bool) error {
	model, name, err := chooseModel(env, slow)
	if err != nil {
		return err
	}
	workers := river.NewWorkers() // you can add your own workers
	engine, err := debateriver.AddWorker(workers, store, debate.Options{Providers: map[string]providers.Provider{"model": model}})
	if err != nil {
		return err
	}
	jobs, err := river.NewClient(riverpgxv5.New(pool), debateriver.Defaults(&river.Config{
		Schema: schema, Workers: workers, Logger: slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}))
	if err != nil {
		return err
	}
	whole := context.WithoutCancel(ctx)
	if err := jobs.Start(whole); err != nil {
		return err
	}
	fmt.Fprintln(w, name)
	fmt.Fprintln(w, "waiting for jobs")
	<-ctx.Done()
	fmt.Fprintln(w, "finishing the current steps")
	if err := jobs.Stop(whole); err != nil {
		return err
	}
	return engine.Close(whole)
}

// chooseModel returns a model of OpenAI and its name if the environment has a key. Otherwise it returns the offline demo
// model, which takes one second for each reply if slow is true.
func chooseModel(env func(string) string, slow bool) (p providers.Provider, name string, err error) {
	if env("OPENAI_API_KEY") == "" {
		return offline.Model(slow), offline.Notice + " (set OPENAI_API_KEY to use OpenAI)", nil
	}
	name = cmp.Or(env("OPENAI_MODEL"), "gpt-4.1-mini")
	p, err = openai.New(openai.Config{Key: env("OPENAI_API_KEY"), BaseURL: env("OPENAI_BASE_URL"), Model: name})
	return p, "model: " + name, err
}
