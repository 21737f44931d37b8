package debate

import (
	"fmt"
	"slices"

	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/prompts"
)

// Code says what shaped a debate besides its configuration, its models and its people.
type Code struct {
	// Rules lists those of the engines that wrote the entries, with the names of their own counters and extractors.
	Rules []Rules `json:"rules,omitempty"`
	// Protocols, Contracts and Tools are the names of those that are not of the library.
	Protocols []string `json:"protocols,omitempty"`
	Contracts []string `json:"contracts,omitempty"`
	Tools     []string `json:"tools,omitempty"`
	// Templates holds the texts of the templates of prompts, if the engine has them.
	Templates []prompts.Texts `json:"templates,omitempty"`
	// Lacks says in words which of these the engine does not have, such as "the contract claim".
	Lacks []string `json:"-"`
}

// add adds what an entry names.
func (c *Code) add(e *Engine, ev Event) {
	if is := ev.Meta().Rules; is != nil && !slices.Contains(c.Rules, *is) {
		c.Rules = append(c.Rules, *is)
		ours := e.env.rules
		c.lack(is.Number == ours.Number, "the rules with number", fmt.Sprint(is.Number))
		c.lack(is.Counter == ours.Counter || is.Counter == "", "the counter of tokens", is.Counter)
		c.lack(is.Extractor == ours.Extractor || is.Extractor == "", "the extractor of answers", is.Extractor)
	}
	contract := ""
	switch ev := ev.(type) {
	case ConfigChanged:
		cfg, err := e.parse(ev.Config, true)
		if err != nil || cfg.Protocol == nil {
			return
		}
		_, unknown := cfg.Protocol.(unknownProtocol)
		c.name(&c.Protocols, "the protocol", cfg.Protocol.Name(), !unknown, isPreset(cfg.Protocol))
		for _, p := range cfg.allActors() {
			for _, tool := range p.Tools {
				c.name(&c.Tools, "the tool", tool, e.tools[tool] != nil, false)
			}
		}
	case Asked:
		contract = ev.Contract
	case TurnDone:
		contract = ev.Turn.Contract
		c.addTemplates(e, ev.Templates)
	}
	ours := slices.ContainsFunc(contracts(), func(k *reply.Contract) bool { return k.Name() == contract })
	c.name(&c.Contracts, "the contract", contract, e.replies[contract] != nil, ours || contract == "")
}

// name adds a name to a list, unless the library has it.
func (c *Code) name(list *[]string, kind, name string, has, ours bool) {
	if !ours && !slices.Contains(*list, name) {
		*list = append(*list, name)
		c.lack(has, kind, name)
	}
}

// lack notes what the engine does not have.
func (c *Code) lack(has bool, kind, name string) {
	if text := kind + " " + name; !has && !slices.Contains(c.Lacks, text) {
		c.Lacks = append(c.Lacks, text)
	}
}

// addTemplates adds the texts of a set.
func (c *Code) addTemplates(e *Engine, version string) {
	has := func(version string) bool {
		return slices.ContainsFunc(c.Templates, func(t prompts.Texts) bool { return t.Version == version })
	}
	if version == "" || has(version) {
		return
	}
	set := e.env.templates(version)
	if c.lack(set != nil, "the templates", version); set == nil {
		return
	}
	for _, t := range set.Texts() {
		if !has(t.Version) {
			c.Templates = append(c.Templates, t)
		}
	}
}

// templates returns the set with a version, or nil if the engine does not have it.
func (e *environment) templates(version string) *prompts.Set {
	for _, s := range e.sets {
		if s.Version() == version {
			return s
		}
	}
	return nil
}

// useTemplates makes the prompts of the record be made from the templates with a version, if the engine has them under any name.
// restore takes that back.
func useTemplates(r *record, version string) (restore func()) {
	was := r.Settings.Templates
	set := r.env.templates(version)
	if set == nil || was.Version() == version {
		return func() {}
	}
	use := func(s *prompts.Set) {
		r.Settings.Templates = s
		r.Forget()
	}
	use(set)
	return func() { use(was) }
}
