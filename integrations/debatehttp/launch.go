package debatehttp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/integrations/launch"
	"github.com/elenchus-go/debate/store"
)

// launched answers a launch with the debate's id.
type launched struct {
	ID string `json:"id"`
}

// launch creates and starts a debate, which continues when the request ends.
func (c *call) launch() error {
	cfg, err := c.config()
	if err != nil {
		return err
	}
	delete(cfg.Labels, requestLabel)
	d, err := c.begin(cfg, c.engine.Launch)
	if err != nil {
		return err
	}
	c.w.Header().Set("Location", "debates/"+d.ID()) // relative to the address of this request
	return c.answer(http.StatusCreated, launched{d.ID()})
}

// begin starts a debate by a function, if the client may. With an idempotency key, the debate of an earlier request with
// the same key is returned.
func (c *call) begin(cfg debate.Config, start func(context.Context, debate.Config) (*debate.Debate, error)) (*debate.Debate, error) {
	key := c.r.Header.Get("Idempotency-Key")
	if err := checkKey(key, cfg.ID); err != nil {
		return nil, err
	}
	sum, err := digest(cfg) // before Authorize changes the configuration
	if err != nil {
		return nil, err
	}
	c.access.Config = &cfg
	if err := c.allow(); err != nil {
		return nil, err
	}
	if err := c.admit(func(o *launch.Offer) error { return o.Admit(&cfg) }); err != nil {
		return nil, err
	}
	ctx := c.detached()
	if key == "" {
		return start(ctx, cfg)
	}
	cfg.ID = idOf(c.access.Principal, key)
	cfg.Labels = withLabel(cfg.Labels, digestLabel, sum)
	d, err := c.engine.Launch(ctx, cfg)
	if errors.Is(err, debate.ErrTaken) {
		return c.again(ctx, cfg.ID, sum)
	}
	return d, err
}

// maxKey limits an idempotency key, in bytes.
const maxKey = 255

// keyPrefix begins the ids of debates that were launched with an idempotency key.
const keyPrefix = "key-"

// digestLabel names the label that holds a digest of the first configuration. Debates that were launched with an
// idempotency key have it.
const digestLabel = "idempotency_digest"

// idOf returns the id of the debate that a principal launches with an idempotency key.
func idOf(principal, key string) string { return keyPrefix + hash(hash(principal) + hash(key))[:32] }

// digest returns a digest of a configuration as a client sent it.
func digest(cfg debate.Config) (string, error) {
	b, err := json.Marshal(cfg)
	return hash(string(b))[:32], err
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// again returns the debate that an earlier request with the same idempotency key has launched.
func (c *call) again(ctx context.Context, id, sum string) (*debate.Debate, error) {
	d, err := c.engine.Open(ctx, id)
	if err != nil {
		return nil, err
	}
	for first, err := range d.Replay(ctx) {
		if err != nil {
			return nil, err
		}
		if first.Status().Labels[digestLabel] != sum {
			return nil, problem("key-reused", "an earlier request with this Idempotency-Key has another body, use a new key for each debate")
		}
		break
	}
	return d, nil
}

// edit replaces the configuration of a debate.
func (c *call) edit() error {
	cfg, err := c.config()
	if err != nil {
		return err
	}
	if cfg.ID != "" && cfg.ID != c.r.PathValue("id") {
		return invalid("id", "%q is not the id of this debate, leave it out", cfg.ID)
	}
	delete(cfg.Labels, requestLabel)
	c.access.Config = &cfg
	if err := c.allow(); err != nil {
		return err
	}
	if err := c.admit(func(o *launch.Offer) error { return o.Admit(&cfg) }); err != nil {
		return err
	}
	return c.done(c.debate.Edit(c.detached(), cfg))
}

// checkKey returns a problem if an idempotency key, or the id that a client has chosen for a debate, is not valid.
func checkKey(key, id string) error {
	switch {
	case key != "" && id != "":
		return invalid("id", "a request with an idempotency key has no id, leave out one of them")
	case strings.HasPrefix(id, keyPrefix):
		return invalid("id", "ids that begin with %q belong to idempotency keys, use another one", keyPrefix)
	case len(key) > maxKey:
		return invalid("Idempotency-Key", "it has %d bytes, use at most %d", len(key), maxKey)
	}
	return nil
}

// requestLabel names the label that holds a digest of the request of an OpenAI client and its principal. By it, a retry
// finds the debate of the first try. Clients cannot set it.
const requestLabel = "openai_request"

// retryWindow is the age at which a debate is too old to be the one of a first try. By default, clients wait ten minutes
// for each of three tries.
const retryWindow = time.Hour

// ask launches a debate for a request with the given body. If the request is a retry, it returns the debate of the first
// try. OpenAI's clients retry by themselves after a timeout or a cut connection, and count their retries in a header.
func (c *call) ask(ctx context.Context, cfg debate.Config, body []byte) (*debate.Debate, error) {
	retries, err := strconv.Atoi(c.r.Header.Get("X-Stainless-Retry-Count"))
	if err != nil {
		return c.engine.Launch(ctx, cfg)
	}
	sum := hash(hash(c.access.Principal) + hash(c.r.URL.Path) + hash(string(body)))[:32]
	if retries > 0 {
		first := store.Query{Labels: map[string]string{requestLabel: sum}, CreatedSince: time.Now().Add(-retryWindow)}
		for s, err := range c.engine.List(ctx, first) { // newest first
			switch {
			case err == nil:
				return c.engine.Open(ctx, s.ID)
			case s.ID == "":
				return nil, err
			}
		}
	}
	cfg.Labels = withLabel(cfg.Labels, requestLabel, sum)
	return c.engine.Launch(ctx, cfg)
}
