// Escalation asks two different models first, lets them debate only if their answers differ, and asks more models only if
// they do not come to agree.
//
//	go run ./examples/escalation -models gpt-4.1,o4-mini,gpt-4.1-mini,gpt-4o,gpt-4o-mini "Is 2027 a prime number? Answer yes or no."
//
// The first two models are the pair and must differ. Set OPENAI_API_KEY, ANTHROPIC_API_KEY or OLLAMA_HOST to choose a
// service. If no key or host is set, the example uses an offline demo model in place of all models.
package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/console"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

func main() { console.Main(run) }

func run(ctx context.Context, p *console.Program) error {
	models := p.Flags.String("models", ",,,,", "models, separated by commas; the first two are the pair and must differ; an empty name is the default model")
	rounds := p.Flags.Int("rounds", 3, "maximum number of rounds of the pair, with the first answers")
	extract := p.Flags.String("extract", "text", "how to extract answers: text, number, letter or boxed")
	topic, err := p.Topic("Is 2027 a prime number? Answer yes or no.")
	if err != nil {
		return err
	}
	demo := offline.Model(p.IsTerminal)
	model, err := offline.Choose(p.Env, p.Stderr, demo)
	if err != nil {
		return err
	}
	e := escalation{
		demo:  model == demo,
		topic: topic, models: strings.Split(*models, ","), rounds: *rounds, extract: *extract,
		options: debate.Options{Providers: map[string]providers.Provider{"model": model}},
	}
	return e.run(ctx, p)
}

// escalation is a topic with the models that may be asked.
type escalation struct {
	topic   string
	models  []string // the first two are the pair
	rounds  int
	extract string
	demo    bool // the demo model plays all models
	options debate.Options
}

// run asks the pair and, if it does not agree, all models. It prints the answer, and which stage gave it.
func (e *escalation) run(ctx context.Context, p *console.Program) error {
	switch {
	case len(e.models) < 3:
		return errors.New("-models: list at least three models, two for the pair and one more")
	case e.models[0] == e.models[1] && !e.demo:
		return errors.New("-models: the first two are the same model, list two different models first")
	}
	pair, err := p.Debate(ctx, e.config(e.models[:2], vote.Protocol{Extract: e.extract, Unanimity: vote.Stop}, e.rounds), e.options)
	if err != nil {
		return err
	}
	stage := "the pair agreed at once"
	result := pair
	replies := pair.Total.Turns
	switch {
	case pair.Ending.Outcome != transcript.Unanimous:
		// All models answer anew, without the arguments of the pair, so that these cannot sway the others before they answer.
		config := e.config(e.models, vote.Protocol{Extract: e.extract, Unanimity: vote.Stop}, 2)
		config.Judges = []debate.Participant{{Name: "Judge", Model: e.models[0]}} // decides a tie
		result, err = p.Debate(ctx, config, e.options)
		if err != nil {
			return err
		}
		stage, replies = fmt.Sprintf("the pair did not agree; %d models voted", len(e.models)), replies+result.Total.Turns
	case pair.Round > 1:
		stage = fmt.Sprintf("the pair agreed after a debate of %d rounds", pair.Round)
	}
	t, err := vote.DecodeAnswer(result.Answer)
	if err != nil {
		return err
	}
	if t.Answer == "" {
		return fmt.Errorf("%s, without an answer:\n%s", stage, result.Answer.Text)
	}
	fmt.Fprintf(p.Stdout, "%s\n\n%s\n%s (%d replies)\n", e.topic, t.AnswerText, stage, replies)
	return nil
}

// config returns a vote of the given models.
func (e *escalation) config(models []string, rules vote.Protocol, rounds int) debate.Config {
	c := debate.Config{Topic: e.topic, Protocol: rules, Limits: debate.Limits{MaxRounds: rounds}}
	for i, name := range models {
		c.Participants = append(c.Participants, debate.Participant{Name: fmt.Sprintf("%c%d", 'A'+i%26, i+1), Model: name})
	}
	return c
}
