// Package reasoning has what the engine and the providers share about the reasoning of models: how much a model may
// reason, and reasoning that a model writes into its text.
package reasoning

import (
	"fmt"
	"strconv"
)

// The levels. Any other setting that is not empty is a budget in tokens, such as "2048".
const (
	None   = "none"
	Low    = "low"
	Medium = "medium"
	High   = "high"
)

// The tokens of each level: the reasoning that a reply has room for, and the budget for services that know only budgets.
const (
	LowTokens    = 2048
	MediumTokens = 8192
	HighTokens   = 16384
)

// maxBudget limits a budget, in tokens.
const maxBudget = 1_000_000

// Tokens returns the tokens that a setting allows for reasoning. It is 0 if the model does not reason, if the service
// chooses, or if the setting is not valid.
func Tokens(setting string) int {
	switch setting {
	case Low:
		return LowTokens
	case Medium:
		return MediumTokens
	case High:
		return HighTokens
	}
	return Budget(setting)
}

// Budget returns the budget that a setting sets in tokens, or 0 if the setting is empty, a level or not valid.
func Budget(setting string) int {
	if setting == "" || setting[0] < '1' || setting[0] > '9' {
		return 0
	}
	n, err := strconv.Atoi(setting)
	if err != nil || n < 1 || n > maxBudget || strconv.Itoa(n) != setting {
		return 0
	}
	return n
}

// Check returns what is wrong with a setting, or the empty string.
func Check(setting string) string {
	switch setting {
	case "", None, Low, Medium, High:
		return ""
	}
	if Budget(setting) == 0 {
		return fmt.Sprintf("%q is not valid, use %q, %q, %q, %q, or a budget of 1 to %d tokens, such as \"2048\"", setting, None, Low, Medium, High, maxBudget)
	}
	return ""
}

// Less returns advice about the model of an actor that only reasons.
func Less(name string) string {
	return fmt.Sprintf(`set "reasoning": "none" for %s, or raise its token limit`, name)
}
