package journal

// Estimate says what a debate costs before anybody is called. Likely is for all rounds with replies of usual length: about 400 tokens,
// half of what a model may reason, and one call of tools for each step that may call them. Worst is for all rounds with replies of
// maximum length, but within the budgets of Limits. Neither has failed attempts, nor summaries that a window needs.
type Estimate struct {
	Likely Expense        `json:"likely"`
	Worst  Expense        `json:"worst"`
	Seats  []SeatEstimate `json:"seats"` // whoever is called, in the order of the first calls
	// Unpriced lists models without a price, by the name of the provider if the model is its default one. Their costs are not
	// included.
	Unpriced []string `json:"unpriced,omitempty"`
}

// SeatEstimate is the part of a participant, a judge or a system actor in an [Estimate].
type SeatEstimate struct {
	Name     string  `json:"name"`
	Provider string  `json:"provider,omitempty"`
	Model    string  `json:"model,omitempty"` // empty for the provider's default model
	Prompt   int     `json:"prompt"`          // tokens of the longest likely prompt
	Likely   Expense `json:"likely"`
	Worst    Expense `json:"worst"`
}

// Expense is a number of calls with what they use.
type Expense struct {
	Calls  int     `json:"calls"`
	Input  int     `json:"input"`  // tokens of prompts
	Output int     `json:"output"` // tokens of replies, including reasoning
	Cost   float64 `json:"cost"`   // in the currency of the debate's prices
}
