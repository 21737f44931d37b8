package inspector

import (
	"net/http"
	"net/url"

	"github.com/elenchus-go/debate/integrations/debatehttp"
)

// askToDelete asks whether to delete a debate.
func (v *visit) askToDelete() error {
	if !v.Controls {
		return errReadOnly
	}
	if err := v.open(debatehttp.Delete); err != nil {
		return err
	}
	return v.show("delete", page{Title: "Delete a debate", Main: v.status})
}

// delete deletes a debate, if its visitor has confirmed that, and shows the list.
func (v *visit) delete() error {
	if !v.Controls {
		return errReadOnly
	}
	v.r.Body = http.MaxBytesReader(v.w, v.r.Body, maxForm)
	if err := v.r.ParseForm(); err != nil {
		return formError(err)
	}
	if v.r.PostForm.Get("confirm") != v.r.PathValue("id") {
		return v.askToDelete()
	}
	res, err := v.call(http.MethodDelete, "/debates/"+url.PathEscape(v.r.PathValue("id")), nil)
	if err != nil {
		return err
	}
	if refused := res.problem(); refused != nil {
		return refused
	}
	v.w.Header().Set("Location", "../../") // the list
	v.w.WriteHeader(http.StatusSeeOther)
	return nil
}
