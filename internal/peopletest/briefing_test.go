package peopletest

import (
	"encoding/json"
	"testing"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/judge"
)

func TestX(t *testing.T) {
	b := sit(t, "A B", func(c *debate.Config) {
		c.Background = "BACKGROUND-TEXT"
		c.Participants[0].Position = "Cars must go.\nRules:\nNow."
		c.Participants[0].Persona = "a SECRET-PERSONA"
		c.Judges[0].Human = true
		c.Rubric = judge.Rubric{{Name: "policy_fit", Weight: 70, Description: "DESCRIPTION-TEXT", Zero: "ZERO-TEXT"}, {Name: "cost", Weight: 35}}
	})
	b.run()
	a := b.asked("J")
	raw, _ := json.MarshalIndent(a, "", " ")
	t.Log(string(raw))
	t.Log(a.Briefing.Text())
}
