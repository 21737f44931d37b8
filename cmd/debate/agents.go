package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/acp"
)

// agentKind stands in the configuration file for an agent whose command it names. The names of all agents begin with it and a slash.
const agentKind = "agent"

// agents returns the settings of each agent that the command knows, by the name of its provider.
var agents = map[string]func() acp.Config{
	"agent/claude": acp.Claude, "agent/codex": acp.Codex, "agent/gemini": acp.Gemini, "agent/opencode": acp.OpenCode,
}

// openAgent opens an agent with the settings of the configuration file. It says once that agents get no keys.
func (p *program) openAgent(c acp.Config, m providerConfig, env func(string) string) (providers.Provider, error) {
	if len(m.Command) > 0 {
		if p.config == "" {
			return nil, exitErrorf(exitInput,
				"its command is in a file that --config does not name: a folder from somebody else could run any program; use --config FILE")
		}
		c.Command = m.Command
	}
	if m.Mode != "" {
		c.Mode = m.Mode
	}
	c.Model = m.Model
	c.Dir = p.dir
	for _, name := range m.Env {
		c.Env = append(c.Env, name+"="+env(name))
	}
	agent, err := acp.New(c)
	if err != nil {
		return nil, err
	}
	p.running = append(p.running, agent)
	withheld := slices.DeleteFunc(acp.Withheld(os.Environ()), func(name string) bool { return slices.Contains(m.Env, name) })
	if len(withheld) > 0 && len(p.running) == 1 {
		p.say(fmt.Sprintf(
			"Agents get no key from the environment (%s), so they use the accounts with which they are signed in. To pass a key on, name it in env of the agent, in the configuration.",
			joinFirst(withheld, 3)))
	}
	return agent, nil
}

// closeAgents ends the processes of agents.
func (p *program) closeAgents() {
	for _, agent := range p.running {
		_ = agent.Close() // it never fails
	}
}

// splitModel splits PROVIDER/MODEL. The name of an agent has a slash.
func splitModel(text string) (provider, model string) {
	provider, model, _ = strings.Cut(text, "/")
	if provider != agentKind {
		return provider, model
	}
	name, model, _ := strings.Cut(model, "/")
	return agentKind + "/" + name, model
}

// installedAgents returns the names of the agents whose programs are installed.
func installedAgents() (names []string) {
	for _, name := range sortedKeys(agents) {
		_, err := exec.LookPath(agents[name]().Command[0])
		if err == nil {
			names = append(names, name)
		}
	}
	return names
}

// agentHint returns what can be done if an agent is not signed in, or an empty text if the provider is no agent.
func agentHint(provider string) string {
	if config, known := agents[provider]; known {
		return fmt.Sprintf("%s is not signed in, or its account is refused: run %s", provider, config().SignIn)
	}
	if strings.HasPrefix(provider, agentKind+"/") {
		return fmt.Sprintf("%s is not signed in, or its account is refused: sign in with its own program", provider)
	}
	return ""
}
