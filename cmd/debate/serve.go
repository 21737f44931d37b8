package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/debatehttp"
	"github.com/elenchus-go/debate/integrations/debatemcp"
	"github.com/elenchus-go/debate/integrations/debatetool"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/arbitration"
)

// tokenVar names the variable with the token that clients of serve and mcp send.
const tokenVar = "DEBATE_TOKEN"

// serveAddress holds the default address of serve.
const serveAddress = "127.0.0.1:8080"

// grace limits how long a server waits for calls in flight when it ends.
const grace = 5 * time.Second

// serveDebates serves debates over HTTP.
func (p *program) serveDebates() error {
	p.http = cmp.Or(p.http, serveAddress)
	if err := p.checkToken(); err != nil {
		return err
	}
	return p.withEngine(func(ctx context.Context, e *debate.Engine, presets map[string]debate.Config) error {
		o := debatehttp.Options{
			Authorize: debatehttp.AllowEveryone, Presets: presets, ShowTurns: p.showTurns, StopOnCancel: p.stopOnCancel,
			TrustedOrigins: p.origins, Logger: p.log(),
		}
		if token := p.env(tokenVar); token != "" {
			o.Authorize = func(context.Context, *debatehttp.Access) error { return nil } // also for a proxy on this machine
			o.Principal = func(r *http.Request) (string, error) { return "", checkBearer(r, token) }
		}
		handler, err := debatehttp.New(e, o)
		if err != nil {
			return exitErrorf(exitInput, "%s debates: %w", p.command, err)
		}
		return p.listen(ctx, e, p.http, handler, "")
	})
}

// serveMCP serves debates over the Model Context Protocol.
func (p *program) serveMCP() error {
	p.sampler = debatemcp.NewSampler()
	if p.http != "" {
		if err := p.checkToken(); err != nil {
			return err
		}
	}
	return p.withEngine(func(ctx context.Context, e *debate.Engine, presets map[string]debate.Config) error {
		o := debatemcp.Options{
			Tools: debatetool.Options{Presets: map[string]debatetool.Preset{}}, StopOnCancel: p.stopOnCancel, Sampler: p.sampler,
			Server: mcp.ServerOptions{Logger: p.log()},
		}
		for name, c := range presets {
			o.Tools.Presets[name] = debatetool.Preset{Description: p.about[name], Config: c}
		}
		if p.http == "" {
			server, err := debatemcp.NewServer(e, o)
			if err != nil {
				return err
			}
			if err := server.Run(ctx, &mcp.StdioTransport{}); err != nil && ctx.Err() == nil {
				return err
			}
			return nil
		}
		handler, err := debatemcp.NewHandler(e, o)
		if err != nil {
			return err
		}
		mux := http.NewServeMux()
		mux.Handle("/mcp", handler)
		handler = http.NewCrossOriginProtection().Handler(mux)
		if token := p.env(tokenVar); token != "" {
			handler = requireBearer(handler, token)
		} else {
			handler = debatehttp.CheckHost(handler)
		}
		return p.listen(ctx, e, p.http, handler, "mcp")
	})
}

// log returns the log of a server: what goes wrong, apart from what clients are told.
func (p *program) log() *slog.Logger {
	return slog.New(slog.NewTextHandler(p.stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// checkToken returns an error if a server would answer everyone and the user has not said so.
func (p *program) checkToken() error {
	if p.env(tokenVar) == "" && !p.insecure {
		return exitErrorf(exitInput,
			"%s debates: set %s in the environment to a token that clients must send, or use --insecure to answer everyone who reaches %s",
			p.command, tokenVar, p.http)
	}
	return nil
}

// listen serves a handler on an address until ctx ends.
func (p *program) listen(ctx context.Context, e *debate.Engine, address string, h http.Handler, path string) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return exitErrorf(exitInput, "%s debates: %w", p.command, err)
	}
	fmt.Fprintf(p.stderr, "serving http://%s/%s\n", l.Addr(), path)
	return debatehttp.Serve(ctx, l, e, h, grace)
}

// withEngine calls use with an engine that has all configured providers, and with the kinds of debates that the flags and
// the files of --preset configure. The engine continues the debates whose process has died. The context of use ends with
// the first interrupt.
func (p *program) withEngine(use func(context.Context, *debate.Engine, map[string]debate.Config) error) error {
	return p.withStore(func(s configFile, o debate.Options) (err error) {
		presets, err := p.readPresets(s, &o)
		if err != nil {
			return err
		}
		ctx, stop := p.untilInterrupt()
		defer stop()
		o.Logger = p.log()
		engine, err := debate.NewEngine(o)
		if err != nil {
			return err
		}
		defer func() {
			late, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
			defer cancel()
			_ = engine.Close(late) // calls that take longer are made again
		}()
		if err := engine.Recover(ctx); err != nil {
			p.warnf("%v", err)
		}
		return use(ctx, engine, presets)
	})
}

// readPresets returns the debate that the flags and the configuration describe, as "default", and those of --preset. It
// sets the providers and the prompts of the options.
func (p *program) readPresets(s configFile, o *debate.Options) (map[string]debate.Config, error) {
	c, err := p.buildConfig(s, "")
	if err != nil {
		return nil, err
	}
	if err := p.chooseModels(s, &c); err != nil {
		return nil, err
	}
	if (p.command == "mcp" || p.command == "acp") && c.Limits.MaxRounds == 0 {
		c.Limits.MaxRounds = fewRounds(c.Protocol)
	}
	presets := map[string]*debate.Config{"default": &c}
	p.about = map[string]string{"default": s.about}
	for _, text := range p.presets {
		name, path, _ := strings.Cut(text, "=")
		switch _, twice := presets[name]; {
		case strings.TrimSpace(name) == "" || path == "":
			return nil, exitErrorf(exitInput, "read preset: %q has no name or no file, want NAME=FILE", text)
		case name == "default":
			return nil, exitErrorf(exitInput, "read preset: %q: the flags and the configuration describe the preset default, use another name", text)
		case twice:
			return nil, exitErrorf(exitInput, "read preset: %s is given twice", name)
		}
		file, err := readConfigFile(path)
		if err != nil {
			return nil, err
		}
		if len(file.providers) > 0 {
			return nil, malformedError(path, errors.New("providers: not allowed in a preset, define them in the file of --config"))
		}
		plain := *p
		plain.options = options{command: p.command}
		if c, err := plain.buildConfig(file, ""); err == nil {
			presets[name], p.about[name] = &c, file.about
		} else {
			return nil, err
		}
	}
	if p.command == "acp" {
		if err := p.addPurposes(s, presets); err != nil {
			return nil, err
		}
	}
	if err := p.usePrompts(o, &c); err != nil {
		return nil, err
	}
	if err := p.setModels(s, o, p.configuredKinds(), slices.Collect(maps.Values(presets))...); err != nil {
		return nil, err
	}
	list, unstored := map[string]debate.Config{}, *o
	unstored.Store = nil
	for _, name := range sortedKeys(presets) {
		check := *presets[name]
		check.Topic = "Is it valid?"
		if _, err := debate.New(p.ctx, check, unstored); err != nil {
			return nil, fmt.Errorf("read preset %s: %w", name, err)
		}
		list[name] = *presets[name]
	}
	return list, nil
}

// fewRounds returns the most rounds of a debate for whose answer a model waits: two, or one if the protocol has one.
func fewRounds(p protocol.Protocol) int {
	if own, ok := p.(protocol.Defaulter); ok && own.Defaults().MaxRounds == 1 {
		return 1
	}
	return 2
}

// addPurposes adds a kind of debate for each purpose that a topic suffices for, with the models of the flags. A kind that has the
// name of a purpose stays.
func (p *program) addPurposes(s configFile, presets map[string]*debate.Config) error {
	s.path, s.rest = "", maps.Clone(s.rest) // the default debate warns of what the file lacks
	maps.DeleteFunc(s.rest, func(field string, _ json.RawMessage) bool {
		return slices.Contains([]string{"protocol", "participants", "judges"}, field)
	})
	for _, name := range sortedKeys(purposes) {
		if presets[name] != nil {
			continue
		}
		plain := *p
		plain.options = options{command: p.command, purpose: name, rounds: p.rounds}
		c, err := plain.buildConfig(s, "")
		if err != nil {
			return err
		}
		if _, needsScores := c.Protocol.(arbitration.Protocol); needsScores {
			continue
		}
		plain.models, plain.judgeModels = withoutNames(p.models), p.judgeModels
		if err := plain.chooseModels(s, &c); err != nil {
			return err
		}
		if c.Limits.MaxRounds == 0 {
			c.Limits.MaxRounds = fewRounds(c.Protocol)
		}
		presets[name], p.about[name] = &c, purposes[name]
	}
	return nil
}

// withoutNames returns the models of --model that are not of one participant, whom other debates need not have.
func withoutNames(models []string) []string {
	return slices.DeleteFunc(slices.Clone(models), func(text string) bool { return strings.Contains(text, "=") })
}
