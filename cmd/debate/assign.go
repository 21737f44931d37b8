package main

import (
	"slices"
	"strings"

	"github.com/elenchus-go/debate"
)

// modelChoice is a model of --model or --judge-model.
type modelChoice struct {
	actor           string // empty if the model is for all
	provider, model string // model is empty for the default model of the provider
}

// parseChoice reads a choice of the form [NAME=]PROVIDER[/MODEL].
func (p *program) parseChoice(flag, text string, s configFile) (m modelChoice, err error) {
	rest := text
	if name, after, named := strings.Cut(text, "="); named {
		m.actor, rest = strings.TrimSpace(name), after
	}
	m.provider, m.model = splitModel(strings.TrimSpace(rest))
	known := sortedKeys(s.providers)
	for _, k := range p.allKinds() {
		if k.name != agentKind && !slices.Contains(known, k.name) {
			known = append(known, k.name)
		}
	}
	if !slices.Contains(known, m.provider) {
		return m, exitErrorf(exitInput,
			"choose model: --%s %s, want PROVIDER/MODEL, such as openai/gpt-5-mini, with one of the providers %s",
			flag, text, strings.Join(known, ", "))
	}
	return m, nil
}

// chooseModels sets the providers and models that --model and --judge-model name. Several values without a name are given
// to the participants, or to the judges, in turn. Judges have the first model of --model unless --judge-model is given.
func (p *program) chooseModels(s configFile, c *debate.Config) error {
	var all, judges []modelChoice
	named := map[string]modelChoice{}
	for _, text := range p.models {
		m, err := p.parseChoice("model", text, s)
		if err != nil {
			return err
		}
		if m.actor != "" {
			named[m.actor] = m
		} else {
			all = append(all, m)
		}
	}
	for _, text := range p.judgeModels {
		m, err := p.parseChoice("judge-model", text, s)
		if err != nil {
			return err
		}
		if m.actor != "" {
			return exitErrorf(exitInput, "choose model: --judge-model %s names an actor, use --model %s for a judge of this name", text, text)
		}
		judges = append(judges, m)
	}
	if len(judges) == 0 && len(all) > 0 {
		judges = all[:1]
	}
	assign(c.Participants, all, named)
	assign(c.Judges, judges, named)
	assign(c.Substitutes, judges, named)
	for _, name := range sortedKeys(named) {
		if !slices.ContainsFunc(slices.Concat(c.Participants, c.Judges, c.Substitutes), func(a debate.Participant) bool { return a.Name == name && !a.Human }) {
			return exitErrorf(exitInput, "choose model: --model %s=...: the debate has no model of this name", name)
		}
	}
	return nil
}

// assign gives models to actors: the one with the actor's name, or else one of the list, in turn.
func assign(actors []debate.Participant, list []modelChoice, named map[string]modelChoice) {
	for i := range actors {
		m, ok := named[actors[i].Name]
		if !ok && len(list) > 0 {
			m, ok = list[i%len(list)], true
		}
		if ok && !actors[i].Human {
			actors[i].Provider, actors[i].Model = m.provider, m.model
		}
	}
}
