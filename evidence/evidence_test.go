package evidence_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/evidence"
)

func isSeat(name string) bool { return name == "Ann" || name == "Bob" }

func count(text string) int { return len(text) / 4 }

func ExamplePrivate() {
	d := evidence.Private("contract.md", "The rent is 900 euros.", "Ann")
	fmt.Println(d, d.IsPrivate(), d.IsFor("Ann"), d.IsFor("Bob"), d.Matches("The rent is 800 euros."))
	// Output: contract.md (22 bytes) true true false false
}

// Each row is one mistake, and where it is reported.
func TestCheck(t *testing.T) {
	shared := func(change func(*evidence.Document)) evidence.Document {
		d := evidence.Shared("a.md", "Some text.")
		change(&d)
		return d.WithDefaults(count)
	}
	private := func(change func(*evidence.Document)) evidence.Document {
		d := evidence.Private("a.md", "Some text.", "Ann")
		change(&d)
		return d.WithDefaults(count)
	}
	keep := func(*evidence.Document) {}
	for name, tt := range map[string]struct {
		doc  evidence.Document
		want []evidence.Problem
	}{
		"shared":                {shared(keep), nil},
		"private":               {private(keep), nil},
		"private for everybody": {private(func(d *evidence.Document) { d.Readers = []string{"*"} }), nil},
		"only a text, which is not shared by omission": {
			shared(func(d *evidence.Document) { *d = evidence.Document{Name: "a.md", Text: "Some text."} }),
			[]evidence.Problem{{"readers", `it is empty: name who reads the document, or use "*" with a text for everybody`}},
		},
		"no readers": {private(func(d *evidence.Document) { d.Readers = nil }), []evidence.Problem{{"readers", `it is empty: name who reads the document, or use "*" with a text for everybody`}}},
		"a text for some": {
			shared(func(d *evidence.Document) { d.Readers = []string{"Ann"} }),
			[]evidence.Problem{{"readers", `a text is stored with the debate, for everybody: use ["*"], or leave the text out and give it in Options.Documents`}},
		},
		"an unknown reader": {private(func(d *evidence.Document) { d.Readers = []string{"Cy"} }), []evidence.Problem{{"readers", `"Cy" is neither a participant nor a judge`}}},
		"a reader twice":    {private(func(d *evidence.Document) { d.Readers = []string{"Ann", "Ann"} }), []evidence.Problem{{"readers", `"Ann" is listed twice`}}},
		"all and one":       {private(func(d *evidence.Document) { d.Readers = []string{"Ann", "*"} }), []evidence.Problem{{"readers", `"*" stands for all, remove the other names`}}},
		"no name": {
			private(func(d *evidence.Document) { d.Name = "" }),
			[]evidence.Problem{{"name", `"" is not valid, use 1 to 128 bytes without control characters, and blanks at its ends`}},
		},
		"a path": {private(func(d *evidence.Document) { d.Name = "a/b" }), nil},
		"no hash": {
			private(func(d *evidence.Document) { d.SHA256 = "" }),
			[]evidence.Problem{{"text", "there is neither a text nor the hash of a private one, use Shared or Private"}},
		},
		"a hash in capitals": {
			private(func(d *evidence.Document) { d.SHA256 = strings.ToUpper(d.SHA256) }),
			[]evidence.Problem{{"sha256", "it is not valid, use the 64 lower-case hexadecimal digits of the text's SHA-256"}},
		},
		"the hash of another text": {shared(func(d *evidence.Document) { d.SHA256 = evidence.Hash("x") }), []evidence.Problem{{"sha256", "it is not that of the text, leave it out"}}},
		"no size":                  {private(func(d *evidence.Document) { d.Size, d.Tokens = 0, 1 }), []evidence.Problem{{"size", "0 is not valid, use 1 to 67108864"}}},
		"another size":             {shared(func(d *evidence.Document) { d.Size = 4 }), []evidence.Problem{{"size", "4 is not the size of the text, leave it out"}}},
		"negative tokens":          {private(func(d *evidence.Document) { d.Tokens = -1 }), []evidence.Problem{{"tokens", "-1 is not valid, use 1 to 2000000000"}}},
		"invalid UTF-8":            {evidence.Shared("a.md", "\xff").WithDefaults(func(string) int { return 1 }), []evidence.Problem{{"text", "it is not valid UTF-8"}}},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, tt.want, tt.doc.Check(isSeat)) })
	}
}

func TestCheckAll(t *testing.T) {
	a, b := evidence.Shared("a", "x"), evidence.Private("b", "y")
	list := []evidence.Document{a.WithDefaults(count), b.WithDefaults(count), a.WithDefaults(func(string) int { return 1 })}
	require.Equal(t, []evidence.Problem{
		{"[0].tokens", "0 is not valid, use 1 to 2000000000"},
		{"[1].readers", `it is empty: name who reads the document, or use "*" with a text for everybody`},
		{"[2].name", `"a" is the name of two documents`},
	}, evidence.CheckAll(list, isSeat))

	large := evidence.Shared("large", strings.Repeat("x", evidence.MaxShared/2+1)).WithDefaults(count)
	other := large
	other.Name = "other"
	require.Equal(t, []evidence.Problem{{"", "the texts have 4194306 bytes, use at most 4194304 for all, because the debate is stored with them"}}, evidence.CheckAll([]evidence.Document{large, other}, isSeat))
	var many []evidence.Document
	for i := range 101 {
		many = append(many, evidence.Private(fmt.Sprint(i), "x", "Ann").WithDefaults(count))
	}
	require.Equal(t, []evidence.Problem{{"", "101 are too many, use at most 100"}}, evidence.CheckAll(many, isSeat))
}

func TestDefaults(t *testing.T) {
	d := evidence.Document{Name: "a", Text: "Some more text.", Readers: []string{"*"}}.WithDefaults(count)
	require.Equal(t, evidence.Document{Name: "a", SHA256: evidence.Hash("Some more text."), Size: 15, Tokens: 3, Text: "Some more text.", Readers: []string{"*"}}, d)
	require.Equal(t, 4, evidence.Private("a", "0123456789", "Ann").WithDefaults(count).Tokens, "without a text, a third of the size")
	require.Equal(t, 5, evidence.Private("a.go", "0123456789", "Ann").WithDefaults(count).Tokens, "code has numbers of lines")
	lines := evidence.Shared("a.go", "x := 1\ny := 2\n").WithDefaults(func(text string) int { return len(text) })
	require.Equal(t, len("1| x := 1\n2| y := 2\n"), lines.Tokens)
}

// A document holds text that a log must not have.
func TestNoFormatWritesTheText(t *testing.T) {
	d := evidence.Shared("a.md", "MARKER")
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		require.Equal(t, "a.md (6 bytes)", fmt.Sprintf(verb, d))
		require.NotContains(t, fmt.Sprintf(verb, []any{d, &d, []evidence.Document{d}}), "MARKER")
	}
}

func TestADocumentSurvivesJSON(t *testing.T) {
	for _, d := range []evidence.Document{evidence.Shared("a", "x"), evidence.Private("b", "y", "Ann")} {
		b, err := json.Marshal(d)
		require.NoError(t, err)
		var back evidence.Document
		require.NoError(t, json.Unmarshal(b, &back))
		require.Equal(t, d, back)
	}
}
