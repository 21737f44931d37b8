package debate_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/gif"
	"image/png"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/transcript"
)

// picture returns a PNG.
func picture(t testing.TB, width, height int) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))))
	return b.Bytes()
}

// document returns a PDF with the given number of pages.
func document(pages int) []byte {
	return []byte("%PDF-1.4\n1 0 obj <</Type /Pages /Count " + fmt.Sprint(pages) + " /Kids []>> endobj\n" + strings.Repeat("2 0 obj <</Type /Page /Parent 1 0 R>> endobj\n", pages) + "%%EOF")
}

// runToEnd runs a debate and returns its result.
func runToEnd(t *testing.T, d *debate.Debate) (*debate.Result, error) {
	t.Helper()
	if _, err := debatetest.Run(t, d); err != nil {
		return nil, err
	}
	return d.Result(t.Context())
}

// runPair creates and runs the usual debate, and returns what is wrong with it.
func runPair(t *testing.T, m providers.Provider, change func(*debate.Config)) error {
	t.Helper()
	c := debatetest.PairConfig(nil)
	c.Limits.MaxRounds = 1
	change(&c)
	d, err := debate.New(t.Context(), c, debate.Options{Providers: providersOf(m, scriptedJudge(t, 1))})
	if err == nil {
		_, err = runToEnd(t, d)
	}
	return err
}

// shownIn returns the names of the attachments in a request, and requires them to stand in a message of their own between
// the system prompt and the history.
func shownIn(t *testing.T, r providers.Request) (names []string) {
	t.Helper()
	for a := range r.Attachments() {
		names = append(names, a.Name)
	}
	for i, m := range r.Messages {
		require.Equal(t, names != nil && i == 1, m.Parts != nil, "message %d of %d", i, len(r.Messages))
	}
	return names
}

func TestAttachmentsAreInEachPromptOfTheirReaders(t *testing.T) {
	photo := picture(t, 64, 32)
	m := talkingModel()
	j := scriptedJudge(t, 2, "A", "B")
	d := newPanelDebate(t, 2, func(c *debate.Config, o *debate.Options) {
		o.Providers = providersOf(m, j)
		c.Attachments = []debate.Attachment{
			{Name: "photo.png", MediaType: "image/png", Data: photo},
			{Name: "paper.pdf", MediaType: "application/pdf", Data: document(2), Readers: []string{c.Participants[0].Name}},
		}
	})
	result, err := runToEnd(t, d)
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, r := range append(m.Calls(), j.Calls()...) {
		seen[strings.Join(shownIn(t, r), ", ")] = true
		for a := range r.Attachments() {
			if a.Name == "photo.png" {
				require.Equal(t, photo, a.Data)
			}
		}
	}
	require.Equal(t, map[string]bool{"photo.png, paper.pdf": true, "photo.png": true}, seen)
	for _, turn := range result.Turns {
		p := debatetest.PromptOf(t, d, turn.Key)
		require.Contains(t, shownIn(t, p.Request), "photo.png")
		require.Greater(t, p.Tokens, 1_120)
	}
	for _, ev := range storedEvents(t, d) { // the configuration alone has the bytes
		raw, err := json.Marshal(ev)
		require.NoError(t, err)
		_, config := ev.(debate.ConfigChanged)
		encoded, err := json.Marshal(photo)
		require.NoError(t, err)
		require.Equal(t, config, bytes.Contains(raw, encoded[1:40]), "%T", ev)
	}
	status, err := json.Marshal(debatetest.Status(t, d))
	require.NoError(t, err)
	require.Less(t, len(status), 4_000)
}

func TestAttachmentsSurviveJSON(t *testing.T) {
	c := configWithRules(2)
	c.Attachments = []debate.Attachment{{Name: "a.png", MediaType: "image/png", Data: picture(t, 2, 2), Readers: []string{"A"}}, {Name: "b.pdf", MediaType: "application/pdf", URL: "https://example.com/b.pdf", Pages: 3}}
	raw, err := json.Marshal(c)
	require.NoError(t, err)
	var back debate.Config
	require.NoError(t, json.Unmarshal(raw, &back))
	require.Len(t, back.Attachments, 2)
	for i, a := range c.Attachments { // not Equal of all, which prints descriptions
		require.True(t, reflect.DeepEqual(a, back.Attachments[i]))
	}
	for _, verb := range []string{"%v", "%+v", "%#v"} {
		require.NotContains(t, fmt.Sprintf(verb, c.Attachments), "IHDR")
	}
}

func TestAttachmentsAreChecked(t *testing.T) {
	var still bytes.Buffer
	require.NoError(t, gif.Encode(&still, image.NewGray(image.Rect(0, 0, 2, 2)), nil))
	small := picture(t, 2, 2)
	ok := debate.Attachment{Name: "a.png", MediaType: "image/png", Data: small}
	with := func(change func(*debate.Attachment)) []debate.Attachment {
		a := ok
		change(&a)
		return []debate.Attachment{a}
	}
	for want, list := range map[string][]debate.Attachment{
		`attachments[0].name: "" is not valid`:                                             with(func(a *debate.Attachment) { a.Name = "" }),
		`attachments[0].name: "../a" is not valid`:                                         with(func(a *debate.Attachment) { a.Name = "../a" }),
		`attachments[1].name: "a.png" is the name of two attachments`:                      {ok, ok},
		`attachments[0].media_type: "image/svg+xml" is not supported`:                      with(func(a *debate.Attachment) { a.MediaType = "image/svg+xml" }),
		`attachments[0].media_type: it is image/png, but the data is image/gif`:            with(func(a *debate.Attachment) { a.Data = still.Bytes() }),
		`attachments[0].data: it is empty, give the data or a URL`:                         with(func(a *debate.Attachment) { a.Data = nil }),
		`attachments[0].data: it has 3932161 bytes, use at most 3932160`:                   with(func(a *debate.Attachment) { a.Data = append(small, make([]byte, 3932161-len(small))...) }),
		`attachments[0].data: the picture has 8001 × 1 pixels, use 1 to 8000`:              with(func(a *debate.Attachment) { a.Data = picture(t, 8001, 1) }),
		`attachments[0].data: the picture cannot be read`:                                  with(func(a *debate.Attachment) { a.Data = small[:20] }),
		`attachments[0]: it has data and a URL, use one of them`:                           with(func(a *debate.Attachment) { a.URL = "https://example.com" }),
		`attachments[0].url: it is not valid, use an https address`:                        with(func(a *debate.Attachment) { a.Data, a.URL = nil, "http://example.com/a.png" }),
		`attachments[0].pages: a picture has no pages`:                                     with(func(a *debate.Attachment) { a.Pages = 1 }),
		`attachments[0].pages: the pages of the document cannot be counted`:                with(func(a *debate.Attachment) { a.MediaType, a.Data = "application/pdf", []byte("%PDF-1.4") }),
		`attachments[0].pages: 101 is not valid, use 1 to 100`:                             with(func(a *debate.Attachment) { a.MediaType, a.Data = "application/pdf", document(101) }),
		`attachments[0].readers: "Nobody" is neither a participant nor a judge`:            with(func(a *debate.Attachment) { a.Readers = []string{"Nobody"} }),
		`attachments: about 35064 tokens are too many for the window of A, 32000: set its`: with(func(a *debate.Attachment) { a.MediaType, a.Data = "application/pdf", document(7) }),
	} {
		err := runPair(t, talkingModel(), func(c *debate.Config) { c.Attachments = list })
		require.ErrorContains(t, err, want)
	}
	many := make([]debate.Attachment, 21)
	for i := range many {
		many[i] = debate.Attachment{Name: fmt.Sprint(i), MediaType: "image/png", Data: append(picture(t, 2, 2), make([]byte, 600_000)...)}
	}
	err := runPair(t, talkingModel(), func(c *debate.Config) { c.Attachments = many })
	require.ErrorContains(t, err, "attachments: 21 are too many, use at most 20")
	require.ErrorContains(t, err, "use at most 12582912 for all")
}

// blindModel reads no attachments.
type blindModel struct{ *scripted.Provider }

func (blindModel) Unsupported(r providers.Request) map[string]string {
	for a := range r.Attachments() {
		return map[string]string{"attachments": "it cannot read " + a.Name + ", convert it"}
	}
	return nil
}

func TestAServiceThatCannotReadAttachmentsIsRefusedBeforeTheFirstCall(t *testing.T) {
	m := talkingModel()
	for _, test := range []struct {
		model   providers.Provider
		readers []string
		want    string
	}{
		{blindModel{m}, nil, "attachments: A: provider m: it cannot read a.png, convert it, or leave A out of the readers"},
		{struct{ providers.Provider }{m}, nil, "attachments: A: provider m does not say what it reads, implement providers.Limited or leave A out of the readers"},
		{blindModel{m}, []string{"J"}, ""},
	} {
		err := runPair(t, test.model, func(c *debate.Config) {
			c.Attachments = []debate.Attachment{{Name: "a.png", MediaType: "image/png", Data: picture(t, 2, 2), Readers: test.readers}}
		})
		if test.want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, test.want)
		require.Empty(t, m.Calls())
	}
}

// The second call is refused as too long, so the third has a shorter history, with the attachment in its place.
func TestAttachmentsStayWhenAPromptIsShortened(t *testing.T) {
	n := 0
	m := &scripted.Provider{Func: func(providers.Request) scripted.Reply {
		if n++; n == 5 {
			return scripted.Reply{Err: errorOfKind(providers.ContextOverflow, 0)}
		}
		return scripted.Reply{Text: fmt.Sprintf("Argument %d. %s", n, strings.Repeat("Because. ", 50))}
	}}
	d := newPanelDebate(t, 3, func(c *debate.Config, o *debate.Options) {
		o.Providers = providersOf(m, scriptedJudge(t, 3, "A", "B"))
		c.Attachments = []debate.Attachment{{Name: "a.png", MediaType: "image/png", Data: picture(t, 2, 2)}}
	})
	_, err := runToEnd(t, d)
	require.NoError(t, err)
	calls := m.Calls()
	require.Less(t, len(calls[5].Messages), len(calls[4].Messages))
	for _, r := range calls {
		require.Equal(t, []string{"a.png"}, shownIn(t, r))
	}
}

// A judge that is asked again, and its substitute, see what the judge may see. What only a participant sees is not among that.
func TestAttachmentsOfAJudgeThatIsAskedAgainAndOfItsSubstitute(t *testing.T) {
	j := scripted.Text("What?", "How?")
	s := &scripted.Provider{Replies: []scripted.Reply{{Text: "Me?"}}, Func: scriptedJudge(t, 1).Func}
	d := newPanelDebate(t, 1, func(c *debate.Config, o *debate.Options) {
		o.Providers = providersOf(talkingModel(), j)
		o.Providers["s"] = s
		c.Substitutes = []debate.Participant{{Provider: "s"}}
		for name, reader := range map[string]string{"a.png": "A", "j.png": "J"} {
			c.Attachments = append(c.Attachments, debate.Attachment{Name: name, MediaType: "image/png", Data: picture(t, 2, 2), Readers: []string{reader}})
		}
	})
	result, err := runToEnd(t, d)
	require.NoError(t, err)
	require.Contains(t, result.Turns[2].Flags, transcript.Substituted)
	require.GreaterOrEqual(t, len(j.Calls()), 2)
	require.GreaterOrEqual(t, len(s.Calls()), 2)
	for _, r := range append(j.Calls(), s.Calls()...) {
		require.Equal(t, []string{"j.png"}, shownIn(t, r))
	}
}

// A substitute must be able to read what the judge reads, which is known before the first call.
func TestASubstituteThatCannotReadAttachmentsIsRefused(t *testing.T) {
	m := talkingModel()
	for reader, want := range map[string]string{"J": "attachments: substitutes[0]: provider s: it cannot read a.png", "A": ""} {
		c := debatetest.PairConfig(nil)
		c.Limits.MaxRounds = 1
		c.Substitutes = []debate.Participant{{Provider: "s"}}
		c.Attachments = []debate.Attachment{{Name: "a.png", MediaType: "image/png", Data: picture(t, 2, 2), Readers: []string{reader}}}
		o := debate.Options{Providers: providersOf(m, scriptedJudge(t, 1))}
		o.Providers["s"] = blindModel{talkingModel()}
		d, err := debate.New(t.Context(), c, o)
		if err == nil {
			_, err = runToEnd(t, d)
		}
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, want)
	}
}

func TestAttachmentsCountTowardsBudgets(t *testing.T) {
	run := func(list ...debate.Attachment) error {
		return runPair(t, talkingModel(), func(c *debate.Config) { c.Limits.Tokens, c.Attachments = 60_000, list })
	}
	require.NoError(t, run())
	require.ErrorContains(t, run(debate.Attachment{Name: "b.pdf", MediaType: "application/pdf", Data: document(3)}), "limits.tokens: too small for the first phase")
}

func TestAPersonIsToldWhatIsAttached(t *testing.T) {
	d := newPanelDebate(t, 1, func(c *debate.Config, _ *debate.Options) {
		p := &c.Participants[0]
		*p = debate.Participant{Name: p.Name, Human: true}
		c.Attachments = []debate.Attachment{{Name: "a.pdf", MediaType: "application/pdf", Data: document(1)}}
	})
	_, err := runToEnd(t, d)
	require.NoError(t, err)
	waiting := debatetest.Waiting(t, d)
	require.Equal(t, []string{fmt.Sprintf("a.pdf (application/pdf, %d bytes)", len(document(1)))}, waiting[0].Attachments)
	require.NotEqual(t, transcript.Key{}, waiting[0].Key)
}
