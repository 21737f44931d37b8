package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/evidence/extract"
	"github.com/elenchus-go/debate/integrations/inspector"
	"github.com/elenchus-go/debate/integrations/launch"
	"github.com/elenchus-go/debate/providers/price"
)

// purposeOrder lists purposes in the order of docs/choose.md. Others follow by name.
var purposeOrder = []string{"decision", "answer", "text", "plan", "review", "sides", "ranking", "evaluation", "claim", "baseline"}

// purposeAbout says in one sentence how a debate for each purpose finds what you want.
var purposeAbout = map[string]string{
	"answer":     "Three answers, and a second round only if they differ.",
	"baseline":   "One model answers once.",
	"claim":      "One participant answers, and another one attacks the answer until nothing critical is left.",
	"decision":   "Two participants weigh the options, and a judge decides with reasons and conditions.",
	"evaluation": "One participant defends the scores of an evaluation, one attacks them, and an arbiter rules on each.",
	"plan":       "One participant answers for the plan, another one attacks it, and the last step writes it anew.",
	"ranking":    "Four members answer and rank the answers of the others, and a chair writes the final one.",
	"review":     "Reviewers look for faults in a change, attack the findings of others, and judges decide which stand.",
	"sides":      "One participant argues for the claim and one against it, and a judge decides at the end.",
	"text":       "Two experts propose texts, criticize each other and refine, and a judge merges what they have.",
}

// offerTime is how long an offer is used before the models are listed again.
const offerTime = time.Minute

// listTime limits how long a server may take to list its models.
const listTime = 2 * time.Second

// A launcher makes the offer of the inspector's page for new debates.
type launcher struct {
	*program
	file configFile

	mu    sync.Mutex
	made  *launch.Offer
	until time.Time
}

// launchOptions sets what the inspector's page for new debates needs.
func (p *program) launchOptions(o *inspector.Options) error {
	l := &launcher{program: p}
	err := p.withConfigFile(func(s configFile) error {
		l.file = s
		return nil
	})
	if err != nil {
		return err
	}
	o.Offer = func(ctx context.Context, _ string) (*launch.Offer, error) { return l.offer(ctx) }
	o.Command = l.commandFor
	o.Hint = hint
	o.Read = l.readUpload
	return nil
}

// offer returns what the user may begin: a debate for each purpose, with the models of the environment and of the configuration.
func (l *launcher) offer(ctx context.Context) (*launch.Offer, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.made != nil && time.Now().Before(l.until) {
		return l.made, nil
	}
	o := &launch.Offer{Cost: cmp.Or(l.maxCost, 1), Currency: "USD"}
	own, err := l.ownPrices(nil)
	if err != nil {
		return nil, err
	}
	o.Models, err = l.models(ctx, own)
	if err != nil {
		return nil, err
	}
	for _, name := range orderedPurposes() {
		p, err := l.purposeOf(name)
		if err != nil {
			return nil, err
		}
		o.Purposes = append(o.Purposes, p)
	}
	if slices.Equal(l.configuredKinds(), []string{offlineKind}) && len(l.file.providers) == 0 {
		o.Note = "No key is set, so only the demo model is here: its replies are prewritten, and its answers mean nothing. " +
			"For real answers, set OPENAI_API_KEY, ANTHROPIC_API_KEY, MISTRAL_API_KEY, GEMINI_API_KEY or OPENROUTER_API_KEY, " +
			"or for models of this machine OLLAMA_HOST, and start debate inspect again."
	}
	l.made, l.until = o, time.Now().Add(offerTime)
	return o, nil
}

// orderedPurposes returns the names of all purposes in the order of the page.
func orderedPurposes() []string {
	names := slices.DeleteFunc(slices.Clone(purposeOrder), func(name string) bool { return purposes[name] == "" })
	for _, name := range sortedKeys(purposes) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// purposeOf returns a purpose with the debate that --for describes.
func (l *launcher) purposeOf(name string) (launch.Purpose, error) {
	quiet := *l.program
	quiet.options = options{purpose: name}
	quiet.stderr = &strings.Builder{} // what --for replaces in the configuration is no news here
	c, err := quiet.buildConfig(l.file, "")
	if err != nil {
		return launch.Purpose{}, err
	}
	title := strings.TrimSuffix(purposes[name], " given with --option")
	return launch.Purpose{Name: name, Title: title, About: purposeAbout[name], Config: c}, nil
}

// models returns the models that this installation has. The first one is what a debate uses if nothing is chosen.
func (l *launcher) models(ctx context.Context, own price.Prices) (list []launch.Model, err error) {
	names := sortedKeys(l.file.providers)
	for _, kind := range l.configuredKinds() {
		if !slices.Contains(names, kind) && (kind != offlineKind || len(names) == 0) {
			names = append(names, kind)
		}
	}
	if first := l.defaultKind(); len(l.file.providers) == 0 && first != "" {
		names = slices.Insert(slices.DeleteFunc(names, func(name string) bool { return name == first }), 0, first)
	}
	known, err := listPrices()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		m := l.file.providers[name]
		m.Kind = cmp.Or(m.Kind, name)
		kind, err := l.findKind(name, m)
		if err != nil {
			return nil, err
		}
		if kind.envRequired && !l.isConfigured(kind) {
			continue // it has no key
		}
		for _, model := range l.modelsOf(ctx, kind, m, known) {
			list = append(list, l.modelOf(name, kind, model, own, known))
		}
	}
	return list, nil
}

// modelsOf returns the names of the models of a provider: its default one, those that its server lists, and those with a price.
func (l *launcher) modelsOf(ctx context.Context, kind providerKind, m providerConfig, known []listPrice) []string {
	names := []string{cmp.Or(m.Model, l.env(strings.ToUpper(kind.name)+"_MODEL"), kind.model)}
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	m.Model = names[0]
	client, err := kind.open(m, l.env)
	if lister, ok := client.(interface {
		Models(ctx context.Context) ([]string, error)
	}); ok && err == nil {
		ctx, stop := context.WithTimeout(ctx, listTime)
		defer stop()
		installed, _ := lister.Models(ctx) // a server that does not answer has only its default model here
		for _, name := range installed {
			add(name)
		}
	}
	if l.hasOtherAddress(kind.name) {
		return names
	}
	for _, p := range known {
		if p.Service == kind.name {
			add(p.Model)
		}
	}
	return names
}

// modelOf returns a model with its price, if it is known. Models of this machine and the demo model cost nothing.
func (l *launcher) modelOf(provider string, kind providerKind, name string, own price.Prices, known []listPrice) launch.Model {
	m := launch.Model{Provider: provider, Name: name}
	undated := dated.ReplaceAllString(name, "")
	at := slices.IndexFunc(known, func(p listPrice) bool { return p.Service == kind.name && (p.Model == name || p.Model == undated) })
	given, isOwn := own.Lookup(name)
	switch {
	case kind.name == offlineKind:
		m.Title = "Demo model, with prewritten replies"
		m.Price = &price.Price{}
	case isOwn:
		m.Price = &given
	case at >= 0 && !l.hasOtherAddress(kind.name):
		m.Price = &known[at].Price
	case kind.name == ollamaKind:
		m.Price = &price.Price{}
	}
	return m
}

// readUpload returns the text of an uploaded file, as documents of --docs are read.
func (l *launcher) readUpload(ctx context.Context, name string, data []byte) (string, error) {
	if !slices.Contains(extract.Endings(), strings.ToLower(filepath.Ext(name))) {
		return inspector.ReadText(ctx, name, data)
	}
	r := extract.Reader{Cache: cacheFolder(l.env)}
	defer func() { _ = r.Close() }() //nolint:contextcheck // it also closes when the request has ended
	return r.Text(ctx, name, data)
}

// commandFor returns the line that begins the same debate in a terminal. What no flag says is in a file.
func (l *launcher) commandFor(c launch.Choice, cfg debate.Config) (line, file string) {
	words := []string{"debate"}
	if l.needsFile(c) {
		content, err := l.fileFor(cfg)
		if err != nil {
			return "", ""
		}
		return strings.Join(append(words, "--config", defaultConfigPath, topicWords(cfg.Topic)), " "), content
	}
	words = append(words, "--for", c.Purpose)
	for _, option := range c.Options {
		words = append(words, "--option", shellWord(option))
	}
	if len(c.Scores) > 0 {
		var parts []string
		for _, name := range sortedKeys(c.Scores) {
			parts = append(parts, name+"="+strconv.FormatFloat(c.Scores[name], 'f', -1, 64))
		}
		words = append(words, "--scores", shellWord(strings.Join(parts, ",")))
	}
	if c.MaxRounds > 0 {
		words = append(words, "--rounds", strconv.Itoa(c.MaxRounds))
	}
	if cfg.Limits.Cost > 0 {
		words = append(words, "--max-cost", strconv.FormatFloat(cfg.Limits.Cost, 'f', -1, 64))
	}
	words = append(words, seatWords(c, cfg)...)
	return strings.Join(append(words, topicWords(cfg.Topic)), " "), ""
}

// seatWords returns the flags for people and models.
func seatWords(c launch.Choice, cfg debate.Config) (words []string) {
	common := ""
	for i, a := range slices.Concat(cfg.Participants, cfg.Judges) {
		id := launch.Model{Provider: a.Provider, Name: a.Model}.ID()
		chosen := i < len(c.Seats) && c.Seats[i].Model != ""
		switch {
		case a.Human:
			words = append(words, "--me", shellWord(a.Name))
		case chosen:
			words = append(words, "--model", shellWord(a.Name+"="+id))
		case id != "":
			common = id
		}
	}
	if common != "" {
		words = append(words, "--model", shellWord(common))
	}
	return words
}

// needsFile reports whether no flags say what was chosen.
func (l *launcher) needsFile(c launch.Choice) bool {
	hasPosition := slices.ContainsFunc(c.Seats, func(s launch.Seat) bool { return s.Position != "" })
	blankScore := slices.ContainsFunc(sortedKeys(c.Scores), func(name string) bool { return strings.ContainsAny(name, ",=") })
	return purposes[c.Purpose] == "" || c.Background != "" || len(c.Documents) > 0 || len(c.Labels) > 0 || hasPosition || blankScore
}

// fileFor returns a configuration as a file for the command, which has no topic.
func (l *launcher) fileFor(cfg debate.Config) (string, error) {
	b, err := json.Marshal(cfg)
	if err != nil {
		return "", err
	}
	var fields map[string]any
	if err := json.Unmarshal(b, &fields); err != nil {
		return "", err
	}
	delete(fields, "topic")
	delete(fields, "id")
	if len(l.file.providers) > 0 {
		fields["providers"] = l.file.providers
	}
	b, err = json.MarshalIndent(fields, "", "  ")
	if err != nil {
		return "", fmt.Errorf("write configuration: %w", err)
	}
	return string(b), nil
}

// topicWords returns a topic as an argument. One word could be a command, and a hyphen begins a flag.
func topicWords(topic string) string {
	if word.MatchString(topic) || strings.HasPrefix(topic, "-") {
		return "-- " + shellWord(topic)
	}
	return shellWord(topic)
}
