package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/tmc/langchaingo/tools"

	"github.com/elenchus-go/debate"
)

// Tool is a langchaingo tool that runs a debate on the agent's question. Each call runs a new debate.
type Tool struct {
	Config  debate.Config // configuration of the debates; Call sets the topic and clears the id
	Options debate.Options
}

var _ tools.Tool = Tool{}

// Name implements tools.Tool.
func (Tool) Name() string { return "debate" }

// Description implements tools.Tool. It is part of the agent's prompt.
func (Tool) Description() string {
	return "Lets two models debate a question that has several possible answers, and returns a judge's verdict. " +
		"Useful before a decision that is hard to reverse. Takes minutes. The input is the question, in one sentence."
}

// Call implements tools.Tool. If the debate fails, Call returns the reason as text, so that the agent can react to it; an
// error would end the agent's run. If ctx ends, Call returns an error.
func (t Tool) Call(ctx context.Context, input string) (string, error) {
	topic, _, _ := strings.Cut(input, "\nObservation:") // models often invent the result of the tool
	topic = strings.Trim(topic, " \n\t\"'`")            // and put their inputs in quotes
	if topic == "" {
		return "There was no debate: the input is empty, want a question.", nil
	}
	result, err := t.debate(ctx, topic)
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("debate %q: %w", topic, context.Cause(ctx))
	case err != nil:
		return "There was no debate: " + err.Error(), nil
	}
	answer := cmp.Or(result.Answer.Text, "There is no verdict.")
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
