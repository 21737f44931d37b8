package inspector

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/elenchus-go/debate/internal/markup"
	"github.com/elenchus-go/debate/internal/outcome"
	"github.com/elenchus-go/debate/internal/readmodel"
	"github.com/elenchus-go/debate/store"
)

// Each template defines "main", which layout.tmpl encloses. Names of files are names of pages. Templates that several pages
// use are in parts.tmpl.
//
//go:embed templates/*.tmpl
var templateFiles embed.FS

//go:embed assets
var assetFiles embed.FS

// templates returns a template for each page, by name. It parses them when a page is shown first, because most programs that import
// this package show none.
var templates = sync.OnceValue(parseTemplates)

func parseTemplates() map[string]*template.Template {
	base := template.Must(template.New("").Funcs(functions).ParseFS(templateFiles, "templates/layout.tmpl", "templates/parts.tmpl", "templates/drawings.tmpl"))
	files, err := templateFiles.ReadDir("templates")
	if err != nil {
		panic(err) // the files are embedded
	}
	all := map[string]*template.Template{}
	for _, f := range files {
		all[strings.TrimSuffix(f.Name(), ".tmpl")] = template.Must(template.Must(base.Clone()).ParseFS(templateFiles, "templates/"+f.Name()))
	}
	return all
}

// functions holds what is available in all templates.
var functions = template.FuncMap{
	"time": formatTime, "duration": formatDuration, "number": outcome.Thousands, "cost": formatCost,
	"words": words, "initials": func(name string) string { return readmodel.Initials(name, nil) }, "percent": formatPercent,
	"background": cutBackground, "isCut": isCut, "markdown": markdown, "json": encodeJSON, "short": short,
	"labels": shownLabels,
	"list":   func(all ...any) []any { return all }, "next": func(i int) int { return i + 1 },
}

// tabs lists the pages of a debate, by their path below the debate's own.
var tabs = []tab{
	{"", "Now"},
	{"past", "Past"},
	{"judges", "Judges"},
	{"family", "Family"},
}

type tab struct{ Path, Title string }

// appScript keeps a page up to date.
var appScript = []string{"app.js"}

// A page is what layout.tmpl shows.
type page struct {
	Title   string
	Tab     string   // path of the tab that the page belongs to
	Scripts []string // names of the scripts in the folder assets
	Style   string   // name of a style sheet in that folder, besides the one of all pages; empty if there is none
	Main    any      // what the page's own template shows, as .Main

	v *visit
}

// Debate returns the debate that the page is about, or nil if it is about none. Its topic, protocol and labels are for
// everyone; the rest is not for each seat.
func (p page) Debate() *store.Status {
	if p.v.debate == nil {
		return nil
	}
	return &p.v.status
}

// Root returns the relative address of the inspector's first page. It ends with a slash.
func (p page) Root() string {
	depth := strings.Count(strings.TrimPrefix(p.v.r.URL.Path, "/"), "/")
	if depth == 0 {
		return "./"
	}
	return strings.Repeat("../", depth)
}

// Link returns the relative address of a page of the debate, for the same seat. Parameters of the query are pairs of a name
// and a value; those without a value are left out.
func (p page) Link(below string, parameters ...any) string {
	return p.LinkTo(p.v.status.ID, below, parameters...)
}

// LinkTo returns the address of a page of another debate, as Link does for this one.
func (p page) LinkTo(id, below string, parameters ...any) string {
	q := url.Values{}
	if p.v.seat != "" {
		q.Set("seat", p.v.seat)
	}
	for i := 0; i+1 < len(parameters); i += 2 {
		if value := fmt.Sprint(parameters[i+1]); value != "" {
			q.Set(fmt.Sprint(parameters[i]), value)
		}
	}
	to := p.Root() + "debates/" + url.PathEscape(id)
	if below != "" {
		to += "/" + below
	}
	if len(q) > 0 {
		to += "?" + q.Encode()
	}
	return to
}

// Seat returns the seat of the visitor.
func (p page) Seat() string { return p.v.seat }

// Controls reports whether the inspector allows changes.
func (p page) Controls() bool { return p.v.Controls }

// Begins reports whether the inspector has a page for new debates.
func (p page) Begins() bool { return p.v.Controls && p.v.Offer != nil }

// Tabs returns the pages of the debate.
func (p page) Tabs() []tab { return tabs }

// show answers with a page.
func (v *visit) show(name string, p page) error {
	v.write(http.StatusOK, name, p)
	return nil
}

// write answers with a page and a status code.
func (v *visit) write(code int, name string, p page) {
	body, err := v.render(name, p)
	if err != nil {
		v.Logger.ErrorContext(v.r.Context(), "write page", "path", v.r.URL.Path, "error", err)
		http.Error(v.w, "The server failed", http.StatusInternalServerError)
		return
	}
	v.answer(code, body)
}

// render returns a page. It removes control characters, which may change the direction of text.
func (v *visit) render(name string, p page) ([]byte, error) {
	p.v = v
	var b bytes.Buffer
	if err := templates()[name].ExecuteTemplate(&b, "layout", p); err != nil {
		return nil, err
	}
	return []byte(markup.Clean(b.String())), nil
}

// answer answers with a page that was rendered.
func (v *visit) answer(code int, body []byte) {
	v.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.w.WriteHeader(code)
	_, _ = v.w.Write(body) // fails if the client has disconnected
}

// asset serves a script or a style sheet. Browsers ask each time whether it has changed.
func asset(w http.ResponseWriter, r *http.Request) {
	b, err := assetFiles.ReadFile(path.Join("assets", r.PathValue("name")))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	sum := sha256.Sum256(b)
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("ETag", `"`+hex.EncodeToString(sum[:8])+`"`)
	http.ServeContent(w, r, r.PathValue("name"), time.Time{}, bytes.NewReader(b))
}
