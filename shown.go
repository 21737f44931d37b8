package debate

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/elenchus-go/debate/internal/attachment"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/providers"
)

// attachmentsFor returns the attachments that an actor sees.
func (c *Config) attachmentsFor(actor string) (list []*Attachment) {
	if len(c.Attachments) == 0 || slices.Contains(systemActors, actor) {
		return nil
	}
	for i := range c.Attachments {
		if a := &c.Attachments[i]; a.isFor(actor) {
			list = append(list, a)
		}
	}
	return list
}

// attachmentsSeen returns the attachments that the actor in a field sees. A substitute sees those of all judges.
func (c *Config) attachmentsSeen(field string, p Participant) (list []*Attachment) {
	if !strings.HasPrefix(field, "substitutes") {
		return c.attachmentsFor(actorOf(field, p))
	}
	for i := range c.Attachments {
		a := &c.Attachments[i]
		if slices.ContainsFunc(c.Judges, func(j Participant) bool { return !j.Human && a.isFor(j.Name) }) {
			list = append(list, a)
		}
	}
	return list
}

// seatOf names an actor in an error.
func seatOf(field string, p Participant) string { return cmp.Or(p.Name, field) }

// attachmentMessage returns the message that shows attachments, which precedes the history in all prompts of an actor, so
// that services can cache it. It returns nil if there are none.
func attachmentMessage(list []*Attachment, m *judge.Pseudonyms) []providers.Message {
	if len(list) == 0 {
		return nil
	}
	parts := make([]providers.Part, 0, 2*len(list))
	for i, a := range list {
		shown := a.shownAs(a.Name)
		if m != nil {
			shown.Name = m.Hide(a.Name)
		}
		parts = append(parts, providers.Part{Text: fmt.Sprintf(attachmentHeading, i+1, shown.Name)}, providers.Part{Attachment: shown})
	}
	return []providers.Message{{Role: providers.User, Parts: parts}}
}

// attachmentHeading names an attachment in prompts.
const attachmentHeading = "Attachment %d: %s"

// attachmentTokens returns the most tokens that attachments have in a prompt, with their headings.
func attachmentTokens(list []*Attachment) (tokens int) {
	const heading = 64
	for _, a := range list {
		tokens += a.shownAs(a.Name).Tokens() + heading
	}
	return tokens
}

// checkAttachments adds every problem of the attachments.
func (c *Config) checkAttachments(l *problemList) {
	all, seen := 0, map[string]bool{}
	for i := range c.Attachments {
		a, field := &c.Attachments[i], fmt.Sprintf("attachments[%d]", i)
		if a.Name == "" || len(a.Name) > 128 || strings.TrimSpace(a.Name) != a.Name || strings.ContainsFunc(a.Name, func(r rune) bool { return r == '/' || !unicode.IsPrint(r) }) {
			l.add(field+".name", "%q is not valid, use 1 to 128 bytes without '/', control characters, and blanks at its ends", a.Name[:min(len(a.Name), 128)])
		} else if seen[a.Name] {
			l.add(field+".name", "%q is the name of two attachments", a.Name)
		}
		seen[a.Name] = true
		a.checkContent(l, field)
		for _, name := range a.Readers {
			is := func(p Participant) bool { return p.Name == name }
			if !slices.ContainsFunc(c.Participants, is) && !slices.ContainsFunc(c.Judges, is) {
				l.add(field+".readers", "%q is neither a participant nor a judge", name)
			}
		}
		all += len(a.Data)
	}
	if all > maxAllAttachments {
		l.add("attachments", "they have %d bytes, use at most %d for all, because each prompt contains them", all, maxAllAttachments)
	}
	if n := len(c.Attachments); n > maxAttachments {
		l.add("attachments", "%d are too many, use at most %d", n, maxAttachments)
	}
}

// checkContent adds every problem of an attachment's content.
func (a *Attachment) checkContent(l *problemList, field string) {
	if !slices.Contains(attachment.MediaTypes, a.MediaType) {
		l.add(field+".media_type", "%q is not supported, use one of %q", a.MediaType, attachment.MediaTypes)
		return
	}
	switch pdf := a.MediaType == attachment.PDF; {
	case !pdf && a.Pages != 0:
		l.add(field+".pages", "a picture has no pages, remove it")
	case pdf && a.Pages == 0 && (a.URL != "" || len(a.Data) <= maxAttachment):
		l.add(field+".pages", "the pages of the document cannot be counted, set their number")
	case a.Pages < 0 || a.Pages > maxPages:
		l.add(field+".pages", "%d is not valid, use 1 to %d", a.Pages, maxPages)
	}
	switch {
	case a.URL != "" && a.Data != nil:
		l.add(field, "it has data and a URL, use one of them")
	case a.URL != "":
		if u, err := url.Parse(a.URL); err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || len(a.URL) > 2048 {
			l.add(field+".url", "it is not valid, use an https address without a user, with at most 2048 bytes")
		}
	case len(a.Data) == 0:
		l.add(field+".data", "it is empty, give the data or a URL")
	case len(a.Data) > maxAttachment:
		l.add(field+".data", "it has %d bytes, use at most %d", len(a.Data), maxAttachment)
	default:
		a.checkData(l, field)
	}
}

// checkData adds a problem if the data is not what the media type says.
func (a *Attachment) checkData(l *problemList, field string) {
	if is := http.DetectContentType(a.Data); is != a.MediaType {
		l.add(field+".media_type", "it is %s, but the data is %s", a.MediaType, is)
		return
	}
	if a.MediaType == attachment.PDF {
		return
	}
	switch width, height, err := attachment.Pixels(a.MediaType, a.Data); {
	case err != nil:
		l.add(field+".data", "the picture cannot be read: %v", err)
	case width < 1 || height < 1 || width > maxPixels || height > maxPixels:
		l.add(field+".data", "the picture has %d × %d pixels, use 1 to %d on each side", width, height, maxPixels)
	}
}
