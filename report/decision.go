package report

// Decision is what a debate has decided, for programs. A protocol fills the fields that it has; see protocol.Outcome.
type Decision struct {
	Choice     string             `json:"choice,omitempty"`
	Option     int                `json:"option,omitempty"`
	Confidence float64            `json:"confidence,omitempty"`
	Winner     string             `json:"winner,omitempty"`
	Scores     map[string]float64 `json:"scores,omitempty"`
	Votes      map[string]int     `json:"votes,omitempty"`
	Dissent    []string           `json:"dissent,omitempty"`
}

// Decision returns what the debate has decided. It is zero until the debate has ended.
func (r *Report) Decision() Decision {
	if !r.Result.State.Final() {
		return Decision{}
	}
	o := &r.Result.Outcome
	return Decision{o.Choice, o.Option, o.Confidence, o.Winner, o.Scores, o.Votes, o.Dissent}
}
