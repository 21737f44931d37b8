package main

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/providers"
)

//go:embed config.schema.json
var configSchema []byte

//go:embed config.jsonc.tmpl
var configTemplate string

// writeConfig writes a configuration with comments for the protocol of --protocol and the service that the environment has
// a key of, and the JSON Schema of configurations next to it.
func (p *program) writeConfig() error {
	if p.skill {
		return p.writeSkill()
	}
	path := cmp.Or(p.output, commentedConfigPath)
	schema := strings.TrimSuffix(path, filepath.Ext(path)) + ".schema.json"
	s, err := p.withPurpose(configFile{})
	if err != nil {
		return err
	}
	kind, params, err := p.choosePreset(s)
	if err != nil {
		return err
	}
	if err := p.checkOptions(); err != nil {
		return err
	}
	text, err := p.exampleConfig(s, kind, params, filepath.Base(schema))
	if err != nil {
		return err
	}
	for _, file := range []string{path, schema} {
		if !fileExists(file) {
			continue
		}
		if err := p.confirm(fmt.Sprintf("Replace %s?", file)); err != nil {
			return fmt.Errorf("write configuration: %w", err)
		}
	}
	if err := writeFile(path, text); err != nil {
		return err
	}
	if err := writeFile(schema, configSchema); err != nil {
		return err
	}
	fmt.Fprintln(p.stdout, path, "and", schema, "written")
	return nil
}

// checkOptions returns an error if a debate could not decide between the options of --option.
func (p *program) checkOptions() error {
	if len(p.choices) == 0 {
		return nil
	}
	c, err := p.buildConfig(configFile{}, "Which option?")
	if err != nil {
		return err
	}
	_, err = debate.New(p.ctx, c, debate.Options{Providers: map[string]providers.Provider{offlineKind: offline.Model(false)}})
	return err
}

// exampleConfig returns a configuration for a protocol with parameters. Its participants and judges are those of a file, or
// else those of the protocol.
func (p *program) exampleConfig(s configFile, kind preset, params map[string]json.RawMessage, schema string) ([]byte, error) {
	service := providerKind{name: offlineKind}
	for _, k := range p.allKinds() {
		if k.name == cmp.Or(p.defaultKind(), offlineKind) {
			service = k
		}
	}
	var judges []debate.Participant
	if kind.judge != "" {
		judges = append(judges, debate.Participant{Name: kind.judge})
	}
	agents := kind.agents
	var limits struct {
		MaxRounds int `json:"max_rounds"`
	}
	if s.rest != nil {
		agents, judges = nil, nil
		if err := errors.Join(decodeField(s.rest["participants"], &agents), decodeField(s.rest["judges"], &judges), decodeField(s.rest["limits"], &limits)); err != nil {
			return nil, err
		}
	}
	protocol, err := protocolText(kind, params)
	if err != nil {
		return nil, err
	}
	var lists [2]string
	for i, list := range [][]debate.Participant{agents, judges} {
		var lines []string
		for _, a := range list {
			b, err := json.Marshal(a)
			if err != nil {
				return nil, err
			}
			lines = append(lines, "    "+spaced(b))
		}
		lists[i] = strings.Join(lines, ",\n")
	}
	t, err := template.New("").Parse(configTemplate)
	if err != nil {
		return nil, err
	}
	address, err := json.Marshal("./" + schema)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, map[string]any{
		"Schema": string(address), "Kinds": p.kindNames(), "Kind": service.name, "Model": service.model, "Variable": service.envVar,
		"Protocol": protocol, "Protocols": strings.Join(sortedKeys(presets), ", "), "Participants": lists[0], "Judges": lists[1],
		"MaxRounds": limits.MaxRounds,
	})
	return b.Bytes(), err
}

// decodeField decodes a field of a configuration, unless it is missing.
func decodeField(raw json.RawMessage, to any) error {
	if raw == nil {
		return nil
	}
	return json.Unmarshal(raw, to)
}

// protocolText returns the field protocol: the name, or an object if there are parameters.
func protocolText(kind preset, params map[string]json.RawMessage) (string, error) {
	params["name"], _ = json.Marshal(withoutVersion(kind.Name())) // a string always encodes
	if _, ok := kind.Protocol.(arbitration.Protocol); ok && params["scores"] == nil {
		params["scores"] = json.RawMessage(`{"problem":5,"solution":5,"market":5}`)
	}
	if len(params) == 1 {
		return string(params["name"]), nil
	}
	b, err := json.Marshal(params)
	return spaced(b), err
}

// spaced returns JSON on one line with spaces between its parts, if no text in it has such parts.
func spaced(b []byte) string { return strings.NewReplacer(`":`, `": `, `,"`, `, "`).Replace(string(b)) }

// kindNames returns the names of all kinds of providers.
func (p *program) kindNames() string {
	var names []string
	for _, k := range p.allKinds() {
		names = append(names, k.name)
	}
	return strings.Join(names, ", ")
}
