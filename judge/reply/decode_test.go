package reply

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type plainReply struct {
	Text    string   `json:"text"`
	Number  float64  `json:"number,omitempty"`
	Whole   int8     `json:"whole"`
	Count   uint     `json:"count"`
	Yes     bool     `json:"yes"`
	List    []string `json:"list"`
	Inner   struct{ Deep *float64 }
	Several []struct {
		Name string `json:"name"`
	} `json:"several"`
	Maybe  *plainInner `json:"maybe"`
	Hidden string      `json:"-"`
}

type plainInner struct {
	N *int `json:"n"`
}

// FuzzDecode compares the decoder with encoding/json: what it fills is the same, and what it leaves to encoding/json is
// no more than what is wrong.
func FuzzDecode(f *testing.F) {
	for _, text := range []string{
		`{}`, `{"text": "a", "number": 1.5, "whole": 7, "count": 3, "yes": true, "list": ["x", ""], "Inner": {"Deep": 0}}`,
		`{"several": [{"name": "b"}, {}], "maybe": {"n": 1}}`, `{"maybe": null, "list": null, "several": []}`,
		`{"whole": 1.5}`, `{"whole": 300}`, `{"count": -1}`, `{"count": 1e300}`, `{"whole": -0}`, `{"text": 1}`, `{"list": {}}`, `{"maybe": []}`, `{"unknown": 1}`,
		`{"text": "\ud800 \u2028 <b>"}`,
	} {
		f.Add(text)
	}
	d := newDecoder(reflect.TypeFor[plainReply]())
	f.Fuzz(func(t *testing.T, text string) {
		var value map[string]any
		if json.Unmarshal([]byte(text), &value) != nil || value == nil {
			t.Skip()
		}
		for name := range value {
			if _, known := d.fields[name]; !known {
				t.Skip("unknown names are removed before")
			}
		}
		data, err := json.Marshal(value)
		require.NoError(t, err)
		var want, got plainReply
		err = json.Unmarshal(data, &want)
		if d.set(reflect.ValueOf(&got).Elem(), value) {
			require.NoError(t, err)
			require.Equal(t, want, got)
		}
	})
}

func TestTypesThatEncodingJSONHasToReadHaveNoDecoder(t *testing.T) {
	for name, typ := range map[string]reflect.Type{
		"a method of its own": reflect.TypeFor[struct{ At time.Time }](),
		"a number in a string": reflect.TypeFor[struct {
			N int `json:",string"`
		}](),
		"an embedded struct": reflect.TypeFor[struct{ plainInner }](),
		"a short float":      reflect.TypeFor[struct{ F []float32 }](),
	} {
		require.Nil(t, newDecoder(typ), name)
	}
	require.NotNil(t, newDecoder(reflect.TypeFor[plainReply]()))
}
