package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/transcript"
)

// c returns the configuration that flags and files lead to.
func c(t *testing.T, protocol string, args ...string) debate.Config {
	t.Helper()
	cfg, warnings, err := compose(t, append([]string{"--protocol", protocol, topic}, args...)...)
	require.NoError(t, err, warnings)
	return cfg
}

func compose(t *testing.T, args ...string) (cfg debate.Config, warnings string, err error) {
	t.Helper()
	var stderr output
	p := &program{ctx: t.Context(), stdout: &output{}, stderr: &stderr, terminal: &stderr, env: environment()}
	root := p.rootCommand()
	require.NoError(t, root.ParseFlags(args))
	require.NoError(t, root.ValidateArgs(root.Flags().Args()))
	err = p.withConfigFile(func(s configFile) (err error) {
		cfg, err = p.buildConfig(s, topic)
		return err
	})
	return cfg, stderr.String(), err
}

// composed returns the configuration and the warnings of compose, which must not fail.
func composed(t *testing.T, args ...string) (cfg debate.Config, warnings string) {
	t.Helper()
	cfg, warnings, err := compose(t, args...)
	require.NoError(t, err)
	return cfg, warnings
}

func names(list []debate.Participant) (names []string) {
	for _, p := range list {
		names = append(names, p.Name)
	}
	return names
}

func TestFlagsBeatTheFileThatBeatsTheUsualOne(t *testing.T) {
	folder(t,
		defaultConfigPath, `{"protocol": "vote", "limits": {"max_rounds": 4}, "participants": [{"name": "A"}, {"name": "B"}]}`,
		"c.json", `{"protocol": "panel/1", "limits": {"max_rounds": 3}, "participants": [{"name": "C"}, {"name": "D"}, {"name": "E", "disabled": true}]}`)

	is, _ := composed(t, topic)
	require.Equal(t, "vote/1", is.Protocol.Name())
	require.Equal(t, 4, is.Limits.MaxRounds)
	require.Equal(t, []string{"A", "B"}, names(is.Participants))

	is, _ = composed(t, topic, "--config", "c.json")
	require.Equal(t, "panel/1", is.Protocol.Name())
	require.Equal(t, 3, is.Limits.MaxRounds)
	require.Equal(t, []string{"C", "D", "E"}, names(is.Participants))

	is, _ = composed(t, topic, "--config", "c.json", "--protocol", "vote", "--rounds", "2", "--agents", "E, C")
	require.Equal(t, "vote/1", is.Protocol.Name())
	require.Equal(t, 2, is.Limits.MaxRounds)
	require.Equal(t, []string{"E", "C"}, names(is.Participants))
	require.False(t, is.Participants[0].Disabled, "it was selected")
}

func TestWhatAConfigurationLeavesOutIsSaid(t *testing.T) {
	for _, tt := range []struct {
		name, file string
		args       []string
		warnings   string
	}{
		{"complete", `{"providers": {"p": {"kind": "offline"}}, "protocol": "vote", "participants": [{"name": "A"}, {"name": "B"}]}`, nil, ""},
		{"incomplete", `{"providers": {"p": {"kind": "offline"}}, "protocol": {"name": "panel"}}`, nil, "warning: c.json does not set participants, judges; using defaults\n"},
		{"empty", `{}`, nil, "warning: c.json does not set providers, protocol, participants, judges; using defaults\n"},
		{"some from flags", `{}`, []string{"--protocol", "vote", "--agents", "A,B"}, "warning: c.json does not set providers; using defaults\n"},
		{"scores", `{}`, []string{"--protocol", "arbitration", "--scores", "problem=1,solution=2,market=3"}, "warning: c.json does not set providers, participants, judges; using defaults\n"},
		{
			"roles of judges", `{"providers": {"p": {"kind": "offline"}}, "protocol": "panel", "participants": [{"name": "A"}, {"name": "B"}],
				"judges": [{"name": "J", "role": "economist"}], "substitutes": [{"name": "S", "role": "lawyer"}]}`, nil,
			"warning: ignoring the role \"economist\" of J, because judges have no roles\nwarning: ignoring the role \"lawyer\" of S, because judges have no roles\n",
		},
		{
			"roles that nobody has", `{"providers": {"p": {"kind": "offline"}}, "protocol": "refine", "judges": [{"name": "J"}],
				"roles": {"costs": {"system": "You look at costs."}, "law": {"system": "You look at the law."}, "none": {}}}`,
			[]string{"--agents", "costs,security"},
			"warning: role none: it has neither a file nor a text; ignoring it\nwarning: ignoring the role \"law\" in c.json, because no participant has it\n",
		},
		{
			"roles that the protocol does not know", `{"providers": {"p": {"kind": "offline"}}, "protocol": "skeptic", "judges": [{"name": "J"}],
				"participants": [{"name": "A", "role": "poet"}, {"name": "B", "role": "skeptic"}]}`, nil,
			"warning: ignoring the role \"poet\" of A, because the roles of skeptic are proposer and skeptic\n",
		},
		{
			"parameters of another protocol", `{"protocol": {"name": "vote", "topology": "ring"}}`,
			[]string{"--protocol", "panel", "--agents", "A,B"},
			"warning: ignoring the parameters of protocol vote in c.json, because --protocol is panel\nwarning: c.json does not set providers, judges; using defaults\n",
		},
		{
			"roles of another protocol", `{"protocol": "vote", "roles": {"own": {"system": "x"}}}`,
			[]string{"--agents", "A,B"},
			"warning: c.json does not set providers; using defaults\nwarning: ignoring the roles in c.json, because protocol vote does not use them\n",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			folder(t, "c.json", tt.file)
			is, warnings := composed(t, append([]string{topic, "--config", "c.json"}, tt.args...)...)
			require.Equal(t, tt.warnings, warnings)
			require.GreaterOrEqual(t, len(is.Participants), 2)
		})
	}
}

func TestWithoutAConfigurationThereAreDefaults(t *testing.T) {
	folder(t)
	is, warnings := composed(t, topic)
	require.Empty(t, warnings)
	require.Equal(t, []string{"Ada", "Bo"}, names(is.Participants))
	_, _, err := compose(t, topic, "--config", "no.json")
	require.EqualError(t, err, "read configuration: there is no file no.json; debate init writes one")
	failed, ok := errors.AsType[*exitError](err)
	require.True(t, ok)
	require.Equal(t, exitInput, failed.code)
}

func TestAMalformedConfigurationIsAnError(t *testing.T) {
	for _, text := range []string{`{`, `null`, `[]`, `{"roles": 3}`, `{"providers": {"p": {"key": "x"}}}`, `{"protocol": 3}`, `{"protocol": {"name": "vote", "topolgy": "ring"}}`, `{"limits": {"running_time": "long"}}`} {
		folder(t, defaultConfigPath, text)
		_, _, err := compose(t, topic, "--config", defaultConfigPath)
		require.ErrorIs(t, err, errMalformed, text)

		_, _, err = compose(t, topic)
		require.ErrorIs(t, err, errMalformed, text)
	}
}

// An error of the syntax names its place, also behind comments.
func TestTheSyntaxErrorOfAConfigurationHasAPlace(t *testing.T) {
	for text, want := range map[string]string{
		"{\n  \"protocol\": vote\n}":             "line 2, column 15: invalid character 'v'",
		"{ // ä comment\n  \"é\": 1 \"b\": 2\n}": "line 2, column 10: invalid character '\"'",
		"{\n  \"protocol\": \"vote\"\n":          "line 3, column 1: unexpected end",
		"\ufeff{}":                               "line 1, column 1: invalid character",
		"":                                       "line 1, column 1: unexpected end",
	} {
		folder(t, defaultConfigPath, text)
		_, _, err := compose(t, topic)
		require.ErrorIs(t, err, errMalformed)
		require.ErrorContains(t, err, "read configuration "+defaultConfigPath+": malformed: "+want)
	}
}

func TestAgentsAreSelected(t *testing.T) {
	const own = `{"protocol": "refine", "roles": {"costs": {"system": "You look at costs."}},
		"participants": [{"name": "Ann", "role": "security", "model": "m"}, {"name": "Ben", "role": "testing", "disabled": true}]}`
	for _, tt := range []struct {
		name, file string
		args       []string
		want       []string // name, role and model of each participant, or the error
	}{
		{"roles of the protocol's", `{}`, []string{"--protocol", "refine", "--agents", "testing,generalist"}, []string{"testing:testing:", "generalist:generalist:"}},
		{"roles of one's own", own, []string{"--agents", "costs,architect"}, []string{"costs:costs:", "architect:architect:"}},
		{"participants of the file by role and by name", own, []string{"--agents", "security,Ben"}, []string{"Ann:security:m", "Ben:testing:"}},
		{"an unknown one", own, []string{"--agents", "Cid"}, []string{`select agents: "Cid" is unknown, use one of Ann, Ben, architect, generalist, performance, security, testing, costs`}},
		{"names", `{}`, []string{"--protocol", "skeptic", "--agents", "X,Y"}, []string{"X:proposer:", "Y:skeptic:"}},
		{"more than the protocol's own", `{}`, []string{"--protocol", "vote", "--agents", "W,X,Y,Z"}, []string{"W::", "X::", "Y::", "Z::"}},
		{"a role that is none elsewhere", `{"participants": [{"name": "Ann", "role": "poet"}]}`, []string{"--agents", "poet"}, []string{`select agents: "poet" is unknown, use one of Ann`}},
		{"all are disabled", `{"participants": [{"name": "Ann", "disabled": true}]}`, nil, []string{"select agents: all participants in c.json are disabled: Ann"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			folder(t, "c.json", tt.file)
			is, _, err := compose(t, append([]string{topic, "--config", "c.json"}, tt.args...)...)
			if err != nil {
				require.Equal(t, tt.want, []string{err.Error()})
				return
			}
			var got []string
			for _, p := range is.Participants {
				got = append(got, p.Name+":"+p.Role+":"+p.Model)
			}
			require.Equal(t, tt.want, got)
		})
	}
}

// The known roles are those of the protocol.
func TestKnownRolesAreTheProtocols(t *testing.T) {
	folder(t)
	roles := presets["refine"].roles(debate.Config{Protocol: refine.Protocol{}})
	var seats []transcript.Profile
	for _, r := range roles {
		seats = append(seats, transcript.Profile{Name: r, Role: r})
	}
	record := &protocol.Record{Participants: append(seats, transcript.Profile{Name: "x", Role: "x"}), Judges: []string{"J"}, MaxRounds: 1}
	found := refine.Protocol{}.Check(record)
	require.Len(t, found, 1)
	require.Contains(t, found[0].Reason, fmt.Sprintf("the roles are %q", roles))
}

func TestPromptsOfRolesStandInFiles(t *testing.T) {
	folder(t,
		"conf/c.json", `{"roles": {"security": {"file": "prompts/s.md", "refine": "Close holes."}, "testing": {"file": "prompts/blank.md"},
			"architect": {"file": "no.md"}, "own": {"file": "../own.md"}}}`,
		"conf/prompts/s.md", "\ufeffYou look for holes.\n", "conf/prompts/blank.md", " \n", "own.md", "You look at costs.")
	is, warnings := composed(t, topic, "--config", "conf/c.json", "--protocol", "refine", "--agents", "security,testing,own")
	require.Equal(t, map[string]refine.RolePrompt{
		"security": {System: "You look for holes.", Refine: "Close holes.", Source: filepath.Join("conf", "prompts", "s.md")},
		"own":      {System: "You look at costs.", Source: "own.md"},
	}, is.Protocol.(refine.Protocol).Roles)
	require.Contains(t, warnings, "warning: role architect: open ")
	require.Contains(t, warnings, "warning: role testing: ")
	require.Contains(t, warnings, "the text is blank; using the built-in prompt\n")
}

func TestProvidersAreThoseOfTheFile(t *testing.T) {
	const two = `"providers": {"a": {"kind": "offline"}, "b": {"kind": "mistral"}}, "judges": [{"name": "J", "provider": "a"}]`
	for _, tt := range []struct {
		name, file string
		code       int
		says       string
	}{
		{"one without a key", `{"providers": {"b": {"kind": "anthropic"}}}`, 4, "connect provider b: no API key for anthropic, set ANTHROPIC_API_KEY"},
		{
			"an unknown kind", `{"providers": {"b": {"kind": "oracle"}}}`, 2,
			`kind "oracle" is unknown, use one of openai, anthropic, mistral, google, openrouter, ollama, ` +
				`agent/claude, agent/codex, agent/gemini, agent/opencode, agent, offline`,
		},
		{"a key", `{"providers": {"b": {"kind": "openai", "key": "x"}}}`, 2, `unknown field "key"`},
		{"one that nobody asks has no key", `{` + two + `, "participants": [{"name": "A", "provider": "a"}, {"name": "B", "provider": "a"}]}`, 0, ""},
		{"one that is asked has no key", `{` + two + `, "participants": [{"name": "A", "provider": "a"}, {"name": "B", "provider": "b"}]}`, 4, "connect provider b: no API key for mistral, set MISTRAL_API_KEY"},
		{"one that does not exist", `{` + two + `, "participants": [{"name": "A", "provider": "a"}, {"name": "B", "provider": "x"}]}`, 2, `participants[1].provider: "x" is unknown`},
		{"a window of no server", `{"providers": {"b": {"kind": "offline", "num_ctx": 8192}}}`, 2, "connect provider b: num_ctx is a setting of kind ollama, remove it"},
		{"no window", `{"providers": {"b": {"kind": "ollama", "num_ctx": -1}}}`, 2, "connect provider b: create ollama provider: Config.NumCtx is -1, want 0 or a positive number of tokens"},
		{"one that is called as another kind", `{"providers": {"openai": {"kind": "offline"}}}`, 0, ""},
		{"kinds that are named without it", `{"participants": [{"name": "A", "provider": "offline"}, {"name": "B", "provider": "google"}]}`, 4, "connect provider google: no API key for google, set GEMINI_API_KEY"},
		{"none is named", `{"providers": {"a": {"kind": "offline"}, "b": {"kind": "offline"}}}`, 2, "it is empty, use one of a, b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			folder(t, "c.json", tt.file)
			code, _, stderr := start(t, environment(), topic, "--config", "c.json", "--rounds", "1", "--agents", "A,B")
			require.Equal(t, tt.code, code, stderr)
			require.Contains(t, stderr, tt.says)
		})
	}
}

// The example in README.md is a valid configuration.
func TestTheExampleOfAConfigurationWorks(t *testing.T) {
	_, after, _ := strings.Cut(contents(t, "README.md"), "```json\n")
	example, _, ok := strings.Cut(after, "```\n")
	require.True(t, ok)
	folder(t, defaultConfigPath, example, "prompts/security.md", "You look for holes.")
	code, _, stderr := start(t, environment("OPENAI_API_KEY", "x"), topic, "--agents", "nobody")
	require.Equal(t, 2, code)
	require.Contains(t, stderr, `"nobody" is unknown`)
	is, warnings := composed(t, topic)
	require.Empty(t, warnings)
	p := &program{env: environment("OPENAI_API_KEY", "x")}
	s, err := readConfigFile(defaultConfigPath)
	require.NoError(t, err)
	made, _, err := p.openProviders(s, usedProviders(is))
	require.NoError(t, err)
	_, err = debate.New(t.Context(), is, debate.Options{Providers: made})
	require.NoError(t, err, fmt.Sprint(is))
}
