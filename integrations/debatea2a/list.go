package debatea2a

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"

	"github.com/elenchus-go/debate/store"
)

// The numbers of tasks in a list.
const (
	defaultPage = 50
	maxPage     = 100
)

// tasks is the store that the handler of the SDK reads: each debate is a task.
type tasks struct{ agent *Agent }

// Create is never called: Agent.Execute starts debates.
func (tasks) Create(context.Context, *a2a.Task) (taskstore.TaskVersion, error) {
	return 0, a2a.ErrUnsupportedOperation
}

// Update is never called: debates change in the engine.
func (tasks) Update(context.Context, *taskstore.UpdateRequest) (taskstore.TaskVersion, error) {
	return 0, a2a.ErrUnsupportedOperation
}

func (s tasks) Get(ctx context.Context, id a2a.TaskID) (*taskstore.StoredTask, error) {
	t, err := s.agent.task(ctx, s.agent.labels(ctx), id)
	return &taskstore.StoredTask{Task: t}, err
}

// List returns a page of the tasks of the user who calls, last changed first. Everybody who is not authenticated is one user,
// who sees only the tasks of a context whose id the call names.
func (s tasks) List(ctx context.Context, r *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	size := cmp.Or(r.PageSize, defaultPage)
	switch {
	case size < 1 || size > maxPage:
		return nil, refuse(fmt.Sprintf("pageSize: %d is out of bounds, use 1 to %d, or leave it out", size, maxPage))
	case user(ctx) == "" && r.ContextID == "":
		return nil, a2a.NewError(a2a.ErrUnauthenticated, "contextId: name one, because without authentication only the tasks of a context are listed")
	}
	last, err := parsePageToken(r.PageToken)
	if err != nil {
		return nil, err
	}
	q := store.Query{Labels: s.agent.labels(ctx)}
	if r.ContextID != "" {
		q.Labels[contextLabel] = r.ContextID
	}
	if r.StatusTimestampAfter != nil {
		q.UpdatedSince = *r.StatusTimestampAfter
	}
	all, err := s.agent.list(ctx, q)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(t store.Status) bool {
		return r.Status != a2a.TaskStateUnspecified && stateOf(t.State, t.FailureKind) != r.Status
	})
	slices.SortFunc(all, newestFirst)
	page := &a2a.ListTasksResponse{Tasks: []*a2a.Task{}, TotalSize: len(all), PageSize: size}
	for i := range all {
		if last.ID != "" && newestFirst(last, all[i]) >= 0 {
			continue // on an earlier page
		}
		if len(page.Tasks) == size {
			page.NextPageToken = pageToken(last)
			break
		}
		t := summary(all[i])
		if r.IncludeArtifacts {
			t, err = s.agent.task(ctx, q.Labels, t.ID)
			if err != nil {
				return nil, err
			}
		}
		page.Tasks, last = append(page.Tasks, withHistory(t, r.HistoryLength)), all[i]
	}
	return page, nil
}

func newestFirst(a, b store.Status) int {
	return cmp.Or(b.Updated.Compare(a.Updated), strings.Compare(a.ID, b.ID))
}

// pageToken returns the token of the page after a task.
func pageToken(last store.Status) string {
	return base64.RawURLEncoding.EncodeToString([]byte(last.Updated.Format(time.RFC3339Nano) + " " + last.ID))
}

// parsePageToken returns the task before a page. Its ID is empty if the page is the first one.
func parsePageToken(token string) (last store.Status, err error) {
	if token == "" {
		return last, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(token)
	at, id, _ := strings.Cut(string(b), " ")
	if err == nil {
		last.Updated, err = time.Parse(time.RFC3339Nano, at)
	}
	last.ID = id
	if err != nil || id == "" {
		return last, refuse("pageToken: it is not valid, use the nextPageToken of the page before")
	}
	return last, nil
}
