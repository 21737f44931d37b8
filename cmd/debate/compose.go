package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/judge/decision"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/protocol/refine"
)

// buildConfig returns the configuration of a new debate. Flags override the file, and the file overrides the defaults of
// the protocol.
func (p *program) buildConfig(s configFile, topic string) (c debate.Config, err error) {
	if len(s.documents) > 0 && p.command != "" {
		return c, malformedError(s.path, fmt.Errorf("documents: %s cannot read files, name them in the configuration of a new debate", p.command))
	}
	s, err = p.withPurpose(s)
	if err != nil {
		return c, err
	}
	kind, params, err := p.choosePreset(s)
	if err != nil {
		return c, err
	}
	all := map[string]any{"topic": topic, "protocol": params}
	for name, raw := range s.rest {
		if name != "protocol" {
			all[name] = raw
		}
	}
	b, err := json.Marshal(all)
	if err != nil {
		return c, fmt.Errorf("compose configuration: %w", err)
	}
	engine, err := debate.NewEngine(debate.Options{})
	if err != nil {
		return c, err
	}
	c, err = engine.ParseConfig(b)
	if err != nil {
		return c, malformedError(s.path, err)
	}
	if err := p.applyDefaults(&c, s, kind); err != nil {
		return c, err
	}
	c.Participants, err = p.selectParticipants(c, s, kind)
	if err != nil {
		return c, err
	}
	if p.rounds > 0 {
		c.Limits.MaxRounds = p.rounds
	}
	c.Background, err = p.addBackground(c.Background)
	if err != nil {
		return c, err
	}
	p.reportRoles(c, s)
	return c, nil
}

// elsewhere lists the commands for the protocols of the library that no topic alone starts.
var elsewhere = map[string]string{"pairwise": "debate audit judge", "oversight": "debate eval --oversight"}

// choosePreset returns the protocol that the flag or the file names, and its parameters.
func (p *program) choosePreset(s configFile) (kind preset, params map[string]json.RawMessage, err error) {
	name, params, err := s.protocol()
	if err != nil {
		return kind, nil, err
	}
	flag := p.protocol
	if flag != "" {
		if name != "" && withoutVersion(name) != withoutVersion(flag) && params != nil {
			p.warnf("ignoring the parameters of protocol %s in %s, because --protocol is %s", name, s.path, flag)
			params = nil
		}
		name = flag
	}
	name = cmp.Or(name, "panel")
	kind, ok := presets[withoutVersion(name)]
	if !ok || name != withoutVersion(name) && name != kind.Name() {
		if command := elsewhere[withoutVersion(name)]; command != "" {
			return kind, nil, exitErrorf(exitInput, "choose protocol: %q needs more than a topic, use %s", name, command)
		}
		return kind, nil, exitErrorf(exitInput, "choose protocol: %q is unknown, use one of %s", name, strings.Join(sortedKeys(presets), ", "))
	}
	if params == nil {
		params = map[string]json.RawMessage{}
	}
	params["name"], err = json.Marshal(kind.Name())
	if err != nil {
		return kind, nil, fmt.Errorf("compose configuration: %w", err)
	}
	return kind, params, p.addOptions(name, params)
}

// addOptions adds the options of --option to the parameters of a protocol.
func (p *program) addOptions(protocol string, params map[string]json.RawMessage) error {
	if len(p.choices) == 0 {
		return nil
	}
	field, value := "decision", any(decision.Task{Options: p.choices})
	switch withoutVersion(protocol) {
	case "panel", "procon":
	case "vote":
		field, value = "options", p.choices
	default:
		return exitErrorf(exitInput,
			"set options: protocol %s cannot decide between options, remove --option or use panel, procon or vote", protocol)
	}
	b, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("compose configuration: %w", err)
	}
	params[field] = b
	return nil
}

// applyDefaults sets defaults for missing parts of the configuration, and warns about them if there is a file.
func (p *program) applyDefaults(c *debate.Config, s configFile, kind preset) error {
	var missing []string
	note := func(field string) { missing = append(missing, field) }
	if len(s.providers) == 0 {
		note("providers")
	}
	if _, given := s.rest["protocol"]; !given && p.protocol == "" {
		note("protocol")
	}
	if len(c.Participants) == 0 && !p.flagGiven["agents"] {
		note("participants")
	}
	if len(c.Judges) == 0 && kind.judge != "" {
		note("judges")
		c.Judges = []debate.Participant{{Name: kind.judge}}
	}
	switch own := c.Protocol.(type) {
	case refine.Protocol:
		own.Roles = p.addRoles(s, own.Roles)
		c.Protocol = own
	case arbitration.Protocol:
		scores, err := p.chooseScores(own)
		if err != nil {
			return err
		}
		own.Scores = scores
		c.Protocol = own
	}
	if _, ok := c.Protocol.(arbitration.Protocol); !ok && p.scores != "" {
		return exitErrorf(exitInput, "read scores: protocol %s does not use --scores", withoutVersion(kind.Name()))
	}
	if len(missing) > 0 && s.path != "" {
		p.warnf("%s does not set %s; using defaults", s.path, strings.Join(missing, ", "))
	}
	return nil
}

// addRoles adds the roles of the configuration file to those of the protocol. If the prompt file of a role cannot be read,
// addRoles warns and uses the built-in prompt.
func (p *program) addRoles(s configFile, roles map[string]refine.RolePrompt) map[string]refine.RolePrompt {
	for _, name := range sortedKeys(s.roles) {
		r := s.roles[name]
		if r.File != "" {
			read, err := readRole(s.relative(r.File))
			if err != nil {
				p.warnf("role %s: %v; using the built-in prompt", name, err)
			} else {
				r.System, r.Source = read.System, read.Source
			}
		}
		if r.RolePrompt == (refine.RolePrompt{}) {
			if r.File == "" {
				p.warnf("role %s: it has neither a file nor a text; ignoring it", name)
			}
			continue
		}
		if roles == nil {
			roles = map[string]refine.RolePrompt{}
		}
		roles[name] = r.RolePrompt
	}
	return roles
}

func readRole(path string) (refine.RolePrompt, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return refine.RolePrompt{}, err
	}
	return refine.ParseRolePrompt(string(b), path)
}

// selectParticipants returns the participants of the configuration file, or the defaults of the protocol. If --agents is
// given, it returns only the selected ones.
func (p *program) selectParticipants(c debate.Config, s configFile, kind preset) ([]debate.Participant, error) {
	all := c.Participants
	p.participantsInFile = len(all) > 0
	if !p.participantsInFile {
		all = slices.Clone(kind.agents)
	}
	var names, selected []string
	for _, a := range all {
		names = append(names, a.Name)
	}
	if !p.flagGiven["agents"] {
		if !slices.ContainsFunc(all, func(a debate.Participant) bool { return !a.Disabled }) {
			return nil, exitErrorf(exitInput, "select agents: all participants in %s are disabled: %s", s.path, strings.Join(names, ", "))
		}
		return all, nil
	}
	roles := kind.roles(c)
	for name := range strings.SplitSeq(p.agents, ",") {
		name = strings.TrimSpace(name)
		if name != "" {
			selected = append(selected, name)
		}
	}
	var chosen []debate.Participant
	for i, name := range selected {
		at := slices.IndexFunc(all, func(a debate.Participant) bool { return a.Name == name || a.Role == name && roles != nil })
		switch {
		case p.participantsInFile && at >= 0 && slices.ContainsFunc(chosen, func(a debate.Participant) bool { return a.Name == all[at].Name }):
			return nil, exitErrorf(exitInput, "select agents: %q is selected twice", all[at].Name)
		case p.participantsInFile && at >= 0:
			all[at].Disabled = false
			chosen = append(chosen, all[at])
		case slices.Contains(roles, name):
			chosen = append(chosen, debate.Participant{Name: name, Role: name})
		case roles == nil && !p.participantsInFile:
			chosen = append(chosen, kind.participant(i, name))
		default:
			return nil, exitErrorf(exitInput, "select agents: %q is unknown, use one of %s", name, joinUnique(names, roles))
		}
	}
	if len(chosen) == 0 {
		return nil, exitErrorf(exitInput, "select agents: --agents is empty, use some of %s", joinUnique(names, roles))
	}
	return chosen, nil
}

// joinUnique returns a list of the names and roles, each once.
func joinUnique(names, roles []string) string {
	var list []string
	for _, name := range append(names, roles...) {
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return strings.Join(list, ", ")
}
