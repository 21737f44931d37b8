package main

import (
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"strings"
)

// purposes says what a debate can be for. Each purpose has a configuration in the folder purposes; docs/choose.md compares
// them.
var purposes = map[string]string{
	"answer":     "a right answer",
	"baseline":   "one answer of one model, to compare with",
	"claim":      "a hard claim attacked",
	"decision":   "a decision, yes or no, or between options given with --option",
	"evaluation": "the scores of an evaluation checked",
	"plan":       "a plan or specification criticized and improved",
	"ranking":    "the best of several answers, and a ranking",
	"review":     "a change or documents reviewed: findings, and whether to approve",
	"sides":      "both sides heard",
	"text":       "a better text",
}

//go:embed purposes/*.json
var purposeFiles embed.FS

// purposeConfig returns the configuration of a purpose.
func purposeConfig(name string) ([]byte, error) {
	if purposes[name] == "" {
		return nil, exitErrorf(exitInput, "choose purpose: %q is unknown, use one of %s", name, strings.Join(sortedKeys(purposes), ", "))
	}
	return purposeFiles.ReadFile(path.Join("purposes", name+".json"))
}

// withPurpose returns a configuration file with the protocol, the participants and the judges of --for in place of its own.
// If --scores or --agents is given, it still applies.
func (p *program) withPurpose(s configFile) (configFile, error) {
	if p.purpose == "" {
		return s, nil
	}
	if p.protocol != "" {
		return s, exitErrorf(exitInput, "choose purpose: --for %s sets the protocol, remove --protocol", p.purpose)
	}
	b, err := purposeConfig(p.purpose)
	if err != nil {
		return s, err
	}
	own, err := parseConfigFile(b)
	if err != nil {
		return s, fmt.Errorf("read the configuration of --for %s: %w", p.purpose, err)
	}
	rest := map[string]json.RawMessage{}
	maps.Copy(rest, s.rest)
	var replaced []string
	for _, field := range []string{"protocol", "participants", "judges"} {
		if rest[field] != nil {
			replaced = append(replaced, field)
		}
		delete(rest, field)
	}
	if len(replaced) > 0 {
		p.warnf("ignoring %s in %s, because of --for %s", strings.Join(replaced, ", "), s.path, p.purpose)
	}
	for field, value := range own.rest {
		if rest[field] == nil { // a limit of the file counts
			rest[field] = value
		}
	}
	s.rest = rest
	return s, nil
}
