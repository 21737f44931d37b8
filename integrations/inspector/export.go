package inspector

import (
	"encoding/json"
	"mime"
	"net/http"

	"github.com/elenchus-go/debate/integrations/debatehttp"
	"github.com/elenchus-go/debate/report/archive"
)

// archive sends the whole journal of a debate, which package archive imports into another store.
func (v *visit) archive() error {
	if v.Store == nil {
		return notFound("There are no archives", "Options.Store is not set")
	}
	if err := v.open(debatehttp.FullReport); err != nil {
		return err
	}
	j, err := archive.Export(v.r.Context(), v.Store, v.debate.ID())
	if err != nil {
		return err
	}
	b, err := json.Marshal(j)
	if err != nil {
		return err
	}
	v.w.Header().Set("Content-Type", "application/json")
	v.w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": v.debate.ID() + ".json"}))
	v.w.WriteHeader(http.StatusOK)
	_, _ = v.w.Write(b) // fails if the client has disconnected
	return nil
}
