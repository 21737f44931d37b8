package influence

import (
	"fmt"
	"strings"

	texts "github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/internal/runs"
)

// Plan says what an analysis asks before it asks anything. Calls that have to be repeated, such as after an error or for a
// reply that is not valid, come on top. If debates go on, so do rounds of calls of tools.
type Plan struct {
	Stages []Stage `json:"stages"`
	Calls  int     `json:"calls"` // of all stages
	// Tokens and Cost are estimates: what the same calls took in the debate. Cost is 0 if a price is unknown.
	Tokens int     `json:"tokens"`
	Cost   float64 `json:"cost"`
	// Continued says that debates go on, so that the numbers of calls are estimates too: those of the debate. Of stages whose items
	// are not known yet, they are the largest that are possible.
	Continued bool `json:"continued,omitempty"`

	first   bool // the first stage is to find the largest items
	pair    bool // the last stage has two items together
	canPair bool // enough remains without two items
}

// Stage describes a part of an analysis whose samples are made together.
type Stage struct {
	Items   int `json:"items"` // left out one at a time; two together count as one
	Samples int `json:"samples"`
	Calls   int `json:"calls"`
	Each    int `json:"each"` // calls of a sample; if debates go on, calls of a sample of all items, without and with each
}

// String returns the plan in words, with the formula, such as "(9 items + 1) × 20 samples × 4 calls = 800 calls", or if debates go
// on "20 samples × 130 calls (10 items, without and with each) = 2,600 calls".
func (p Plan) String() string {
	var parts []string
	for _, s := range p.Stages {
		if p.Continued {
			parts = append(parts, fmt.Sprintf("%s × %s (%s, without and with each) = %s calls",
				runs.Plural(s.Samples, "sample"), runs.Plural(s.Each, "call"), runs.Plural(s.Items, "item"), texts.Thousands(s.Calls)))
			continue
		}
		parts = append(parts, fmt.Sprintf("(%s + 1) × %s × %s = %s calls",
			runs.Plural(s.Items, "item"), runs.Plural(s.Samples, "sample"), runs.Plural(s.Each, "call"), texts.Thousands(s.Calls)))
	}
	text := strings.Join(parts, ", then ")
	if len(p.Stages) > 1 {
		text += fmt.Sprintf(": %s calls in all", texts.Thousands(p.Calls))
	}
	text += fmt.Sprintf(", about %s tokens", texts.Thousands(p.Tokens))
	if p.Cost > 0 {
		text += ", cost about " + runs.Money(p.Cost)
	}
	return text
}

// orders returns the number of orders in which judges see the participants. Debates that go on keep that of the debate.
func (p *Plan) orders() int {
	if p.Continued {
		return 1
	}
	return 2
}
