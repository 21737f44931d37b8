package main

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/elenchus-go/debate"
)

//go:embed config.schema.json
var configSchema []byte

//go:embed config.jsonc.tmpl
var configTemplate string

// writeConfig writes a configuration with comments for the protocol of --protocol and the service that the environment has
// a key of, and the JSON Schema of configurations next to it.
func (p *program) writeConfig() error {
	path := cmp.Or(p.output, commentedConfigPath)
	schema := strings.TrimSuffix(path, filepath.Ext(path)) + ".schema.json"
	kind, _, err := p.choosePreset(configFile{})
	if err != nil {
		return err
	}
	text, err := p.exampleConfig(kind, filepath.Base(schema))
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

// exampleConfig returns a configuration for a protocol.
func (p *program) exampleConfig(kind preset, schema string) ([]byte, error) {
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
	var lists [2]string
	for i, list := range [][]debate.Participant{kind.agents, judges} {
		var lines []string
		for _, a := range list {
			b, err := json.Marshal(a)
			if err != nil {
				return nil, err
			}
			lines = append(lines, "    "+strings.NewReplacer(`":`, `": `, `,"`, `, "`).Replace(string(b)))
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
	err = t.Execute(&b, map[string]string{
		"Schema": string(address), "Kinds": p.kindNames(), "Kind": service.name, "Model": service.model, "Variable": service.envVar,
		"Protocol": withoutVersion(kind.Name()), "Protocols": strings.Join(sortedKeys(presets), ", "), "Participants": lists[0], "Judges": lists[1],
	})
	return b.Bytes(), err
}

// kindNames returns the names of all kinds of providers.
func (p *program) kindNames() string {
	var names []string
	for _, k := range p.allKinds() {
		names = append(names, k.name)
	}
	return strings.Join(names, ", ")
}
