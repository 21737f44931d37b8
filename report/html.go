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
	pageText string
	//go:embed page.css
	style string
)

// policy is the content security policy. It forbids loading, running and sending anything; the page's own style sheet is
// allowed by its hash.
var policy = func() string {
	sum := sha256.Sum256([]byte(style))
	return fmt.Sprintf("default-src 'none'; style-src 'sha256-%s'; base-uri 'none'; form-action 'none'", base64.StdEncoding.EncodeToString(sum[:]))
}()

// page is the template of the document. html/template escapes its data according to the context.
var page = template.Must(template.New("page").Funcs(template.FuncMap{"line": line, "paragraphs": paragraphs}).
	Parse(strings.NewReplacer("@policy@", policy, "@style@", style).Replace(pageText)))

// HTML writes a report as a single HTML file that loads no other resource. The file is also well-formed XML.
func HTML(w io.Writer, r *Report) error {
	if err := page.Execute(w, r.doc()); err != nil {
		return fmt.Errorf("write report of debate %s as HTML: %w", r.Result.ID, err)
	}
	return nil
}
