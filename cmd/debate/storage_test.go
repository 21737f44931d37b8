package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Without any setting, debates are kept in the user's data folder, which nobody else can read.
func TestDebatesAreKeptInTheDataFolder(t *testing.T) {
	folder(t)
	data := t.TempDir()
	env := func(name string) string { return map[string]string{"XDG_DATA_HOME": data, "LOCALAPPDATA": data}[name] }
	code, stdout, stderr := start(t, env, "list")
	require.Equal(t, 0, code, stderr)
	require.Equal(t, 1, strings.Count(stdout, "\n"), "an empty list is no error")
	code, _, stderr = start(t, env, "--protocol", "vote", topic)
	require.Equal(t, 0, code, stderr)
	db := filepath.Join(data, "debate", "debates.db")
	require.Contains(t, stderr, " in "+db+"\n")
	id := saved(t, stderr)
	_, stdout, _ = start(t, env, "list")
	require.Contains(t, stdout, id)
	_, _, stderr = start(t, env, "resume", id)
	require.Contains(t, stderr, "already completed")
	if runtime.GOOS != "windows" {
		for path, mode := range map[string]os.FileMode{filepath.Dir(db): 0o700, db: 0o600} {
			info, err := os.Stat(path)
			require.NoError(t, err)
			require.Equal(t, mode, info.Mode().Perm(), path)
		}
	}
	entries, err := os.ReadDir(".")
	require.NoError(t, err)
	require.Empty(t, entries, "nothing is written to the working directory")
}

// A command that continues a debate in the default store needs no flag.
func TestTheNextCommandNamesTheStoreIfItMust(t *testing.T) {
	folder(t, "c.json", `{"store": "my debates.db"}`)
	data := t.TempDir()
	env := func(name string) string { return map[string]string{"XDG_DATA_HOME": data, "LOCALAPPDATA": data}[name] }
	_, _, stderr := start(t, env, "--me", "Ada", topic)
	require.True(t, strings.HasSuffix(stderr, "continue with: debate resume "+saved(t, stderr)+" --me Ada\n"), stderr)
	_, _, stderr = start(t, env, "--me", "Ada", "--config", "c.json", topic)
	require.True(t, strings.HasSuffix(stderr, " --me Ada --store 'my debates.db'\n"), stderr)
}

func TestTheStoreIsTheMostSpecificOne(t *testing.T) {
	for _, tt := range []struct {
		name       string
		flag, file string
		env        []string
		want       string
	}{
		{"flag", "f.db", "c.db", []string{"DEBATE_STORE", "e.db"}, "f.db"},
		{"configuration", "", "c.db", []string{"DEBATE_STORE", "e.db"}, filepath.Join("conf", "c.db")},
		{"environment", "", "", []string{"DEBATE_STORE", "e.db"}, "e.db"},
		{"memory by flag", "memory", "c.db", nil, ""},
		{"memory by configuration", "", "memory", []string{"DEBATE_STORE", "e.db"}, ""},
		{"memory by environment", "", "", []string{"DEBATE_STORE", "memory"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := &program{options: options{store: tt.flag}, env: environment(tt.env...), stderr: &output{}}
			p.chooseStore(configFile{path: filepath.Join("conf", "c.json"), store: tt.file})
			require.Equal(t, tt.want, p.storePath)
		})
	}
}

func TestTheDataFolderOfEachSystem(t *testing.T) {
	for _, tt := range []struct{ system, name, value, want string }{
		{"linux", "XDG_DATA_HOME", "/x", "/x/debate/debates.db"},
		{"linux", "HOME", "/x/ada", "/x/ada/.local/share/debate/debates.db"},
		{"linux", "XDG_DATA_HOME", "relative", ""},
		{"darwin", "HOME", "/x/ada", "/x/ada/Library/Application Support/debate/debates.db"},
		{"windows", "LOCALAPPDATA", "/Ada", "/Ada/debate/debates.db"},
		{"windows", "HOME", "/Ada", ""},
	} {
		if runtime.GOOS == "windows" && strings.HasPrefix(tt.value, "/") {
			continue // such a path is not absolute there
		}
		require.Equal(t, filepath.FromSlash(tt.want), dataFile(tt.system, environment(tt.name, tt.value)), tt)
	}
	var stderr output
	p := &program{env: func(string) string { return "" }, stderr: &stderr}
	p.chooseStore(configFile{})
	require.Empty(t, p.storePath)
	require.Contains(t, stderr.String(), "your data folder is unknown")
}

// A file that is no database of debates stays as it is.
func TestAFileOfAnotherKindIsNoStore(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such modes")
	}
	folder(t, "text.md", "Trams are quieter.")
	require.NoError(t, os.Chmod("text.md", 0o644)) //nolint:gosec // the mode is what is tested
	for _, args := range [][]string{{topic}, {"list"}} {
		code, _, stderr := start(t, environment(), append(args, "--store", "text.md")...)
		require.Equal(t, 1, code)
		require.Contains(t, stderr, "open store text.md: file is not a database")
		info, err := os.Stat("text.md")
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o644), info.Mode().Perm())
	}
}

// A debate does not begin with other settings than those in the folder.
func TestAMalformedConfigurationStoresNothing(t *testing.T) {
	folder(t, defaultConfigPath, `{"store": "mine.db", "particpants": []}`)
	data := t.TempDir()
	env := func(name string) string { return map[string]string{"XDG_DATA_HOME": data, "LOCALAPPDATA": data}[name] }
	code, stdout, stderr := start(t, env, "--me", "Ada", topic)
	require.Equal(t, exitInput, code)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "read configuration debate-config.json: malformed: ")
	require.Contains(t, stderr, "particpants: the field is unknown")
	require.NoFileExists(t, "mine.db")
}

func TestWordsOfCommandsAreQuoted(t *testing.T) {
	for word, want := range map[string]string{
		"Ada": "Ada", "Zoë": "Zoë", "./d-1.db": "./d-1.db", `C:\d.db`: `'C:\d.db'`, "my d.db": "'my d.db'", "it's": `'it'\''s'`,
		"`id`": "'`id`'", "a\nb": "'a\nb'", "a\tb": "'a\tb'", "~x": "'~x'", "#x": "'#x'", "{a,b}": "'{a,b}'", "[a]": "'[a]'", "!x": "'!x'", "": "''",
	} {
		require.Equal(t, want, shellWord(word))
	}
}
