package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// profileOf returns a profile with these lines, which name files without the module path.
func profileOf(lines ...string) string {
	text := "mode: atomic\n"
	for _, l := range lines {
		text += module + l + "\n"
	}
	return text
}

// source returns a Go file with a function that has statements.
func source(pkg string) *fstest.MapFile {
	return &fstest.MapFile{Data: []byte("package " + pkg + "\n\nfunc F() int { return 1 }\n")}
}

func TestReadMergesDuplicateBlocks(t *testing.T) {
	p := profile{}
	require.NoError(t, p.read(strings.NewReader(profileOf(
		"fsm/a.go:1.2,3.4 2 0",
		"fsm/a.go:1.2,3.4 2 7",
		"fsm/a.go:1.2,3.4 2 0",
		"fsm/a.go:5.1,6.2 3 0",
	))))
	require.NoError(t, p.read(strings.NewReader(profileOf("fsm/b.go:1.2,3.4 1 1"))), "reading a second profile must add to the first")

	all := p.sum(func(string) bool { return true })
	assert.Equal(t, ratio{covered: 3, total: 6}, all)
	assert.Equal(t, "50.0 %", all.String())
}

func TestReadRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"an empty file":     "",
		"another file":      "package main\n",
		"too few fields":    profileOf("fsm/a.go:1.2,3.4 2"),
		"no position":       "mode: set\nfsm 2 0\n",
		"odd statements":    profileOf("fsm/a.go:1.2,3.4 two 0"),
		"a negative count":  profileOf("fsm/a.go:1.2,3.4 2 -1"),
		"something between": profileOf("fsm/a.go:1.2,3.4 2 1", "ok"),
	} {
		t.Run(name, func(t *testing.T) {
			assert.Error(t, profile{}.read(strings.NewReader(text)))
		})
	}
}

func TestGate(t *testing.T) {
	tests := map[string]struct {
		files   fstest.MapFS
		profile string
		wrong   string // text of the error; empty if there is none
		table   string // text of the table
	}{
		"met exactly": {
			files:   fstest.MapFS{"fsm/a.go": source("fsm")},
			profile: profileOf("fsm/a.go:1.1,2.1 95 1", "fsm/a.go:3.1,4.1 5 0"),
			table:   "95.0 %",
		},
		"just below the target, but rounds up to it": {
			files:   fstest.MapFS{"fsm/a.go": source("fsm")},
			profile: profileOf("fsm/a.go:1.1,2.1 94999 1", "fsm/a.go:3.1,4.1 5001 0"),
			wrong:   "cover fsm/...: 95.0 % is less than the target of 95 %",
			table:   "MISSED",
		},
		"the whole tree of a folder": {
			files:   fstest.MapFS{"judge/a.go": source("judge"), "judge/reply/b.go": source("reply")},
			profile: profileOf("judge/a.go:1.1,2.1 9 1", "judge/reply/b.go:1.1,2.1 9 0"),
			wrong:   "cover judge/...: 50.0 % is less than the target of 85 %",
		},
		"a folder with a similar name": {
			files:   fstest.MapFS{"judge/a.go": source("judge"), "judges/b.go": source("judges")},
			profile: profileOf("judge/a.go:1.1,2.1 9 1", "judges/b.go:1.1,2.1 9 0"),
		},
		"no folder": {
			files:   fstest.MapFS{"fsm/a.go": source("fsm")},
			profile: profileOf("fsm/a.go:1.1,2.1 1 1"),
			table:   "no code",
		},
		"a folder in no profile": {
			files:   fstest.MapFS{"context/window/a.go": source("window")},
			profile: profileOf("fsm/a.go:1.1,2.1 1 1"),
			wrong:   "measure context/...: no profile contains its code",
		},
		"a folder without statements": {
			files:   fstest.MapFS{"context/a.go": {Data: []byte("package context\n\ntype T int\n\nfunc (T) F() {}\n")}},
			profile: profileOf("fsm/a.go:1.1,2.1 1 1"),
			table:   "no code",
		},
		"code in tests, testdata and suites only": {
			files: fstest.MapFS{
				"context/a_test.go": source("window"), "context/testdata/a.go": source("window"),
				"context/windowtest/suite.go": source("windowtest"),
			},
			profile: profileOf("context/windowtest/suite.go:1.1,2.1 9 0"),
		},
		"each errors.go has its own target": {
			files:   fstest.MapFS{"errors.go": source("debate"), "store/errors.go": source("store")},
			profile: profileOf("errors.go:1.1,2.1 10 1", "store/errors.go:1.1,2.1 8 1", "store/errors.go:3.1,4.1 2 0"),
			wrong:   "cover store/errors.go: 80.0 % is less than the target of 90 %",
		},
		"an errors.go without statements": {
			files:   fstest.MapFS{"store/errors.go": {Data: []byte("package store\n\nvar ErrGone = error(nil)\n")}},
			profile: profileOf("fsm/a.go:1.1,2.1 1 1"),
			table:   "no code",
		},
		"an errors.go in no profile": {
			files:   fstest.MapFS{"store/errors.go": source("store")},
			profile: profileOf("fsm/a.go:1.1,2.1 1 1"),
			wrong:   "measure store/errors.go: no profile contains its code",
		},
		"a source that is not Go": {
			files:   fstest.MapFS{"fsm/a.go": {Data: []byte("pakage fsm")}},
			profile: profileOf("fsm/a.go:1.1,2.1 1 1"),
			wrong:   "parse source",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := profile{}
			require.NoError(t, p.read(strings.NewReader(tt.profile)))
			rows, err := measure(p, tt.files, targets)
			if err == nil {
				err = verdict(rows)
			}
			if tt.wrong == "" {
				assert.NoError(t, err)
			} else {
				assert.ErrorContains(t, err, tt.wrong)
			}
			var table bytes.Buffer
			require.NoError(t, writeTable(&table, rows))
			assert.Contains(t, table.String(), tt.table)
		})
	}
}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "some.out")
	require.NoError(t, os.WriteFile(path, []byte(profileOf("fsm/a.go:1.1,2.1 1 1")), 0o600))

	var table bytes.Buffer
	require.NoError(t, run(&table, dir, []string{path}))
	assert.Contains(t, table.String(), "fsm/...")

	assert.ErrorContains(t, run(&table, dir, nil), "none given")
	assert.ErrorContains(t, run(&table, dir, []string{filepath.Join(dir, "gone.out")}), "read profile")
	empty := filepath.Join(dir, "empty.out")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	assert.ErrorContains(t, run(&table, dir, []string{empty}), "parse profile")
	assert.ErrorContains(t, run(&table, filepath.Join(dir, "gone"), []string{path}), "list sources")
}
