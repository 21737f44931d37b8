// Package skill holds a skill for coding agents: it tells them when a debate is worth its cost, which command holds it, and how to read
// the answer. The format of SKILL.md is that of Claude Code, Codex, Gemini CLI, Copilot and others.
package skill

import _ "embed"

// Name is the name of the skill, and of the folder that agents look for.
const Name = "debate"

// Text is the skill: front matter in YAML, and instructions in Markdown.
//
//go:embed SKILL.md
var Text string
