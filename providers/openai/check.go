package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/providers"
)

// Check asks for the list of models, whether the key is good and the model is on it. The empty model is the provider's
// own. Where a server's list says nothing of other names, any model may exist.
func (p *Provider) Check(ctx context.Context, model string) error {
	if model == "" {
		model = p.model
	}
	raw, err := p.transport.Query(ctx, "check key", http.MethodGet, p.base+"/models", nil)
	if failed, ok := errors.AsType[*providers.Error](err); ok {
		if failed.Kind == providers.InvalidRequest || listForbidden(failed) {
			return nil // it has no list, or none for this key
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
	return &providers.Error{Kind: providers.InvalidRequest, Err: fmt.Errorf("check model: %q is not among the %d models of %s%s", model, len(names), p.base, similarNames(names, model))}
}

// listForbidden says whether a key is good for calls but not for lists.
func listForbidden(e *providers.Error) bool {
	text := strings.ToLower(e.Error())
	return e.Kind == providers.Authentication && (strings.Contains(text, "scope") || strings.Contains(text, "insufficient permissions"))
}

// listComplete says whether a list has all models. A server of one model may answer to any name; a proxy may list patterns.
func (p *Provider) listComplete(names []string) bool {
	return len(names) > 0 && (p.official || len(names) > 1) &&
		!slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, "*") })
}

// sameModel says whether a model of a list is meant. Servers add owners before names, and variants behind them.
func sameModel(known, model string) bool {
	known, model = strings.ToLower(known), strings.ToLower(model)
	return known == model || strings.HasSuffix(known, "/"+model) || strings.HasPrefix(known, model+":") || strings.HasPrefix(model, known+":")
}

// similarNames names models that one may have meant.
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
	return "; some are " + strings.Join(alike, ", ")
}
