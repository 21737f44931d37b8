package wire

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/elenchus-go/debate/providers/internal/fault"
)

// Call describes how one request is made and how its reply is read.
type Call struct {
	Model string // the name of the model, for errors
	API   string // the name of the API, for warnings; empty if the service has only one
	URL   string
	// Body returns the body for what the model supports. It may be called several times.
	Body func(Support) (Object, error)
	// Event reads one event of the stream into the reply. A service that does not stream sends the whole reply as one
	// event. If Event returns [ErrDone], the stream has ended.
	Event func(data []byte, r *Reply) error
	// Warnings say what the provider changed in the request.
	Warnings []string
	// Older is the same call over an older API, for servers and models that lack this one. It is nil if there is none.
	Older *Call
}

// lackedBy returns who lacks the API of a call, according to a fault. It returns nobody if there is no older API. A fault
// that names no model is about the address.
func (c Call) lackedBy(f *fault.Fault) lacking {
	switch {
	case c.Older == nil:
	case f.Status == http.StatusMethodNotAllowed, f.Status == http.StatusNotFound && !strings.Contains(strings.ToLower(f.Body), "model"):
		return theServer
	case f.MayBeField() && lackedPattern.MatchString(f.Body):
		return theModel
	}
	return nobody
}

// lackedPattern matches the error for a model that lacks the Responses API.
var lackedPattern = regexp.MustCompile(`(?i)not support.{0,60}(\bresponses API|/responses)`)

// warning returns the text of the warning that somebody lacks the API.
func (c Call) warning(lacks lacking) string {
	who := "the server"
	if lacks == theModel {
		who = "model " + c.Model
	}
	return fmt.Sprintf("%s does not support %s: requests use %s for the next %v", who, c.API, c.Older.API, forgetAfter)
}
