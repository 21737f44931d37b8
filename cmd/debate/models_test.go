package main

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/price"
)

// chosen returns the providers and models that flags choose for a panel of three with one judge.
func chosen(t *testing.T, s configFile, models, judgeModels []string) (map[string]string, error) {
	t.Helper()
	p := &program{options: options{models: models, judgeModels: judgeModels}, env: environment(), stderr: &output{}}
	c := debate.Config{Participants: []debate.Participant{{Name: "Ada"}, {Name: "Bo"}, {Name: "Cy"}, {Name: "Di", Human: true}}, Judges: []debate.Participant{{Name: "Judge"}}}
	err := p.chooseModels(s, &c)
	got := map[string]string{}
	for _, a := range slices.Concat(c.Participants, c.Judges) {
		got[a.Name] = strings.TrimSuffix(a.Provider+"/"+a.Model, "/")
	}
	return got, err
}

func TestModelsAreChosenByFlags(t *testing.T) {
	file := configFile{providers: map[string]providerConfig{"main": {Kind: "openai"}}}
	for _, tt := range []struct {
		name          string
		models, judge []string
		want          string // Ada, Bo, Cy, Di, Judge
	}{
		{"none", nil, nil, " , , , , "},
		{"one for all", []string{"openai/gpt-5-mini"}, nil, "openai/gpt-5-mini, openai/gpt-5-mini, openai/gpt-5-mini, , openai/gpt-5-mini"},
		{"two in turn", []string{"openai/x", "mistral/y"}, nil, "openai/x, mistral/y, openai/x, , openai/x"},
		{"a judge", []string{"openai/x"}, []string{"anthropic/z"}, "openai/x, openai/x, openai/x, , anthropic/z"},
		{"only a judge", nil, []string{"anthropic/z"}, ", , , , anthropic/z"},
		{"names", []string{"google/x", "Bo=mistral/y", "Judge = openai/z"}, nil, "google/x, mistral/y, google/x, , openai/z"},
		{"slashes", []string{"openrouter/meta-llama/llama-3.3-70b-instruct"}, nil, strings.Repeat("openrouter/meta-llama/llama-3.3-70b-instruct, ", 3) + ", openrouter/meta-llama/llama-3.3-70b-instruct"},
		{"the default model", []string{"ollama"}, nil, "ollama, ollama, ollama, , ollama"},
		{"a provider of the configuration", []string{"main/x"}, nil, "main/x, main/x, main/x, , main/x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := chosen(t, file, tt.models, tt.judge)
			require.NoError(t, err)
			for i, name := range []string{"Ada", "Bo", "Cy", "Di", "Judge"} {
				require.Equal(t, strings.TrimSpace(strings.Split(tt.want, ",")[i]), got[name], name)
			}
		})
	}
	for text, says := range map[string]string{
		"gpt-5":         "--model gpt-5, want PROVIDER/MODEL, such as openai/gpt-5-mini, with one of the providers main, openai, anthropic, mistral, google, openrouter, ollama, agent/claude, agent/codex, agent/gemini, agent/opencode, offline",
		"":              "want PROVIDER/MODEL",
		"Zoe=openai/x":  "--model Zoe=...: the debate has no model of this name",
		"Di=openai/x":   "--model Di=...: the debate has no model of this name",
		"Ada=nothing/x": "want PROVIDER/MODEL",
	} {
		_, err := chosen(t, file, []string{text}, nil)
		require.ErrorContains(t, err, says)
	}
	_, err := chosen(t, file, nil, []string{"Judge=openai/x"})
	require.ErrorContains(t, err, "--judge-model Judge=openai/x names an actor, use --model Judge=openai/x for a judge of this name")
}

// Models of two services debate without a configuration file, at addresses that flags and the environment give.
func TestServicesOfOneDebate(t *testing.T) {
	folder(t)
	var mine, other []string
	own := server(t, func(n int, _ http.ResponseWriter, prompt string) string {
		if n >= 0 {
			mine = append(mine, prompt)
		}
		return echo(prompt)
	})
	second := server(t, func(n int, _ http.ResponseWriter, prompt string) string {
		if n >= 0 {
			other = append(other, prompt)
		}
		return echo(prompt)
	})
	env := environment("OPENAI_BASE_URL", own("OPENAI_BASE_URL"), "MISTRAL_API_KEY", "sk-mistral-0123456789")
	code, _, stderr := start(t, env, "--protocol", "skeptic", "--rounds", "1", "--model", "openai/alpha", "--model", "mistral/beta", "--judge-model", "openai/gamma",
		"--base-url", "mistral="+second("OPENAI_BASE_URL"), topic)
	require.Equal(t, 0, code, stderr)
	require.Len(t, other, 1)
	require.Contains(t, other[0], `"model":"beta"`)
	require.NotEmpty(t, mine)
	for _, prompt := range mine {
		require.NotContains(t, prompt, `"model":"beta"`)
	}
	require.NotContains(t, stderr, "spent", "the price of another server is unknown")

	code, _, stderr = start(t, env, "--model", "anthropic/x", topic)
	require.Equal(t, 4, code)
	require.Contains(t, stderr, "connect provider anthropic: no API key for anthropic, set ANTHROPIC_API_KEY")
	for _, text := range []string{"mistral", "mistral=", "oracle=http://me:hush@127.0.0.1", "=http://127.0.0.1"} {
		code, _, stderr = start(t, env, "--base-url", text, topic)
		require.Equal(t, 2, code)
		require.NotContains(t, stderr, "hush")
		require.Contains(t, stderr, "want KIND=URL with one of the kinds openai, anthropic, mistral, google, openrouter, ollama")
	}
}

func TestBuiltInPricesHaveADateAndASource(t *testing.T) {
	list, err := listPrices()
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, l := range list {
		name := l.Service + "/" + l.Model
		require.False(t, seen[name], name)
		seen[name] = true
		require.Positive(t, l.Input, name)
		require.Less(t, l.Cached, l.Input, name)
		require.GreaterOrEqual(t, l.Output, l.Input, name)
		require.Contains(t, l.Source, ".", name)
		date, err := time.Parse(time.DateOnly, l.Date)
		require.NoError(t, err, name)
		require.True(t, date.After(time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)), name)
	}
	for _, k := range providerKinds {
		if k.name != "openrouter" && k.name != "ollama" {
			require.True(t, seen[k.name+"/"+k.model], "the default model of %s has no price", k.name)
		}
	}
}

// A debate uses the user's prices, and else the built-in ones of its models, in their dated versions too.
func TestPricesOfADebate(t *testing.T) {
	folder(t, "p.json", `{"gpt-5": {"input": 1, "output": 2}, "llama": {}}`, "bad.json", `[]`,
		"field.json", `{"gpt-5": {"imput": 1, "output": 2}}`, "minus.json", `{"gpt-5": {"input": 1, "output": -2}}`, "two.json", `{} {}`)
	actors := []debate.Participant{
		{Provider: "openai", Model: "gpt-5"},
		{Provider: "main", Model: "gpt-4.1-mini-2025-04-14"},
		{Provider: "openai", Model: "gpt-5-ultra"},
		{Provider: "openrouter", Model: "gpt-4o"},
		{Provider: "anthropic", Model: "claude-sonnet-4-5-20250929"},
		{Human: true, Provider: "openai", Model: "o3"},
		{Provider: "mistral", Model: "mistral-medium-latest"},
	}
	s := configFile{providers: map[string]providerConfig{"main": {Kind: "openai"}}}
	p := &program{options: options{prices: "p.json"}, env: environment("MISTRAL_BASE_URL", "http://127.0.0.1:1")}
	c := debate.Config{Participants: actors, Prices: price.Prices{"gpt-5": {Input: 9, Output: 9}, "other": {Input: 3}}}
	require.NoError(t, p.setPrices(s, &c))
	require.Equal(t, price.Prices{
		"gpt-5": {Input: 1, Output: 2}, "llama": {}, "other": {Input: 3},
		"gpt-4.1-mini-2025-04-14": {Input: 0.4, Cached: 0.1, Output: 1.6}, "claude-sonnet-4-5-20250929": {Input: 3, Cached: 0.3, Written: 3.75, Output: 15},
	}, c.Prices)

	// Lookup uses the price of gpt-5 for gpt-5-mini, unless that has one.
	p.prices, c = "", debate.Config{Participants: []debate.Participant{{Provider: "openai", Model: "gpt-5"}, {Provider: "openai", Model: "gpt-5-mini"}}}
	require.NoError(t, p.setPrices(s, &c))
	require.Equal(t, price.Prices{"gpt-5": {Input: 1.25, Cached: 0.125, Output: 10}, "gpt-5-mini": {Input: 0.25, Cached: 0.025, Output: 2}}, c.Prices)
	c.Prices = price.Prices{"gpt-5": {Input: 9, Output: 9}}
	require.NoError(t, p.setPrices(s, &c))
	require.Equal(t, price.Prices{"gpt-5": {Input: 9, Output: 9}, "gpt-5-mini": {Input: 0.25, Cached: 0.025, Output: 2}}, c.Prices)
	for file, says := range map[string]string{
		"bad.json": "read prices: bad.json: json: ", "none.json": "read prices: open none.json",
		"field.json": `unknown field "imput"`, "minus.json": "gpt-5: a price is below 0", "two.json": "more follows the object",
	} {
		p.prices = file
		require.ErrorContains(t, p.setPrices(s, &c), says)
	}
}

// What was spent is shown, and bounded.
func TestACostIsShownAndBounded(t *testing.T) {
	folder(t, "p.json", `{"tiny": {"input": 100, "output": 100}}`)
	env := server(t, func(_ int, _ http.ResponseWriter, prompt string) string { return echo(prompt) })
	args := []string{"--protocol", "skeptic", "--rounds", "3", topic}
	code, _, stderr := start(t, env, append(args, "--prices", "p.json")...)
	require.Equal(t, 0, code, stderr)
	require.Regexp(t, `output tokens, [0-9.]+ spent, `, stderr)
	code, _, stderr = start(t, env, append(args, "--max-cost", "1")...)
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "tiny\" has no price")
	require.NotContains(t, stderr, "persona_assigner", "it has the model of a participant, and was not configured")
	require.NotContains(t, stderr, "summarizer")
	code, _, stderr = start(t, env, append(args, "--model", "openai/gpt-4.1-mini", "--max-cost", "1")...)
	require.Equal(t, 0, code, stderr)
	require.Equal(t, 1, strings.Count(stderr, "the limit of costs uses the price of gpt-4.1-mini at openai; if your server charges another one, use --prices"), "a server at another address")
	code, _, stderr = start(t, env, append(args, "--model", "openai/gpt-4.1-mini")...)
	require.Equal(t, 0, code, stderr)
	require.NotContains(t, stderr, " spent, ", "without a limit, the price of another server is unknown")
	code, _, stderr = start(t, env, append(args, "--prices", "p.json", "--max-cost", "1.8")...)
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stderr, "the debate ends: cost budget")
	code, _, stderr = start(t, env, append(args, "--max-cost", "0")...)
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "--max-cost 0, use more than 0")
}

func TestPricesAreListed(t *testing.T) {
	folder(t, defaultConfigPath, `{"prices": {"gpt-4o": {"input": 7, "output": 8}}}`, "p.json", `{"house/m": {"input": 0.5, "cached": 0.1, "output": 2}}`)
	code, stdout, stderr := start(t, environment(), "prices", "--prices", "p.json")
	require.Equal(t, 0, code, stderr)
	require.Regexp(t, `(?m)^MODEL +INPUT +CACHED +WRITTEN +OUTPUT +DATE +SOURCE$`, stdout)
	require.Regexp(t, `(?m)^gpt-4o +7 +7 +7 +8 +- +your prices$`, stdout)
	require.Regexp(t, `(?m)^house/m +0.5 +0.1 +0.5 +2 +- +your prices$`, stdout)
	require.NotContains(t, stdout, "openai/gpt-4o ")
	require.Regexp(t, `(?m)^openai/gpt-4.1-mini +0.4 +0.1 +0.4 +1.6 +2025-07-04 +\S+genai-prices, `, stdout)

	_, stdout, _ = start(t, environment(), "prices", "anthropic/claude-haiku")
	require.Equal(t, 3, strings.Count(stdout, "\n"), stdout)
	_, stdout, _ = start(t, environment(), "prices", "o4-mini", "--json")
	require.JSONEq(t, `[{"service": "openai", "model": "o4-mini", "input": 1.1, "cached": 0.275, "output": 4.4, "date": "2025-07-04", "source": "github.com/pydantic/genai-prices, from developers.openai.com/api/docs/pricing"}]`, stdout)
}

// Users of the command set variables of the environment, not options.
func TestHintsNameTheVariable(t *testing.T) {
	for _, kind := range []providers.ErrorKind{providers.Authentication, providers.Billing} {
		require.Contains(t, hint(&debate.Failure{Kind: kind, Provider: "mistral"}), " in MISTRAL_API_KEY")
		require.Contains(t, hint(&debate.Failure{Kind: kind, Provider: "main"}), " in the environment; see debate help environment")
	}
	require.NotContains(t, hint(&debate.Failure{Kind: providers.Authentication, Provider: "ollama"}), "OLLAMA_HOST", "it has the address")
	limited := &debate.Failure{Kind: providers.RateLimit, Provider: "mistral"}
	require.Equal(t, limited.Hint(), hint(limited))
}
