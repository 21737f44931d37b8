package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/elenchus-go/debate/protocol/refine"
)

// defaultConfigPath is the configuration that is read where none is named.
const defaultConfigPath = "debate-config.json"

// configFile are a configuration file.
type configFile struct {
	path      string // empty: there is none
	providers map[string]providerConfig
	roles     map[string]roleConfig
	store     string
	rest      map[string]json.RawMessage // all else: what Engine.ParseConfig reads
}

// providerConfig is a provider in the configuration file. Keys and addresses are never there: whoever gives somebody a
// configuration could send the key elsewhere.
type providerConfig struct {
	Kind  string `json:"kind"`
	Model string `json:"model,omitempty"` // defaults to the environment's KIND_MODEL, else to the kind's own
}

// roleConfig is a roleConfig of critique-refine, whose system prompt may stand in a file.
type roleConfig struct {
	refine.RolePrompt
	File string `json:"file,omitempty"` // relative to the configuration file
}

// withConfigFile reads the configuration file and has use make something of it. One that is missing is as if it were empty; so
// is one that is malformed, unless it was named.
func (p *program) withConfigFile(use func(configFile) error) error {
	path := cmp.Or(p.config, defaultConfigPath)
	s, err := readConfigFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if p.command == "" || p.config != "" {
			p.warnf("there is no configuration %s, defaults are used", path)
		}
		return use(configFile{})
	}
	if err == nil {
		err = use(s)
	}
	if p.config == "" && errors.Is(err, errMalformed) {
		p.warnf("%v; defaults are used", err)
		return use(configFile{})
	}
	return err
}

// errMalformed says that a file is no configuration.
var errMalformed = errors.New("it is malformed")

func readConfigFile(path string) (configFile, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return configFile{}, fmt.Errorf("read configuration: %w", err)
	}
	s, err := parseConfigFile(b)
	if err != nil {
		return configFile{}, malformedError(path, err)
	}
	s.path = path
	return s, nil
}

func malformedError(path string, err error) error {
	return exitErrorf(exitConfiguration, "read configuration %s: %w: %w", path, errMalformed, err)
}

func parseConfigFile(b []byte) (s configFile, err error) {
	if err := json.Unmarshal(b, &s.rest); err != nil {
		return s, err
	}
	if s.rest == nil {
		return s, errors.New("it is null, want an object")
	}
	own := []struct {
		name string
		to   any
	}{{"providers", &s.providers}, {"roles", &s.roles}, {"store", &s.store}}
	for _, f := range own {
		if raw, ok := s.rest[f.name]; ok {
			d := json.NewDecoder(bytes.NewReader(raw))
			d.DisallowUnknownFields()
			if err := d.Decode(f.to); err != nil {
				return s, fmt.Errorf("%s: %w", f.name, err)
			}
			delete(s.rest, f.name)
		}
	}
	for _, name := range []string{"topic", "id"} {
		if _, given := s.rest[name]; given {
			return s, fmt.Errorf("%s: each debate has its own, leave it out", name)
		}
	}
	return s, nil
}

// protocol is what the file says of it: its name, or an object with that and parameters.
func (s configFile) protocol() (name string, params map[string]json.RawMessage, err error) {
	raw, given := s.rest["protocol"]
	if !given || json.Unmarshal(raw, &name) == nil {
		return name, nil, nil
	}
	err = json.Unmarshal(raw, &params)
	if given := params["name"]; err == nil && given != nil {
		err = json.Unmarshal(given, &name)
	}
	if err != nil {
		return "", nil, malformedError(s.path, fmt.Errorf("protocol: %w", err))
	}
	return name, params, nil
}
