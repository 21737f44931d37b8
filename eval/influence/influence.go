package influence

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/runs"
	"github.com/elenchus-go/debate/providers/price"
	"github.com/elenchus-go/debate/report/progress"
)

// Labels of samples.
const (
	label       = "influence" // the id of the debate
	labelItem   = "influence_item"
	labelSample = "influence_sample"
)

// firstSamples counts the samples of all items from which the largest are chosen.
const firstSamples = 5

// Analysis says which debate is analyzed, and how.
type Analysis struct {
	// ID names the debate. It has ended, and judges have decided it who are models.
	ID string
	// Judges are asked in place of the debate's judges, as many as it has. Prices has the prices of their models. Default to
	// those of the debate.
	Judges []debate.Participant
	Prices price.Prices
	// Seats takes whole seats as items, in place of single turns.
	Seats bool
	// Items lists the turns or the seats to leave out, one at a time. Defaults to all turns of participants, or with Seats to all
	// seats. If they are given, there are no first samples to choose from.
	Items debate.Omission
	// Samples is how often the judges are asked about each item. Defaults to 20.
	Samples int
	// Largest is the number of items that are sampled so often: those whose scores change most in 5 samples of each. Their samples
	// are fresh. Defaults to 3. If there are no more items, all are sampled at once.
	Largest int
	// Pairs asks the judges also without the two items together whose scores change most. If two turns have the same argument,
	// each has no effect alone.
	Pairs bool
	// Continued asks not only the judges: the debate goes on without the item, from where it was said, and as often with it. Nobody is
	// asked about the whole debate then. The participants must be models, and with Seats there must be three of them or more.
	Continued bool
	// MaxCost and MaxTokens limit the whole analysis: what is stored with its label counts, so that limits hold across restarts. At a
	// limit no further sample begins, and those in progress pause; calls in flight are completed. 0 means no limit. MaxCost is
	// in the currency of the prices, which must be known.
	MaxCost   float64
	MaxTokens int
	// Concurrency is the number of samples that are made at the same time. Defaults to 8.
	Concurrency int
	// Progress is called after each sample, first for the samples of all items, and then again for those of the largest. Calls do
	// not overlap.
	Progress func(progress.Tasks)
	// Stop ends the analysis when it is closed: no further sample begins, and those in progress pause. Calls in flight are
	// completed and committed.
	Stop <-chan struct{}
}

// check returns everything that is wrong with the analysis itself, and sets defaults.
func (a *Analysis) check() error {
	var wrong []error
	if a.Samples < 0 {
		wrong = append(wrong, fmt.Errorf("samples: %d, use 1 or more", a.Samples))
	}
	if a.Largest < 0 {
		wrong = append(wrong, fmt.Errorf("largest: %d, use 1 or more", a.Largest))
	}
	if a.Seats && len(a.Items.Turns) > 0 {
		wrong = append(wrong, errors.New("items: they have turns, but seats are to be left out; give seats"))
	}
	if len(a.Items.Documents) > 0 {
		wrong = append(wrong, errors.New("items: they have documents; use turns or seats"))
	}
	if !a.Seats && len(a.Items.Seats) > 0 {
		wrong = append(wrong, errors.New("items: they have seats; set Seats"))
	}
	if err := runs.Check("analysis", wrong); err != nil {
		return err
	}
	a.Samples, a.Largest = cmp.Or(a.Samples, 20), cmp.Or(a.Largest, 3)
	return nil
}

// runs returns what all samples have in common.
func (a *Analysis) runs() runs.Config {
	return runs.Config{
		Label: label, What: "analysis of debate", Name: a.ID, MaxCost: a.MaxCost, MaxTokens: a.MaxTokens, Concurrency: a.Concurrency, Progress: a.Progress, Stop: a.Stop,
	}
}
