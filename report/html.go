package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/elenchus-go/debate/internal/markup"
	"github.com/elenchus-go/debate/internal/readmodel"
)

var (
	//go:embed page.html.tmpl
	pageSource string
	//go:embed page.css
	pageStyle string
)

// contentPolicy holds the content security policy of the page. It forbids loading, running and sending anything, and allows
// the page's own style sheet by its hash.
var contentPolicy = func() string {
	sum := sha256.Sum256([]byte(pageStyle))
	return fmt.Sprintf("default-src 'none'; style-src 'sha256-%s'; base-uri 'none'; form-action 'none'", base64.StdEncoding.EncodeToString(sum[:]))
}()

// pageTemplate renders the page. html/template escapes its data according to the context.
var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"line": readmodel.Line, "clean": markup.Clean,
	"text": markup.HTML, "fold": fold, "points": listPoints,
}).
	Parse(strings.NewReplacer("@policy@", contentPolicy, "@style@", pageStyle, "@notices@", noticesTitle, "@noturns@", noTurns, "@differences@", differencesTitle, "@topic@", topicTitle).Replace(pageSource)))

// A page shows about these numbers of bytes of a text that is more than twice as long.
const (
	foldLength      = 450
	foldAsideLength = 120
)

// folded is a text in Markdown. First is visible, and Rest is folded. Its first heading gets the level.
type folded struct {
	First, Rest string
	Words       int // in Rest
	Level       int
}

func fold(text string, aside bool, level int) folded {
	length := foldLength
	if aside {
		length = foldAsideLength
	}
	first, rest := markup.Fold(text, length)
	return folded{first, rest, len(strings.Fields(rest)), level}
}

// listPoints returns points in Markdown as a list below a heading of a speaker, or else of the page.
func listPoints(items []string, speaker *speaker) template.HTML {
	level := 4
	if speaker != nil {
		level++
	}
	var b strings.Builder
	for _, x := range items {
		b.WriteString("- " + strings.ReplaceAll(strings.TrimSpace(markup.Clean(x)), "\n", "\n  ") + "\n")
	}
	return markup.HTML(b.String(), level)
}

// HTML writes a report as a single HTML file that loads no other resource. The file is also well-formed XML.
func HTML(w io.Writer, r *Report) error {
	if err := pageTemplate.Execute(w, r.document()); err != nil {
		return fmt.Errorf("write report of debate %s as HTML: %w", r.Result.ID, err)
	}
	return nil
}
