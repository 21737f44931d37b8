package inspector

import (
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/debatehttp"
)

// attached is an attachment or a document as a page names it.
type attached struct {
	Name   string
	Number int    // in the address of its content
	URL    string // empty if this server has the content
}

// attachmentsOf returns the attachments that the visitor's seat may see. A visitor who must not know who says what learns
// numbers instead of names.
func (v *visit) attachmentsOf(h *history) (list []attached) {
	for i, a := range h.config.Attachments {
		if v.seat != "" && len(a.Readers) > 0 && !slices.Contains(a.Readers, v.seat) {
			continue
		}
		name := a.Name
		if h.masked {
			name = "attachment " + strconv.Itoa(len(list)+1)
		}
		list = append(list, attached{name, i, a.URL})
	}
	return list
}

// documentsOf returns the documents that the visitor's seat reads, or none without a seat: only who speaks for a reader may read
// a private one.
func (v *visit) documentsOf(h *history) (list []attached) {
	for i := range h.config.Documents {
		d := &h.config.Documents[i]
		if v.seat == "" || !d.IsFor(v.seat) {
			continue
		}
		name := d.Name
		if h.masked {
			name = "document " + strconv.Itoa(len(list)+1)
		}
		list = append(list, attached{name, i, ""})
	}
	return list
}

// document sends the text of a document.
func (v *visit) document() error {
	if err := v.open(debatehttp.Waiting); err != nil {
		return err
	}
	h, err := v.read()
	if err != nil {
		return err
	}
	shown := v.documentsOf(h)
	i := slices.IndexFunc(shown, func(a attached) bool { return strconv.Itoa(a.Number) == v.r.PathValue("number") })
	if i < 0 {
		return notFound("There is no such document", fmt.Sprintf("the debate has no document %q for you", v.r.PathValue("number")))
	}
	text, err := v.debate.Document(v.r.Context(), v.seat, h.config.Documents[shown[i].Number].Name)
	if err != nil {
		return err
	}
	v.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	v.w.Header().Set("Content-Disposition", mime.FormatMediaType("inline", map[string]string{"filename": shown[i].Name}))
	v.w.WriteHeader(http.StatusOK)
	_, _ = io.WriteString(v.w, text) // fails if the client has disconnected
	return nil
}

// attachment sends the content of an attachment. A picture is shown, and a document is saved.
func (v *visit) attachment() error {
	if err := v.open(debatehttp.Watch); err != nil {
		return err
	}
	h, err := v.read()
	if err != nil {
		return err
	}
	shown := v.attachmentsOf(h)
	i := slices.IndexFunc(shown, func(a attached) bool { return strconv.Itoa(a.Number) == v.r.PathValue("number") && a.URL == "" })
	if i < 0 {
		return notFound("There is no such attachment", fmt.Sprintf("the debate has no attachment %q for you", v.r.PathValue("number")))
	}
	v.sendContent(shown[i].Name, h.config.Attachments[shown[i].Number])
	return nil
}

// sendContent sends the content of an attachment. The configuration was checked: its type is that of a picture or a PDF document.
func (v *visit) sendContent(name string, a debate.Attachment) {
	kind := "attachment"
	if strings.HasPrefix(a.MediaType, "image/") {
		kind = "inline"
	}
	v.w.Header().Set("Content-Type", a.MediaType)
	v.w.Header().Set("Content-Disposition", mime.FormatMediaType(kind, map[string]string{"filename": name}))
	v.w.WriteHeader(http.StatusOK)
	_, _ = v.w.Write(a.Data) // fails if the client has disconnected
}
