package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	validator "github.com/santhosh-tekuri/jsonschema/v5"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/golden"
)

// The schema of the command's configuration is that of the library, with the fields of the command.
func TestTheSchemaOfConfigurationsIsCurrent(t *testing.T) {
	var schema map[string]any
	b, err := os.ReadFile(filepath.Join(home, "..", "..", "docs", "reference", "configuration.schema.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &schema))
	object := func(description string, properties map[string]any, required ...string) map[string]any {
		return map[string]any{"type": "object", "description": description, "properties": properties, "additionalProperties": false, "required": append([]string{}, required...)}
	}
	text := func(description string) map[string]any {
		return map[string]any{"type": "string", "description": description}
	}
	list := func(description string) map[string]any {
		return map[string]any{"type": "array", "items": map[string]any{"type": "string"}, "description": description}
	}
	defs := schema["$defs"].(map[string]any)
	fields := schema["properties"].(map[string]any)
	delete(fields, "id")
	delete(fields, "topic")
	var names, whole []any
	for _, name := range sortedKeys(presets) {
		version := presets[name].Name()
		defs[name].(map[string]any)["properties"].(map[string]any)["name"] = map[string]any{"enum": []any{name, version}, "description": "The name of the protocol."}
		names = append(names, name, version)
		whole = append(whole, map[string]any{"$ref": "#/$defs/" + name})
	}
	fields["protocol"] = map[string]any{"description": fields["protocol"].(map[string]any)["description"], "anyOf": append([]any{map[string]any{"enum": names}}, whole...)}
	var kinds []any
	for _, k := range (&program{}).allKinds() {
		kinds = append(kinds, k.name)
	}
	fields["$schema"] = text("The address of this schema.")
	fields["store"] = text("The SQLite database that keeps the debates. memory keeps nothing. Defaults to a database in your data folder.")
	fields["description"] = text("What these debates are good for, and what not. Models that choose a kind of debate over MCP read it.")
	fields["providers"] = map[string]any{
		"type": "object", "description": "The services with models, by the names that provider uses.",
		"additionalProperties": object("A service with models.", map[string]any{
			"kind":  map[string]any{"enum": kinds, "description": "The kind of the service. Its key is in the environment."},
			"model": text("The model of those that name none."),
			"num_ctx": map[string]any{"type": "integer", "minimum": 0, "description": fmt.Sprintf(
				"The context window of Ollama's models, in tokens. Defaults to %d. The debate plans for it. More needs more memory.", defaultNumCtx)},
			"command": list("The program of an agent, and its arguments. It counts only in a file that --config names. Defaults to that of an agent that the command knows."),
			"mode":    text("The mode of an agent, in which it only reads."),
			"env":     list("Names of variables with keys that an agent gets. Without them, it uses the account with which it is signed in."),
		}, "kind"),
	}
	role := object("A role of refine.", map[string]any{"file": text("A file with the system prompt, relative to this file.")})
	maps.Copy(role["properties"].(map[string]any), defs["role"].(map[string]any)["properties"].(map[string]any))
	fields["roles"] = map[string]any{"type": "object", "description": "The roles of refine, by name.", "additionalProperties": role}
	file := object("A document in a file, or all documents in a folder. They are stored with the debate if all read them and the prompts have room.", map[string]any{
		"file": text("A file or a folder, relative to this file."), "readers": defs["document"].(map[string]any)["properties"].(map[string]any)["readers"],
	}, "file", "readers")
	fields["documents"].(map[string]any)["items"] = map[string]any{"anyOf": []any{map[string]any{"$ref": "#/$defs/document"}, file}}
	schema["required"] = []any{}
	schema["allowComments"], schema["allowTrailingCommas"] = true, true // for VS Code
	schema["title"], schema["description"] = "Configuration of the command debate", "It may have comments. Flags override it."
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	require.NoError(t, e.Encode(schema))
	golden.Require(t, filepath.Join(home, "config.schema.json"), out.String())
}

// valid returns the error of the schema for a configuration with comments.
func valid(t *testing.T, config string) error {
	t.Helper()
	schema, err := validator.CompileString("config.schema.json", string(configSchema))
	require.NoError(t, err)
	var v any
	require.NoError(t, json.Unmarshal(withoutComments([]byte(config)), &v), config)
	return schema.Validate(v)
}

// With --option, init writes a configuration whose judges or votes decide between the options.
func TestInitWritesOptions(t *testing.T) {
	for name, want := range map[string]string{
		"panel": `{"name":"panel/1","decision":{"options":["Ban them","Keep them"]}}`, "procon": `{"name":"procon/1","decision":{"options":["Ban them","Keep them"]}}`,
		"vote": `{"name":"vote/1","options":["Ban them","Keep them"]}`,
	} {
		folder(t)
		code, _, stderr := start(t, environment(), "init", "--protocol", name, "--option", "Ban them", "--option", "Keep them")
		require.Equal(t, 0, code, stderr)
		require.NoError(t, valid(t, contents(t, commentedConfigPath)))
		is, _ := composed(t, topic)
		raw, err := json.Marshal(is)
		require.NoError(t, err)
		var got struct{ Protocol json.RawMessage }
		require.NoError(t, json.Unmarshal(raw, &got))
		require.JSONEq(t, want, string(got.Protocol))
	}
	folder(t)
	code, _, stderr := start(t, environment(), "init", "--protocol", "mad", "--option", "Ban them", "--option", "Keep them")
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "protocol mad cannot decide between options")
	require.NoFileExists(t, commentedConfigPath)
}

// Init writes a configuration of each protocol that the schema accepts, and with which a debate runs. It is valid too if the
// comments are removed.
func TestInitWritesAConfiguration(t *testing.T) {
	for _, name := range sortedKeys(presets) {
		t.Run(name, func(t *testing.T) {
			folder(t)
			code, stdout, stderr := start(t, environment(), "init", "--protocol", name)
			require.Equal(t, 0, code, stderr)
			require.Equal(t, "debate-config.jsonc and debate-config.schema.json written\n", stdout)
			text := contents(t, commentedConfigPath)
			require.NoError(t, valid(t, text))
			require.Contains(t, text, `"$schema": "./debate-config.schema.json"`)
			require.Equal(t, string(configSchema), contents(t, "debate-config.schema.json"))
			all := strings.ReplaceAll(text[strings.Index(text, "{"):], `// "`, `"`)
			require.NoError(t, valid(t, all))
			require.NoError(t, os.WriteFile(commentedConfigPath, []byte(all), 0o600))
			is, warnings := composed(t, topic)
			require.Empty(t, warnings)
			require.Equal(t, 3, is.Limits.MaxRounds)

			require.NoError(t, os.WriteFile(commentedConfigPath, []byte(text), 0o600)) // without a key, the demo model stays
			code, _, stderr = start(t, environment(), topic)
			require.Equal(t, 0, code, stderr)
			require.NotContains(t, stderr, "using defaults")
		})
	}
}

func TestInitReplacesNothingUnasked(t *testing.T) {
	folder(t, "conf/debate.jsonc", "mine")
	code, stdout, stderr := start(t, environment(), "init", "--output", "conf/debate.jsonc")
	require.Equal(t, 2, code)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "Replace conf/debate.jsonc? Use --yes to answer yes")
	require.Equal(t, "mine", contents(t, "conf/debate.jsonc"))
	require.False(t, fileExists("conf/debate.schema.json"))
	code, _, stderr = start(t, environment("ANTHROPIC_API_KEY", "sk-ant-0123456789"), "init", "--output", "conf/debate.jsonc", "--yes")
	require.Equal(t, 0, code, stderr)
	text := contents(t, "conf/debate.jsonc")
	require.Contains(t, text, `"kind": "anthropic", "model": "claude-sonnet-4-5"`)
	require.NotContains(t, text, "sk-ant")
	require.NoError(t, valid(t, text))
	code, _, stderr = start(t, environment(), "init", "--output", `conf/all "mine".jsonc`)
	require.Equal(t, 0, code, stderr)
	text = contents(t, `conf/all "mine".jsonc`)
	require.NoError(t, valid(t, text))
	require.Contains(t, text, `"$schema": "./all \"mine\".schema.json"`)
	code, _, stderr = start(t, environment(), "init", "--protocol", "duel")
	require.Equal(t, 2, code)
	require.Contains(t, stderr, `"duel" is unknown`)
}

// The schema accepts what the command accepts, and refuses what it refuses.
func TestTheSchemaFitsTheCommand(t *testing.T) {
	_, after, _ := strings.Cut(contents(t, "README.md"), "```json\n")
	example, _, _ := strings.Cut(after, "```\n")
	for config, ok := range map[string]bool{
		example: true, contents(t, "mixed.json"): true, `{}`: true, `{"protocol": "panel"}`: true, `{"protocol": {"name": "vote/1", "topology": "ring"}}`: true,
		`{"topic": "Tea?"}`: false, `{"particpants": []}`: false, `{"protocol": "duel"}`: false, `{"protocol": {"name": "vote", "topolgy": "ring"}}`: false,
		`{"providers": {"p": {"kind": "oracle"}}}`: false, `{"providers": {"p": {"kind": "openai", "key": "x"}}}`: false, `{"roles": 3}`: false,
	} {
		require.Equal(t, ok, valid(t, config) == nil, config)
	}
}

func TestCommentsAreRemoved(t *testing.T) {
	for text, want := range map[string]string{
		"{} // end":                    "{} ······",
		"// begin\n{}":                 "········\n{}",
		"{/* a\n * b */\"x\": 1}":      "{····\n·······\"x\": 1}",
		`{"a": "// no", "b": "/* no"}`: `{"a": "// no", "b": "/* no"}`,
		`{"a": "\" // no"}`:            `{"a": "\" // no"}`,
		"[1, 2, // two\n]":             "[1, 2· ······\n]",
		"[1, /* two, */ ]":             "[1· ·········· ]",
		`{"a": [1,],}`:                 `{"a": [1·]·}`,
		"[1,,]":                        "[1,·]",
		`["a,]", "b"]`:                 `["a,]", "b"]`,
		"/*":                           "··",
		"/":                            "/",
		`"`:                            `"`,
		`"\`:                           `"\`,
	} {
		require.Equal(t, strings.ReplaceAll(want, "·", " "), string(withoutComments([]byte(text))), text)
	}
}

// JSON stays as it is, and the text keeps its length.
func FuzzWithoutComments(f *testing.F) {
	for _, seed := range []string{`{"a": [1, "//", "/*"], "b": "\\"}`, "[1, // x\n]", "/**/{}", `"\`, "//", "[,]"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		out := withoutComments(text)
		require.Len(t, out, len(text))
		if json.Valid(text) {
			require.Equal(t, text, out)
		}
		if again := withoutComments(out); json.Valid(out) {
			require.Equal(t, out, again)
		}
	})
}
