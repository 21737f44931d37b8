package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/protocol/refine"
)

// The configuration files that the command reads without --config. If there are both, it reads the first one, which init
// writes: editors allow comments in files of this name.
const (
	commentedConfigPath = "debate-config.jsonc"
	defaultConfigPath   = "debate-config.json"
)

// configFile holds the contents of a configuration file.
type configFile struct {
	path      string // empty if there is no file
	about     string // what its debates are good for, for models that choose one over MCP
	providers map[string]providerConfig
	roles     map[string]roleConfig
	documents []documentConfig // those in files
	store     string
	rest      map[string]json.RawMessage // all other fields, which Engine.ParseConfig reads
}

// providerConfig is a provider in the configuration file. It has no key and no address: a configuration from somebody
// else could send the user's key to another server. A command counts only in a file of --config.
type providerConfig struct {
	Kind   string `json:"kind"`
	Model  string `json:"model,omitempty"`   // defaults to KIND_MODEL in the environment, or else to the default of the kind
	NumCtx int    `json:"num_ctx,omitempty"` // context window of Ollama's models in tokens; defaults to defaultNumCtx

	// Of agents, whose names begin with agent/:
	Command []string `json:"command,omitempty"` // the program and its arguments; defaults to those of an agent that the command knows
	Mode    string   `json:"mode,omitempty"`    // the agent's mode, in which it only reads
	Env     []string `json:"env,omitempty"`     // names of variables with keys, which the agent gets although it otherwise gets none
}

// roleConfig is a role of refine. Its system prompt may be in a file.
type roleConfig struct {
	refine.RolePrompt
	File string `json:"file,omitempty"` // relative to the configuration file
}

// documentConfig is a document, or a folder with documents, in the configuration file.
type documentConfig struct {
	File    string   `json:"file"` // relative to the configuration file
	Readers []string `json:"readers"`
}

// withConfigFile reads the configuration file and calls use with it. If there is none and --config names none, it calls use with
// an empty configuration.
func (p *program) withConfigFile(use func(configFile) error) error {
	path := cmp.Or(p.config, defaultConfigPath)
	if p.config == "" && fileExists(commentedConfigPath) {
		path = commentedConfigPath
	}
	s, err := readConfigFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if p.config != "" {
			return exitErrorf(exitInput, "read configuration: there is no file %s; debate init writes one", path)
		}
		return use(configFile{})
	}
	if err != nil {
		return err
	}
	return use(s)
}

// errMalformed marks the errors of a file that is not a configuration.
var errMalformed = errors.New("malformed")

func readConfigFile(path string) (configFile, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return configFile{}, exitErrorf(exitInput, "read configuration: %w", err)
	}
	s, err := parseConfigFile(b)
	if err != nil {
		return configFile{}, malformedError(path, err)
	}
	s.path = path
	return s, nil
}

func malformedError(path string, err error) error {
	return exitErrorf(exitInput, "read configuration %s: %w: %w", path, errMalformed, err)
}

func parseConfigFile(b []byte) (s configFile, err error) {
	plain := withoutComments(b)
	if err := json.Unmarshal(plain, &s.rest); err != nil {
		return s, located(plain, err)
	}
	if s.rest == nil {
		return s, errors.New("value is null, want an object")
	}
	own := []struct {
		name string
		to   any
	}{{"providers", &s.providers}, {"roles", &s.roles}, {"store", &s.store}, {"description", &s.about}}
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
	if err := s.takeDocuments(); err != nil {
		return s, err
	}
	delete(s.rest, "$schema") // for editors
	for _, name := range []string{"topic", "id"} {
		if _, given := s.rest[name]; given {
			return s, fmt.Errorf("%s: not allowed here, because each debate has its own", name)
		}
	}
	return s, nil
}

// located adds the line and the column to an error of the syntax of a text.
func located(text []byte, err error) error {
	wrong, ok := errors.AsType[*json.SyntaxError](err)
	if !ok {
		return err
	}
	before := text[:max(min(wrong.Offset-1, int64(len(text))), 0)]
	if strings.HasPrefix(err.Error(), "unexpected end") {
		before = text
	}
	line := bytes.LastIndexByte(before, '\n') + 1
	return fmt.Errorf("line %d, column %d: %w", bytes.Count(before, []byte{'\n'})+1, utf8.RuneCount(before[line:])+1, err)
}

// takeDocuments moves the documents that name a file from the other fields.
func (s *configFile) takeDocuments() error {
	var list, others []json.RawMessage
	if json.Unmarshal(s.rest["documents"], &list) != nil {
		return nil // an error is reported when a debate is created
	}
	for i, raw := range list {
		var fields map[string]json.RawMessage
		if json.Unmarshal(raw, &fields) != nil || fields["file"] == nil {
			others = append(others, raw)
			continue
		}
		var d documentConfig
		r := json.NewDecoder(bytes.NewReader(raw))
		r.DisallowUnknownFields()
		switch err := r.Decode(&d); {
		case err != nil:
			return fmt.Errorf("documents[%d]: %w; a document with a file has only the fields file and readers", i, err)
		case d.File == "":
			return fmt.Errorf("documents[%d].file: it is empty, want the path of a file or a folder", i)
		case len(d.Readers) == 0:
			return fmt.Errorf("documents[%d].readers: it is empty: name who reads the document, or use [%q] for all", i, evidence.Everybody)
		}
		s.documents = append(s.documents, d)
	}
	delete(s.rest, "documents")
	if len(others) > 0 {
		s.rest["documents"], _ = json.Marshal(others) // it was read from JSON
	}
	return nil
}

// actorModels returns the models that the file names for participants, judges and substitutes, by name.
func (s configFile) actorModels() map[string]string {
	models := map[string]string{}
	for _, field := range []string{"participants", "judges", "substitutes"} {
		var list []struct{ Name, Model string }
		_ = json.Unmarshal(s.rest[field], &list) // an error is reported when a debate is created
		for _, a := range list {
			if a.Model != "" {
				models[a.Name] = a.Model
			}
		}
	}
	return models
}

// protocol returns the name and the parameters of the protocol in the file. The file has a name, or an object with the name
// and parameters.
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

// relative returns a path of the configuration file. Relative paths are relative to that file.
func (s configFile) relative(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(s.path), path)
}

// addProviders adds the providers of another configuration file, of what is called so.
func (s *configFile) addProviders(what string, other configFile) error {
	for name, config := range other.providers {
		if known, ok := s.providers[name]; ok && !reflect.DeepEqual(known, config) {
			return exitErrorf(exitInput, "read %s: provider %q is another one than in a configuration before it, use another name", what, name)
		}
		if s.providers == nil {
			s.providers = map[string]providerConfig{}
		}
		s.providers[name] = config
	}
	return nil
}
