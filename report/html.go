package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"
)

var (
	//go:embed page.html.tmpl
	pageSource string
	//go:embed page.css
	pageStyle string
)

// contentPolicy is the content security policy of the page. It forbids loading, running and sending anything, and allows
// the page's own style sheet by its hash.
var contentPolicy = func() string {
	sum := sha256.Sum256([]byte(pageStyle))
	return fmt.Sprintf("default-src 'none'; style-src 'sha256-%s'; base-uri 'none'; form-action 'none'", base64.StdEncoding.EncodeToString(sum[:]))
}()

// pageTemplate is the template of the page. html/template escapes its data according to the context.
var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{"line": singleLine, "paragraphs": paragraphs}).
	Parse(strings.NewReplacer("@policy@", contentPolicy, "@style@", pageStyle).Replace(pageSource)))

// HTML writes a report as a single HTML file that loads no other resource. The file is also well-formed XML.
func HTML(w io.Writer, r *Report) error {
	if err := pageTemplate.Execute(w, r.document()); err != nil {
		return fmt.Errorf("write report of debate %s as HTML: %w", r.Result.ID, err)
	}
	return nil
}
