package main

import (
	"context"
	"fmt"
	"log"

	prepared "github.com/tmc/langchaingo/llms/fake"
	"github.com/tmc/langchaingo/memory"
	"github.com/tmc/langchaingo/prompts"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/protocol/vote"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/langchain"
)

// A memory of langchaingo keeps a conversation. A debate reads it as background, and its answer becomes part of the conversation.
func Example_memory() {
	ctx := context.Background()
	conversation := memory.NewConversationBuffer()
	err := conversation.SaveContext(ctx, map[string]any{"input": "We have 200 trams and no buses."}, map[string]any{"output": "I see."})
	if err != nil {
		log.Fatal(err)
	}
	known, err := conversation.LoadMemoryVariables(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	topic := "Should rides be free?"
	answer := held(ctx, debate.Config{Topic: topic, Background: fmt.Sprint(known[conversation.MemoryKey])})
	err = conversation.SaveContext(ctx, map[string]any{"input": topic}, map[string]any{"output": answer})
	if err != nil {
		log.Fatal(err)
	}
	known, err = conversation.LoadMemoryVariables(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(known[conversation.MemoryKey])
	// Output:
	// Human: We have 200 trams and no buses.
	// AI: I see.
	// Human: Should rides be free?
	// AI: Yes
}

// Templates of langchaingo fill in a topic, and the instructions of participants. The library's own prompts, which say how a debate works,
// stay as they are; prompts.Set replaces those.
func Example_templates() {
	question := prompts.NewPromptTemplate("Should rides on {{.what}} be free?", []string{"what"})
	task := prompts.NewPromptTemplate("Argue as {{.who}} would. Use at most {{.words}} words.", []string{"who", "words"})
	topic, err := question.Format(map[string]any{"what": "trams"})
	if err != nil {
		log.Fatal(err)
	}
	c := debate.Config{Topic: topic}
	for name, who := range map[string]string{"Ann": "a driver", "Ben": "a mayor"} {
		instructions, err := task.Format(map[string]any{"who": who, "words": 50})
		if err != nil {
			log.Fatal(err)
		}
		c.Participants = append(c.Participants, debate.Participant{Name: name, Instructions: instructions})
		fmt.Printf("%s: %s\n", name, instructions)
	}
	fmt.Println(topic, held(context.Background(), c))
	// Unordered output:
	// Ann: Argue as a driver would. Use at most 50 words.
	// Ben: Argue as a mayor would. Use at most 50 words.
	// Should rides on trams be free? Yes
}

// held holds a debate in which models of langchaingo vote, and returns its answer. These models have prepared replies.
func held(ctx context.Context, c debate.Config) string {
	c.Protocol = vote.Protocol{}
	if c.Participants == nil {
		c.Participants = []debate.Participant{{Name: "Ann"}, {Name: "Ben"}}
	}
	const reply = `{"reasoning": "They pay for themselves.", "answer": "Yes", "confidence": 80}`
	models := map[string]providers.Provider{}
	for i := range c.Participants {
		name := c.Participants[i].Name
		c.Participants[i].Provider = name
		models[name] = langchain.New(prepared.NewFakeLLM([]string{reply}))
	}
	d, err := debate.New(ctx, c, debate.Options{Providers: models})
	if err != nil {
		log.Fatal(err)
	}
	for _, err := range d.Run(ctx) {
		if err != nil {
			log.Fatal(err)
		}
	}
	res, err := d.Result(ctx)
	if err != nil {
		log.Fatal(err)
	}
	tally, err := vote.DecodeAnswer(res.Answer)
	if err != nil {
		log.Fatal(err)
	}
	return tally.AnswerText
}
