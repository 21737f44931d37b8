package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/providers"
)

// DefaultModel returns the model of requests that name none.
func (p *Provider) DefaultModel() string { return p.model }

// Check requests the server's list of models. It returns an error if the key is refused, or if the list is complete and
// does not contain the model. If model is empty, Check uses the default model. Check returns nil if the server has no
// list, or if the list may be incomplete.
func (p *Provider) Check(ctx context.Context, model string) error {
	if model == "" {
		model = p.model
	}
	raw, err := p.client.Query(ctx, "check key", p.base+"/models"+p.query, nil)
	if failed, ok := errors.AsType[*providers.Error](err); ok {
		if failed.Kind == providers.InvalidRequest || listForbidden(failed) {
			return nil // the server has no list, or the key may not read it
		}
		return failed
	}
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
		More bool `json:"has_more"`
	}
	if json.Unmarshal(raw, &list) != nil || list.More {
		return nil
	}
	names := make([]string, 0, len(list.Data))
	for _, m := range list.Data {
		names = append(names, m.ID)
	}
	if !p.listComplete(names) || slices.ContainsFunc(names, func(known string) bool { return sameModel(known, model) }) {
		return nil
	}
	return &providers.Error{Kind: providers.InvalidRequest, Err: fmt.Errorf("check model %q: it is not among the %d models of %s%s", model, len(names), p.base, similarNames(names, model))}
}

// listForbidden reports whether the key may call models but not list them.
func listForbidden(e *providers.Error) bool {
	text := strings.ToLower(e.Error())
	return e.Kind == providers.Authentication && (strings.Contains(text, "scope") || strings.Contains(text, "insufficient permissions"))
}

// listComplete reports whether names lists every model of the server. A server with one model may accept any name, and
// a proxy may list patterns instead of names. Azure lists no deployments.
func (p *Provider) listComplete(names []string) bool {
	return !p.azure && len(names) > 0 && (p.official || len(names) > 1) &&
		!slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, "*") })
}

// sameModel reports whether a listed model and a requested one are the same. Servers prefix names with an owner and
// append variants.
func sameModel(known, model string) bool {
	known, model = strings.ToLower(known), strings.ToLower(model)
	return known == model || strings.HasSuffix(known, "/"+model) || strings.HasPrefix(known, model+":") || strings.HasPrefix(model, known+":")
}

// similarNames returns a hint that names up to five models similar to model.
func similarNames(names []string, model string) string {
	var alike []string
	head, _, _ := strings.Cut(strings.ToLower(model), "-")
	for _, name := range names {
		if strings.HasPrefix(strings.ToLower(name), head) && len(alike) < 5 {
			alike = append(alike, name)
		}
	}
	if len(alike) == 0 {
		return ""
	}
	return "; similar models are " + strings.Join(alike, ", ")
}
