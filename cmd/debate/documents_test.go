package main

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/evidence/extract"
	"github.com/elenchus-go/debate/examples/offline"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/report"
	"github.com/elenchus-go/debate/transcript"
)

// minutes is a text that has no room in a prompt. One of its lines is about private cars.
func minutes() string {
	lines := make([]string, 4000)
	for i := range lines {
		lines[i] = fmt.Sprintf("Item %d of the agenda is about the budget of the library.", i)
	}
	lines[2500] = "Private cars cost the city nine million a year."
	return strings.Join(lines, "\n")
}

const lanes = "On the new lanes in our cities, trips by bicycle rose by a third.\n"

func TestDocumentsOfAFolder(t *testing.T) {
	folder(t, "papers/lanes.md", lanes, "papers/2024/minutes.txt", minutes(), "papers/photo.png", "\x89PNG\x00", "papers/.git/config.txt",
		"hidden")
	code, stdout, stderr := start(t, environment(), "--docs", "papers", "--rounds", "1", "--store", "d.db", "--json", topic)
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stderr, "document lanes.md: read by all\n")
	require.Contains(t, plainLine(stderr), "searched with the tool search_documents, because the prompts have no room: 2024/minutes.txt")
	require.Contains(t, stderr, "warning: left out, 1 file, not UTF-8 text: photo.png\n")
	require.Contains(t, stdout, "Private cars cost the city nine million a year.", "the demo model has searched the minutes")
	require.NotContains(t, stdout, "Item 3999", "the minutes are not stored")

	id := saved(t, stderr)
	code, stdout, stderr = start(t, environment(), "export", "--store", "d.db", id)
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stdout, `"type": "tools"`)
	require.Contains(t, stdout, "trips by bicycle rose by a third", "the small document is stored")
	require.NotContains(t, stdout, "hidden")
	code, stdout, stderr = start(t, environment(), "show", "--store", "d.db", id)
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stdout, "nine million")
}

// plainLine returns a text with one blank in place of each run of white space.
func plainLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func working(t *testing.T) string {
	t.Helper()
	at, err := os.Getwd()
	require.NoError(t, err)
	return at
}

// Another process opens the documents again, and refuses files that have changed.
func TestDocumentsAreOpenedAgain(t *testing.T) {
	folder(t, "papers/minutes.txt", minutes(), "papers/more.txt", minutes()+"\nMore.")
	flags := []string{"--store", "d.db"}
	code, _, stderr := start(t, environment(), append(flags, "--docs", "papers", "--rounds", "1", "--me", "Bo", topic)...)
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "waiting for the reply of Bo")
	id := saved(t, stderr)
	at := working(t)

	code, _, stderr = start(t, environment(), append(flags, "answer", id, "--me", "Bo", "Cars bring people to work.")...)
	require.Equal(t, 0, code, stderr)
	t.Chdir(t.TempDir()) // the paths do not depend on the folder of the process
	flags[1] = filepath.Join(at, "d.db")

	for _, text := range []string{"Private cars cost nothing.", ""} {
		path := filepath.Join(at, "papers", "minutes.txt")
		require.NoError(t, os.Remove(path))
		says := "no such file"
		if text != "" {
			require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
			says = path + " has changed since the debate began: put the earlier file there, or begin a new debate"
		}
		code, _, stderr = start(t, environment(), append(flags, "resume", id)...)
		require.Equal(t, exitInput, code)
		require.Contains(t, stderr, says)
		require.Contains(t, stderr, path)
		require.NotContains(t, stderr, "more.txt")
		require.NoError(t, os.WriteFile(path, []byte(minutes()), 0o600))
	}
	code, stdout, stderr := start(t, environment(), append(flags, "resume", id, "--config", config(t, `{"providers": {"offline": {"kind": "offline"}}}`))...)
	require.Equal(t, 0, code, stderr)
	require.NotEmpty(t, stdout)
	code, _, stderr = start(t, environment(), append(flags, "fork", id, "--at", "5")...)
	require.Equal(t, 1, code, stderr)
	require.Contains(t, stderr, "waiting for the reply of Bo")
	code, stdout, stderr = start(t, environment(), append(flags, "fork", id, "--at", "5", "--paused")...)
	require.Equal(t, 0, code, stderr)
	code, _, stderr = start(t, environment(), append(flags, "resume", strings.Fields(stdout)[0], "--me", "Bo")...)
	require.Equal(t, 1, code, stderr)
	require.Contains(t, stderr, "waiting for the reply of Bo")
}

// config writes a configuration outside of the working directory.
func config(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "c.json")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// The configuration names files too: some for all, some for one participant. The database does not hold the private ones.
func TestDocumentsOfAConfiguration(t *testing.T) {
	const secret = "Private cars pay the CANARY of our cities."
	folder(t, "in/secret.md", secret, "in/lanes.md", lanes, "in/c.json", `{
		"documents": [
			{"file": "lanes.md", "readers": ["*"]}, {"file": "secret.md", "readers": ["Ada"]},
			{"name": "law.md", "readers": ["*"], "text": "The law."},
		],
		"limits": {"max_rounds": 1}}`)
	code, _, stderr := start(t, environment(), "--config", "in/c.json", "--store", "d.db", "--me", "Bo", topic)
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "document secret.md: read by Ada\n")
	require.Contains(t, stderr, "document law.md: read by all\n")
	id := saved(t, stderr)
	code, stdout, stderr := start(t, environment(), "export", "--store", "d.db", id)
	require.Equal(t, 0, code, stderr)
	var j struct {
		Entries []struct {
			Type string          `json:"type"`
			Data json.RawMessage `json:"data"`
		} `json:"entries"`
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &j))
	require.NotEmpty(t, j.Entries)
	for _, e := range j.Entries {
		require.Equal(t, e.Type == "turn", strings.Contains(string(e.Data), "CANARY"), "Ada quotes it, which is her own act: %s", e.Data)
	}

	require.NoError(t, os.WriteFile("in/secret.md", []byte("another"), 0o600))
	for range 2 {
		code, _, stderr = start(t, environment(), "resume", "--config", "in/c.json", "--store", "d.db", id)
		require.Equal(t, exitInput, code)
		require.Contains(t, stderr, "secret.md has changed")
	}
	require.NoError(t, os.WriteFile("in/secret.md", []byte(secret), 0o600))
	code, _, stderr = start(t, environment(), "resume", "--config", "in/c.json", "--store", "d.db", id)
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "waiting for the reply of Bo")
}

func TestWrongDocuments(t *testing.T) {
	for _, tt := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"a file that is missing", []string{"--docs", "none.md"}, 2, "--docs: read documents: none.md does not exist, want a file or a folder"},
		{
			"a folder without documents",
			[]string{"--docs", "pictures"},
			2,
			"--docs: read documents: pictures has no documents, want files with text; left out: 1 file, not UTF-8 text",
		},
		{"a picture", []string{"--docs", "pictures/a.png"}, 2, "a.png is not UTF-8 text"},
		{"a blank file", []string{"--docs", "blank/blank.md"}, 2, "blank.md is blank"},
		{
			"a folder with a blank file",
			[]string{"--docs", "blank"},
			2,
			"blank has no documents, want files with text; left out: 1 file, blank",
		},
		{"a file twice", []string{"--docs", "papers", "--docs", "papers/a.md"}, 2, "a.md is named twice"},
		{"a private name that is too long", []string{"--config", "long.json"}, 2, "is no valid name, use at most 128 bytes"},
		{"no readers", []string{"--config", "readers.json"}, 2, `documents[0].readers: it is empty: name who reads the document, or use ["*"] for all`},
		{"an unknown reader", []string{"--config", "who.json"}, 2, `documents[0].readers: "Zoe" is neither a participant nor a judge`},
		{"no file", []string{"--config", "file.json"}, 2, "documents[0].file: it is empty"},
		{"a file and a text", []string{"--config", "both.json"}, 2, "documents[0]: json: unknown field \"text\"; a document with a file has only the fields file and readers"},
		{"a missing file of a configuration", []string{"--config", "missing.json"}, 2, "missing.json: documents[0]: read documents: none.md does not exist"},
		{"a server", []string{"mcp", "--config", "good.json", "--store", "d.db"}, 2, "documents: mcp cannot read files"},
		{
			"too many beside private ones",
			[]string{"--config", "many.json"},
			2,
			"too many files beside private ones to find all again: name fewer files, or join some",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			folder(t, "papers/a.md", lanes, "pictures/a.png", "\x89PNG", "blank/blank.md", " \n", "long/"+strings.Repeat("x", 130)+".md", lanes,
				"readers.json", `{"documents": [{"file": "papers"}]}`, "who.json", `{"documents": [{"file": "papers", "readers": ["Zoe"]}]}`,
				"file.json", `{"documents": [{"file": "", "readers": ["*"]}]}`, "both.json", `{"documents": [{"file": "papers", "text": "x", "readers": ["*"]}]}`,
				"missing.json", `{"documents": [{"file": "none.md", "readers": ["*"]}]}`, "long.json",
				`{"documents": [{"file": "long", "readers": ["Ada"]}]}`,
				"many.json", `{"documents": [{"file": "many", "readers": ["*"]}, {"file": "papers", "readers": ["Ada"]}]}`, "good.json",
				`{"documents": [{"file": "papers", "readers": ["*"]}]}`)
			if strings.HasPrefix(tt.name, "too many") {
				require.NoError(t, os.Mkdir("many", 0o700))
				for i := range 600 {
					require.NoError(t, os.WriteFile(fmt.Sprintf("many/%d.md", i), []byte(lanes), 0o600))
				}
			}
			if tt.args[0] != "mcp" {
				tt.args = append(tt.args, topic)
			}
			code, stdout, stderr := start(t, environment(), tt.args...)
			require.Equal(t, tt.code, code, stderr)
			require.Contains(t, plainLine(stderr), tt.says)
			require.Empty(t, stdout)
		})
	}
}

// Files that are no plain text are read too.
func TestDocumentsOfOtherFormats(t *testing.T) {
	page := "<html><body><p>Private cars cost our cities nine million a year.</p><script>x</script></body></html>"
	folder(t, "papers/page.html", page, "papers/bad.docx", "no archive")
	code, _, stderr := start(t, environment(), "--docs", "papers", topic)
	require.Equal(t, exitInput, code)
	require.Contains(t, stderr, "--docs: read document "+filepath.Join(working(t), "papers", "bad.docx")+": read bad.docx: it is no valid DOCX: zip: not a valid zip file")

	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("word/document.xml")
	require.NoError(t, err)
	_, err = io.WriteString(w, `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:p><w:r><w:t>Buses serve the cities.</w:t></w:r></w:p></w:document>`)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	require.NoError(t, os.WriteFile("papers/bad.docx", b.Bytes(), 0o600))
	code, _, stderr = start(t, environment(), "--docs", "papers", "--rounds", "1", topic)
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stderr, "Verified: “Buses serve the cities.” is in [")
	require.Contains(t, stderr, "document page.html: read by all\n")
}

// Labels come from whoever created the debate. They name no file outside of the folder, and give no text whose hash the
// creator does not know.
func TestLabelsOpenNoOtherFiles(t *testing.T) {
	folder(t, "papers/a.md", lanes, "secret.md", "The secret.")
	at := working(t)
	for place, pin := range map[string]string{
		"../secret.md":                   evidence.Hash("The secret.")[:pinDigits],
		filepath.Join(at, "secret.md"):   evidence.Hash("The secret.")[:pinDigits],
		"a.md":                           "",
		"./a.md/../../secret.md":         evidence.Hash("The secret.")[:pinDigits],
		"secret.md":                      evidence.Hash("guess")[:pinDigits],
		filepath.ToSlash("papers/../.."): strings.Repeat("0", pinDigits),
	} {
		_, err := reopen(t.Context(), &extract.Reader{}, filepath.Join(at, "papers"), place, pin)
		require.Error(t, err, place)
		require.NotContains(t, err.Error(), "The secret")
	}
}

// A few files are pinned one by one, and many together. The engine accepts the labels, and another process opens the files again.
func TestPins(t *testing.T) {
	for _, n := range []int{1, 100, 3000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			folder(t)
			l := &library{folder: working(t)}
			for i := range n {
				place := fmt.Sprintf("folder-%d/a-file-%d.md", i%2, i)
				path := filepath.Join(l.folder, filepath.FromSlash(place))
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
				require.NoError(t, os.WriteFile(path, fmt.Appendf(nil, "Text %d.", i), 0o600))
				l.documents = append(l.documents,
					&document{path: path, place: place, text: fmt.Sprintf("Text %d.", i), readers: []string{"*"}})
			}
			c := debate.Config{
				Topic: topic, Protocol: presets["panel"].Protocol, Labels: map[string]string{"team": "blue"},
				Participants: []debate.Participant{{Name: "Ada"}, {Name: "Bo"}}, Judges: []debate.Participant{{Name: "Judge"}},
			}
			sources := []source{{path: ".", readers: []string{"*"}}}
			require.NoError(t, l.pin(&c, sources, nil, l.documents))
			_, err := debate.New(t.Context(), c, debate.Options{Providers: map[string]providers.Provider{"": offline.Model(false)}})
			require.NoError(t, err)
			var o debate.Options
			p := program{ctx: context.Background(), env: environment()}
			require.NoError(t, p.openDocuments(&o, &c))
			require.Len(t, o.Tools, 2)
			require.Equal(t, searchTool, o.Tools[0].Spec().Name)
			require.Contains(t, o.Tools[0].Spec().Description, "folder-0/a-file-0.md")
			require.NoError(t, os.WriteFile(l.documents[n/2].path, []byte("Another text."), 0o600))
			require.ErrorContains(t, p.openDocuments(&o, &c), "changed since the debate began")
		})
	}
}

// The demo model quotes what it has read and found, and the engine checks each quote. One lacks a word on purpose.
func TestQuotesOfDocumentsAreChecked(t *testing.T) {
	folder(t, "papers/lanes.md", lanes, "papers/minutes.txt", minutes())
	code, stdout, stderr := start(t, environment(), "--docs", "papers", "--rounds", "2", "--json", "--report", "report.md", topic)
	require.Equal(t, 0, code, stderr)
	var written report.Report
	require.NoError(t, json.Unmarshal([]byte(stdout), &written))
	r := &written.Result
	verdicts, quoted := map[transcript.Verdict]int{}, map[int]bool{}
	for i := range r.Turns {
		for _, c := range r.Turns[i].Citations {
			verdicts[c.Verdict]++
			quoted[c.Source] = true
		}
	}
	require.GreaterOrEqual(t, verdicts[transcript.Verified], 2, verdicts)
	require.Equal(t, 1, verdicts[transcript.Altered], verdicts)
	require.Len(t, verdicts, 2)
	require.True(t, quoted[1], "the document")
	require.True(t, quoted[2], "what the tool has found")
	require.Equal(t, "lanes.md", r.Sources[0].Name)
	require.Contains(t, stderr, "Verified: “Private cars cost the city nine million a year.” is in [2].")
	text, err := os.ReadFile("report.md")
	require.NoError(t, err)
	require.Contains(t, string(text), "## Sources\n")
	require.Regexp(t, `\| \\\[2\\\] minutes.txt[^|]*\|.* \| found by `, string(text))
}
