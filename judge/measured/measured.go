// Package measured holds what audits have measured about judges: short records, which options of package debate take.
//
//	options.Audits = []measured.Record{record} // of package eval/audit, or decoded from its JSON
package measured

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/elenchus-go/debate/internal/statistics"
)

// Record says what an audit has measured about a judge: a model with its prompts. Put records into Options.Audits of package
// debate, and debates warn of judges that were found biased.
type Record struct {
	Model    string              `json:"model"`
	Prompts  string              `json:"prompts"` // see PromptsHash
	Pairs    int                 `json:"pairs"`   // pairs of answers with a gold label that were judged
	Accuracy statistics.Interval `json:"accuracy"`
	Biases   []Bias              `json:"biases,omitempty"`
}

// Bias says how far something that should not matter moves the decisions of a judge. 0 is none.
type Bias struct {
	Name     string              `json:"name"` // such as "position"
	Interval statistics.Interval `json:"interval"`
	P        float64             `json:"p"` // two-sided p-value, corrected by Holm's method for the biases of the judge
}

// Shown reports whether the bias is not zero, as far as its interval and the corrected p-value say.
func (b Bias) Shown() bool { return (b.Interval.Above(0) || b.Interval.Below(0)) && b.P < .05 }

// Biased returns what the judge was found to be biased by, such as "position +0.210 [+0.120, +0.300]". It is empty if no bias
// was shown.
func (r Record) Biased() string {
	var list []string
	for _, b := range r.Biases {
		if b.Shown() {
			list = append(list, fmt.Sprintf("%s %+.3f [%+.3f, %+.3f]", b.Name, b.Interval.Value, b.Interval.Low, b.Interval.High))
		}
	}
	return strings.Join(list, ", ")
}

// PromptsHash returns a short text that identifies the prompts of a judge: the templates, by the version of their set, and its
// persona and instructions.
func PromptsHash(templates, persona, instructions string) string {
	text, _ := json.Marshal([]string{templates, persona, instructions}) // texts
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}
