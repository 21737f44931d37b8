package attachment

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
)

// The limits of a file. Services have the same.
const (
	MaxData   = 5 << 20 / 4 * 3 // bytes
	maxPixels = 8_000           // on each side of a picture
	maxPages  = 100             // of a PDF
)

// File is a picture or a document, as data or at an address.
type File struct {
	MediaType string
	Data      []byte
	URL       string
	Pages     int // of a PDF
}

// Problem is what is wrong with a file.
type Problem struct {
	Field  string // such as ".data"; empty for the whole file
	Reason string
}

// list is a list of problems.
type list []Problem

func (l *list) add(field, format string, args ...any) {
	*l = append(*l, Problem{field, fmt.Sprintf(format, args...)})
}

// Check returns everything that is wrong with the file.
func (a File) Check() []Problem {
	var l list
	if !slices.Contains(MediaTypes, a.MediaType) {
		l.add(".media_type", "%q is not supported, use one of %q", a.MediaType, MediaTypes)
		return l
	}
	switch pdf := a.MediaType == PDF; {
	case !pdf && a.Pages != 0:
		l.add(".pages", "a picture has no pages, remove it")
	case pdf && a.Pages == 0 && (a.URL != "" || len(a.Data) <= MaxData):
		l.add(".pages", "the pages of the document cannot be counted, set their number")
	case a.Pages < 0 || a.Pages > maxPages:
		l.add(".pages", "%d is not valid, use 1 to %d", a.Pages, maxPages)
	}
	switch {
	case a.URL != "" && a.Data != nil:
		l.add("", "it has data and a URL, use one of them")
	case a.URL != "":
		if u, err := url.Parse(a.URL); err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || len(a.URL) > 2048 {
			l.add(".url", "it is not valid, use an https address without a user, with at most 2048 bytes")
		}
	case len(a.Data) == 0:
		l.add(".data", "it is empty, give the data or a URL")
	case len(a.Data) > MaxData:
		l.add(".data", "it has %d bytes, use at most %d", len(a.Data), MaxData)
	default:
		a.checkData(&l)
	}
	return l
}

// checkData adds a problem if the data is not what the media type says.
func (a File) checkData(l *list) {
	if is := http.DetectContentType(a.Data); is != a.MediaType {
		l.add(".media_type", "it is %s, but the data is %s", a.MediaType, is)
		return
	}
	if a.MediaType == PDF {
		return
	}
	switch width, height, err := Pixels(a.MediaType, a.Data); {
	case err != nil:
		l.add(".data", "the picture cannot be read: %v", err)
	case width < 1 || height < 1 || width > maxPixels || height > maxPixels:
		l.add(".data", "the picture has %d × %d pixels, use 1 to %d on each side", width, height, maxPixels)
	}
}
