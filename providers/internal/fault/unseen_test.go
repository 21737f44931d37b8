package fault

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/elenchus-go/debate/providers"
)

func TestCountUnseen(t *testing.T) {
	for _, name := range []string{"unseen.json", "unseen_last.json"} {
		raw, _ := os.ReadFile("testdata/" + name)
		var cases []struct {
			Kinds        []providers.ErrorKind
			Status, Size int
			Source       string
			Body         json.RawMessage
		}
		if err := json.Unmarshal(raw, &cases); err != nil {
			t.Fatal(err)
		}
		right := 0
		for _, c := range cases {
			var s string
			if json.Unmarshal(c.Body, &s) != nil {
				s = string(c.Body)
			}
			f := OfText(c.Status, s, c.Size)
			if k := f.classify().kind; slices.Contains(c.Kinds, k) {
				right++
			} else if testing.Verbose() {
				t.Log(name, c.Kinds, "got", k, s)
			}
		}
		t.Log(name, right, "of", len(cases))
	}
}
