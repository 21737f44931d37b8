package main

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os/exec"
	"runtime"
	"strconv"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/debatehttp"
	"github.com/elenchus-go/debate/integrations/inspector"
	"github.com/elenchus-go/debate/store"
)

// inspectDebates shows debates in the browser.
func (p *program) inspectDebates() error {
	if p.controls {
		return p.withEngine(func(ctx context.Context, e *debate.Engine, _ map[string]debate.Config) error {
			return p.inspect(ctx, e)
		})
	}
	return p.withStore(func(_ configFile, o debate.Options) error {
		o.Logger = p.log()
		engine, err := debate.NewEngine(o)
		if err != nil {
			return err
		}
		ctx, stop := p.untilInterrupt()
		defer stop()
		return p.inspect(ctx, engine)
	})
}

// inspect serves the inspector on this machine, and opens it in the browser.
func (p *program) inspect(ctx context.Context, e *debate.Engine) error {
	path := "/"
	if len(p.operands) > 0 {
		if err := p.completeID(e.List(ctx, store.Query{})); err != nil {
			return err
		}
		if _, err := e.Open(ctx, p.operands[0]); err != nil {
			return p.notFound(err)
		}
		path = "/debates/" + url.PathEscape(p.operands[0])
	}
	o := inspector.Options{Authorize: debatehttp.AllowEveryone, Controls: p.controls, Logger: p.log()}
	if p.controls {
		if err := p.launchOptions(&o); err != nil {
			return err
		}
	}
	pages, err := inspector.Handler(e, o)
	if err != nil {
		return err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(p.port)))
	if err != nil {
		return exitErrorf(exitInput, "inspect debates: %w", err)
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return err
	}
	g := newBrowserGuard(pages, port)
	address := "http://127.0.0.1:" + port + path + "?token="
	fmt.Fprintf(p.stderr, "open %s%s\nCtrl-C ends the inspector\n", address, g.token)
	if !p.noOpen {
		// Other users of this machine can see the arguments of programs, so the browser gets a ticket that works once.
		if err := p.openBrowser(ctx, address+g.ticket); err != nil {
			p.warnf("cannot open the browser: %v", err)
		}
	}
	return debatehttp.Serve(ctx, l, e, debatehttp.CheckHost(g), grace)
}

// openBrowser opens an address in the program that BROWSER names or in the system's browser, which stays open when ctx ends.
func (p *program) openBrowser(ctx context.Context, address string) error {
	name, args := "xdg-open", []string{address}
	switch browser := p.env("BROWSER"); {
	case browser != "":
		name = browser
	case runtime.GOOS == "darwin":
		name = "open"
	case runtime.GOOS == "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", address}
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), name, args...) //nolint:gosec // the user names the browser
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }()
	return nil
}
