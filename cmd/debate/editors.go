package main

import (
	"context"
	"os/signal"
	"syscall"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/cmd/debate/internal/debateacp"
	"github.com/elenchus-go/debate/integrations/debatetool"
)

const acpHelp = `Acp is an agent of the Agent Client Protocol, for editors such as Zed, JetBrains' IDEs and Neovim.

An editor starts it itself, and talks to it over standard input and output. A message is the topic of a debate, and attached
files are its background. The modes are the purposes of debate help purposes, and "default": the debate that the flags and
the configuration describe. Cancelling pauses the debate; the next message can continue it. It continues debates whose
process has died.`

const acpExample = `  {"agent_servers": {"debate": {"command": "debate", "args": ["acp"], "env": {"OPENAI_API_KEY": "..."}}}}
  debate acp --preset review=review.json`

// serveEditor serves debates to the editor that has started the command.
func (p *program) serveEditor() error {
	signal.Ignore(syscall.SIGPIPE) // an editor that has gone must not end the process before the debate is paused
	return p.withEngine(func(ctx context.Context, e *debate.Engine, presets map[string]debate.Config) error {
		o := debateacp.Options{Version: version(), Logger: p.log(), Presets: map[string]debatetool.Preset{}}
		for name, c := range presets {
			o.Presets[name] = debatetool.Preset{Description: p.about[name], Config: c}
		}
		debateacp.Serve(ctx, e, o, p.stdin, p.stdout)
		return nil
	})
}
