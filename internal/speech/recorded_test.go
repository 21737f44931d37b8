package speech_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/speech"
	"github.com/elenchus-go/debate/internal/test/golden"
	"github.com/elenchus-go/debate/internal/test/recorded"
)

// said is a recorded speech with those who debate.
type said struct {
	seats speech.Seats
	text  string
}

// recordedSpeeches returns the speeches in files of recorded data.
func recordedSpeeches(t *testing.T, names ...string) (list []said) {
	t.Helper()
	for _, name := range names {
		for _, line := range recorded.Lines[struct {
			Who   string
			Reply string
			Turns []struct{ Speaker, Text string }
		}](t, name) {
			var who []string
			for _, turn := range line.Turns {
				if !slices.Contains(who, turn.Speaker) {
					who = append(who, turn.Speaker)
				}
			}
			for _, turn := range line.Turns {
				others := slices.DeleteFunc(slices.Clone(who), func(s string) bool { return s == turn.Speaker })
				list = append(list, said{speech.Seats{Own: turn.Speaker, Others: others}, turn.Text})
			}
			if strings.TrimSpace(line.Reply) != "" {
				list = append(list, said{speech.Seats{Own: line.Who, Others: []string{"Affirmative side", "Negative side"}}, line.Reply})
			}
		}
	}
	return list
}

// sentences matches a sentence with the white space after it.
var sentences = regexp.MustCompile(`(?s).+?(?:[.!?]\s+|$)`)

// excerpts returns each one to three sentences that follow one another in texts.
func excerpts(list []said) (all []said) {
	for _, s := range list {
		parts := sentences.FindAllString(s.text, -1)
		for i := range parts {
			for n := 1; n <= 3 && i+n <= len(parts); n++ {
				all = append(all, said{s.seats, strings.Join(parts[i:i+n], "")})
			}
		}
	}
	return all
}

// TestRecordedSpeeches reads recorded speeches, and compares the figures with those in docs/measured/speeches.md.
func TestRecordedSpeeches(t *testing.T) {
	debates := recordedSpeeches(t, "speeches.jsonl", "panel-debates.jsonl")
	replies := recordedSpeeches(t, "mad-replies.jsonl")
	const judges = "replies of judges, 13 of which refuse"
	var b strings.Builder
	b.WriteString("| recorded texts | n | changed | dialogues | refusals |\n|---|---|---|---|---|\n")
	for _, set := range []struct {
		name  string
		texts []said
	}{
		{"speeches and panel debates", debates},
		{"MAD replies", replies},
		{"one to three sentences of the speeches and panel debates", excerpts(debates)},
		{judges, recordedSpeeches(t, "judge-replies.jsonl", "llmbar-replies.jsonl")},
	} {
		changed := 0
		dialogues := 0
		refused := 0
		for _, s := range set.texts {
			found := s.seats.Read(s.text)
			if found.Text != s.text {
				changed++
				t.Logf("changed: %q", s.text[:min(len(s.text), 200)])
			}
			if found.Dialogue {
				dialogues++
			}
			if speech.IsRefusal(s.text) {
				refused++
				t.Logf("refused: %q", s.text[:min(len(s.text), 200)])
			}
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d |\n", set.name, len(set.texts), changed, dialogues, refused)
		require.LessOrEqual(t, changed*1000, len(set.texts))
		if set.name != judges { // 13 are refusals
			require.LessOrEqual(t, refused*200, len(set.texts))
		}
	}
	golden.Section(t, "../../docs/measured/speeches.md", "recorded", b.String())
}

// TestRecordedDialogues makes dialogues of recorded speeches, and compares the figures with those in docs/measured/speeches.md.
func TestRecordedDialogues(t *testing.T) {
	debates := recordedSpeeches(t, "speeches.jsonl", "panel-debates.jsonl")
	forms := []struct {
		name string
		of   func(a, b, c said) string
	}{
		{"Ada: …, Bo: …, Ada: …", func(a, b, c said) string { return "Ada: " + a.text + "\n\nBo: " + b.text + "\n\nAda: " + c.text }},
		{"**Ada:** …, **Bo:** …", func(a, b, _ said) string { return "**Ada:** " + a.text + "\n\n**Bo:** " + b.text }},
		{"…, Bo: …, Ada: …", func(a, b, c said) string { return a.text + "\n\nBo: " + b.text + "\n\nAda: " + c.text }},
		{"### Ada, ### Bo, ### Ada", func(a, b, c said) string {
			return "### Ada\n\n" + a.text + "\n\n### Bo\n\n" + b.text + "\n\n### Ada\n\n" + c.text
		}},
		{"…, Bo: …", func(a, b, _ said) string { return a.text + "\n\nBo: " + b.text }},
	}
	var b strings.Builder
	b.WriteString("| dialogues of three speeches in a row | n | found | cut where the first one ends |\n|---|---|---|---|\n")
	for _, form := range forms {
		n := 0
		found := 0
		exact := 0
		for i := 0; i+2 < len(debates); i++ {
			r := seats.Read(form.of(debates[i], debates[i+1], debates[i+2]))
			n++
			if r.Dialogue {
				found++
			}
			if r.Dialogue && r.Text == strings.TrimSpace(debates[i].text) {
				exact++
			}
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d |\n", form.name, n, found, exact)
	}
	golden.Section(t, "../../docs/measured/speeches.md", "dialogues", b.String())
}

// TestRefusalsByLanguage counts the refusals in this package's tests, and compares the figures with those in docs/measured/speeches.md.
func TestRefusalsByLanguage(t *testing.T) {
	all, languages := 0, 0
	for language, list := range refusals {
		all += len(list)
		if language != more {
			languages++
		}
	}
	text := fmt.Sprintf("All %d refusals in %d languages, and none of %d short texts that argue, are taken for refusals\n(`go test ./internal/speech`).\n",
		all, languages, len(arguments))
	golden.Section(t, "../../docs/measured/speeches.md", "refusals", text)
}
