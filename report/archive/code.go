package archive

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/prompts"
	"github.com/elenchus-go/debate/store"
)

// useTemplates makes the templates that the record has those of the debate. The error says that their texts are not those that
// the debate had.
func (f *File) useTemplates(o *debate.Options, entries []store.Entry) error {
	if f.header.Code == nil {
		return nil
	}
	folders, wrong := prompts.Restore(f.header.Code.Templates)
	sets := map[string]fs.FS{}
	maps.Copy(sets, o.PromptSets)
	for version, folder := range folders {
		sets["version "+version] = folder
	}
	for name, version := range versionsOf(entries) {
		folder, has := folders[version]
		switch {
		case !has:
		case name == "":
			o.Prompts = folder
		default:
			sets[name] = folder
		}
	}
	o.PromptSets = sets
	return wrong
}

// versionsOf returns the version of the templates with which the first turn was made under each name of Config.Prompts.
func versionsOf(entries []store.Entry) map[string]string {
	versions, name := map[string]string{}, ""
	for _, e := range entries {
		switch ev := eventOf(e.Data.(json.RawMessage)).(type) {
		case debate.ConfigChanged:
			var c struct {
				Prompts string `json:"prompts"`
			}
			if json.Unmarshal(ev.Config, &c) == nil {
				name = c.Prompts
			}
		case debate.TurnDone:
			if _, has := versions[name]; !has && ev.Templates != "" {
				versions[name] = ev.Templates
			}
		}
	}
	return versions
}

// checkCode compares what the header says of the debate's code with the entries.
func (f *File) checkCode(is *debate.Code, entries []store.Entry) error {
	c := f.header.Code
	if c == nil {
		return nil
	}
	if !slices.Equal(c.Rules, is.Rules) {
		return fmt.Errorf("the header has the rules %+v, but the entries have %+v", c.Rules, is.Rules)
	}
	for _, name := range slices.Concat(c.Protocols, c.Contracts, c.Tools) {
		quoted, err := json.Marshal(name)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(entries, func(e store.Entry) bool { return bytes.Contains(e.Data.(json.RawMessage), quoted) }) {
			return fmt.Errorf("the header names %.100q, but no entry does", name)
		}
	}
	return nil
}
