package archive_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/chain"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/internal/test/forgedtest"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/providers/tool"
	"github.com/elenchus-go/debate/report/archive"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// claims implements a protocol that the library does not have: everybody makes a claim.
type claims struct{}

func (claims) Name() string { return "claims/1" }

func (claims) Check(*protocol.Record) []protocol.Problem { return nil }

func (claims) Phases(r *protocol.Record) []protocol.Phase {
	if r.Cursor.Stage != transcript.Speech {
		return nil
	}
	p := protocol.Phase{Name: "claim"}
	for _, x := range r.Participants {
		p.Steps = append(p.Steps, protocol.Step{Key: transcript.Key{Actor: x.Name}, Prompt: "claim", Contract: "claim/1"})
	}
	return []protocol.Phase{p}
}

func (claims) End(*protocol.Record) transcript.Ending { return transcript.Ending{} }

// claim holds a reply of a kind that the library does not have.
type claim struct {
	Claim string `json:"claim"`
}

// letters counts tokens.
type letters struct{}

func (letters) Count(_, text string) int { return len(text) / 2 }

func lastWord(t transcript.Turn) string { return t.Text[strings.LastIndexByte(t.Text, ' ')+1:] }

// ownCode returns options with code of a program, and a model.
func ownCode() debate.Options {
	model := &scripted.Provider{DiscardCalls: true, Func: func(r providers.Request) scripted.Reply {
		if r.SchemaName != "" {
			return scripted.Reply{Text: `{"claim":"It is so."}`}
		}
		return scripted.Reply{Text: "It is so."}
	}}
	return debate.Options{
		Providers: map[string]providers.Provider{"m": model}, Protocols: []protocol.Protocol{claims{}}, Contracts: []*reply.Contract{reply.New[claim]("claim/1")},
		TokenCounter: letters{}, ExtractAnswer: lastWord, KeepReplies: true, Prompts: fstest.MapFS{"claim.tmpl": {Data: []byte(`{{define "system"}}You are {{.Me.Name}}.{{end}}Make a claim. {{.ReplyFields}}`)}},
		Tools: []tool.Tool{tool.Func(tool.Spec{Name: "look", Description: "Looks."}, func(context.Context, struct{}) (string, error) { return "", nil })},
	}
}

// recordBy runs a debate to its end and returns its record.
func recordBy(t *testing.T, c debate.Config, o debate.Options) *archive.File {
	t.Helper()
	o.Store = store.Memory()
	e := debatetest.Engine(t, o)
	d := debatetest.Create(t, e, c)
	debatetest.Finish(t, d)
	f, err := archive.Record(t.Context(), e, d.ID())
	require.NoError(t, err)
	return again(t, f)
}

// header returns the first line of a record.
func header(t *testing.T, f *archive.File) (h struct{ Code debate.Code }) {
	t.Helper()
	first, _, _ := bytes.Cut(text(t, f), []byte("\n"))
	require.NoError(t, json.Unmarshal(first, &h))
	return h
}

// A record names the code of the program that made the debate, and who verifies it learns what is missing.
func TestARecordNamesCodeThatIsNotOfTheLibrary(t *testing.T) {
	c := config(claims{})
	c.Judges, c.Participants[0].Tools = nil, []string{"look"}
	f := recordBy(t, c, ownCode())
	code := header(t, f).Code
	require.Equal(t, []string{"claims/1"}, code.Protocols)
	require.Equal(t, []string{"claim/1"}, code.Contracts)
	require.Equal(t, []string{"look"}, code.Tools)
	const here = "github.com/elenchus-go/debate/report/archive_test."
	require.Equal(t, here+"letters", code.Rules[0].Counter)
	require.Equal(t, here+"lastWord", code.Rules[0].Extractor)
	require.Len(t, code.Templates, 2)
	require.Contains(t, code.Templates[1].Files, "claim.tmpl")

	all := ownCode()
	all.Prompts = nil // the record has them
	r, err := archive.Verify(t.Context(), f, all)
	require.NoError(t, err)
	require.Equal(t, archive.Unsigned, r.Verdict, r.Reason)
	require.Empty(t, r.Lacks)
	require.Positive(t, r.Prompts)
	require.Zero(t, r.UnknownPrompts)

	for what, without := range map[string]func(o *debate.Options){
		"the protocol claims/1": func(o *debate.Options) { o.Protocols = nil }, "the contract claim/1": func(o *debate.Options) { o.Contracts = nil },
		"the tool look": func(o *debate.Options) { o.Tools = nil }, "the counter of tokens " + here + "letters": func(o *debate.Options) { o.TokenCounter = nil },
		"the extractor of answers " + here + "lastWord": func(o *debate.Options) { o.ExtractAnswer = nil },
	} {
		o := ownCode()
		without(&o)
		r, err := archive.Verify(t.Context(), f, o)
		require.NoError(t, err)
		require.Equal(t, []string{what}, r.Lacks)
		require.Zero(t, r.Count(debate.EntryWrong), "%s: %s", what, r.Reason)
		if r.Verdict == archive.Partly {
			require.Contains(t, r.Reason, "it lacks "+what)
		}
		if strings.HasPrefix(what, "the protocol") || strings.HasPrefix(what, "the contract") {
			require.Equal(t, archive.Partly, r.Verdict, what)
		}
	}
	r, err = archive.Verify(t.Context(), f, debate.Options{})
	require.NoError(t, err)
	require.Equal(t, archive.Partly, r.Verdict)
	require.Len(t, r.Lacks, 5)
}

// withHeader returns a record with a changed first line, and the sum that belongs to it.
func withHeader(t *testing.T, f *archive.File, change func(header, code map[string]any)) *archive.File {
	t.Helper()
	first, rest, _ := bytes.Cut(text(t, f), []byte("\n"))
	h := forgedtest.Decode(t, first).(map[string]any)
	change(h, h["code"].(map[string]any))
	rest = rest[:bytes.LastIndex(rest, []byte("sum "))]
	record := []byte(debatetest.Encode(t, h) + "\n" + string(rest))
	read, err := archive.ReadFile(bytes.NewReader(fmt.Appendf(record, "sum %s\n", chain.Sum(record))))
	require.NoError(t, err)
	return read
}

// Whoever verifies a record needs no templates: the record has the texts of those that were used, also of named sets.
func TestARecordHasItsTemplates(t *testing.T) {
	verse := &fstest.MapFile{Data: []byte(`{{define "system"}}{{template "debater" .}}{{end}}Begin in verse.`)}
	folder := fstest.MapFS{"opening.tmpl": verse, "free-form.tmpl": verse, "rebuttal.tmpl": verse}
	cfg := enginetest.PresetConfigs()["panel"]
	model := &scripted.Provider{DiscardCalls: true, Func: func(r providers.Request) scripted.Reply {
		return scripted.Reply{Text: enginetest.PresetReply(cfg, r)}
	}}
	for name, set := range map[string]func(o *debate.Options, c *debate.Config){
		"of the engine": func(o *debate.Options, _ *debate.Config) { o.Prompts = folder },
		"with a name": func(o *debate.Options, c *debate.Config) {
			o.PromptSets, c.Prompts = map[string]fs.FS{"verse": folder}, "verse"
		},
	} {
		t.Run(name, func(t *testing.T) {
			o, c := debate.Options{Providers: map[string]providers.Provider{"m": model}, KeepReplies: true}, cfg
			set(&o, &c)
			f := recordBy(t, c, o)
			verify := func(f *archive.File) *archive.Report {
				r, err := archive.Verify(t.Context(), f, debate.Options{})
				require.NoError(t, err)
				return r
			}
			r := verify(f)
			require.Equal(t, archive.Unsigned, r.Verdict, r.Reason)
			require.Empty(t, r.Lacks)
			require.Positive(t, r.Prompts)
			require.Zero(t, r.UnknownPrompts)

			files := func(code map[string]any, set int) map[string]any {
				return code["templates"].([]any)[set].(map[string]any)["files"].(map[string]any)
			}
			for reason, change := range map[string]func(h, code map[string]any){
				"their texts have the version":          func(_, code map[string]any) { files(code, 1)["opening.tmpl"] = "Begin in prose." },
				"closing.tmpl is not that of this":      func(_, code map[string]any) { files(code, 0)["closing.tmpl"] = "Say nothing." },
				"the header has the rules":              func(_, code map[string]any) { code["rules"] = []any{map[string]any{"number": 99}} },
				`the header names "song/1", but no ent`: func(_, code map[string]any) { code["contracts"] = []string{"song/1"} },
			} {
				r := verify(withHeader(t, f, change))
				require.Equal(t, archive.Wrong, r.Verdict)
				require.Contains(t, r.Reason, reason)
			}
			version := header(t, f).Code.Templates[1].Version
			r = verify(withHeader(t, f, func(_, code map[string]any) { code["templates"] = code["templates"].([]any)[:1] }))
			require.Equal(t, []string{"the templates " + version}, r.Lacks)
			require.Positive(t, r.UnknownPrompts)
			require.Zero(t, r.Count(debate.EntryWrong), r.Reason)
			missing := false
			for _, c := range r.Checks {
				missing = missing || slices.Contains(c.Missing, "this engine lacks the templates "+version)
			}
			require.True(t, missing)
		})
	}
}
