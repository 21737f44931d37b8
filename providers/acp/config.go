package acp

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/elenchus-go/debate/transcript"
)

// Config configures an agent. [Claude], [Codex], [Gemini] and [OpenCode] return those of well-known agents.
type Config struct {
	// Command starts the agent: a program, which is looked up in PATH, and its arguments. Required.
	Command []string
	// Dir is the folder in which the agent works. Defaults to the working directory.
	Dir string
	// Mode is the ID of the mode in which the agent works, such as "plan". If it is empty, the agent chooses.
	Mode string
	// Model is the default model, used if a request names none. If it is empty, the agent chooses.
	Model string
	// Permission decides whether the agent may do what it asks for. It must be safe for concurrent use. Defaults to refusing
	// everything.
	Permission func(transcript.Access) bool `json:"-"`
	// Env lists variables as NAME=VALUE, which replace those of the environment. An empty value removes the variable. The
	// environment's keys of services, whose names end in _API_KEY or _AUTH_TOKEN, do not reach the agent unless they are
	// here, because an agent prefers a key to the subscription with which it is signed in.
	Env []string `json:"-"`
	// Session is sent with each new session, as its "_meta". What it means depends on the agent.
	Session map[string]any
	// Numbered says that the agent numbers its messages, so that a message without a number is a notice and not the reply.
	// Otherwise, this is known when the first number has come.
	Numbered bool
	// Timeout limits the time in which the agent sends nothing. Defaults to 5 minutes. A negative value disables the limit.
	Timeout time.Duration
	// Install and SignIn are commands for people, which errors name.
	Install string
	SignIn  string
}

// String returns a description without the environment.
func (c Config) String() string {
	return fmt.Sprintf("acp.Config{Command: %q, Dir: %q, Model: %q}", c.Command, c.Dir, c.Model)
}

// Format writes the result of String for every verb, so that no verb prints a key.
func (c Config) Format(f fmt.State, _ rune) { fmt.Fprint(f, c.String()) }

// Claude returns the configuration of Claude Code, whose program for the protocol is claude-agent-acp. The agent has only
// tools that read.
func Claude() Config {
	return Config{
		Command: []string{"claude-agent-acp"},
		Mode:    "default", // the mode "plan" asks the model for a plan instead of a reply
		Session: map[string]any{
			"claudeCode": map[string]any{"options": map[string]any{"tools": []string{"Read", "Grep", "Glob"}}},
		},
		// The first variable is needed by the user root, and the second one forbids an agent within an agent.
		Env:      []string{"IS_SANDBOX=1", "CLAUDECODE="},
		Numbered: true,
		Install:  "npm install -g @agentclientprotocol/claude-agent-acp",
		SignIn:   "claude auth login",
	}
}

// Codex returns the configuration of Codex, whose program for the protocol is codex-acp.
func Codex() Config {
	return Config{
		Command:  []string{"codex-acp"},
		Mode:     "read-only",
		Numbered: true,
		Install:  "npm install -g @agentclientprotocol/codex-acp",
		SignIn:   "codex login",
	}
}

// Gemini returns the configuration of Gemini CLI.
func Gemini() Config {
	return Config{
		Command: []string{"gemini", "--acp"},
		Mode:    "plan",
		Install: "npm install -g @google/gemini-cli",
		SignIn:  "gemini, and choose how to sign in",
	}
}

// OpenCode returns the configuration of OpenCode.
func OpenCode() Config {
	return Config{
		Command: []string{"opencode", "acp"},
		Mode:    "plan",
		Install: "npm install -g opencode-ai",
		SignIn:  "opencode auth login",
	}
}

// program returns the name of the program.
func (c *Config) program() string { return c.Command[0] }

// Withheld returns the names of the variables in an environment that agents do not get, unless Config.Env has them. The
// environment is a list as os.Environ returns it.
func Withheld(environ []string) (names []string) {
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		if value != "" && isKey(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// isKey reports whether a variable has a service's key.
func isKey(name string) bool {
	return strings.HasSuffix(name, "_API_KEY") || strings.HasSuffix(name, "_AUTH_TOKEN")
}

// environment returns the environment of the agent.
func (c *Config) environment() []string {
	given := map[string]bool{}
	for _, variable := range c.Env {
		name, _, _ := strings.Cut(variable, "=")
		given[name] = true
	}
	left := slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return given[name] || isKey(name)
	})
	for _, variable := range c.Env {
		_, value, _ := strings.Cut(variable, "=")
		if value != "" {
			left = append(left, variable)
		}
	}
	return left
}
