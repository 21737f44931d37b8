package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/integrations/skill"
)

func TestInitWritesTheSkill(t *testing.T) {
	folder(t)
	paths := []string{filepath.Join(".claude", "skills", "debate", "SKILL.md"), filepath.Join(".agents", "skills", "debate", "SKILL.md")}
	code, stdout, stderr := start(t, environment(), "init", "--skill")
	require.Equal(t, 0, code, stderr)
	for _, path := range paths {
		require.Equal(t, skill.Text, contents(t, path))
		require.Contains(t, stdout, path+" written\n")
	}
	require.NoFileExists(t, commentedConfigPath)

	code, stdout, stderr = start(t, environment(), "init", "--skill") // it is there already
	require.Equal(t, 0, code, stderr)
	require.Empty(t, stdout)

	require.NoError(t, os.WriteFile(paths[1], []byte("my own"), 0o600))
	code, _, stderr = start(t, environment(), "init", "--skill")
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "write skill: Replace "+paths[1]+"? Use --yes to answer yes")
	require.Equal(t, "my own", contents(t, paths[1]))
	code, _, stderr = start(t, environment(), "init", "--skill", "--yes")
	require.Equal(t, 0, code, stderr)
	require.Equal(t, skill.Text, contents(t, paths[1]))
}

// The format wants a name, which is that of the folder, and a description of at most 1,024 characters.
func TestTheSkillFollowsTheFormat(t *testing.T) {
	_, rest, opened := strings.Cut(skill.Text, "---\n")
	front, body, closed := strings.Cut(rest, "\n---\n")
	require.True(t, opened && closed)
	fields := map[string]string{}
	for line := range strings.SplitSeq(front, "\n") {
		name, value, _ := strings.Cut(line, ": ")
		require.NotContains(t, value, ": ", "plain text of YAML must not have it")
		fields[name] = value
	}
	require.Equal(t, skill.Name, fields["name"])
	require.NotEmpty(t, fields["description"])
	require.LessOrEqual(t, len(fields["description"]), 1024)
	require.Len(t, fields, 2)
	require.LessOrEqual(t, strings.Count(skill.Text, "\n"), 80)
	require.NotEmpty(t, body)
}

// Each command of the skill runs as it stands, and each field that it names exists.
func TestTheCommandsOfTheSkillRun(t *testing.T) {
	folder(t, "facts.md", "There are 3 servers.", "plan.md", "1. Buy trams.")
	id := ""
	ran := 0
	for _, found := range regexp.MustCompile("`debate ([^`]*)`").FindAllStringSubmatch(skill.Text, -1) {
		args := words(found[1])
		for i := range args {
			if args[i] == "ID" {
				args[i] = id
			}
		}
		ended := false
		switch args[0] {
		case "retry", "resume":
			ended = true
		case "list", "show", "--version":
		default:
			args = append(args, "--plain")
		}
		args = append(args, storeOf(args)...)
		code, stdout, stderr := start(t, environment(), args...)
		if ended {
			require.Contains(t, stderr, "already completed", found[0])
			continue
		}
		require.Equal(t, 0, code, "%s: %s", found[0], stderr)
		require.NotEmpty(t, stdout, found[0])
		if strings.Contains(stderr, "saved as ") {
			id = saved(t, stderr)
		}
		ran++
	}
	require.GreaterOrEqual(t, ran, 9)
	_, stdout, _ := start(t, environment(), "--store", "d.db", "--rounds", "1", "--json", topic)
	for _, field := range []string{`"summary"`, `"answer"`, `"reasons"`, `"result"`, `"ending"`, `"turns"`, `"outcome"`} {
		require.Contains(t, stdout, field)
	}
}

// storeOf returns the flag of a command that stores or reads debates.
func storeOf(args []string) []string {
	if args[0] == "--version" {
		return nil
	}
	return []string{"--store", "d.db"}
}

// words returns the words of a command line, in which quotes enclose those with spaces.
func words(line string) (list []string) {
	for _, w := range regexp.MustCompile(`"[^"]*"|\S+`).FindAllString(line, -1) {
		list = append(list, strings.Trim(w, `"`))
	}
	return list
}
