package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/elenchus-go/debate/integrations/skill"
)

// skillFolders are where agents look for the skills of a project, or of the user in the home folder: Claude Code and Copilot in the
// first one, and Codex, Gemini CLI and Copilot in the second one.
var skillFolders = []string{".claude", ".agents"}

// writeSkill writes the skill where agents find it.
func (p *program) writeSkill() error {
	for _, agent := range skillFolders {
		path := filepath.Join(agent, "skills", skill.Name, "SKILL.md")
		old, err := os.ReadFile(path)
		switch {
		case err == nil && string(old) == skill.Text:
			continue
		case err == nil:
			if err := p.confirm(fmt.Sprintf("Replace %s?", path)); err != nil {
				return fmt.Errorf("write skill: %w", err)
			}
		}
		if err := writeFile(path, []byte(skill.Text)); err != nil {
			return err
		}
		fmt.Fprintln(p.stdout, path, "written")
	}
	return nil
}
