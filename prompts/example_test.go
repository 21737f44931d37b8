package prompts_test

import (
	"fmt"
	"testing/fstest"

	"github.com/elenchus-go/debate/prompts"
	"github.com/elenchus-go/debate/transcript"
)

// An overlay replaces one prompt and leaves the others unchanged. A program would use an embed.FS or os.DirFS.
func ExampleLoad() {
	overlay := fstest.MapFS{"opening.tmpl": {Data: []byte(`
{{define "system"}}{{template "debater" .}}{{end}}
Round {{.Round}}{{if .Rounds}} of {{.Rounds}}{{end}}: open with a question to {{join .Opponents ", " " and "}}.
`)}}
	set, err := prompts.Load(overlay)
	if err != nil {
		fmt.Println(err)
		return
	}
	message, err := set.User("opening", prompts.Data{
		Topic: "Should cities ban private cars?", Round: 1, Rounds: 3,
		Me: transcript.Profile{Name: "Ada"}, Others: []transcript.Profile{{Name: "Bo"}, {Name: "Cy"}},
	})
	fmt.Println(message, err)
	// Output: Round 1 of 3: open with a question to Bo and Cy. <nil>
}
