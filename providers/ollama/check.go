package ollama

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/internal/wire"
)

// DefaultModel returns the model of requests that name none.
func (p *Provider) DefaultModel() string { return p.model }

// Check asks the server whether it has the model. If model is empty, Check uses the default model.
func (p *Provider) Check(ctx context.Context, model string) error {
	model = cmp.Or(model, p.model)
	raw, err := p.client.Query(ctx, fmt.Sprintf("check model %q", model), p.base+"/api/show", wire.Object{"model": model})
	if err != nil {
		p.models.Delete(model)
		return p.explain(ctx, model, err)
	}
	p.models.Store(model, describe(raw))
	return nil
}

// Window returns the context window of a model: Config.NumCtx or, if that is 0, the one in the model's Modelfile, but at most
// the model's own maximum. [Provider.Check] learns the last two. If NumCtx is 0 and the Modelfile sets nothing, the server
// decides, and Window returns 0.
func (p *Provider) Window(model string) int {
	d := p.described(model)
	size := cmp.Or(p.numCtx, d.numCtx)
	if d.most > 0 {
		size = min(size, d.most)
	}
	return size
}

// described returns what Check has learned about a model.
func (p *Provider) described(model string) (d description) {
	if known, ok := p.models.Load(cmp.Or(model, p.model)); ok {
		d, _ = known.(description)
	}
	return d
}

// description is what the server says about a model.
type description struct {
	plain  bool // the model does not reason
	blind  bool // the model reads no images
	idle   bool // the model calls no tools
	numCtx int  // context window in the Modelfile; 0 if it has none
	most   int  // largest context window of the model; 0 if unknown
}

// describe reads the server's description of a model. Older servers list no capabilities.
// Source: https://docs.ollama.com/api-reference/show-model-details
func describe(raw []byte) (d description) {
	var said struct {
		Capabilities []string
		Parameters   string                     // lines of the Modelfile, each with a name and a value
		Info         map[string]json.RawMessage `json:"model_info"`
	}
	if json.Unmarshal(raw, &said) != nil {
		return d
	}
	lacks := func(capability string) bool {
		return len(said.Capabilities) > 0 && !slices.Contains(said.Capabilities, capability)
	}
	d.plain = lacks("thinking")
	d.blind = lacks("vision")
	d.idle = lacks("tools")
	for line := range strings.Lines(said.Parameters) {
		if words := strings.Fields(line); len(words) == 2 && words[0] == "num_ctx" {
			n, _ := strconv.Atoi(words[1]) // 0 if it is no number
			d.numCtx = max(n, 0)
		}
	}
	for name, value := range said.Info { // the name begins with the model's architecture, such as llama.context_length
		if strings.HasSuffix(name, ".context_length") {
			_ = json.Unmarshal(value, &d.most) // 0 if it is no number
		}
	}
	d.most = max(d.most, 0)
	return d
}

// explain adds what to do to an error of a server that does not answer or that lacks the model.
func (p *Provider) explain(ctx context.Context, model string, err error) error {
	failed, ok := errors.AsType[*providers.Error](err)
	if !ok {
		return err
	}
	e := *failed
	switch broken, dialed := errors.AsType[*net.OpError](failed.Err); {
	case failed.Kind == providers.Network && dialed && broken.Op == "dial":
		e.Err = fmt.Errorf("%w: start the server with `ollama serve`, or correct its address, %s", failed.Err, p.base)
	case failed.Kind == providers.InvalidRequest && missingModel.MatchString(failed.Error()):
		e.Err = fmt.Errorf("%w: run `ollama pull %s` on the server at %s%s", failed.Err, model, p.base, p.installed(ctx))
	}
	return &e
}

// missingModel matches the server's error for a model that it does not have.
var missingModel = regexp.MustCompile(`status 404: .*model \S+ not found`)

// maxListed limits how many installed models an error names.
const maxListed = 100

// Models returns the names of the models that the server has, in order.
func (p *Provider) Models(ctx context.Context) (names []string, err error) {
	raw, err := p.client.Query(ctx, "list models", p.base+"/api/tags", nil)
	if err != nil {
		return nil, err
	}
	var list struct {
		Models []struct{ Name string }
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("list models: %w", err)
	}
	for _, m := range list.Models {
		if m.Name != "" && len(m.Name) < 200 {
			names = append(names, m.Name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// installed names the models that the server has, as the end of a sentence.
func (p *Provider) installed(ctx context.Context) string {
	names, err := p.Models(ctx)
	switch {
	case err != nil:
		return ""
	case len(names) == 0:
		return ", which has no model yet"
	case len(names) > maxListed:
		return fmt.Sprintf(", or use one of the %d models that it has, such as %s", len(names), strings.Join(names[:maxListed], ", "))
	}
	return ", or use one that it has: " + strings.Join(names, ", ")
}
