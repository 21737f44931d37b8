package debatea2a

import (
	"context"
	"errors"
	"net/url"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/log"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/store"
)

// Limits of what a client names for notifications.
const (
	maxConfigs    = 10    // URLs of a task
	maxConfigSize = 4_000 // bytes of a URL, and of what is sent with it
)

// saveConfig checks and saves where to send notifications of a task.
func (a *Agent) saveConfig(ctx context.Context, id a2a.TaskID, c *a2a.PushConfig) (*a2a.PushConfig, error) {
	size := len(c.URL) + len(c.ID) + len(c.Token)
	if c.Auth != nil {
		size += len(c.Auth.Scheme) + len(c.Auth.Credentials)
	}
	u, err := url.Parse(c.URL)
	switch {
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil:
		return nil, refuse("url: it is not valid, use https and a host, without a user") // the error quotes it, with secrets
	case size > maxConfigSize:
		return nil, refuse("the push notification is too large: use at most 4,000 bytes for URL, id, token and credentials together")
	}
	known, err := a.options.PushConfigs.List(ctx, id)
	if err != nil {
		return nil, explain(err)
	}
	if len(known) >= maxConfigs {
		return nil, refuse("the task has 10 push notifications, which is the most; delete one")
	}
	saved, err := a.options.PushConfigs.Save(ctx, id, c)
	return saved, explain(err)
}

// Recover continues the notifications of all tasks that have not ended. It is for Options.PushConfigs that outlive the
// process: when a server starts, call it on one server, after Engine.Recover.
func (a *Agent) Recover(ctx context.Context) error {
	q := store.Query{Labels: a.options.Tools.Labels}
	list, err := a.list(ctx, q)
	if err != nil {
		return err
	}
	for _, status := range list {
		if _, isTask := status.Labels[userLabel]; !isTask || status.State.Final() {
			continue
		}
		configs, err := a.options.PushConfigs.List(ctx, a2a.TaskID(status.ID))
		if err != nil {
			return err
		}
		if len(configs) > 0 {
			a.notify(ctx, a2a.TaskID(status.ID), configs...)
		}
	}
	return nil
}

// notify sends a task as it is now to the given URLs, and then what happens to all URLs of the task, until it has ended, nobody
// wants notifications any more, or the engine is closed. If another call does the latter, it goes on.
func (a *Agent) notify(ctx context.Context, id a2a.TaskID, configs ...*a2a.PushConfig) {
	ctx = context.WithoutCancel(ctx)
	go func() {
		t, err := a.task(ctx, a.options.Tools.Labels, id)
		for _, c := range configs {
			if err == nil {
				a.push(ctx, c, t)
			}
		}
		if err == nil && a.setNotified(id, true) {
			defer a.setNotified(id, false)
			err = a.notifyOf(ctx, t)
		}
		if err != nil && !errors.Is(err, debate.ErrClosed) {
			log.Warn(ctx, "end push notifications", "debate", string(id), "error", err)
		}
	}()
}

// setNotified notes whether this agent sends the notifications of a task. It reports whether that has changed.
func (a *Agent) setNotified(id a2a.TaskID, on bool) (changed bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	changed = a.notified[id] != on
	a.notified[id] = true
	if !on {
		delete(a.notified, id)
	}
	return changed
}

// notifyOf sends what happens to a task.
func (a *Agent) notifyOf(ctx context.Context, t *a2a.Task) error {
	d, err := a.engine.Open(ctx, string(t.ID))
	if err != nil {
		return err
	}
	set := a.tools(a.options.Tools.Labels)
	last := position(t)
	wanted := true
	for active := t.Status.State == a2a.TaskStateWorking; ; active = true {
		if active {
			err := a.follow(ctx, t.TaskInfo(), nil, set.Follow(ctx, d.ID(), last), func(event a2a.Event, _ error) bool {
				if e, ok := event.(*a2a.TaskArtifactUpdateEvent); ok && e.Artifact.Metadata != nil {
					last = e.Artifact.Metadata[positionKey].(int64)
				}
				wanted = a.pushAll(ctx, event)
				return wanted
			})
			if err != nil || !wanted {
				return err
			}
		}
		status, err := d.Status(ctx)
		if err != nil {
			return err
		}
		if status.State.Final() {
			return a.options.PushConfigs.DeleteAll(ctx, t.ID)
		}
		if err := untilActive(ctx, d, status); err != nil {
			return err
		}
	}
}

// untilActive waits until a debate with a status goes on or ends.
func untilActive(ctx context.Context, d *debate.Debate, status store.Status) error {
	if status.State.Active() {
		return nil
	}
	for event, err := range d.Watch(ctx, status.Seq) {
		if err != nil {
			return err
		}
		if s, ok := event.(debate.StateChanged); ok && (s.To.Active() || s.To.Final()) {
			return nil
		}
	}
	return nil
}

// pushAll sends an event to all URLs of its task. It reports whether there are any.
func (a *Agent) pushAll(ctx context.Context, event a2a.Event) bool {
	configs, err := a.options.PushConfigs.List(ctx, event.TaskInfo().TaskID)
	if err != nil {
		log.Warn(ctx, "list push notifications", "debate", string(event.TaskInfo().TaskID), "error", err)
		return true // the next event is tried again
	}
	for _, c := range configs {
		a.push(ctx, c, event)
	}
	return len(configs) > 0
}

// push sends an event to a URL. The log has no URL, because it may contain a secret.
func (a *Agent) push(ctx context.Context, c *a2a.PushConfig, event a2a.Event) {
	err := a.options.Push.SendPush(ctx, c, event)
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err
	}
	if err != nil {
		log.Warn(ctx, "send push notification", "debate", string(event.TaskInfo().TaskID), "error", err)
	}
}
