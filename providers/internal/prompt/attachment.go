package prompt

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/elenchus-go/debate/providers"
)

// PDF is the media type of documents. All other attachments are images.
const PDF = "application/pdf"

// HasAttachments reports whether the turn has an attachment.
func (t Turn) HasAttachments() bool {
	for _, p := range t.Parts {
		if p.Attachment != nil {
			return true
		}
	}
	return false
}

// Address returns the URL of an attachment, or its data as a data URL.
func Address(a *providers.Attachment) string {
	if a.URL != "" {
		return a.URL
	}
	return "data:" + a.MediaType + ";base64," + base64.StdEncoding.EncodeToString(a.Data)
}

// Refused returns a sentence for each attachment of r that a model cannot read, or the empty string. reason returns what
// is wrong with one and what to do, or the empty string.
func Refused(r providers.Request, model string, reason func(model string, a *providers.Attachment) string) string {
	var all []string
	for a := range r.Attachments() {
		if why := reason(model, a); why != "" {
			all = append(all, fmt.Sprintf("attachment %q, %s: %s", a.Name, a.MediaType, why))
		}
	}
	return strings.Join(all, "; ")
}

// Refuse returns an error if Refused returns a sentence for the model of r.
func Refuse(r providers.Request, reason func(model string, a *providers.Attachment) string) error {
	if why := Refused(r, r.Model, reason); why != "" {
		return errors.New("build prompt: " + why)
	}
	return nil
}
