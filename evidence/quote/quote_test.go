package quote

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

const study = `The study of 1914 (published in 1,000 copies) found that well-known cities grew by 1.5 % a year, exam-
ples being Łódź and Kraków. At night it was -5 degrees; p < 0.05. The king did not agree to pay £50, or 10² francs,
for 1½ naïve ﬁshes. "Cars," he said ... "take space that people need." 東京は日本の首都です。 Pages 19 14 are missing.`

func TestCheck(t *testing.T) {
	for quote, want := range map[string]Verdict{
		"found that well-known cities grew":             Verified,
		"FOUND that Well known cities GREW":             Verified,
		"found\n  that\twell-known   cities":            Verified,
		"fo\u00adund that well\u2011known ci\u00adties": Verified,
		"examples being Łódź":                           Verified,
		"examples being Lo\u0301dz\u0301 and":           Absent, // Ł has no decomposition
		"being Ło\u0301dz\u0301 and":                    Verified,
		"naive fishes cars":                             Absent,
		"naïve fishes. Cars":                            Verified,
		"“Cars”, he said: “take space":                  Verified,
		"Cars he said take space":                       Verified,
		"people need. 東京は日本の首都":                         Verified,
		"東京は日本の首都":                                      Verified,
		"日本の京都です":                                       Absent,
		"東京":                                            TooShort,
		"two words":                                     TooShort,
		"":                                              TooShort,
		"... [...] …":                                   TooShort,

		"cities grew by 1.5 %":      Verified,
		"cities grew by 1.5%":       Verified,
		"cities grew by 1.5":        Absent,
		"cities grew by 15 %":       Absent,
		"cities grew by 1,5 %":      Absent,
		"cities grew by .5 %":       Absent,
		"it was -5 degrees":         Verified,
		"it was −5 degrees":         Verified,
		"it was 5 degrees":          Absent,
		"degrees; p < 0.05":         Verified,
		"degrees; p<0.05":           Verified,
		"degrees; p > 0.05":         Absent,
		"degrees; p ≤ 0.05":         Absent,
		"agree to pay £50":          Verified,
		"agree to pay $50":          Absent,
		"agree to pay 50":           Absent,
		"published in 1000 copies":  Verified,
		"published in 1,000 copies": Verified,
		"published in 1.000 copies": Absent,
		"000 copies found that":     Absent,
		"or 10² francs":             Verified,
		"or 102 francs":             Absent,
		"francs for 1½ naïve":       Verified,
		"francs for 1 1/2 naïve":    Verified,
		"francs for 11/2 naïve":     Absent,
		"Pages 19 14 are":           Verified,
		"Pages 1914 are":            Absent,
		"tudy of 1914 published":    Absent,
		"study of 1914 publish":     Absent,
		"the study of the exam":     Absent,
		"Krakow. At night":          Absent,
		"he said ... take space":    Verified,
		"The study of 1914 … found that well-known cities":      Elided,
		"The study of 1914 [...] found that well-known cities":  Elided,
		"The study of 1914 . . . found that well-known cities":  Elided,
		"... found that well-known cities ... being Łódź and …": Elided,
		"found that well-known cities ... The study of 1914":    Absent,
		"The study of 1914 ... found that small cities":         Absent,
		"The study of 1914 ... cities":                          TooShort,
		"The king did ... agree to pay £50":                     Elided,
	} {
		verdict, places := New(study).Check(quote)
		assert.Equal(t, want, verdict, "%q", quote)
		if verdict == Verified {
			require.Len(t, places, 1)
			assert.Equal(t, reduce(quote).letters, reduce(study[places[0].Start:places[0].End]).letters, "%q", quote)
		}
	}
}

// Signs of comparison, logic and arithmetic, #, @, _ and arrows count between words. Quotes differ in one of them.
func TestSignsCount(t *testing.T) {
	for _, tt := range []struct{ text, quote string }{
		{"if ok && time.Since(e.loaded) < c.ttl {", "if ok || time.Since(e.loaded) > c.ttl {"},
		{"the loop ends when x != y and all is read", "the loop ends when x == y and all is read"},
		{"The ratio A/B of both gains is constant.", "The ratio A*B of both gains is constant."},
		{"The program was written in C++ by two people.", "The program was written in C by two people."},
		{"The program was written in C++", "The program was written in C"},
		{"The name foo_bar is read from the file.", "The name foo bar is read from the file."},
		{"Call git push with --force to replace it.", "Call git push with -force to replace it."},
		{"Call git push with --force to replace it.", "force to replace it"},
		{"All of a > b holds for such pairs.", "All of a < b holds for such pairs."},
		{"All of a ≤ b holds for such pairs.", "All of a ≥ b holds for such pairs."},
		{"The map f: A -> B is known to be linear.", "The map f: A <- B is known to be linear."},
		{"A → B is what the proof needs here", "A ← B is what the proof needs here"},
		{"We take p ∧ q as the premise of it.", "We take p ∨ q as the premise of it."},
		{"Write to ada@example.org for a copy.", "Write to ada example.org for a copy."},
		{"The issue #five was closed by him.", "The issue five was closed by him."},
		{"The service is written in C# and F# today", "The service is written in C and F today"},
		{"R&D costs grew in each of the years.", "R/D costs grew in each of the years."},
		{"The area is width * height of the box.", "The area is width + height of the box."},
		{"The mask is a ^ b of both keys here.", "The mask is a | b of both keys here."},
		{"It holds that !ready means closed, always.", "It holds that ready means closed, always."},
		{"The cost is n % k for each of them.", "The cost is n / k for each of them."},
		{"Both a ≠ b and c = d are wanted here.", "Both a = b and c = d are wanted here."},
	} {
		verdict, _ := New(tt.text).Check(tt.quote)
		assert.Equal(t, Absent, verdict, "%q in %q", tt.quote, tt.text)
		verdict, _ = New(tt.text).Check(tt.text)
		assert.Equal(t, Verified, verdict, tt.text)
	}
}

// Punctuation, dashes, quotation marks, and the marks of lists, headings and emphasis do not count.
func TestDecorationDoesNotCount(t *testing.T) {
	for _, tt := range []struct{ text, quote string }{
		{"# The plan\n\n- one road\n- two bridges\n", "The plan one road two bridges"},
		{"Items:\n* one road\n* two bridges\n", "Items: * one road * two bridges"},
		{"Items:\n+ one road\n+ two bridges\n", "Items: one road, two bridges"},
		{"It is **very** important, *truly*.", "It is very important, truly."},
		{"It is very important, truly.", "It is **very** important, _truly_."},
		{"> Who asked you?\n> Nobody did so.", "Who asked you? Nobody did so."},
		{"The well-known road — it is long – ends.", "The well known road - it is long -- ends"},
		{"| road | length |\n|---|---|\n| A one | five |", "road length A one five"},
		{"Stop! Go on! “Never” (ever) again.", "Stop. Go on. 'Never' ever again"},
		{"The heading\n===========\n\nbegins a new chapter", "The heading begins a new chapter"},
		{"// The cache is read\n// once for each key.", "The cache is read once for each key."},
		{"a <= b is what they say", "a ≤ b is what they say"},
		{"from A -> B by train", "from A → B by train"},
		{"the width * height\nof each box", "the width *\nheight of each box"},
		{"~~An old road~~ a new one", "An old road a new one"},
		{"The value is `so far` unknown.", "The value is so far unknown."},
	} {
		verdict, _ := New(tt.text).Check(tt.quote)
		assert.Equal(t, Verified, verdict, "%q in %q", tt.quote, tt.text)
	}
}

// In code, all characters count but white space.
func TestCode(t *testing.T) {
	const code = "func get(e *entry) error {\n\tif e == nil || !e.ok {\n\t\treturn errors.New(\"no entry\") // at all\n\t}\n\t*e.at = now()\n\tlog(args...)\n}"
	const markdown = "# Use\n\nCall `get(e)` if `e.ok == nil` holds:\n\n```go\n" + code + "\n```\n\nIt fails Otherwise, as a rule.\n"
	for quote, want := range map[string]Verdict{
		"if e == nil || !e.ok {":                         Verified,
		"if e==nil||!e.ok{":                              Verified,
		"if e == nil ||\n    !e.ok {\n return":           Verified,
		"if e != nil || !e.ok {":                         Absent,
		"if e == nil || e.ok {":                          Absent,
		"if e == nil && !e.ok {":                         Absent,
		"if E == nil || !e.ok {":                         Absent,
		"return errors.New(\"no entry\")":                Verified,
		"return errors.New('no entry')":                  Absent,
		"return errors.new(\"no entry\")":                Absent,
		"func get(e entry) error":                        Absent,
		"log(args...)":                                   Verified,
		"func get(e *entry) error … *e.at = now()":       Elided,
		"func get(e *entry) error {\n...\n*e.at = now()": Elided,
	} {
		verdict, _ := Code(code).Check(quote)
		assert.Equal(t, want, verdict, "%q in code", quote)
		verdict, _ = New(markdown).Check(quote)
		if verdict != TooShort {
			assert.Equal(t, want, verdict, "%q in Markdown", quote)
		}
	}
	for quote, want := range map[string]Verdict{
		"Call get(e) if e.ok == nil holds": Verified,
		"call `get(e)` if `e.ok == nil`":   Verified,
		"Call get(e) if e.ok != nil holds": Absent,
		"Call GET(e) if e.ok == nil holds": Absent,
		"it fails otherwise as a rule":     Verified,
	} {
		verdict, _ := New(markdown).Check(quote)
		assert.Equal(t, want, verdict, "%q", quote)
	}
}

func TestNamesOfCode(t *testing.T) {
	for _, name := range []string{"main.go", "src/App.TSX", `c:\\work\\a.rs`, "Makefile", "deploy/Dockerfile", "change.diff", "a.b.yaml"} {
		require.True(t, IsCode(name), name)
	}
	for _, name := range []string{"notes.md", "plan.txt", "contract", "report.pdf", "go", "", "page.html"} {
		require.False(t, IsCode(name), name)
	}
}

func TestPlacesOfPieces(t *testing.T) {
	_, places := New(study).Check("the STUDY of 1914 ... grew by 1.5 % ... agree to pay £50")
	var pieces []string
	for _, p := range places {
		pieces = append(pieces, study[p.Start:p.End])
	}
	require.Equal(t, []string{"The study of 1914", "grew by 1.5 %", "agree to pay £50"}, pieces)
}

func TestOmissionsAreLimited(t *testing.T) {
	const first, second = "the first piece begins", "the second piece ends"
	for gap, want := range map[int]Verdict{MaxOmission: Elided, MaxOmission + 1: Absent} {
		text := New(first + " " + strings.Repeat("x", gap) + " " + second)
		verdict, _ := text.Check(first + " ... " + second)
		assert.Equal(t, want, verdict, "%d", gap)
	}
	near := New(first + strings.Repeat(" far away", 1000) + ", " + first + " and " + second)
	verdict, places := near.Check(first + " ... " + second)
	require.Equal(t, Elided, verdict)
	require.Greater(t, places[0].Start, 1000, "the nearest occurrence counts")
}

func TestEachPartOfATextIsVerified(t *testing.T) {
	text := New(study)
	rapid.Check(t, func(t *rapid.T) {
		first := rapid.IntRange(0, len(text.words)-1).Draw(t, "first")
		last := rapid.IntRange(first, len(text.words)-1).Draw(t, "last")
		quote := study[text.words[first].place.Start:text.words[last].place.End]
		verdict, places := text.Check(quote)
		if verdict == TooShort {
			require.Less(t, last-first, 6)
			return
		}
		require.Equal(t, Verified, verdict, "%q", quote)
		require.Equal(t, reduce(quote).letters, reduce(study[places[0].Start:places[0].End]).letters)
	})
}

func FuzzCheck(f *testing.F) {
	f.Add(study, "found that … grew by 1.5 %")
	f.Add("1 %2 %\xff$", "-$1,000 ½² ... 10²")
	f.Add("a\u0338\u00ad\n-\n5", "=\u0338 5")
	f.Fuzz(func(t *testing.T, text, quote string) {
		prepared := New(text)
		end := 0
		for i, w := range prepared.words {
			require.True(t, end <= w.place.Start && w.place.Start < w.place.End && w.place.End <= len(text), "word %d: %v", i, w)
			require.True(t, w.start < w.end && w.end <= len(prepared.letters))
			end = w.place.End
		}
		verdict, places := prepared.Check(quote)
		require.Equal(t, verdict == Verified || verdict == Elided, len(places) > 0)
		end = 0
		for _, p := range places {
			require.True(t, end <= p.Start && p.Start < p.End && p.End <= len(text), "%v", places)
			end = p.End
		}
		if own, _ := New(quote).Check(quote); own != TooShort {
			require.Equal(t, Verified, own, "each text contains itself")
		}
	})
}
