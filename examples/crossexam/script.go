package main

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
)

// script extends the offline demo model with questions and answers. In each round, Bo evades Ada's first question.
type script struct{ providers.Provider }

// Generate implements providers.Provider.
func (s script) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	task := r.Messages[len(r.Messages)-1].Text
	switch {
	case r.SchemaName == answerContract.Name():
		return s.say(ctx, r, s.answer(heard(r)))
	case strings.Contains(task, "Put one question to"):
		return s.say(ctx, r, s.question(r, task))
	}
	return s.Provider.Generate(ctx, r)
}

// heard returns the last text of another actor.
func heard(r providers.Request) (text string) {
	for _, m := range r.Messages[1 : len(r.Messages)-1] {
		if m.Role == providers.User {
			text = m.Text
		}
	}
	return text
}

// plainly begins the questions that get a direct answer.
const plainly = "Please answer directly:"

func (script) question(r providers.Request, task string) string {
	switch {
	case strings.Contains(task, "to Ada"):
		return plainly + " does your proposal have costs for people whose circumstances are unusual?"
	case strings.Contains(heard(r), "depends"):
		return plainly + " does the status quo have costs, yes or no?"
	}
	return "Are you satisfied with the status quo?"
}

func (script) answer(question string) string {
	a := answer{Reply: "That depends on what you compare it with.", Evasive: true}
	if strings.Contains(question, plainly) {
		a = answer{Reply: "Yes, but the costs are lower than those of the alternative."}
	}
	b, _ := json.Marshal(a) // a plain struct always encodes
	return string(b)
}

func (script) say(ctx context.Context, r providers.Request, text string) (providers.Response, error) {
	return scripted.Text(text).Generate(ctx, r)
}
