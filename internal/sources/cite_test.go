package sources

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/providers/tool"
	"github.com/elenchus-go/debate/transcript"
)

const (
	law  = "Any rent above 800 euros is void. The landlord pays the difference back, with interest, within one month."
	deal = "The rent is 900 euros. It is due on the first day of each month."
	news = "The city counted 41,200 cyclists a day in May, twice as many as ten years ago."
)

// library returns a list with the documents law.md (1) and deal.md (2), which A reads, and with what tools have found: a text
// (3), a part of a text (4), a text that the journal does not have (5), and one that B's step in a parallel phase found (6).
func library() *List {
	l := &List{}
	l.SetDocuments([]evidence.Document{evidence.Shared("law.md", law), evidence.Private("deal.md", deal, "A")}, 1)
	l.findIn(key(1, "speak", "A"), 2, 3,
		tool.Record{Text: "x", Sources: []tool.Source{{Text: news, Title: "News"}}},
		tool.Record{Text: law[:50], Size: 999, SHA256: evidence.Hash("long"), Sources: []tool.Source{{Title: "cut"}}},
		tool.Record{Text: "y", Sources: []tool.Source{{URI: "u", Size: 9, SHA256: evidence.Hash("gone")}}})
	l.findIn(key(2, "all", "B"), 5, 7, call("Only B knows of this text."))
	return l
}

func turn(actor, text string) *transcript.Turn {
	return &transcript.Turn{Key: key(2, "all", actor), Kind: transcript.Speech, VisibleSeq: 5, Text: text}
}

// read returns the citations of a turn, one in a line.
func read(l *List, t *transcript.Turn, private Private) string {
	var lines []string
	for _, c := range l.Cite(t, private).Check(&Texts{}) {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%d %s %d %s", c.Source, c.Verdict, c.Omitted, c.Quote)))
	}
	return strings.Join(lines, "\n")
}

func withDeal(d *evidence.Document) (string, bool) { return deal, d.Name == "deal.md" }

func TestVerdicts(t *testing.T) {
	q := func(source, words string) string { return `<quote source="` + source + `">` + words + `</quote>` }
	for name, tt := range map[string]struct{ actor, text, want string }{
		"none":                          {"A", "So it is.", ""},
		"cited":                         {"A", "So it is [1, 3].", "1  0\n3  0"},
		"verified":                      {"A", q("1", "any rent above 800 Euros"), "1 verified 0 any rent above 800 Euros"},
		"by its name":                   {"A", q("law.md", "the landlord pays the difference"), "1 verified 0 the landlord pays the difference"},
		"by its title":                  {"A", q("News", "twice as many as"), "3 verified 0 twice as many as"},
		"with an omission":              {"A", q("1", "the landlord pays … within one month"), "1 verified 5 the landlord pays … within one month"},
		"a word changed":                {"A", q("1", "any rent above 900 euros is void"), "1 altered 0 any rent above 900 euros is void"},
		"invented":                      {"A", q("1", "tenants must never pay a deposit"), "1 not_found 0 tenants must never pay a deposit"},
		"of another source":             {"A", q("3", "any rent above 800 euros"), "3 not_found 0 any rent above 800 euros"},
		"too short":                     {"A", q("1", "800 euros"), "1 not_checked 0 800 euros"},
		"empty":                         {"A", q("1", " "), "1  0"},
		"no such source":                {"A", "[77] and " + q("88", "any rent above 800 euros") + q("Hearsay", "they say so"), "88 not_found 0 any rent above 800 euros\n0 not_found 0 they say so\n77 not_found 0"},
		"an index":                      {"A", "a[77]", ""},
		"a private document":            {"A", q("2", "the rent is 900 euros"), "2 verified 0 the rent is 900 euros"},
		"a private document, altered":   {"A", q("2", "the rent is 800 euros"), "2 altered 0 the rent is 800 euros"},
		"a private document of another": {"B", q("2", "the rent is 900 euros"), "2 not_checked 0 the rent is 900 euros"},
		"a part of a text":              {"A", q("4", "any rent above 800 euros"), "4 verified 0 any rent above 800 euros"},
		"perhaps in the rest of a text": {"A", q("4", "with interest, within one month"), "4 not_checked 0 with interest, within one month"},
		"a text that is not kept":       {"A", q("5", "any rent above 800 euros"), "5 not_checked 0 any rent above 800 euros"},
		"what only another step knows":  {"A", "[6] " + q("6", "only B knows of this"), "6 not_found 0 only B knows of this"},
		"what the step knows":           {"B", q("6", "only B knows of this"), "6 verified 0 only B knows of this"},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, tt.want, read(library(), turn(tt.actor, tt.text), withDeal)) })
	}
	require.Equal(t, "2 not_checked 0 the rent is 900 euros", read(library(), turn("A", q("2", "the rent is 900 euros")), nil), "without the text")
	s := turn("A", "[1]")
	s.Kind = transcript.Summary
	require.Empty(t, read(library(), s, nil), "a summary repeats what others have cited")
	require.Empty(t, read(&List{}, turn("A", "[1]"), nil), "a debate without sources")
}

// A speaker cannot have any number of quotes checked.
func TestManyCitations(t *testing.T) {
	text := strings.Repeat(`<quote source="1">any rent above 800 euros</quote>`, 100)
	list := library().Cite(turn("A", text), nil).Check(&Texts{})
	require.Len(t, list, 100)
	require.Equal(t, transcript.Verified, list[maxChecked-1].Verdict)
	require.Equal(t, transcript.NotChecked, list[maxChecked].Verdict)
	list = library().Cite(turn("A", strings.Repeat(text, 100)), nil).Check(&Texts{})
	require.Len(t, list, maxCited)
}

func TestContradict(t *testing.T) {
	kept := &Texts{}
	for name, tt := range map[string]struct {
		text, stored string
		wrong        bool
	}{
		"none":                     {"Yes.", "", false},
		"some where there is none": {"Yes.", "1||", true},
		"none where there is one":  {"[1]", "", true},
		"the same":                 {"[1] [9]", "1||,9||not_found", false},
		"another source":           {"[1]", "3||", true},
		"a verdict":                {`<quote source="1">the rent is a gift</quote>`, "1|the rent is a gift|not_found", false},
		"a better verdict":         {`<quote source="1">the rent is a gift</quote>`, "1|the rent is a gift|verified", true},
		"other words":              {`<quote source="1">the rent is a gift</quote>`, "1|any rent above 800 euros|verified", true},
		"a private document":       {`<quote source="2">the rent is 900 euros</quote>`, "2|the rent is 900 euros|verified", false},
		"its other words":          {`<quote source="2">the rent is 900 euros</quote>`, "2|the rent is due|verified", true},
		"no known verdict of it":   {`<quote source="1">any rent above 800</quote>`, "1|any rent above 800|not_checked", true},
		"a bare citation":          {"[2]", "2||verified", true},
	} {
		t.Run(name, func(t *testing.T) {
			var stored []transcript.Citation
			if tt.stored != "" {
				for x := range strings.SplitSeq(tt.stored, ",") {
					f := strings.Split(x, "|")
					var c transcript.Citation
					_, err := fmt.Sscan(f[0], &c.Source)
					require.NoError(t, err)
					c.Quote, c.Verdict = f[1], transcript.Verdict(f[2])
					stored = append(stored, c)
				}
			}
			require.Equal(t, tt.wrong, library().Cite(turn("A", tt.text), nil).Contradict(stored, kept))
		})
	}
}

func TestReport(t *testing.T) {
	l := library()
	said := func(actor, text string) transcript.Turn {
		s := turn(actor, text)
		s.Citations = l.Cite(s, withDeal).Check(&Texts{})
		return *s
	}
	list := l.Report([]transcript.Turn{
		said("A", `[1] <quote source="2">the rent is 900 euros</quote> [3]`),
		said("A2", `<quote source="1">any rent above 900 euros is void</quote> [3] [99]`),
		said("B", `<quote source="1">any rent above 800 euros</quote>`),
		said("J", "[3]"),
	}, map[string]string{"A": "pro", "A2": "pro", "B": "con"})
	require.Len(t, list, 6)
	require.Equal(t, evidence.Source{
		Number: 1, Name: "law.md", SHA256: evidence.Hash(law), Size: len(law), Document: true,
		CitedBy: []string{"A", "A2", "B"}, QuotedBy: []string{"B"}, MisquotedBy: []string{"A2"},
	}, list[0])
	require.Equal(t, evidence.Source{
		Number: 2, Name: "deal.md", SHA256: evidence.Hash(deal), Size: len(deal), Document: true, Private: true,
		CitedBy: []string{"A"}, QuotedBy: []string{"A"}, Unanswered: true,
	}, list[1])
	require.Equal(t, []string{"A", "A2", "J"}, list[2].CitedBy)
	require.True(t, list[2].Unanswered, "a judge is no opponent")
	require.Equal(t, []string{"A"}, list[2].FoundBy)
	require.Equal(t, evidence.Source{Number: 6, Name: "search", SHA256: evidence.Hash("Only B knows of this text."), Size: 26, FoundBy: []string{"B"}}, list[5])
	require.False(t, list[5].Unanswered, "nobody cites it")
	require.Nil(t, (&List{}).Report(nil, nil))
}

// Texts that were prepared are kept up to a size.
func TestTextsAreKept(t *testing.T) {
	var kept Texts
	large := strings.Repeat("So it is, and not otherwise. ", maxKept/29/2)
	first := kept.prepare("1", "", large)
	require.Same(t, first, kept.prepare("1", "", large))
	kept.prepare("2", "", large)
	kept.prepare("3", "", large[:len(large)/2])
	require.NotSame(t, first, kept.prepare("1", "", large), "the oldest one had to go")
	require.LessOrEqual(t, kept.size, maxKept)
	require.Len(t, kept.kept, len(kept.order))
	kept.prepare("4", "", strings.Repeat("x ", maxKept))
	require.NotContains(t, kept.kept, "4")
}
