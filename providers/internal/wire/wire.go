// Package wire calls model services over HTTP. It has what the services have in common, so that a provider describes
// only its service's requests and events:
//
//	p.client.Generate(ctx, r, wire.Call{
//		URL:   p.base + "/chat/completions",
//		Body:  p.body,  // builds the request
//		Event: p.event, // reads one event of the stream
//	})
//
// Every call streams, because a stream shows sooner than a whole reply that a service hangs. The package reads
// server-sent events and lines of JSON, limits the size of what it reads, notices streams that end before the reply is
// complete, follows no redirects, and keeps keys out of errors.
package wire

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/internal/fault"
	"github.com/elenchus-go/debate/transcript"
)

// Generate makes a call and returns the reply. All errors but those of r.OnChunk are of type *providers.Error.
func (c *Client) Generate(ctx context.Context, r providers.Request, call Call) (providers.Response, error) {
	if ctx.Err() != nil {
		return providers.Response{}, providers.ContextError(ctx, providers.Response{})
	}
	w := newWatch(ctx, c.timeout)
	defer w.stop()
	reply := NewReply(r)
	for _, warning := range call.Warnings {
		reply.Warn(warning)
	}
	err := c.run(w, r, call, reply)
	var res providers.Response
	if err == nil {
		res, err = reply.End()
	}
	switch {
	case reply.callbackErr != nil:
		return providers.Response{}, reply.callbackErr
	case err == nil: // even if ctx has ended since
		return res, nil
	case ctx.Err() != nil:
		return providers.Response{}, providers.ContextError(ctx, reply.Partial())
	}
	partial := reply.Partial()
	partial.Model = cmp.Or(partial.Model, call.Model)
	return providers.Response{}, c.asError(w, err, partial)
}

// run sends the request and reads the reply. While the model refuses an optional field, run sends the request again
// without that field. If the server or the model lacks the API, run uses the older one.
func (c *Client) run(w *watch, r providers.Request, call Call, reply *Reply) error {
	support := c.support.Get(call.Model, c.start)
	if support.lacksAPI != nobody && call.Older != nil {
		call = *call.Older
	}
	var first *fault.Fault
	for n := 1; ; n++ {
		body, err := c.body(call, support)
		if err != nil {
			return &providers.Error{Kind: providers.InvalidRequest, Err: err}
		}
		sent, err := c.send(w, http.MethodPost, call.URL, body)
		if err != nil {
			return err
		}
		sent.size -= attachedBytes(r)
		resp, secrets := sent.resp, sent.secrets
		if resp.StatusCode < http.StatusMultipleChoices {
			if n > 1 {
				c.support.Put(call.Model, support)
				reply.Warn(support.Warning(call.Model, c.start))
			}
			return c.read(w, sent, call, reply)
		}
		w.start()
		refused := fault.Read(resp, sent.size)
		refused.Own = c.own
		w.pause()
		if who := call.lackedBy(refused); who != nobody {
			reply.Warn(call.warning(who))
			support.lacksAPI = who
			call = *call.Older
			first = nil
			continue
		}
		if first == nil || !refused.MayBeField() {
			first = refused
		}
		next, ok := support.without(body, c.extra, len(r.Schema) > 0, refused)
		if !ok || n == maxTries {
			return first.Error(secrets)
		}
		if next.NoSystem != support.NoSystem { // what is refused now has another reason
			first = nil
		}
		support = next
	}
}

// attachedBytes returns the size of the attachments in the body of a request. They are not part of what is shortened if a
// prompt is too long.
func attachedBytes(r providers.Request) (n int) {
	for a := range r.Attachments() {
		n += base64.StdEncoding.EncodedLen(len(a.Data))
	}
	return n
}

// maxTries limits how often a request is sent. A model may refuse several fields, one after the other.
const maxTries = 8

// body returns the body of a request.
func (c *Client) body(call Call, support Support) (Object, error) {
	body, err := call.Body(support)
	if err != nil {
		return nil, err
	}
	merge(body, c.extra)
	rename(body, c.rename)
	support.apply(body)
	return body, nil
}

// merge applies a JSON Merge Patch.
func merge(body, patch Object) {
	for name, value := range patch {
		switch value := value.(type) {
		case nil:
			delete(body, name)
		case Object:
			inner, ok := body[name].(Object)
			if !ok {
				inner = Object{}
				body[name] = inner
			}
			merge(inner, value)
		default:
			body[name] = value
		}
	}
}

func rename(body Object, names map[string]string) {
	for from, to := range names {
		if value, ok := body[from]; ok {
			delete(body, from)
			body[to] = value
		}
	}
}

// read reads a reply to its end.
func (c *Client) read(w *watch, sent exchange, call Call, reply *Reply) error {
	resp, secrets := sent.resp, sent.secrets
	reply.secrets = secrets
	defer func() { _ = resp.Body.Close() }()
	report := func(f *fault.Fault) error {
		f.RequestID = fault.RequestID(resp.Header)
		f.Sent = sent.size
		f.Own = c.own
		f.ReadHeader(resp.Header)
		return f.Error(secrets)
	}
	err := readEvents(resp, w, reply.maxStream(), func(data []byte) error {
		if err := w.ctx.Err(); err != nil && !reply.complete { // the caller canceled in OnChunk, and more events have arrived
			return err
		}
		if failed := fault.InEvent(data); failed != nil {
			return report(failed)
		}
		before := reply.unknown
		err := call.Event(data, reply)
		switch {
		case reply.unknown > before && err == nil:
			if f := fault.InReply(data); f.HasMessage() {
				return report(f)
			}
		case malformed(err):
			return &providers.Error{Kind: providers.InvalidResponse, Err: fmt.Errorf("read reply: %w in %q", err, fault.Excerpt(string(data), secrets))}
		case reply.complete:
			rest := restTime
			if *reply.Usage() != (transcript.Usage{}) { // nothing else is to come
				rest = drainTime
			}
			w.limitRest(rest)
		}
		return err
	})
	switch {
	case errors.Is(err, ErrDone):
		reply.complete = reply.complete || reply.unknown == 0
		return nil
	case err == nil:
		return nil
	case reply.complete && reply.callbackErr == nil && !reply.tooLong: // an error after the end of the reply does not matter
		return nil
	}
	return w.lost(err, secrets)
}

// restTime limits how long a service may take after the finish reason. Usage may still arrive then, but some servers
// leave the connection open. If the usage has arrived, drainTime is the limit.
const restTime = time.Second
