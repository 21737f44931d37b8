package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/prompts"
)

// promptsLabel names the label of a stored debate with the folder of --prompts, so that it continues with the same prompts.
const promptsLabel = "debate.prompts"

// usePrompts sets the prompts of --prompts, or those that a stored debate began with.
func (p *program) usePrompts(o *debate.Options, c *debate.Config) error {
	folder := c.Labels[promptsLabel]
	if p.prompts != "" {
		var err error
		folder, err = filepath.Abs(p.prompts)
		if err != nil {
			return fmt.Errorf("read prompts: %w", err)
		}
	}
	if folder == "" {
		return nil
	}
	if err := checkPrompts(folder); err != nil {
		return err
	}
	o.Prompts = os.DirFS(folder)
	c.Labels = maps.Clone(c.Labels)
	if c.Labels == nil {
		c.Labels = map[string]string{}
	}
	c.Labels[promptsLabel] = folder
	return nil
}

// checkPrompts returns an error for a file that replaces no prompt, because it would have no effect.
func checkPrompts(folder string) error {
	library, err := prompts.Load(nil)
	if err != nil {
		return err
	}
	files, err := os.ReadDir(folder)
	if err != nil {
		return exitErrorf(exitInput, "read prompts: %w", err)
	}
	for _, f := range files {
		name, isTemplate := strings.CutSuffix(f.Name(), ".tmpl")
		if isTemplate && (strings.HasPrefix(name, "_") || library.Has(name)) {
			continue
		}
		return exitErrorf(exitInput,
			"read prompts: %s replaces no prompt, want NAME.tmpl with one of the names %s",
			filepath.Join(folder, f.Name()), strings.Join(library.Names(), ", "))
	}
	if len(files) == 0 {
		return exitErrorf(exitInput, "read prompts: %s contains no templates", folder)
	}
	return nil
}
