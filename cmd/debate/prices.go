package main

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/providers/price"
)

// listPrice is the price of a model in US dollars, as a service published it.
type listPrice struct {
	Service string `json:"service"` // kind of the provider
	Model   string `json:"model"`
	price.Price
	Date   string `json:"date"`   // when the source checked the price
	Source string `json:"source"` // where the price was read
}

//go:embed prices.json
var pricesFile []byte

// listPrices returns the built-in prices.
func listPrices() (list []listPrice, err error) {
	if err := json.Unmarshal(pricesFile, &list); err != nil {
		return nil, fmt.Errorf("read built-in prices: %w", err)
	}
	return list, nil
}

// dated matches the date at the end of a model's name. A dated version has the price of the model.
var dated = regexp.MustCompile(`-(\d{4}-\d{2}-\d{2}|\d{8})$`)

// ownPrices returns the prices of the configuration file, and those of --prices, which override them.
func (p *program) ownPrices(inFile price.Prices) (price.Prices, error) {
	own := maps.Clone(inFile)
	if own == nil {
		own = price.Prices{}
	}
	if p.prices == "" {
		return own, nil
	}
	b, err := os.ReadFile(p.prices)
	if err != nil {
		return nil, exitErrorf(exitInput, "read prices: %w", err)
	}
	given, err := parsePrices(b)
	if err != nil {
		return nil, exitErrorf(exitInput,
			"read prices: %s: %w; want an object such as {\"gpt-x\": {\"input\": 2, \"cached\": 0.5, \"output\": 8}}", p.prices, err)
	}
	maps.Copy(own, given)
	return own, nil
}

// parsePrices returns the prices of a JSON object. A misspelled field would be a price of 0, so it is an error.
func parsePrices(b []byte) (list price.Prices, err error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&list); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more follows the object")
	}
	for _, model := range sortedKeys(list) {
		if p := list[model]; min(p.Input, p.Cached, p.Written, p.Output) < 0 {
			return nil, fmt.Errorf("%s: a price is below 0", model)
		}
	}
	return list, nil
}

// setPrices adds built-in prices for the models that a debate uses and that have no price of the user. Only the services
// themselves have these prices, not other servers with their protocols, unless there is a limit of costs, which needs prices.
func (p *program) setPrices(s configFile, c *debate.Config) error {
	own, err := p.ownPrices(c.Prices)
	if err != nil {
		return err
	}
	list, err := listPrices()
	if err != nil {
		return err
	}
	if len(own) == 0 {
		p.currency = "USD"
	}
	all := maps.Clone(own)
	for _, a := range slices.Concat(c.Participants, c.Judges, c.Substitutes, []debate.Participant{c.PersonaAssigner, c.Summarizer}) {
		kind := cmp.Or(s.providers[a.Provider].Kind, a.Provider)
		undated := dated.ReplaceAllString(a.Model, "")
		_, known := own[a.Model]
		_, alsoKnown := own[undated]
		elsewhere := p.hasOtherAddress(kind)
		if known || alsoKnown || a.Model == "" || a.Human || elsewhere && c.Limits.Cost == 0 && c.AskAboveCost == 0 {
			continue // Lookup would use the user's price of gpt-x for gpt-x-mini, too
		}
		at := slices.IndexFunc(list, func(l listPrice) bool { return l.Service == kind && (l.Model == a.Model || l.Model == undated) })
		if at >= 0 {
			if _, told := all[a.Model]; elsewhere && !told {
				p.warnf("the limit of costs uses the price of %s at %s; if your server charges another one, use --prices", a.Model, kind)
			}
			all[a.Model] = list[at].Price
		}
	}
	if len(all) > 0 {
		c.Prices = all
	}
	return nil
}

// setModels sets the providers, the models and the prices of debates. It opens their providers and those of other names.
func (p *program) setModels(s configFile, o *debate.Options, others []string, debates ...*debate.Config) (err error) {
	used := others
	for _, c := range debates {
		p.assignProviders(s, c, offlineKind)
		used = append(used, usedProviders(*c)...)
	}
	var models map[string]string
	o.Providers, models, err = p.openProviders(s, used)
	if err != nil {
		return err
	}
	for _, c := range debates {
		nameModels(c, models)
		if p.maxCost > 0 {
			c.Limits.Cost = p.maxCost
		}
		if err := p.setPrices(s, c); err != nil {
			return err
		}
	}
	return nil
}

// showPrices prints the prices that debates use: those of the user, and the built-in ones.
func (p *program) showPrices() error {
	var own price.Prices
	err := p.withConfigFile(func(s configFile) (err error) {
		var inFile price.Prices
		if raw, given := s.rest["prices"]; given {
			inFile, err = parsePrices(raw)
			if err != nil {
				return malformedError(s.path, fmt.Errorf("prices: %w", err))
			}
		}
		own, err = p.ownPrices(inFile)
		return err
	})
	if err != nil {
		return err
	}
	builtIn, err := listPrices()
	if err != nil {
		return err
	}
	list := []listPrice{}
	for _, name := range sortedKeys(own) {
		list = append(list, listPrice{Model: name, Price: own[name], Source: "your prices"})
	}
	list = append(list, slices.DeleteFunc(builtIn, func(l listPrice) bool { _, replaced := own[l.Model]; return replaced })...)
	if len(p.operands) > 0 {
		list = slices.DeleteFunc(list, func(l listPrice) bool { return !strings.Contains(l.Service+"/"+l.Model, p.operands[0]) })
	}
	if p.json {
		return p.printJSON(list)
	}
	var t table
	t.add("MODEL", "INPUT", "CACHED", "WRITTEN", "OUTPUT", "DATE", "SOURCE")
	for _, l := range list {
		name := printableLine(strings.TrimPrefix(l.Service+"/"+l.Model, "/"))
		t.add(name, formatAmount(l.Input), formatAmount(cmp.Or(l.Cached, l.Input)), formatAmount(cmp.Or(l.Written, l.Input)),
			formatAmount(l.Output), cmp.Or(l.Date, "-"), l.Source)
	}
	return t.print(p.stdout)
}
