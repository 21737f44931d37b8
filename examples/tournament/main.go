// Tournament lets four players debate five motions on both sides, and prints their ratings.
//
//	go run ./examples/tournament -models gpt-4.1,gpt-4.1-mini,gpt-4.1-nano,gpt-4o-mini -report report.html
//
// Set OPENAI_API_KEY, ANTHROPIC_API_KEY or OLLAMA_HOST to choose a service, and -models to choose four of its models. If no key
// or host is set, the example uses an offline demo model, with four personas.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/eval/tournament"
	"github.com/elenchus-go/debate/examples/console"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/report/progress"
)

func main() { console.Main(run) }

var personas = []string{"a lawyer", "a farmer who likes short sentences", "a teacher of history", "an engineer"}

var motions = []tournament.Motion{
	{Topic: "Cities should ban private cars."},
	{Topic: "Homework should be abolished."},
	{Topic: "Tea is better than coffee."},
	{Topic: "Remote work is good for companies."},
	{Topic: "Zoos should be closed."},
}

func run(ctx context.Context, p *console.Program) error {
	models := p.Flags.String("models", "", "four `models` of the service, with commas between them")
	path := p.Flags.String("report", "", "write the report to `file` as HTML")
	name, err := p.Topic("demo")
	if err != nil {
		return err
	}
	model, err := offline.Choose(p.Env, p.Stderr, offline.Model(false))
	if err != nil {
		return err
	}
	t := tournament.Tournament{
		Name: name, Motions: motions, Config: debate.Config{Limits: debate.Limits{MaxRounds: 2}},
		Judges: []tournament.Player{{Participant: debate.Participant{Name: "Judge"}}},
		Progress: func(g progress.Tasks) {
			if g.Tasks > 0 && g.Tasks%10 == 0 && g.Runs == 2*g.Tasks {
				fmt.Fprintf(p.Stderr, "%d of %d pairs\n", g.Tasks, g.TotalTasks)
			}
		},
	}
	chosen := strings.Split(*models, ",")
	for i, persona := range personas {
		player := debate.Participant{Name: "The " + persona[strings.Index(persona, " ")+1:], Persona: persona}
		if *models != "" && i < len(chosen) {
			player = debate.Participant{Name: chosen[i], Model: chosen[i]}
		}
		t.Players = append(t.Players, tournament.Player{Participant: player})
	}
	report, err := t.Run(ctx, debate.Options{Providers: map[string]providers.Provider{"model": model}})
	if err != nil {
		return err
	}
	if err := report.Markdown(p.Stdout); err != nil || *path == "" {
		return err
	}
	f, err := os.Create(*path)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // an error of writing is reported
	return report.HTML(f)
}
