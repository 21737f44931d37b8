package debateotel

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/elenchus-go/debate/internal/test/canarytest"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/store"
)

// No span and no metric of a debate of any preset has a private text or the secret of its journal, even with texts.
func TestNoSpanHasAPrivateText(t *testing.T) {
	for name, cfg := range canarytest.Presets() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := canarytest.New(t, cfg)
				r, kept := newRecorder(Options{Texts: true}), store.Memory()
				c.Options.Store, c.Options.Observer = kept, r.Observer()
				e := debatetest.Engine(t, c.Options)
				d := debatetest.Create(t, e, c.Config)
				c.Out.Hide(canarytest.KeysIn(t, kept, d.ID()))
				debatetest.Finish(t, d)
				c.Out.Add("spans", everyAttribute(r.trees(t)))
				c.Out.Add("metrics", fmt.Sprint(collect(t, r)))
				c.Out.Add("spans of a replay", everyAttribute(replayOf(t, kept, Options{Texts: true}).trees(t)))
				c.Require(10_000)
			})
		})
	}
}
