package forks

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/providers"
)

func TestRemains(t *testing.T) {
	const said = "Buses need less room than any number of cars, on every street."
	for name, x := range map[string]struct {
		omitted, prompt string
		remains         bool
	}{
		"the whole text":                  {said, "B said: " + said, true},
		"eight words in other letters":    {said, "They need LESS ROOM; than any number of cars!", true},
		"seven words":                     {said, "less room than any number of cars, they say", false},
		"other words":                     {said, "Cars need more room than all buses of a street.", false},
		"a short text":                    {"Ban them now.", "He said: ban them now, or never.", true},
		"a part of a short text":          {"Ban them now.", "Ban them later.", false},
		"two words, as anybody says them": {"I agree.", "I agree.", false},
		"nothing":                         {"", "", false},
		"other scripts":                   {"Автобусы занимают меньше места", "автобусы — занимают меньше места", true},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, x.remains, remains([]string{"Another text of no importance to anybody who reads it.", x.omitted},
				[]providers.Message{{Text: "You are a judge."}, {Parts: []providers.Part{{Text: "Said so far:"}, {Text: x.prompt}}}}))
		})
	}
}
