package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/tmc/langchaingo/tools"

	"github.com/elenchus-go/debate"
)

// Tool has an agent of langchaingo hold a debate before it answers. Each call is a debate of its own.
type Tool struct {
	Config  debate.Config // of each debate; the topic and the id are the call's
	Options debate.Options
}

var _ tools.Tool = Tool{}

// Name implements tools.Tool.
func (Tool) Name() string { return "debate" }

// Description implements tools.Tool. The agent reads it.
func (Tool) Description() string {
	return "Has a question that can be answered in several ways debated by two models before a judge, and gives the judge's " +
		"verdict. Useful before a decision that is hard to undo. Takes minutes. The input is the question, in one sentence."
}

// Call implements tools.Tool. What is wrong with the debate is told to the agent, who can do something about it: an error
// would end the agent's run. The end of ctx is an error.
func (t Tool) Call(ctx context.Context, input string) (string, error) {
	topic, _, _ := strings.Cut(input, "\nObservation:") // models like to invent what comes next
	topic = strings.Trim(topic, " \n\t\"'`")            // and to quote their inputs
	if topic == "" {
		return "There was no debate: the input is empty, give a question.", nil
	}
	result, err := t.debate(ctx, topic)
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("debate %q: %w", topic, context.Cause(ctx))
	case err != nil:
		return "There was no debate: " + err.Error(), nil
	}
	answer := cmp.Or(result.Answer.Text, "No verdict was given.")
	return fmt.Sprintf("The debate ended in round %d (%s). %s", result.Round, result.Ending.Outcome, answer), nil
}

func (t Tool) debate(ctx context.Context, topic string) (*debate.Result, error) {
	c := t.Config
	c.Topic, c.ID = topic, ""
	d, err := debate.New(ctx, c, t.Options)
	if err != nil {
		return nil, err
	}
	for _, err := range d.Run(ctx) {
		if err != nil {
			return nil, err
		}
	}
	return d.Result(ctx)
}
