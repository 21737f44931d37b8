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

// policy lets a browser load nothing, run nothing, and send nothing: the one style is the one in the page, by its hash.
var policy = func() string {
	sum := sha256.Sum256([]byte(style))
	return fmt.Sprintf("default-src 'none'; style-src 'sha256-%s'; base-uri 'none'; form-action 'none'", base64.StdEncoding.EncodeToString(sum[:]))
}()

// page is the template. What it is given escapes by html/template, wherever it stands.
var page = template.Must(template.New("page").Funcs(template.FuncMap{"clean": clean, "line": line, "paragraphs": paragraphs}).
	Parse(strings.NewReplacer("@policy@", policy, "@style@", style).Replace(pageText)))

// HTML writes a report as one file, which loads nothing else. It is well-formed XML as well.
func HTML(w io.Writer, r *Report) error {
	if err := page.Execute(w, r.doc()); err != nil {
		return fmt.Errorf("write report of debate %s as HTML: %w", r.Result.ID, err)
	}
	return nil
}
