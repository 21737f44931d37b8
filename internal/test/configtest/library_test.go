package configtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/elenchus-go/debate"
)

// create parses a configuration and creates its debate, as a program does. It returns the configuration as the library
// has completed it.
func create(t testing.TB, config []byte) (completed json.RawMessage, err error) {
	t.Helper()
	e, err := debate.NewEngine(debate.Options{})
	require.NoError(t, err)
	c, err := e.ParseConfig(config)
	if err != nil {
		return nil, err
	}
	d, err := e.Create(t.Context(), c)
	if err != nil {
		return nil, err
	}
	for m, err := range d.Replay(t.Context()) {
		require.NoError(t, err)
		return m.Event.(debate.ConfigChanged).Config, nil
	}
	return nil, errors.New("the journal is empty")
}

// complete returns a configuration that the library accepts with its defaults in place.
func complete(t testing.TB, config []byte) map[string]any {
	t.Helper()
	completed, err := create(t, config)
	require.NoError(t, err)
	return decode(t, completed)
}

func decode(t testing.TB, config []byte) (m map[string]any) {
	t.Helper()
	require.NoError(t, json.Unmarshal(config, &m))
	return m
}

// refused reports whether the library finds fault with the value of a field of a configuration.
func refused(t testing.TB, name, value string) bool {
	t.Helper()
	c := decode(t, read(t, "testdata/smallest.json"))
	c[name] = value
	_, err := create(t, encode(t, c))
	if problems, ok := errors.AsType[*debate.Problems](err); ok {
		for _, p := range problems.List {
			if p.Field == name {
				return true
			}
		}
	}
	return false
}

func encode(t testing.TB, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return b
}

func read(t testing.TB, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	return bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n"))
}

// configurations returns the configurations that the proofs of the schema use, by name: those of the page, those of all
// scenarios, and those of testdata, which use the fields that no scenario does.
func configurations(t testing.TB) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	own, err := filepath.Glob("testdata/*.json")
	require.NoError(t, err)
	for _, file := range own {
		all[filepath.Base(file)] = read(t, file)
	}
	scenarios, err := filepath.Glob("../scenariotest/testdata/scenarios/*.txtar")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(scenarios), 60)
	for _, file := range scenarios {
		a, err := txtar.ParseFile(file)
		require.NoError(t, err)
		for _, f := range a.Files {
			if f.Name == "config.json" {
				all[strings.TrimSuffix(filepath.Base(file), ".txtar")] = f.Data
			}
		}
	}
	return all
}
