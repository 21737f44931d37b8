package inspector

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/launch"
)

// costs is what a debate will cost, in words.
type costs struct {
	Calls  string `json:"calls"`
	Likely string `json:"likely"`
	Worst  string `json:"worst"`
	Note   string `json:"note,omitempty"` // what the amounts leave out
}

// costsOf returns what a debate costs, or nil if that cannot be computed.
func (v *visit) costsOf(o *launch.Offer, cfg debate.Config) *costs {
	e, err := launch.Estimate(cfg)
	if err != nil {
		v.Logger.WarnContext(v.r.Context(), "estimate costs", "error", err)
		return nil
	}
	unpriced := slices.DeleteFunc(e.Unpriced, func(name string) bool { return isFree(o, name) })
	c := &costs{Calls: callsIn(e), Likely: amount(e.Likely.Cost, o.Currency), Worst: amount(e.Worst.Cost, o.Currency)}
	paid := e.Likely.Cost > 0 || e.Worst.Cost > 0
	switch {
	case len(unpriced) > 0 && !paid:
		c.Likely, c.Worst = "", ""
		c.Note = "The prices of its models are unknown."
	case len(unpriced) > 0:
		c.Note = "Models without a price are left out."
	}
	return c
}

// isFree reports whether the model with a name, or the default one of the provider with that name, costs nothing.
func isFree(o *launch.Offer, name string) bool {
	return slices.ContainsFunc(o.Models, func(m launch.Model) bool { return cmp.Or(m.Name, m.Provider) == name && m.IsFree() })
}

// callsIn returns how many calls of models a debate makes.
func callsIn(e debate.Estimate) string {
	if e.Likely.Calls == e.Worst.Calls {
		return formatNumber(e.Worst.Calls)
	}
	return fmt.Sprintf("%s to %s", formatNumber(e.Likely.Calls), formatNumber(e.Worst.Calls))
}

// amount returns an amount with its currency.
func amount(cost float64, currency string) string {
	if cost == 0 {
		return "nothing"
	}
	text := formatCost(cost)
	if currency != "" {
		text += " " + currency
	}
	return text
}

// typicalTopic stands for the topics of a purpose, to show what its debates cost.
const typicalTopic = "Should cities ban private cars?"

// typicalCosts returns what a debate for a purpose costs with the first model, or nil if that cannot be computed.
func (v *visit) typicalCosts(o *launch.Offer, p launch.Purpose) *costs {
	cfg, err := o.Compose(launch.Choice{Purpose: p.Name, Topic: typicalTopic})
	if err != nil {
		return nil
	}
	return v.costsOf(o, cfg)
}
