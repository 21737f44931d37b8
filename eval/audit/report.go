package audit

import (
	"github.com/elenchus-go/debate/judge/agreement"
	"github.com/elenchus-go/debate/judge/estimate"
	"github.com/elenchus-go/debate/judge/measured"
)

// formatVersion names the version of the report's JSON that this package writes.
const formatVersion = 1

// Report says what an audit has measured. It is plain data: encode it as JSON, or render it with [Report.Markdown] or
// [Report.HTML].
type Report struct {
	Format int    `json:"format"` // version of the report format, 1
	Audit  string `json:"audit"`
	Pairs  int    `json:"pairs"`
	// Incomplete says why runs are missing, such as a limit. It is empty if there is a result or a failure for each run.
	Incomplete string `json:"incomplete,omitempty"`
	// Summary has a sentence for each judge, and for the jury of all.
	Summary []string  `json:"summary"`
	Judges  []Figures `json:"judges"`
	// Jury says how far several judges agree, and how many with independent errors they are worth.
	Jury *agreement.Summary `json:"jury,omitempty"`
	// Calibration says when the jury may decide alone. Refused says why it must not.
	Calibration *agreement.Calibration `json:"calibration,omitempty"`
	Refused     string                 `json:"refused,omitempty"`
	Tokens      int                    `json:"tokens"` // of everything that is stored under the audit's name
	Cost        float64                `json:"cost"`   // the same, in the currency of the prices; 0 without prices
}

// Figures are what was measured about a judge. See the package documentation for what they mean.
type Figures struct {
	Name string `json:"name"`
	// Record is the short record for Options.Audits of package debate. Its Pairs are those that were judged.
	measured.Record
	Failed     int      `json:"failed,omitempty"`   // runs that failed; they do not count
	Failures   []string `json:"failures,omitempty"` // causes of the first ones
	Unreadable int      `json:"unreadable"`         // decisions about the pairs that could not be read, of two for each pair

	Agreement   estimate.Interval `json:"position_agreement"` // share of pairs whose two decisions are for the same answer
	First       estimate.Interval `json:"first"`              // share of decisions for the answer shown first
	Consistency estimate.Interval `json:"consistency"`        // share of decisions that are equal when the judge is asked again
	Turned      estimate.Interval `json:"turned"`             // share of challenged decisions that changed
	TurnedWrong estimate.Interval `json:"turned_wrong"`       // the same of right decisions
	TurnedRight estimate.Interval `json:"turned_right"`       // the same of wrong decisions

	Tokens int     `json:"tokens"` // of all runs of the judge
	Cost   float64 `json:"cost"`
}

// Records returns a record of each judge, for Options.Audits of package debate.
func (p *Report) Records() (list []measured.Record) {
	for _, f := range p.Judges {
		list = append(list, f.Record)
	}
	return list
}
