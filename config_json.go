package debate

import (
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/elenchus-go/debate/internal/budget"
	"github.com/elenchus-go/debate/internal/protocoljson"
	"github.com/elenchus-go/debate/internal/strictjson"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/arbitration"
	"github.com/elenchus-go/debate/protocol/council"
	"github.com/elenchus-go/debate/protocol/mad"
	"github.com/elenchus-go/debate/protocol/oversight"
	"github.com/elenchus-go/debate/protocol/pairwise"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/protocol/procon"
	"github.com/elenchus-go/debate/protocol/refine"
	"github.com/elenchus-go/debate/protocol/skeptic"
	"github.com/elenchus-go/debate/protocol/vote"
)

// configJSON is the JSON form of Config.
type configJSON struct {
	*plainConfig
	Protocol json.RawMessage `json:"protocol,omitempty"`
	Limits   budget.JSON     `json:"limits,omitzero"`
}

type plainConfig Config // has no methods, so that encoding it does not call MarshalJSON again

// MarshalJSON encodes the protocol as an object with its name and protocoljson.Parameters, and durations as strings such as
// "10m0s". UnmarshalJSON and [Engine.ParseConfig] decode it.
func (c Config) MarshalJSON() ([]byte, error) {
	w := configJSON{plainConfig: (*plainConfig)(&c), Limits: budget.Limits(c.Limits).JSON()}
	if c.Protocol != nil {
		var err error
		if w.Protocol, err = protocoljson.Encode(c.Protocol); err != nil {
			return nil, err
		}
	}
	return json.Marshal(w)
}

// UnmarshalJSON decodes a configuration with one of the protocols of the library. It rejects unknown fields. It returns
// *Problems with everything that is wrong, by the names of the fields as you wrote them. [Engine.ParseConfig] decodes
// configurations with other protocols.
func (c *Config) UnmarshalJSON(b []byte) error {
	known := map[string]protocol.Protocol{}
	for _, p := range presets() {
		known[p.Name()] = p
	}
	l := &problemList{}
	decodeStrict(l, b, c, known, "decode other protocols with Engine.ParseConfig")
	return problemsError(l.problems)
}

// presets returns the protocols of the library.
func presets() []protocol.Protocol {
	return []protocol.Protocol{panel.Protocol{}, skeptic.Protocol{}, refine.Protocol{}, arbitration.Protocol{}, procon.Protocol{}, vote.Protocol{}, council.Protocol{}, mad.Protocol{}, pairwise.Protocol{}, oversight.Protocol{}}
}

// isPreset reports whether a protocol is one of the library.
func isPreset(p protocol.Protocol) bool {
	return slices.ContainsFunc(presets(), func(own protocol.Protocol) bool { return reflect.TypeOf(own) == reflect.TypeOf(p) })
}

// decodeStrict decodes a configuration that a person wrote, and adds everything that is wrong with it. advice says what
// to do about a protocol that is not known.
func decodeStrict(l *problemList, b []byte, c *Config, known map[string]protocol.Protocol, advice string) {
	w := configJSON{plainConfig: (*plainConfig)(c), Limits: budget.Limits(c.Limits).JSON()}
	l.addStrict(strictjson.Decode("", b, &w))
	c.Limits = Limits(w.Limits.Limits())
	if isNull(w.Protocol) {
		return
	}
	name, params, err := protocoljson.Split(w.Protocol)
	if err != nil {
		l.add("protocol.name", "%v", err)
		return
	}
	p := protocoljson.Find(known, protocoljson.PresentName(known, name))
	if p == nil {
		l.add("protocol.name", "%q is unknown, use one of %s, or %s", name, strings.Join(slices.Sorted(maps.Keys(known)), ", "), advice)
		return
	}
	v := protocoljson.NewLike(p)
	l.addStrict(strictjson.Decode("protocol", params, v.Interface()))
	c.Protocol = v.Elem().Interface().(protocol.Protocol)
}

func isNull(b json.RawMessage) bool { return len(b) == 0 || string(b) == "null" }

func (l *problemList) addStrict(problems []strictjson.Problem) {
	for _, p := range problems {
		l.add(cmp.Or(p.Path, "configuration"), "%s", p.Reason)
	}
}
