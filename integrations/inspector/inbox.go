package inspector

import (
	"errors"
	"slices"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/integrations/debatehttp"
	"github.com/elenchus-go/debate/store"
)

// inboxed is what the inbox shows.
type inboxed struct {
	Seat  string // whose inbox it is; empty for all people
	Items []inboxItem
	Next  string // cursor of the next page; empty on the last one
}

// An inboxItem is a debate that waits for people.
type inboxItem struct {
	store.Status
	Asked    []debate.Asked // what is asked of the person whose inbox it is
	Question *debate.Question
}

// inbox shows the debates that wait for the person who speaks for a seat, or for anybody if the seat is empty.
func (v *visit) inbox() (err error) {
	q := store.Query{States: append(fsm.Active(), fsm.Paused), Waiting: v.seat}
	if before := v.r.URL.Query().Get("before"); before != "" {
		q.CreatedBefore, q.BeforeID, err = readCursor(before)
		if err != nil {
			return invalid("before", "%q is not the cursor of a page", before)
		}
	}
	err = v.allow(&debatehttp.Access{Action: debatehttp.Inbox, Seat: v.seat, Query: &q})
	if err != nil {
		return err
	}
	shown := inboxed{Seat: v.seat}
	list, next, err := v.selectPage(q, func(s store.Status) bool { return len(s.Waiting) > 0 || s.State == fsm.Paused }, false)
	if err != nil {
		return err
	}
	for _, s := range list {
		item, err := v.inboxItem(s)
		switch {
		case errors.Is(err, store.ErrNotFound): // it was deleted meanwhile
		case v.r.Context().Err() != nil:
			return err
		case err != nil: // the others matter all the same
			v.Logger.WarnContext(v.r.Context(), "read inbox", "debate", s.ID, "error", err)
		case len(item.Asked) > 0 || item.Question != nil: // not one that a person has paused
			shown.Items = append(shown.Items, item)
		}
	}
	shown.Next = next
	return v.show("inbox", page{Title: "Inbox", Scripts: appScript, Main: shown})
}

// inboxItem reads what a debate asks.
func (v *visit) inboxItem(s store.Status) (item inboxItem, err error) {
	item.Status = s
	d, err := v.engine.Open(v.r.Context(), s.ID)
	if err != nil {
		return item, err
	}
	if v.seat == "" && len(s.Waiting) == 0 {
		r, err := d.Result(v.r.Context())
		if err == nil {
			item.Question = r.Question
		}
		return item, err
	}
	item.Asked, err = d.Waiting(v.r.Context())
	item.Asked = slices.DeleteFunc(item.Asked, func(a debate.Asked) bool { return v.seat != "" && a.Key.Actor != v.seat })
	return item, err
}
