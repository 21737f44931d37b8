package debate_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/transcript"
)

// Scripted models take the place of real ones.
func options() debate.Options {
	return debate.Options{Providers: map[string]providers.Provider{
		"ada":   scripted.Text("Cars take the space that people need."),
		"bo":    scripted.Text("Ada forgets those who work at night."),
		"judge": scripted.Text(assessed, `{"summary": "Both have a point.", "quality": 70}`),
	}}
}

const criteria = `[{"criterion": "logical_consistency", "score": 7}, {"criterion": "evidence", "score": 6},
	{"criterion": "engagement", "score": 8}, {"criterion": "novelty", "score": 7}, {"criterion": "persuasiveness", "score": 7},
	{"criterion": "relevance", "score": 9}]`

const assessed = `{"should_continue": false, "quality": 7, "participants": [
	{"name": "Ada", "criteria": ` + criteria + `}, {"name": "Bo", "criteria": ` + criteria + `}]}`

func config() debate.Config {
	return debate.Config{
		Topic:        "Should cities ban private cars?",
		Participants: []debate.Participant{{Name: "Ada", Side: "for", Provider: "ada"}, {Name: "Bo", Side: "against", Provider: "bo"}},
		Judges:       []debate.Participant{{Name: "Judge", Provider: "judge"}},
	}
}

func Example() {
	ctx := context.Background()
	d, err := debate.New(ctx, config(), options())
	if err != nil {
		log.Fatal(err)
	}
	for event, err := range d.Run(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		switch e := event.(type) {
		case debate.TurnDone:
			fmt.Printf("%s (%s): %s\n", e.Turn.Actor, e.Turn.Kind, e.Turn.Text)
		case debate.Ended:
			fmt.Println(e.Result.Ending.Outcome, "in round", e.Result.Ending.Round)
		}
	}
	// Output:
	// Ada (speech): Cars take the space that people need.
	// Bo (speech): Ada forgets those who work at night.
	// Judge (assessment): Ada: 7.2 of 10 (logical consistency 7, evidence 6, engagement 8, novelty 7, persuasiveness 7, relevance 9)
	// Bo: 7.2 of 10 (logical consistency 7, evidence 6, engagement 8, novelty 7, persuasiveness 7, relevance 9)
	// Quality of the round: 7 of 10
	// The debate should end.
	// Judge (conclusion): Both have a point.
	// Quality of the debate: 70 of 100
	// judge_decided in round 1
}

func ExampleNew_problems() {
	cfg := config()
	cfg.Topic, cfg.Participants[1].Name = "", "Ada"
	_, err := debate.New(context.Background(), cfg, options())
	if problems, ok := errors.AsType[*debate.Problems](err); ok {
		for _, p := range problems.List {
			fmt.Println(p)
		}
	}
	// Output:
	// topic: it is blank, set a question or claim to debate
	// participants[1].name: "Ada" is taken by participants[0]
}

// Any number of viewers can follow a debate that runs in the background.
func ExampleDebate_Watch() {
	ctx := context.Background()
	d, err := debate.New(ctx, config(), options())
	if err != nil {
		log.Fatal(err)
	}
	if err := d.Start(ctx); err != nil {
		log.Fatal(err)
	}
	for event, err := range d.Watch(ctx, 0) { // 0 means from the beginning
		if err != nil {
			log.Fatal(err)
		}
		if s, ok := event.(debate.StateChanged); ok {
			fmt.Println(s.Seq, s.To)
		}
	}
	// Output:
	// 2 validating
	// 3 ready
	// 4 initializing
	// 5 running.awaiting_responses
	// 9 running.judging
	// 12 completing
	// 15 completed
}

// Leaving the loop stops driving, but does not end the debate.
func ExampleDebate_Run() {
	ctx := context.Background()
	d, err := debate.New(ctx, config(), options())
	if err != nil {
		log.Fatal(err)
	}
	for event, err := range d.Run(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		if done, ok := event.(debate.TurnDone); ok {
			fmt.Println("heard:", done.Turn.Text)
			break
		}
	}
	for event, err := range d.Run(ctx) { // continues from the last committed turn
		if err != nil {
			log.Fatal(err)
		}
		if done, ok := event.(debate.TurnDone); ok {
			fmt.Println("then:", done.Turn.Text)
			break
		}
	}
	// Output:
	// heard: Cars take the space that people need.
	// then: Ada forgets those who work at night.
}

func ExampleDebate_Pause() {
	ctx := context.Background()
	cfg := config()
	cfg.Protocol = panel.Protocol{Mode: panel.Simultaneous}
	d, err := debate.New(ctx, cfg, options())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d.Pause(ctx) != nil, "- it has not begun")
	for event, err := range d.Run(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		if p, ok := event.(debate.PhaseStarted); ok && p.Phase == "assess" {
			if err := d.Pause(ctx); err != nil {
				log.Fatal(err)
			}
		}
	}
	result, err := d.Result(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.State == fsm.Paused, len(result.Turns), "turns")
	// Output:
	// true - it has not begun
	// true 2 turns
}

// A person speaks for a participant. The debate waits for the reply without a driver.
func ExampleDebate_Answer() {
	ctx := context.Background()
	d, err := debate.New(ctx, debate.Config{
		Topic:        "Should cities ban private cars?",
		Participants: []debate.Participant{{Name: "Ada", Human: true}, {Name: "Bo", Provider: "bo"}},
		Judges:       []debate.Participant{{Name: "Judge", Provider: "judge"}},
		Limits:       debate.Limits{MaxRounds: 1},
	}, options())
	if err != nil {
		log.Fatal(err)
	}
	for range 2 {
		for event, err := range d.Run(ctx) {
			if err != nil {
				log.Fatal(err)
			} else if done, ok := event.(debate.TurnDone); ok && done.Turn.Kind == transcript.Speech {
				fmt.Printf("%s: %s\n", done.Turn.Actor, done.Turn.Text)
			}
		}
		asked, err := d.Waiting(ctx)
		if err != nil {
			log.Fatal(err)
		}
		for _, a := range asked {
			fmt.Println("waiting for", a.Key.Actor)
			if err := d.Answer(ctx, a.Key, "Yes, streets are for people.", "ada@example.com"); err != nil {
				log.Fatal(err)
			}
		}
	}
	// Output:
	// waiting for Ada
	// Bo: Ada forgets those who work at night.
}

// An observer can time each call of a model, here with the names of the steps.
func ExampleObserver() {
	ctx := context.Background()
	opts := options()
	opts.Observer.Begin = func(ctx context.Context, s debate.Step) (context.Context, func(debate.Outcome)) {
		if s.Number == 0 { // a drive or a step
			return ctx, nil
		}
		return ctx, func(o debate.Outcome) {
			fmt.Println(s.Key.Phase, s.Key.Actor, "attempt", s.Number, "tokens", o.Attempt.Usage.Output > 0, "error", o.Err)
		}
	}
	d, err := debate.New(ctx, config(), opts)
	if err != nil {
		log.Fatal(err)
	}
	for _, err := range d.Run(ctx) {
		if err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// respond Ada attempt 1 tokens true error <nil>
	// respond Bo attempt 1 tokens true error <nil>
	// assess Judge attempt 1 tokens true error <nil>
	// verdict Judge attempt 1 tokens true error <nil>
}

// A provider that adds the debate's ID to its requests.
type taggedProvider struct{ providers.Provider }

func (p taggedProvider) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	if step, ok := debate.StepFrom(ctx); ok {
		fmt.Println("X-Debate:", step.Debate, "round", step.Key.Round, step.Key.Actor)
	}
	return p.Provider.Generate(ctx, r)
}

func ExampleStepFrom() {
	ctx := context.Background()
	opts, cfg := options(), config()
	opts.Providers["ada"] = taggedProvider{opts.Providers["ada"]}
	cfg.ID = "cars"
	d, err := debate.New(ctx, cfg, opts)
	if err != nil {
		log.Fatal(err)
	}
	for _, err := range d.Run(ctx) {
		if err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// X-Debate: cars round 1 Ada
}

// What would Bo have replied, and the judge have said, if Ada had spoken otherwise? The fork keeps nothing of what followed
// her turn, and calls no model for it.
func ExampleEngine_Fork() {
	ctx := context.Background()
	o := options()
	o.Providers["bo"] = scripted.Text("Ada forgets those who work at night.", "Not all of them can cycle.")
	o.Providers["judge"] = scripted.Text(
		assessed,
		`{"summary": "Both have a point.", "quality": 70}`,
		assessed,
		`{"summary": "Bo has a point.", "quality": 60}`,
	)
	engine, err := debate.NewEngine(o)
	if err != nil {
		log.Fatal(err)
	}
	cfg := config()
	cfg.ID = "cars"
	d, err := engine.Create(ctx, cfg)
	if err != nil {
		log.Fatal(err)
	}
	for _, err := range d.Run(ctx) {
		if err != nil {
			log.Fatal(err)
		}
	}
	result, err := d.Result(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fork, err := engine.Fork(ctx, "cars", 0, debate.Edits{Turn: result.Turns[0].Key, Reply: "People can cycle."})
	if err != nil {
		log.Fatal(err)
	}
	for event, err := range fork.Run(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		if e, ok := event.(debate.Ended); ok {
			fmt.Println("a fork of", e.Result.Parent.ID)
			for _, turn := range e.Result.Turns[:2] {
				fmt.Printf("%s: %s\n", turn.Actor, turn.Text)
			}
		}
	}
	// Output:
	// a fork of cars
	// Ada: People can cycle.
	// Bo: Not all of them can cycle.
}
