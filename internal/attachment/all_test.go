package attachment_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/attachment"
)

// at returns a picture at an address.
func at(name string, readers ...string) attachment.Named {
	return attachment.Named{Name: name, Readers: readers, File: attachment.File{MediaType: "image/png", URL: "https://example.org/a.png"}}
}

func TestAttachmentsOfADebate(t *testing.T) {
	isSeat := func(name string) bool { return name == "Ada" }
	require.Empty(t, attachment.CheckAll([]attachment.Named{at("a.png", "Ada"), at("b.png")}, isSeat))
	long := strings.Repeat("x", 129)
	list := attachment.CheckAll([]attachment.Named{at("a.png"), at("a.png"), at("b/c"), at(" d"), at(long), at("e", "Eve"), {Name: "f"}}, isSeat)
	var texts []string
	for _, p := range list {
		texts = append(texts, p.Field+" "+p.Reason)
	}
	require.Equal(t, []string{
		`[1].name "a.png" is the name of two attachments`,
		`[2].name "b/c" is not valid, use 1 to 128 bytes without '/', control characters, and blanks at its ends`,
		`[3].name " d" is not valid, use 1 to 128 bytes without '/', control characters, and blanks at its ends`,
		`[4].name "` + long[:128] + `" is not valid, use 1 to 128 bytes without '/', control characters, and blanks at its ends`,
		`[5].readers "Eve" is neither a participant nor a judge`,
	}, texts[:5])
	require.Contains(t, texts[5], "[6].media_type ")

	var many []attachment.Named
	for i := range 21 {
		f := at(strings.Repeat("x", i+1))
		f.Data = make([]byte, 1<<20)
		many = append(many, f)
	}
	list = attachment.CheckAll(many, isSeat)
	require.Equal(t, []attachment.Problem{
		{Reason: "they have 22020096 bytes, use at most 12582912 for all, because each prompt contains them"}, {Reason: "21 are too many, use at most 20"},
	}, list[len(list)-2:])
}
