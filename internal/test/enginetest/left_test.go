package enginetest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/internal/test/derivedtest"
	"github.com/elenchus-go/debate/internal/test/enginetest"
	"github.com/elenchus-go/debate/internal/test/forgedtest"
	"github.com/elenchus-go/debate/judge"
	"github.com/elenchus-go/debate/judge/decision"
	"github.com/elenchus-go/debate/protocol/panel"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/report/archive"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// leaving returns a debate in which Cy speaks in round 1 and leaves in round 2, and Di leaves before a word. The judge names who
// each of its replies is about with a %s.
func leaving(t *testing.T, p panel.Protocol, who func(seen string) string, contract, reply string) (*debate.Debate, store.Store) {
	t.Helper()
	cfg := debate.Config{
		ID: "d", Topic: "Ban cars?", Protocol: p, Limits: debate.Limits{MinRounds: 2, MaxRounds: 2},
		Judges: []debate.Participant{{Name: "J", Provider: "j"}},
		Participants: []debate.Participant{
			{Name: "Ada", Provider: "m"}, {Name: "Bo", Provider: "m"}, {Name: "Cy", Provider: "cy"}, {Name: "Di", Provider: "di"},
		},
	}
	gone := func(providers.Request) scripted.Reply {
		return scripted.Reply{Err: &providers.Error{Kind: providers.ContentFiltered, Err: errors.New("filtered")}}
	}
	speak := func(r providers.Request) scripted.Reply { return scripted.Reply{Text: enginetest.PresetReply(cfg, r)} }
	judging := func(r providers.Request) scripted.Reply {
		if r.SchemaName != contract {
			return speak(r)
		}
		return scripted.Reply{Text: fmt.Sprintf(reply, who(pseudonym(r, "Trams are cheaper.")))}
	}
	s := store.Memory()
	d := debatetest.New(t, cfg, debate.Options{Store: s, KeepReplies: true, Providers: map[string]providers.Provider{
		"m": &scripted.Provider{Func: speak}, "j": &scripted.Provider{Func: judging},
		"cy": &scripted.Provider{Replies: []scripted.Reply{{Text: "Trams are cheaper."}}, Func: gone}, "di": &scripted.Provider{Func: gone},
	}})
	debatetest.Finish(t, d)
	result, err := d.Result(t.Context())
	require.NoError(t, err)
	require.Equal(t, fsm.Completed, result.State)
	return d, s
}

// pseudonym returns the name under which a prompt shows who said a text.
func pseudonym(r providers.Request, text string) string {
	for _, m := range r.Messages {
		found := regexp.MustCompile(`begin: ([^,>]+)[^>]*>>>\n` + regexp.QuoteMeta(text)).FindStringSubmatch(m.Text)
		if found != nil {
			return found[1]
		}
	}
	return ""
}

// judgments are replies of a judge that name somebody, as one who said something or as one who wins.
var judgments = map[string]struct {
	protocol        panel.Protocol
	contract, reply string
	speaker         bool
}{
	"a reason of a decision": {
		panel.Protocol{Decision: decision.Task{Options: []string{"Yes", "No"}}},
		decision.Contract.Name(),
		`{"summary":"So.","reasons":[{"text":"It is decisive.","speaker":%q,"round":1}],"option":1,"confidence":80}`, true,
	},
	"key points of a verdict": {
		panel.Protocol{},
		judge.VerdictContract.Name(),
		`{"summary":"So.","participants":[{"name":%q,"points":["It is decisive."]}],"quality":60}`, true,
	},
	"key points of a verdict, as an object": {
		panel.Protocol{}, judge.VerdictContract.Name(), `{"summary":"So.","participants":{%q:["It is decisive."]},"quality":60}`, true,
	},
	"the winner of a verdict": {
		panel.Protocol{}, judge.VerdictContract.Name(), `{"summary":"So.","winner":%q,"quality":60}`, false,
	},
}

// Judges name whoever has spoken where a reply says who said something, under the pseudonym and under the name. Who has never
// spoken, and strangers, are refused. Nobody wins who has left.
func TestJudgesNameWhoHasLeft(t *testing.T) {
	for name, tt := range judgments {
		for who, called := range map[string]func(string) string{
			"a pseudonym": func(seen string) string { return seen },
			"a name":      func(string) string { return "Cy" },
			"small":       func(string) string { return "cy" },
			"silent":      func(string) string { return "Di" },
			"a stranger":  func(string) string { return "Zoe" },
		} {
			t.Run(name+"/"+who, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { // waits between attempts take no time
					d, _ := leaving(t, tt.protocol, called, tt.contract, tt.reply)
					derivedtest.RequireAll(t, d)
					turn := concluding(t, d)
					read := tt.speaker && who != "silent" && who != "a stranger"
					require.Equal(t, read, !slices.Contains(turn.Flags, transcript.Defaulted), "%s: %s", turn.Text, turn.Flags)
					require.Equal(t, read, strings.Contains(string(turn.Data), `"Cy"`), string(turn.Data))
				})
			})
		}
	}
}

// concluding returns the judge's last turn.
func concluding(t *testing.T, d *debate.Debate) transcript.Turn {
	t.Helper()
	result, err := d.Result(t.Context())
	require.NoError(t, err)
	turn := result.Turns[len(result.Turns)-1]
	require.Equal(t, "J", turn.Actor)
	return turn
}

// A record in which a judge names a stranger, one who never spoke, or a winner who has left is wrong, even if the reply of the
// model is forged too.
func TestForgedNamesInRecordsAreWrong(t *testing.T) {
	for name, tt := range judgments {
		whom := map[bool]string{true: "Cy", false: "Bo"}[tt.speaker]
		for _, forged := range []string{"Zoe", "Di", "Cy"} {
			if forged == whom {
				continue
			}
			t.Run(name+"/"+forged, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					d, s := leaving(t, tt.protocol, func(string) string { return whom }, tt.contract, tt.reply)
					derivedtest.RequireAll(t, d)
					j, err := archive.Export(t.Context(), s, "d")
					require.NoError(t, err)
					raw, err := json.Marshal(j)
					require.NoError(t, err)
					wrong := wrongIn(t, renameIn(t, raw, whom, forged))
					require.NotEmpty(t, wrong)
					require.Contains(t, wrong[0], `"`+forged+`" is not a participant`)
				})
			})
		}
	}
}

// wrongIn returns why entries of a journal are wrong.
func wrongIn(t *testing.T, journal []byte) (wrong []string) {
	t.Helper()
	s := store.Memory()
	id, err := forgedtest.Put(t, s, journal)
	require.NoError(t, err)
	d, err := debatetest.Engine(t, debate.Options{Store: s, KeepReplies: true}).Open(t.Context(), id)
	require.NoError(t, err)
	for c, err := range d.VerifyEntries(t.Context()) {
		require.NoError(t, err)
		if c.Verdict == debate.EntryWrong {
			wrong = append(wrong, c.Reason)
		}
	}
	return wrong
}

// renameIn replaces a name in the turn of the judge that concludes the debate: in its text, its data and the kept reply.
func renameIn(t *testing.T, raw []byte, name, with string) []byte {
	t.Helper()
	root := forgedtest.Decode(t, raw).(map[string]any)
	entries := root["entries"].([]any)
	for _, e := range entries {
		data := e.(map[string]any)["data"].(map[string]any)
		turn, ok := data["turn"].(map[string]any)
		if !ok || turn["kind"] != "conclusion" {
			continue
		}
		text := debatetest.Encode(t, turn)
		text = strings.ReplaceAll(text, `"`+name+`"`, `"`+with+`"`)
		text = strings.ReplaceAll(text, `\"`+name+`\"`, `\"`+with+`\"`)
		text = strings.NewReplacer(name+":", with+":", "("+name+",", "("+with+",").Replace(text)
		data["turn"] = forgedtest.Decode(t, []byte(text))
		delete(e.(map[string]any), "checksum")
	}
	out, err := json.Marshal(root)
	require.NoError(t, err)
	require.False(t, bytes.Equal(raw, out))
	return out
}
