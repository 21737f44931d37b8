package inspector

import (
	"bytes"
	"image"
	"image/png"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/evidence"
)

// A seat opens its documents, private ones too. Nobody else does.
func TestASeatOpensItsDocuments(t *testing.T) {
	w := open(t, Options{})
	c := pair("cars")
	for i := range c.Participants {
		c.Participants[i].Human = true
	}
	c.Judges[0].Human, c.Judges[0].Blind = true, true
	name := c.Participants[0].Name
	other := c.Participants[1].Name
	judge := c.Judges[0].Name
	c.Documents = []evidence.Document{evidence.Shared("<law>.md", "The <b>law</b>."), evidence.Private("contract.md", privateDocument, name, judge)}
	w.run(c)
	page := w.get(http.StatusOK, "/debates/cars?seat="+name)
	require.Contains(t, page, `/debates/cars/documents/0?seat=`+name+`" dir="auto">&lt;law&gt;.md</a>`)
	require.Contains(t, page, `>contract.md</a>`)
	require.NotContains(t, page, privateDocument)
	res, body := w.do(http.MethodGet, "/debates/cars/documents/0?seat="+name, nil)
	require.Equal(t, "The <b>law</b>.", body)
	require.Equal(t, "text/plain; charset=utf-8", res.Header.Get("Content-Type"))
	require.Equal(t, "nosniff", res.Header.Get("X-Content-Type-Options"))
	require.Equal(t, `inline; filename="<law>.md"`, res.Header.Get("Content-Disposition"))
	require.Equal(t, privateDocument, w.get(http.StatusOK, "/debates/cars/documents/1?seat="+name))

	require.NotContains(t, w.get(http.StatusOK, "/debates/cars?seat="+other), "documents/1")
	require.NotContains(t, w.get(http.StatusOK, "/debates/cars"), "documents/1")
	for _, address := range []string{"1?seat=" + other, "1", "2?seat=" + name, "-1?seat=" + name, "x?seat=" + name} {
		require.NotContains(t, w.get(http.StatusNotFound, "/debates/cars/documents/"+address), privateDocument)
	}
	blind := w.get(http.StatusOK, "/debates/cars?seat="+judge)
	require.Contains(t, blind, ">document 2</a>")
	require.Equal(t, privateDocument, w.get(http.StatusOK, "/debates/cars/documents/1?seat="+judge))
}

func TestASeatOpensItsAttachments(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, 2, 2))))
	w := open(t, Options{})
	c := pair("cars")
	for i := range c.Participants {
		c.Participants[i].Human = true
	}
	c.Judges[0].Human, c.Judges[0].Blind = true, true
	name, judge := c.Participants[0].Name, c.Judges[0].Name
	document := []byte("%PDF-1.4\n1 0 obj << /Type /Page >> endobj\n")
	c.Attachments = []debate.Attachment{
		{Name: "<b>.png", MediaType: "image/png", Data: b.Bytes()},
		{Name: "private.pdf", MediaType: "application/pdf", Pages: 1, Data: document, Readers: []string{name, judge}},
		{Name: "far.png", MediaType: "image/png", URL: "https://example.com/far.png"},
	}
	w.run(c)

	page := w.get(http.StatusOK, "/debates/cars?seat="+name)
	require.Contains(t, page, `/debates/cars/attachments/0?seat=`+name+`" dir="auto">&lt;b&gt;.png</a>`)
	require.Contains(t, page, `>private.pdf</a>`)
	require.Contains(t, page, `<a href="https://example.com/far.png" rel="noreferrer" dir="auto">far.png</a>`)
	res, body := w.do(http.MethodGet, "/debates/cars/attachments/0?seat="+name, nil)
	require.Equal(t, b.String(), body)
	require.Equal(t, "image/png", res.Header.Get("Content-Type"))
	require.Equal(t, "nosniff", res.Header.Get("X-Content-Type-Options"))
	require.Equal(t, policy, res.Header.Get("Content-Security-Policy"))
	require.Equal(t, `inline; filename="<b>.png"`, res.Header.Get("Content-Disposition"))
	res, body = w.do(http.MethodGet, "/debates/cars/attachments/1?seat="+name, nil)
	require.Equal(t, string(document), body)
	require.Equal(t, "attachment; filename=private.pdf", res.Header.Get("Content-Disposition"))

	other := c.Participants[1].Name
	require.NotContains(t, w.get(http.StatusOK, "/debates/cars?seat="+other), "private.pdf")
	require.NotContains(t, w.get(http.StatusNotFound, "/debates/cars/attachments/1?seat="+other), "%PDF")
	for _, number := range []string{"2", "3", "-1", "x"} {
		w.get(http.StatusNotFound, "/debates/cars/attachments/"+number+"?seat="+name)
	}

	blind := w.get(http.StatusOK, "/debates/cars?seat="+judge)
	require.Contains(t, blind, ">attachment 2</a>")
	require.NotContains(t, blind, "private.pdf")
	require.Equal(t, string(document), w.get(http.StatusOK, "/debates/cars/attachments/1?seat="+judge))
}
