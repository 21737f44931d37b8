package debate_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/judge/detect"
	"github.com/elenchus-go/debate/report/archive"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

// secretsOf returns the secrets in the entries of a stored journal, and the fields of its first entry.
func secretsOf(t *testing.T, s store.Store, id string) (list []string, first map[string]any) {
	t.Helper()
	_, entries, err := s.Load(t.Context(), id, 0)
	require.NoError(t, err)
	for _, e := range entries {
		fields := map[string]any{}
		require.NoError(t, json.Unmarshal([]byte(debatetest.Encode(t, e.Data)), &fields))
		if first == nil {
			first = fields
		}
		if secret, ok := fields["secret"].(string); ok {
			list = append(list, secret)
		}
	}
	return list, first
}

func TestEachDebateHasASecret(t *testing.T) {
	s := store.Memory()
	e := debatetest.Engine(t, debate.Options{Providers: providersOf(talkingModel(), scriptedJudge(t, 1)), Store: s})
	c := debatetest.PairConfig(nil)
	d := debatetest.Create(t, e, c)
	events := debatetest.Finish(t, d)
	secrets, _ := secretsOf(t, s, d.ID())
	require.Len(t, secrets, 1, "in the first entry, and in no other one")
	require.Len(t, secrets[0], 22, "16 bytes")

	c.ID = "other"
	debatetest.Create(t, e, c)
	fork := debatetest.Fork(t, e, d.ID(), 5, debate.Edits{ID: "fork"})
	twice := debatetest.Fork(t, e, fork.ID(), 0, debate.Edits{ID: "twice"})
	for _, id := range []string{"other", "fork", "twice"} {
		own, _ := secretsOf(t, s, id)
		require.Len(t, own, 1, id)
		require.NotContains(t, secrets, own[0], id)
		secrets = append(secrets, own[0])
	}
	for _, h := range []*debate.Debate{d, fork, twice} {
		for m, err := range h.Replay(t.Context()) {
			require.NoError(t, err)
			events = append(events, m.Event)
		}
	}
	for _, ev := range events {
		for _, shown := range []string{debatetest.Encode(t, ev), fmt.Sprintf("%v %+v %#v %s", ev, ev, ev, ev)} {
			for _, secret := range secrets {
				require.NotContains(t, shown, secret)
			}
			require.NotContains(t, shown, "secret")
		}
	}
}

func TestAnImportKeepsTheSecret(t *testing.T) {
	s, other := store.Memory(), store.Memory()
	d := debatetest.New(t, debatetest.PairConfig(nil), debate.Options{Providers: providersOf(talkingModel(), scriptedJudge(t, 1)), Store: s})
	j, err := archive.Export(t.Context(), s, d.ID())
	require.NoError(t, err)
	again := &archive.Journal{}
	require.NoError(t, json.Unmarshal([]byte(debatetest.Encode(t, j)), again))
	require.NoError(t, archive.Import(t.Context(), other, again))
	want, _ := secretsOf(t, s, d.ID())
	is, _ := secretsOf(t, other, d.ID())
	require.Equal(t, want, is)
}

func TestADamagedSecretIsNamedAndNotShown(t *testing.T) {
	row := validConfigRow(t)
	fields := map[string]any{}
	require.NoError(t, json.Unmarshal([]byte(row), &fields))
	secret := fields["secret"].(string)
	e := debatetest.Engine(t, debate.Options{Store: storeOfRows(t, strings.Replace(row, secret, secret[:21], 1))})
	_, err := e.Open(t.Context(), "d")
	require.ErrorContains(t, err, "read entry 1 of debate d")
	require.ErrorContains(t, err, "want 16 bytes in base64url")
	require.NotContains(t, err.Error(), secret[:21])
}

// counter is a window.TokenCounter.
type counter struct{}

func (counter) Count(_, text string) int { return len(text) / 3 }

func TestTheJournalNamesItsRules(t *testing.T) {
	s := store.Memory()
	options := debate.Options{Providers: providersOf(talkingModel(), scriptedJudge(t, 9)), Store: s}
	d := debatetest.New(t, debatetest.PairConfig(nil), options)
	runOnce := func(o debate.Options) {
		e := debatetest.Engine(t, o)
		d := debatetest.Open(t, e, "d")
		_, err := d.RunOnce(t.Context())
		require.NoError(t, err)
	}
	runOnce(options)
	runOnce(options)
	own := options
	own.TokenCounter, own.ExtractAnswer = &counter{}, answerLine
	runOnce(own)
	runOnce(own)
	runOnce(options)

	var list []debate.Rules
	for m, err := range d.Replay(t.Context()) {
		require.NoError(t, err)
		if rules := m.Event.Meta().Rules; rules != nil {
			list = append(list, *rules)
		}
	}
	const here = "github.com/elenchus-go/debate_test."
	number := list[0].Number
	require.Positive(t, number)
	require.Equal(t, []debate.Rules{
		{Number: number},
		{Number: number, Counter: "*" + here + "counter", Extractor: here + "answerLine"},
		{Number: number},
	}, list, "only where they change")
}

func TestTheAnswerOfASpeechIsStored(t *testing.T) {
	s := store.Memory()
	c := configWithRules(5, detect.Rule{Signal: detect.Unanimous, Effect: detect.Stop})
	calls := 0
	extract := func(t transcript.Turn) string {
		calls++
		return answerLine(t)
	}
	o := debate.Options{Providers: providersOf(repeatingModel, scriptedJudge(t, 9)), ExtractAnswer: extract, Store: s}
	d := debatetest.New(t, c, o)
	res := debatetest.RunResult(t, d)
	require.Equal(t, transcript.Unanimous, res.Ending.Outcome)
	speeches := 0
	for _, turn := range res.Turns {
		if turn.Kind != transcript.Speech {
			require.Nil(t, turn.Extracted, "%s", turn.Key)
			continue
		}
		speeches++
		require.NotNil(t, turn.Extracted, "%s", turn.Key)
		require.Equal(t, answerLine(turn), *turn.Extracted)
	}
	require.Equal(t, speeches, calls, "once for each speech")

	o.ExtractAnswer = func(transcript.Turn) string { return "another answer for each " + fmt.Sprint(calls) }
	later := debatetest.Engine(t, o)
	last := int64(0) // the last speech, from which the findings follow
	for _, turn := range res.Turns {
		if turn.Kind == transcript.Speech {
			last = max(last, turn.Seq)
		}
	}
	fork := debatetest.Fork(t, later, "d", last, debate.Edits{ID: "fork"})
	again := debatetest.Result(t, fork)
	require.Equal(t, res.Findings, again.Findings, "the findings follow from what is stored")
}

// A fork recognizes the replies that it has from its parent.
func TestAReplyIsGivenAgainElsewhere(t *testing.T) {
	s := store.Memory()
	c := debatetest.PairConfig(nil)
	c.Participants[0] = debate.Participant{Name: "A", Human: true}
	e := debatetest.Engine(t, debate.Options{Providers: providersOf(talkingModel(), scriptedJudge(t, 9)), Store: s})
	d := debatetest.Create(t, e, c)
	debatetest.Finish(t, d)
	asked := debatetest.Waiting(t, d)
	key := asked[0].Key
	require.NoError(t, d.Answer(t.Context(), key, "No.", ""))

	elsewhere := debatetest.Engine(t, debate.Options{Store: s})
	d = debatetest.Open(t, elsewhere, "d")
	list := []*debate.Debate{d}
	for _, id := range []string{"fork", "twice"} {
		d = debatetest.Fork(t, elsewhere, d.ID(), 0, debate.Edits{ID: id})
		list = append(list, d)
	}
	for _, d := range list {
		require.NoError(t, d.Answer(t.Context(), key, " No.\n", ""), "again the same, in %s", d.ID())
		require.ErrorIs(t, d.Answer(t.Context(), key, "Yes.", ""), debate.ErrAnswered)
	}
}

// A request of each kind has the hash that the journal keeps; see package forktest for all presets.
func TestPromptOfComparesHashes(t *testing.T) {
	s := store.Memory()
	o := debate.Options{Providers: providersOf(talkingModel(), scriptedJudge(t, 9)), Store: s}
	e := debatetest.Engine(t, o)
	d := debatetest.Create(t, e, debatetest.PairConfig(nil))
	res := debatetest.RunResult(t, d)
	fork := debatetest.Fork(t, e, "d", 0, debate.Edits{ID: "fork"})
	twice := debatetest.Fork(t, e, "fork", 0, debate.Edits{ID: "twice"})
	seen := map[string]bool{}
	for _, turn := range res.Turns {
		last := turn.Attempts[len(turn.Attempts)-1]
		require.Len(t, last.Hash, 43)
		require.False(t, seen[last.Hash], "each hash has a key of its own")
		seen[last.Hash] = true
		for _, h := range []*debate.Debate{d, fork, twice} {
			p := debatetest.PromptOf(t, h, turn.Key)
			require.Equal(t, "equal", p.Match, "%s in %s", turn.Key, h.ID())
		}
	}
	secrets, _ := secretsOf(t, s, "d")
	copies, first := secretsOf(t, s, "fork")
	require.Len(t, first["copied_keys"], len(seen))
	require.NotContains(t, debatetest.Encode(t, first), secrets[0], "a fork does not have the secret of its parent")
	require.NotEqual(t, secrets, copies)

	for name, change := range map[string]func(map[string]any){
		"different": func(attempt map[string]any) { attempt["hash"] = strings.Repeat("A", 43) },
		"unknown":   func(attempt map[string]any) { delete(attempt, "hash") },
	} {
		status, entries, err := s.Load(t.Context(), "d", 0)
		require.NoError(t, err)
		for i := range entries {
			fields := map[string]any{}
			require.NoError(t, json.Unmarshal([]byte(debatetest.Encode(t, entries[i].Data)), &fields))
			if turn, ok := fields["turn"].(map[string]any); ok {
				change(turn["attempts"].([]any)[0].(map[string]any))
			}
			entries[i].Data = json.RawMessage(debatetest.Encode(t, fields))
		}
		other := store.Memory()
		require.NoError(t, other.Commit(t.Context(), store.Change{ID: "d", Entries: entries, Status: status}))
		e := debatetest.Engine(t, debate.Options{Store: other})
		d := debatetest.Open(t, e, "d")
		p := debatetest.PromptOf(t, d, res.Turns[0].Key)
		require.Equal(t, name, p.Match)
	}
}
