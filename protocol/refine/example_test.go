package refine_test

import (
	"context"
	"fmt"
	"log"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
)

// Two agents propose, criticize each other and refine. The judge combines their work into one solution.
func Example() {
	critique := func(author, overall string) string {
		return fmt.Sprintf(`{"author": %q, "strengths": [], "weaknesses": [], "overall": %q}`, author, overall)
	}
	ctx := context.Background()
	d, err := debate.New(ctx, debate.Config{
		Topic:    "How should a small team store its logs?",
		Protocol: refine.Protocol{},
		Participants: []debate.Participant{
			{Name: "Ada", Role: "architect", Provider: "ada"}, {Name: "Bo", Role: "security", Provider: "bo"},
		},
		Judges: []debate.Participant{{Name: "Cy", Provider: "cy"}},
		Limits: debate.Limits{MaxRounds: 1},
	}, debate.Options{Providers: map[string]providers.Provider{ // scripted models stand for real ones
		"ada": scripted.Text("One file per service.", critique("Bo", "Encryption alone is not enough."), "One file per service, rotated."),
		"bo":  scripted.Text("Encrypt all logs.", critique("Ada", "Files grow without limit."), "Encrypt all logs and delete old ones."),
		"cy": scripted.Text(`{"description": "Encrypted, rotated files.", "implementation": ["Rotate daily.", "Encrypt at rest."],
			"trade_offs": [], "recommendations": [], "confidence": 75}`),
	}})
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
	result, err := refine.DecodeAnswer(res.Answer)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Solution.Description)
	for _, step := range result.Solution.Implementation {
		fmt.Println("-", step)
	}
	// Output:
	// Encrypted, rotated files.
	// - Rotate daily.
	// - Encrypt at rest.
}
