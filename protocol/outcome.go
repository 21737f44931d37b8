package protocol

import (
	"slices"
	"strings"
)

// Concluder is an optional interface of a protocol that says in the common form what a debate has found. The second argument is
// the present answer. Outcome may be called while the debate continues and after it has ended. If it returns the zero Outcome, and for
// any other protocol, the outcome follows from the answer: a verdict, a decision or a text.
type Concluder interface {
	Outcome(r *Record, a Answer) Outcome
}

// Outcome is what a debate has found, in one form for all protocols. Reports, servers, evaluations and tournaments read it, and
// need not know the protocol. A protocol fills the fields that it has. Texts may be by models: they are untrusted, and long ones
// are Markdown. A Result has no infinite numbers and no NaN: it leaves them out of scores, measures and charts.
type Outcome struct {
	// Kind is what readers call such a debate, such as "Panel". It defaults to the name of the protocol.
	Kind string `json:"kind,omitempty"`
	// Office is what readers call the judges, such as "audience". It defaults to "judge".
	Office string `json:"office,omitempty"`

	// Sentence says what was decided, without a full stop, such as "Ada won with a score of 7 of 10". It is empty if nothing was
	// decided. Clauses say how sure it is and who dissents; with them, it is one sentence.
	Sentence string   `json:"sentence,omitempty"`
	Clauses  []string `json:"clauses,omitempty"`
	// Text is the answer or its summary. It is empty if the sentence says it all.
	Text string `json:"text,omitempty"`

	// Choice is what the judges decided on the merits, or the option that won a vote: its text, or the value of the field of a
	// contract that decides. It is empty if nothing was decided. Option is its number, from 1, and Confidence the mean confidence
	// of those who chose it, in percent.
	Choice     string  `json:"choice,omitempty"`
	Option     int     `json:"option,omitempty"`
	Confidence float64 `json:"confidence,omitempty"`
	// Answer is the answer as it was given, if the debate gives one. Undecided says that it should have given one, or decided, and
	// has not; Tie says that this is because of a tie.
	Answer    string `json:"answer,omitempty"`
	Undecided bool   `json:"undecided,omitempty"`
	Tie       bool   `json:"tie,omitempty"`
	// Winner is the participant, the side or the answer that won. It is empty if nobody won, or if judges decided.
	Winner string `json:"winner,omitempty"`
	// DecidedBy is who or what decided, such as "majority", "judge" or the name of a member.
	DecidedBy string `json:"decided_by,omitempty"`
	// Scores are the final scores, by participant, option, answer or category.
	Scores map[string]float64 `json:"scores,omitempty"`
	// Votes are by choice, participant, side or answer. Voters who chose nobody, or who contradict themselves, are counted under
	// "nobody".
	Votes map[string]int `json:"votes,omitempty"`
	// Dissent are the opinions of judges who decided otherwise, or the strongest case against the verdict.
	Dissent []string `json:"dissent,omitempty"`
	// Conditions say under which the decision holds, and what would change it.
	Conditions []string `json:"conditions,omitempty"`
	// Measure says how strongly the debate supports what could have won. It is nil if the protocol has no such number.
	Measure *Measure `json:"measure,omitempty"`

	Reasons []Reason `json:"reasons,omitempty"`
	// Notes say what is missing, one sentence each.
	Notes []string `json:"notes,omitempty"`
	// Chart is the picture of the outcome. Without it, readers see the scores of the judges by round, if there are any.
	Chart *Chart `json:"chart,omitempty"`
	// Evidence are tables and charts that belong to the reasons, and Details those for the few who want them all.
	Evidence []Exhibit `json:"evidence,omitempty"`
	Details  []Exhibit `json:"details,omitempty"`
}

// Reason holds points for or against the outcome, such as the key points of a participant, disputes or dissent.
type Reason struct {
	Title    string   `json:"title"`              // what the points are, such as "Key points"
	Name     string   `json:"name,omitempty"`     // whose points they are; empty if they are not one participant's
	Points   []string `json:"points,omitempty"`   // in Markdown by models
	Speeches []Speech `json:"speeches,omitempty"` // turns whose beginnings are further points
	Against  bool     `json:"against,omitempty"`  // whether the points speak against what was decided
}

// Speech refers to a turn. Label stands before its beginning, and may be empty.
type Speech struct {
	Label string `json:"label,omitempty"`
	Turn  int    `json:"turn"` // the index of the turn in Record.Turns
}

// Measure is a number for each participant, option or answer that could have won, so that debates can be compared by more than
// who won.
type Measure struct {
	Name string `json:"name"` // in words that follow "the change of", such as "the share of the judges' votes"
	// Lead says that the number of one counts less the mean of those of the others.
	Lead  bool    `json:"lead,omitempty"`
	Least float64 `json:"least"`
	Most  float64 `json:"most"`
	// Values are by participant, option or answer. A number of the whole debate is under "". Who is missing has none; of votes, that
	// is zero.
	Values map[string]float64 `json:"values,omitempty"`
	Votes  bool               `json:"votes,omitempty"`
	// Won is what has won, in the form in which debates are compared. It is empty if nothing has, or if nothing could.
	Won string `json:"won,omitempty"`
}

// Exhibit is a table, a chart or a list with a title.
type Exhibit struct {
	Title  string     `json:"title,omitempty"`
	Header []string   `json:"header,omitempty"` // of a table
	Rows   [][]string `json:"rows,omitempty"`
	List   []string   `json:"list,omitempty"`
	Chart  *Chart     `json:"chart,omitempty"`
	// Internal says that it names documents or files that only prompts use. A redacted report leaves it out.
	Internal bool `json:"internal,omitempty"`
}

// Chart is a chart of numbers by name, or by round. Each name has a value in some of the series, such as before and after. A chart by
// round has a line for each series; readers give a series with a participant's name the color of the participant.
type Chart struct {
	Title   string     `json:"title"`
	Unit    string     `json:"unit"` // the title of the axis of values
	Maximum float64    `json:"maximum"`
	Counts  bool       `json:"counts,omitempty"`   // whether the values are whole numbers
	ByRound bool       `json:"by_round,omitempty"` // whether the rows are rounds
	Series  []string   `json:"series"`
	Rows    []ChartRow `json:"rows"`
}

// ChartRow is one name, or one round, of a chart.
type ChartRow struct {
	Name   string             `json:"name,omitempty"`
	Round  int                `json:"round,omitempty"`
	Values map[string]float64 `json:"values"` // by series; a series without a value is missing
}

// String returns the outcome in one sentence, or "" if nothing was decided.
func (o *Outcome) String() string {
	if o.Sentence == "" {
		return ""
	}
	parts := []string{o.Sentence}
	for _, clause := range o.Clauses {
		if clause != "" {
			parts = append(parts, clause)
		}
	}
	return strings.Join(parts, "; ") + "."
}

// AddReason adds a reason with the points that are not blank. Without any, it adds none.
func (o *Outcome) AddReason(title, name string, points ...string) {
	points = slices.DeleteFunc(slices.Clone(points), func(s string) bool { return strings.TrimSpace(s) == "" })
	if len(points) > 0 {
		o.Reasons = append(o.Reasons, Reason{Title: title, Name: name, Points: points})
	}
}

// AddDissent adds a reason against what was decided, with the points that are not blank.
func (o *Outcome) AddDissent(title string, points ...string) {
	before := len(o.Reasons)
	o.AddReason(title, "", points...)
	for i := before; i < len(o.Reasons); i++ {
		o.Reasons[i].Against = true
	}
}

// SetScore sets the final score of a name.
func (o *Outcome) SetScore(name string, value float64) {
	if o.Scores == nil {
		o.Scores = map[string]float64{}
	}
	o.Scores[name] = value
}

// Set sets the value of a series in the row with a name. A new series or row comes last. A value above the maximum is the new
// maximum.
func (c *Chart) Set(name, series string, value float64) {
	c.set(ChartRow{Name: name}, series, value)
}

// SetRound sets the value of a series in a round. The rounds are in order.
func (c *Chart) SetRound(round int, series string, value float64) {
	c.ByRound = true
	c.set(ChartRow{Round: round}, series, value)
}

func (c *Chart) set(row ChartRow, series string, value float64) {
	if !slices.Contains(c.Series, series) {
		c.Series = append(c.Series, series)
	}
	at := c.find(row)
	if at == len(c.Rows) || c.Rows[at].Name != row.Name || c.Rows[at].Round != row.Round {
		row.Values = map[string]float64{}
		c.Rows = slices.Insert(c.Rows, at, row)
	}
	c.Rows[at].Values[series] = value
	c.Maximum = max(c.Maximum, value)
}

// find returns the index of a row, or where it belongs. Rounds come in order, so the search for a round begins at the end.
func (c *Chart) find(row ChartRow) int {
	if !c.ByRound {
		at := slices.IndexFunc(c.Rows, func(x ChartRow) bool { return x.Name == row.Name })
		if at < 0 {
			return len(c.Rows)
		}
		return at
	}
	at := len(c.Rows)
	for at > 0 && c.Rows[at-1].Round >= row.Round {
		at--
	}
	return at
}
