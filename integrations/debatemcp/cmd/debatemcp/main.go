// Debatemcp serves debates over the Model Context Protocol. It keeps them in a file, and continues them after a restart.
//
//	debatemcp                                   # over standard input and output
//	debatemcp -http 127.0.0.1:8765              # over streamable HTTP, at /mcp
//	debatemcp -preset review=review.json        # with a kind of debate from a configuration file
//
// A client that starts the server itself has a configuration such as
//
//	{"mcpServers": {"debate": {"command": "debatemcp", "env": {"OPENAI_API_KEY": "..."}}}}
//
// Set OPENAI_API_KEY, ANTHROPIC_API_KEY or OLLAMA_HOST to choose the model of the debaters. If none is set, they use an
// offline demo model. Set DEBATE_MCP_TOKEN to require a bearer token over HTTP; an address that other machines can reach
// needs one.
package main

import (
	"context"
	"crypto/subtle"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/debatetool"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/integrations/debatemcp"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/store/sqlite"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stderr, os.Getenv)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "debatemcp:", err)
		os.Exit(1)
	}
}

// config holds the values of the flags and of the environment.
type config struct {
	db, addr, token string
	presets         []string // name=file
}

// run runs the command with the given arguments and environment.
func run(ctx context.Context, args []string, stderr io.Writer, env func(string) string) (err error) {
	c := config{token: env("DEBATE_MCP_TOKEN")}
	flags := flag.NewFlagSet("debatemcp", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&c.db, "db", "", "file of the debates (default debates.db in the user's configuration folder)")
	flags.StringVar(&c.addr, "http", "", "address for streamable HTTP (default standard input and output)")
	flags.Func("preset", "kind of debate, as name=file; may be repeated", func(s string) error { c.presets = append(c.presets, s); return nil })
	if err := flags.Parse(args); err != nil {
		return err
	}
	model, err := offline.Choose(env, stderr, offline.Model(true))
	if err != nil {
		return err
	}
	if c.db, err = databaseFile(c.db); err != nil {
		return err
	}
	store, err := sqlite.Open(c.db) //nolint:contextcheck // opening a store takes no context
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	engine, err := debate.NewEngine(debate.Options{
		Store: store, Providers: map[string]providers.Provider{"model": model}, HeartbeatInterval: 2 * time.Second, // so that a restart soon continues
	})
	if err != nil {
		return err
	}
	defer func() {
		wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		_ = engine.Close(wait) // calls that take longer are made again
	}()
	if err := engine.Recover(ctx); err != nil {
		fmt.Fprintln(stderr, "debatemcp:", err)
	}
	return serve(ctx, engine, c, stderr)
}

// databaseFile returns the file of the debates, and makes its default folder.
func databaseFile(name string) (string, error) {
	if name != "" {
		return name, nil
	}
	folder, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("find file of debates: %w; name one with -db", err)
	}
	folder = filepath.Join(folder, "debate")
	return filepath.Join(folder, "debates.db"), os.MkdirAll(folder, 0o700)
}

// readPresets reads configurations of debates.
func readPresets(e *debate.Engine, list []string) (map[string]debatetool.Preset, error) {
	presets := map[string]debatetool.Preset{}
	for _, arg := range list {
		name, file, ok := strings.Cut(arg, "=")
		if !ok {
			return nil, fmt.Errorf("read preset: %q has no file, want name=file", arg)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read preset: %w", err)
		}
		c, err := e.ParseConfig(text)
		if err != nil {
			return nil, fmt.Errorf("read preset %s: %w", file, err)
		}
		presets[name] = debatetool.Preset{Config: c}
	}
	return presets, nil
}

// serve serves the debates of an engine until ctx ends or the client leaves.
func serve(ctx context.Context, e *debate.Engine, c config, stderr io.Writer) error {
	presets, err := readPresets(e, c.presets)
	if err != nil {
		return err
	}
	server, err := debatemcp.NewServer(e, debatemcp.Options{Tools: debatetool.Options{Presets: presets}})
	if err != nil {
		return err
	}
	if c.addr == "" {
		if err := server.Run(ctx, &mcp.StdioTransport{}); err != nil && ctx.Err() == nil {
			return err
		}
		return nil
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.addr)
	if err != nil {
		return err
	}
	if at, ok := listener.Addr().(*net.TCPAddr); c.token == "" && ok && !at.IP.IsLoopback() {
		return errors.Join(fmt.Errorf("serve %s: other machines can reach it, set DEBATE_MCP_TOKEN or use an address such as 127.0.0.1:8765", c.addr), listener.Close())
	}
	fmt.Fprintf(stderr, "debatemcp: http://%s/mcp\n", listener.Addr())
	web := &http.Server{Handler: handler(server, c.token), ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { _ = web.Close() })()
	if err := web.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// handler returns the handler for streamable HTTP. It refuses requests without the token, if there is one, and requests by
// pages of other sites.
func handler(server *mcp.Server, token string) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/mcp", mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{SessionTimeout: time.Hour}))
	web := http.NewCrossOriginProtection().Handler(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if token != "" && (!bearer || subtle.ConstantTimeCompare([]byte(given), []byte(token)) != 1) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "a bearer token is required", http.StatusUnauthorized)
			return
		}
		web.ServeHTTP(w, r)
	})
}
