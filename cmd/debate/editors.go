package main

import (
	"context"
	"encoding/json"
	"maps"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/cmd/debate/internal/debateacp"
	"github.com/elenchus-go/debate/debatetool"
	"github.com/elenchus-go/debate/protocol/arbitration"
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
