package extract

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"
)

func TestMain(m *testing.M) {
	newRuntime, maxXML = wazero.NewRuntimeConfigInterpreter, 1<<20
	m.Run()
}

// pdf returns a PDF with these lines on each page.
func pdf(pages ...[]string) []byte {
	var b bytes.Buffer
	var offsets []int
	object := func(format string, args ...any) {
		offsets = append(offsets, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", len(offsets), fmt.Sprintf(format, args...))
	}
	var kids []string
	for i := range pages {
		kids = append(kids, fmt.Sprintf("%d 0 R", 4+2*i))
	}
	b.WriteString("%PDF-1.4\n")
	object("<< /Type /Catalog /Pages 2 0 R >>")
	object("<< /Type /Pages /Kids [%s] /Count %d >>", strings.Join(kids, " "), len(pages))
	object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
	for i, lines := range pages {
		object("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents %d 0 R /Resources << /Font << /F1 3 0 R >> >> >>", 5+2*i)
		text := "BT /F1 12 Tf 20 750 Td"
		for _, line := range lines {
			text += " (" + line + ") Tj 0 -14 Td"
		}
		text += " ET"
		object("<< /Length %d >>\nstream\n%s\nendstream", len(text), text)
	}
	at := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, offset := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&b, "trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, at)
	return b.Bytes()
}

// docx returns a DOCX file with the content of a body, and other parts by their names.
func docx(t testing.TB, body string, others ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	const open = `<?xml version="1.0" encoding="UTF-8"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:mc="x"><w:body>`
	parts := append([]string{"word/document.xml", open + body + `</w:body></w:document>`}, others...)
	for i := 0; i < len(parts); i += 2 {
		w, err := z.Create(parts[i])
		require.NoError(t, err)
		_, err = w.Write([]byte(parts[i+1]))
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return b.Bytes()
}

const article = `<html><head><title>Lanes</title><style>p{}</style><script>alert(1)</script></head><body><nav>Home About</nav>
<article><h1>New lanes</h1><p>On the new lanes, trips by bicycle rose by a third, while the number of accidents fell.
</p><p>Caf&eacute;s on the lanes sold more, and their owners, who had feared the change, asked for more of it.</p></article></body></html>`

func TestText(t *testing.T) {
	r := reader(t)
	for _, tt := range []struct {
		name string
		data []byte
		want string
	}{
		{"a.pdf", pdf([]string{"Trips by bicycle", "rose by a third, and acci-", "dents fell."}, []string{"Page two."}), "Trips by bicycle\nrose by a third, and acci-\ndents fell.\n\nPage two."},
		{"A.DOCX", docx(t, `<w:p><w:pPr><w:tabs><w:tab/></w:tabs></w:pPr><w:r><w:t>One</w:t><w:tab/><w:t xml:space="preserve"> two</w:t><w:br/><w:delText>gone</w:delText></w:r></w:p><w:tbl><w:tr><w:tc><w:p><w:r><w:t>x</w:t></w:r></w:p></w:tc></w:tr></w:tbl><mc:AlternateContent><mc:Fallback><w:p><w:r><w:t>twice</w:t></w:r></w:p></mc:Fallback></mc:AlternateContent><w:moveFrom><w:r><w:t>moved</w:t></w:r></w:moveFrom>`,
			"word/footnotes.xml", `<w:footnotes xmlns:w="http://purl.oclc.org/ooxml/wordprocessingml/main"><w:p><w:r><w:t>A &amp; note.</w:t></w:r></w:p></w:footnotes>`), "One\t two\n\nx\n\t\nA & note."},
		{"a.html", []byte(article), "Lanes\n\nNew lanes\n\nOn the new lanes, trips by bicycle rose by a third, while the number of accidents fell.\n\nCafés on the lanes sold more, and their owners, who had feared the change, asked for more of it."},
		{"list.htm", []byte("<ul><li>One</li><li>Two</li></ul>"), "One\nTwo"},
		{"latin.xhtml", []byte("<meta charset=iso-8859-1><p>Caf\xe9</p>"), "Café"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text, err := r.Text(t.Context(), tt.name, tt.data)
			require.NoError(t, err)
			require.Equal(t, tt.want, text)
		})
	}
}

// reader returns a Reader that the test closes.
func reader(t testing.TB) *Reader {
	t.Helper()
	r := &Reader{}
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

func TestWrongFiles(t *testing.T) {
	r := reader(t)
	nested := func(open string, n int, end string) string {
		return strings.Repeat(open, n) + "x" + strings.Repeat(end, n)
	}
	for _, tt := range []struct {
		name, file string
		data       []byte
		says       string
	}{
		{"an unknown format", "a.odt", nil, `read a.odt: ".odt" is no known format, use one of .docx, .htm, .html, .pdf, .xhtml`},
		{"a large file", "a.pdf", make([]byte, MaxSize+1), "it has 67108865 bytes, use at most 67108864"},
		{"no PDF", "a.pdf", []byte("text"), "read a.pdf: it is no valid PDF: "},
		{"a PDF without text", "a.pdf", pdf(nil), "the document has no text"},
		{"a PDF without pages", "a.pdf", pdf(), "read a.pdf: "},
		{"no DOCX", "a.docx", []byte("text"), "read a.docx: it is no valid DOCX: zip: not a valid zip file"},
		{"another ZIP", "a.docx", docx(t, "")[:40], "it is no valid DOCX"},
		{"a DOCX with broken XML", "a.docx", docx(t, "<w:p>"), "word/document.xml: it is no valid DOCX: XML syntax error"},
		{"a DOCX that is nested deeply", "a.docx", docx(t, nested("<w:p>", 600, "</w:p>")), "its elements are nested deeper than 500"},
		{"a DOCX that is large when decompressed", "a.docx", docx(t, strings.Repeat(" ", 2<<20)), "it has more than 1048576 bytes when it is decompressed"},
		{"an empty DOCX", "a.docx", docx(t, "<w:p/>"), "the document has no text"},
		{"an HTML page that is nested deeply", "a.html", []byte(nested("<div>", 100_000, "</div>")), "read a.html: it is no valid HTML: "},
		{"an HTML page without text", "a.html", []byte("<script>x</script>"), "the document has no text"},
		{"a large HTML page", "a.html", make([]byte, maxHTML+1), "use at most 16777216 for HTML"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text, err := r.Text(t.Context(), tt.file, tt.data)
			require.ErrorContains(t, err, tt.says)
			require.Less(t, len(err.Error()), 400)
			require.Empty(t, text)
		})
	}
	_, err := r.Text(t.Context(), "a.html", nil)
	require.ErrorIs(t, err, ErrNoText)
}

// long returns a PDF that takes long to read.
func long() []byte {
	lines := slices.Repeat([]string{strings.Repeat("word ", 50)}, 100)
	return pdf(slices.Repeat([][]string{lines}, 60)...)
}

func TestTimeAndContexts(t *testing.T) {
	r := reader(t)
	_, err := r.Text(t.Context(), "a.pdf", pdf([]string{"Warm."})) // later calls need not start PDFium
	require.NoError(t, err)
	r.Timeout = 300 * time.Millisecond
	_, err = r.Text(t.Context(), "slow.pdf", long())
	require.EqualError(t, err, "read slow.pdf: it takes longer than 300ms")
	r.Timeout = 0
	text, err := r.Text(t.Context(), "a.pdf", pdf([]string{"Still here."}))
	require.NoError(t, err)
	require.Equal(t, "Still here.", text)

	own := errors.New("the user left")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(own)
	for _, name := range []string{"a.pdf", "a.html", "a.docx"} {
		_, err = r.Text(ctx, name, docx(t, "<w:p/>"))
		require.ErrorIs(t, err, own, name)
	}
}

func TestAPanicIsAnError(t *testing.T) {
	formats[".panics"] = func(context.Context, *Reader, []byte) (string, error) { panic("index out of range") }
	defer delete(formats, ".panics")
	_, err := reader(t).Text(t.Context(), "a.panics", []byte("x"))
	require.EqualError(t, err, "read a.panics: the file is malformed: the library panicked: index out of range")
}

func TestClose(t *testing.T) {
	var r Reader
	require.NoError(t, r.Close(), "it has read no PDF")
	for range 2 { // a Reader may be used again
		r.Cache = t.TempDir()
		text, err := r.Text(t.Context(), "a.pdf", pdf([]string{"Text."}))
		require.NoError(t, err)
		require.Equal(t, "Text.", text)
		require.NoError(t, r.Close())
	}
	r.Cache = "\x00"
	_, err := r.Text(t.Context(), "a.pdf", pdf([]string{"Text."}))
	require.ErrorContains(t, err, "read a.pdf: keep the compiled PDFium")
}

func TestEndings(t *testing.T) {
	require.Len(t, Endings(), len(formats))
	for _, ending := range Endings() {
		require.Contains(t, formats, ending)
	}
}

// What a file says is read without a panic, and is clean.
func fuzz(f *testing.F, name string, seeds ...[]byte) {
	for _, seed := range seeds {
		f.Add(seed)
	}
	r := reader(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		text, err := r.Text(t.Context(), name, data)
		if err != nil {
			require.NotContains(t, err.Error(), "panicked")
			return
		}
		again, err := clean(text)
		require.NoError(t, err)
		require.Equal(t, again, text)
	})
}

func FuzzPDF(f *testing.F)  { fuzz(f, "a.pdf", pdf([]string{"One", "two-", "three"}), pdf()) }
func FuzzHTML(f *testing.F) { fuzz(f, "a.html", []byte(article), []byte("<table><tr><td>x")) }
func FuzzDOCX(f *testing.F) {
	f.Add(`<w:p><w:r><w:t>One</w:t><w:tab/></w:r></w:p>`)
	r := reader(f)
	f.Fuzz(func(t *testing.T, body string) {
		text, err := r.Text(t.Context(), "a.docx", docx(t, body))
		if err == nil {
			require.NotEmpty(t, text)
		} else {
			require.NotContains(t, err.Error(), "panicked")
		}
	})
}
