package oversight_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/fsm"
	"github.com/elenchus-go/debate/internal/test/debatetest"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/protocol/oversight"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/scripted"
	"github.com/elenchus-go/debate/store"
	"github.com/elenchus-go/debate/transcript"
)

var (
	_ protocol.Defaulter = oversight.Protocol{}
	_ protocol.Answerer  = oversight.Protocol{}
)

// The hidden text retells Aesop's fable of the fox and the stork.
const (
	fable    = "A fox asked a stork to dinner and put soup into a flat dish. The stork could only wet the end of its long bill. HIDDEN-MARKER."
	quoted   = "could only wet the end of its long bill"
	question = "What did the stork eat?"
	nothing  = "Nothing at all."
	soup     = "All of the soup."
)

// stage plays all actors, and keeps their requests by step.
type stage struct {
	t testing.TB
	// say returns a speech; by default it has 100 words and a quote.
	say func(step debate.Step, attempt int) string
	// choice is the answer that a participant chooses, and credence what a judge thinks of the answer "Nothing at all."
	choice   string
	credence float64

	mu   sync.Mutex
	seen map[string][]providers.Request
}

// words returns a text of n words with a quote.
func words(n int) string {
	return `<quote source="1">` + quoted + "</quote>" + strings.Repeat(" so", n-9)
}

// Generate implements providers.Provider.
func (s *stage) Generate(ctx context.Context, r providers.Request) (providers.Response, error) {
	step, ok := debate.StepFrom(ctx)
	require.True(s.t, ok)
	s.mu.Lock()
	defer s.mu.Unlock()
	key := step.Key.String()
	s.seen[key] = append(s.seen[key], r)
	text := ""
	switch prompt := textOf(r); step.Key.Phase {
	case "choose":
		text = fmt.Sprintf(`{"answer": %q}`, place(prompt, s.choice))
	case "speak":
		text = words(200)
		if s.say != nil {
			text = s.say(step, len(s.seen[key]))
		} else if strings.Contains(prompt, "Write 70 to 150 words.") {
			text = words(100)
		}
	case "ask":
		text = "What does the text say of the bill?"
	case "judge":
		first := s.credence
		if place(prompt, nothing) == "second" {
			first = 1 - first
		}
		text = fmt.Sprintf(`{"reason": "The quote.", "first": %g, "second": %g}`, first, 1-first)
	}
	return providers.Response{Text: text, FinishReason: providers.Stop}, nil
}

// place returns whether an answer is the first or the second one in a prompt.
func place(prompt, answer string) string {
	if strings.Contains(prompt, "begin: answer 1>>>\n"+answer) {
		return "first"
	}
	return "second"
}

// textOf returns the texts of a request.
func textOf(r providers.Request) string {
	var texts []string
	for _, m := range r.Messages {
		texts = append(texts, m.Text)
	}
	return strings.Join(texts, "\n")
}

// about returns a debate of a mode about the fable, which its participants read.
func about(mode oversight.Mode, seed string) debate.Config {
	c := debate.Config{
		ID: "d", Seed: seed, Topic: question, Protocol: oversight.Protocol{Mode: mode, A: nothing, B: soup},
		Judges: []debate.Participant{{Name: "Cy"}},
	}
	switch mode {
	case oversight.Direct:
		return c
	case oversight.Consultancy, oversight.OpenConsultancy:
		c.Participants = []debate.Participant{{Name: "Ada"}}
	default:
		c.Participants = []debate.Participant{{Name: "Ada"}, {Name: "Bo"}}
	}
	c.Documents = []evidence.Document{evidence.Private("fable", fable, readers(c.Participants)...)}
	return c
}

func readers(seats []debate.Participant) (names []string) {
	for _, s := range seats {
		names = append(names, s.Name)
	}
	return names
}

// hold holds a debate, and returns its result.
func (s *stage) hold(c debate.Config) (*debate.Result, oversight.Result) {
	s.t.Helper()
	s.seen = map[string][]providers.Request{}
	d := debatetest.New(s.t, c, debate.Options{
		Providers: map[string]providers.Provider{"m": s},
		Documents: func(context.Context, string, map[string]string, evidence.Document) (string, error) { return fable, nil },
	})
	r := debatetest.RunResult(s.t, d)
	require.Equal(s.t, fsm.Completed, r.State)
	x, err := oversight.DecodeAnswer(r.Answer)
	require.NoError(s.t, err)
	return r, x
}

// keys returns the keys of the steps that were asked for, in order, and how often.
func (s *stage) keys() (list []string) {
	for key, requests := range s.seen {
		list = append(list, fmt.Sprint(strings.TrimPrefix(key, "1/"), " ", len(requests)))
	}
	slices.Sort(list)
	return list
}

func TestTheStepsOfEachMode(t *testing.T) {
	speeches := func(names ...string) (list []string) {
		for round := range 3 {
			for _, name := range names {
				list = append(list, fmt.Sprintf("%d/speak/%s/ 1", round+1, name))
			}
		}
		return list
	}
	questions := []string{"1/ask/Cy/ 1", "2/ask/Cy/ 1"}
	choice := []string{"1/choose/Ada/ 1"}
	for mode, want := range map[oversight.Mode][]string{
		oversight.Debate:          speeches("Ada", "Bo"),
		oversight.Interactive:     slices.Concat(speeches("Ada", "Bo"), questions),
		oversight.Consultancy:     slices.Concat(speeches("Ada"), questions),
		oversight.OpenDebate:      slices.Concat(speeches("Ada", "Bo"), choice),
		oversight.OpenConsultancy: slices.Concat(speeches("Ada"), questions, choice),
		oversight.Direct:          {},
	} {
		t.Run(string(mode), func(t *testing.T) {
			s := &stage{t: t, choice: nothing, credence: .8}
			r, x := s.hold(about(mode, "s"))
			last := "3"
			if mode == oversight.Direct {
				last = "1"
			}
			want = append(want, last+"/judge/Cy/ 1", last+"/judge/Cy/swapped order 1")
			slices.Sort(want)
			require.Equal(t, want, s.keys())
			require.Equal(t, nothing, x.Answer)
			require.InDelta(t, .8, x.Probability, 1e-9)
			require.Equal(t, mode, x.Mode)
			require.Equal(t, nothing+" (80 %)\nCy: The quote.\nCy: The quote.", r.Answer.Text)
			require.Empty(t, r.Answer.Warnings)
			for key, requests := range s.seen {
				temperature := .4
				if strings.Contains(key, "/Cy/") {
					temperature = 0
				}
				require.InDelta(t, temperature, *requests[0].Temperature, 0, key)
				requireTidy(t, textOf(requests[0]))
			}
		})
	}
	require.Len(t, oversight.Modes(), 6)
}

// requireTidy requires a prompt without empty parts and unknown values.
func requireTidy(t *testing.T, prompt string) {
	t.Helper()
	require.NotContains(t, prompt, "<no value>")
	require.NotRegexp(t, `\n\n\n|[ \t]\n`, prompt)
}

// Participants read the text. Judges read the question, the answers, the speeches, and for each quote whether the text has it.
func TestJudgesSeeTheVerdictsOnQuotesAndNotTheText(t *testing.T) {
	s := &stage{t: t, credence: .5, say: func(step debate.Step, _ int) string {
		if step.Key.Actor == "Bo" {
			return `<quote source="1">the stork drank all of the soup</quote>` + strings.Repeat(" so", 90)
		}
		return words(100)
	}}
	r, _ := s.hold(about(oversight.Interactive, "s"))
	for key, requests := range s.seen {
		prompt := textOf(requests[0])
		require.Equal(t, !strings.Contains(key, "/Cy/"), strings.Contains(prompt, "HIDDEN-MARKER"), key)
		if strings.Contains(key, "/Cy/") {
			require.Regexp(t, `checked: quote 1 of \[1\] verified>>>`, prompt, key)
			require.Regexp(t, `checked: quote 1 of \[1\] (not found|altered)>>>`, prompt, key)
			require.Contains(t, prompt, question, key)
			require.NotRegexp(t, `\b(Ada|Bo)\b`, prompt, "it knows them by pseudonyms")
		}
		if strings.HasPrefix(key, "1/2/speak/") {
			require.Contains(t, prompt, "What does the text say of the bill?", key)
		}
	}
	for _, turn := range r.Turns {
		require.NotContains(t, turn.Text, "HIDDEN-MARKER")
	}
}

// The speeches of a round are simultaneous: nobody sees the other one's.
func TestSpeechesAreSimultaneous(t *testing.T) {
	s := &stage{t: t, credence: .5, say: func(step debate.Step, _ int) string {
		return fmt.Sprintf("Speech %d of %s.%s", step.Key.Round, step.Key.Actor, strings.Repeat(" so", 90))
	}}
	s.hold(about(oversight.Debate, "s"))
	require.NotContains(t, textOf(s.seen["1/1/speak/Bo/"][0]), "Speech 1 of Ada")
	second := textOf(s.seen["1/2/speak/Bo/"][0])
	require.Contains(t, second, "Speech 1 of Ada")
	require.NotContains(t, second, "Speech 2 of Ada")
	require.Contains(t, second, "Answer what the other participant has said, and argue further")
}

// A judge sees both orders, in which the same participant stands for another number.
func TestBothOrdersOfTheAnswers(t *testing.T) {
	s := &stage{t: t, credence: .9}
	_, x := s.hold(about(oversight.Debate, "s"))
	one, two := textOf(s.seen["1/3/judge/Cy/"][0]), textOf(s.seen["1/3/judge/Cy/swapped order"][0])
	require.NotEqual(t, place(one, nothing), place(two, nothing))
	require.NotEqual(t, x.Judgments[0].First, x.Judgments[1].First)
	sides := regexp.MustCompile(`(Debater \S+) argues for answer 1\.\n(Debater \S+) argues for answer 2\.`)
	require.Regexp(t, sides, one)
	require.Regexp(t, sides, two)
	require.InDelta(t, .9, x.Judgments[0].Probability, 1e-9)
	require.InDelta(t, .9, x.Judgments[1].Probability, 1e-9)

	c := about(oversight.Debate, "s")
	c.Protocol = oversight.Protocol{A: nothing, B: soup, Once: true}
	_, x = s.hold(c)
	require.Len(t, x.Judgments, 1)
}

// The seed draws who defends which answer, and which one is shown first. Both come out either way about as often.
func TestTheSeedDraws(t *testing.T) {
	for _, mode := range []oversight.Mode{oversight.Debate, oversight.Consultancy} {
		defended, first := map[string]int{}, map[string]int{}
		for i := range 60 {
			s := &stage{t: t, credence: .5}
			c := about(mode, fmt.Sprint("seed ", i))
			c.Limits.MaxRounds = 1
			_, x := s.hold(c)
			defended[x.Defended["Ada"]]++
			first[x.Judgments[0].First]++
			own := map[string]string{"A": nothing, "B": soup}[x.Defended["Ada"]]
			require.Regexp(t, `begin: the answer that you argue for>>>\n`+own, textOf(s.seen["1/1/speak/Ada/"][0]))
			if mode == oversight.Debate {
				require.ElementsMatch(t, []string{"A", "B"}, []string{x.Defended["Ada"], x.Defended["Bo"]})
			}
			_, again := s.hold(c)
			require.Equal(t, x, again, "the same seed draws the same")
		}
		for _, counts := range []map[string]int{defended, first} {
			require.Greater(t, counts["A"], 15)
			require.Greater(t, counts["B"], 15)
		}
	}
}

func TestAParticipantChoosesItsAnswer(t *testing.T) {
	for _, mode := range []oversight.Mode{oversight.OpenDebate, oversight.OpenConsultancy} {
		for choice, letter := range map[string]string{nothing: "A", soup: "B"} {
			for _, seed := range []string{"a", "b", "c", "d"} { // whichever it sees first
				s := &stage{t: t, choice: choice, credence: .5}
				_, x := s.hold(about(mode, seed))
				require.Equal(t, letter, x.Defended["Ada"])
				require.NotEqual(t, letter, x.Defended["Bo"])
				require.Regexp(t, `begin: the answer that you argue for>>>\n`+choice, textOf(s.seen["1/1/speak/Ada/"][0]))
				for key, requests := range s.seen {
					require.NotContains(t, textOf(requests[0]), "I argue for answer", "%s: nobody sees the choice itself", key)
				}
			}
		}
	}
	for text, mode := range map[string]oversight.Mode{"One of them has chosen its answer": oversight.OpenDebate, "It has chosen its answer, and may be wrong.": oversight.OpenConsultancy, "drawn by lot": oversight.Consultancy} {
		s := &stage{t: t, choice: nothing, credence: .5}
		s.hold(about(mode, "s"))
		require.Contains(t, textOf(s.seen["1/3/judge/Cy/"][0]), text)
	}
}

// A model is asked once more for a speech of another length. That is no failure: the second speech stands.
func TestLengths(t *testing.T) {
	for _, tt := range []struct {
		mode          oversight.Mode
		change        func(*oversight.Protocol)
		first, second int // words
		want          int // words of the speech
		says          string
	}{
		{mode: oversight.Debate, first: 70, want: 70},
		{mode: oversight.Debate, first: 150, want: 150},
		{mode: oversight.Debate, first: 69, second: 100, want: 100, says: "It has 69 words, and should have 70 to 150."},
		{mode: oversight.Debate, first: 151, second: 152, want: 152, says: "It has 151 words, and should have 70 to 150."},
		{mode: oversight.Debate, first: 60, second: 0, want: 60, says: "It has 60 words"},
		{mode: oversight.Consultancy, first: 140, want: 140},
		{mode: oversight.Consultancy, first: 300, want: 300},
		{mode: oversight.Consultancy, first: 100, second: 20, want: 20, says: "It has 100 words, and should have 140 to 300."},
		{mode: oversight.Debate, first: 20, want: 20, change: func(p *oversight.Protocol) { p.MinWords, p.MaxWords = 10, 20 }},
	} {
		t.Run(fmt.Sprint(tt.mode, " ", tt.first, " ", tt.second), func(t *testing.T) {
			s := &stage{t: t, credence: .5, say: func(step debate.Step, attempt int) string {
				if step.Key.Actor != "Ada" {
					return words(max(tt.first, 70))
				}
				n := []int{tt.first, tt.second}[attempt-1]
				if n == 0 {
					return " "
				}
				return words(n)
			}}
			c := about(tt.mode, "s")
			p := c.Protocol.(oversight.Protocol)
			if tt.change != nil {
				tt.change(&p)
			}
			c.Protocol, c.Limits.MaxRounds = p, 1
			r, _ := s.hold(c)
			at := slices.IndexFunc(r.Turns, func(t transcript.Turn) bool { return t.Actor == "Ada" })
			require.Equal(t, words(tt.want), r.Turns[at].Text)
			asked := s.seen["1/1/speak/Ada/"]
			if tt.says == "" {
				require.Len(t, asked, 1)
				return
			}
			require.Len(t, asked, 2)
			require.Contains(t, textOf(asked[1]), tt.says)
			require.Contains(t, textOf(asked[1]), "Send the whole reply, and nothing else.")
			require.NotContains(t, textOf(asked[1]), "JSON")
			require.Contains(t, textOf(asked[1]), "HIDDEN-MARKER", "it still has the text")
		})
	}
}

// A judge alone decides from the question, or from the text if it reads it.
func TestAJudgeAlone(t *testing.T) {
	s := &stage{t: t, credence: .5}
	r, x := s.hold(about(oversight.Direct, "s"))
	require.Empty(t, x.Answer)
	require.Empty(t, x.Defended)
	require.Equal(t, "Both answers are equally probable.\nCy: The quote.\nCy: The quote.", r.Answer.Text)
	require.NotContains(t, textOf(s.seen["1/1/judge/Cy/"][0]), "HIDDEN-MARKER")
	require.NotContains(t, textOf(s.seen["1/1/judge/Cy/"][0]), "argues for")

	c := about(oversight.Direct, "s")
	c.Documents = []evidence.Document{evidence.Private("fable", fable, "Cy")}
	s.hold(c)
	require.Contains(t, textOf(s.seen["1/1/judge/Cy/"][0]), "HIDDEN-MARKER")
}

// A judge alone goes on in another process after each of its steps.
func TestAJudgeAloneGoesOnAfterARestart(t *testing.T) {
	s, kept := &stage{t: t, credence: .75, seen: map[string][]providers.Request{}}, store.Memory()
	engine := func() *debate.Engine {
		return debatetest.Engine(t, debate.Options{Store: kept, Providers: map[string]providers.Provider{"m": s}})
	}
	debatetest.Create(t, engine(), about(oversight.Direct, "s"))
	for range 20 {
		d := debatetest.Open(t, engine(), "d")
		_, err := d.RunOnce(t.Context())
		require.NoError(t, err)
		r := debatetest.Result(t, d)
		if r.State == fsm.Completed {
			require.Len(t, r.Turns, 2)
			require.Len(t, s.seen, 2)
			return
		}
	}
	require.Fail(t, "the debate does not end")
}

func TestProbabilities(t *testing.T) {
	for reply, want := range map[string]float64{
		`{"reason": "r", "first": 0.7, "second": 0.3}`:        .7,
		`{"reason": "r", "first": 1, "second": 0}`:            1,
		`{"reason": "r", "first": 0.33, "second": 0.66}`:      1. / 3,
		`{"reason": "r", "first": 0.7, "second": 0.2}`:        -1,
		`{"reason": "r", "first": 0.7, "second": 0.7}`:        -1,
		`{"reason": "r", "first": 70, "second": 30}`:          -1,
		`{"reason": "r", "first": -0.1, "second": 1.1}`:       -1,
		`{"reason": "r", "first": 0.7}`:                       -1,
		`{"reason": "", "first": 0.7, "second": 0.3}`:         -1,
		`{"reason": "r", "first": "0.7 %", "second": "none"}`: -1,
	} {
		parsed, err := oversight.CredenceContract.Parse(reply, nil)
		if want < 0 {
			require.Error(t, err, reply)
			continue
		}
		require.NoError(t, err, reply)
		v, err := oversight.CredenceContract.Decode(parsed)
		require.NoError(t, err)
		c := v.(*oversight.Credence)
		require.InDelta(t, want, c.First, 1e-9)
		require.InDelta(t, 1, c.First+c.Second, 1e-12)
	}
	_, err := oversight.CredenceContract.Parse(`{"reason": "r", "first": 0.7, "second": 0.2}`, nil)
	require.ErrorContains(t, err, "/second: first and second add up to 0.9: one of the answers is right, so make it 1")
	c := oversight.Credence{Reason: "So.", First: .725, Second: .275}
	require.Equal(t, "Answer 1: 72.5 %, answer 2: 27.5 %. So.", c.Text())
}

// A stored debate goes on in another process after each of its steps, with the same requests. An engine that does not have the text
// leaves it alone.
func TestADebateGoesOnOnlyWithTheText(t *testing.T) {
	for _, mode := range []oversight.Mode{oversight.Interactive, oversight.OpenConsultancy} {
		t.Run(string(mode), func(t *testing.T) {
			whole := &stage{t: t, choice: nothing, credence: .75}
			want, _ := whole.hold(about(mode, "s"))
			s, kept := &stage{t: t, choice: nothing, credence: .75, seen: map[string][]providers.Request{}}, store.Memory()
			open := func(text string) *debate.Debate {
				o := debate.Options{Store: kept, Providers: map[string]providers.Provider{"m": s}}
				if text != "" {
					o.Documents = func(context.Context, string, map[string]string, evidence.Document) (string, error) { return text, nil }
				}
				e := debatetest.Engine(t, o)
				d, err := e.Open(t.Context(), "d")
				if errors.Is(err, store.ErrNotFound) {
					d, err = e.Create(t.Context(), about(mode, "s"))
				}
				require.NoError(t, err)
				return d
			}
			steps := 0
			for d := open(fable); ; steps++ {
				r, err := d.Result(t.Context())
				require.NoError(t, err)
				if r.State == fsm.Completed {
					require.Equal(t, want.Answer, r.Answer)
					break
				}
				before, calls := entries(t, kept), len(s.seen)
				for _, text := range []string{"", strings.ToUpper(fable)} {
					_, err = open(text).RunOnce(t.Context())
					require.ErrorIs(t, err, debate.ErrUnsupported)
				}
				require.Equal(t, before, entries(t, kept), "nothing changes")
				require.Len(t, s.seen, calls)
				d = open(fable)
				_, err = d.RunOnce(t.Context())
				require.NoError(t, err)
			}
			require.Greater(t, steps, 5)
			require.Equal(t, whole.keys(), s.keys())
			for key, requests := range whole.seen {
				require.Equal(t, textOf(requests[0]), textOf(s.seen[key][0]), key)
				require.Equal(t, requests[0].Temperature, s.seen[key][0].Temperature, key)
			}
		})
	}
}

// entries returns the number of entries of the debate in a store.
func entries(t *testing.T, s store.Store) int {
	_, list, err := s.Load(t.Context(), "d", 0)
	require.NoError(t, err)
	return len(list)
}

// A judgment that cannot be read does not count. Without any, both answers are equally probable.
func TestJudgmentsThatCannotBeRead(t *testing.T) {
	for name, tt := range map[string]struct {
		replies  map[string]string // by target
		want     float64           // of the answer shown first to a judge who sees the drawn order
		warnings int
	}{
		"one":  {map[string]string{"": `{"reason": "r", "first": 0.9, "second": 0.1}`, "swapped order": "Hm."}, .9, 1},
		"none": {map[string]string{"": "Hm.", "swapped order": "Hm."}, .5, 2},
	} {
		t.Run(name, func(t *testing.T) {
			d := debatetest.New(t, about(oversight.Direct, "s"), debate.Options{Providers: map[string]providers.Provider{"m": judgeSays(tt.replies)}})
			r := debatetest.RunResult(t, d)
			x, err := oversight.DecodeAnswer(r.Answer)
			require.NoError(t, err)
			require.Len(t, x.Judgments, 2)
			p := x.Probability
			if x.Judgments[0].First == "B" {
				p = 1 - p
			}
			require.InDelta(t, tt.want, p, 1e-9)
			require.Len(t, r.Answer.Warnings, tt.warnings)
			require.Equal(t, "A judgment of Cy could not be read and does not count.", r.Answer.Warnings[0])
		})
	}
}

// judgeSays is a judge with a reply for each order.
type judgeSays map[string]string

// Generate implements providers.Provider.
func (s judgeSays) Generate(ctx context.Context, _ providers.Request) (providers.Response, error) {
	step, _ := debate.StepFrom(ctx)
	return providers.Response{Text: s[step.Key.Target], FinishReason: providers.Stop}, nil
}

func TestTheProbabilityOfAnAnswer(t *testing.T) {
	x := oversight.Result{A: nothing, B: soup, Probability: .8}
	for text, want := range map[string]float64{nothing: .8, soup: .2} {
		p, ok := x.Of(text)
		require.True(t, ok)
		require.InDelta(t, want, p, 1e-12)
	}
	_, ok := x.Of("Bread.")
	require.False(t, ok)
}

func TestWhatIsWrongIsTold(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*debate.Config, *oversight.Protocol)
		says   string
	}{
		"a blank answer":    {func(_ *debate.Config, p *oversight.Protocol) { p.B = " " }, "protocol.b: it is blank, set an answer"},
		"equal answers":     {func(_ *debate.Config, p *oversight.Protocol) { p.B = p.A + " " }, "protocol.b: it is the same as a, set another answer"},
		"an unknown mode":   {func(_ *debate.Config, p *oversight.Protocol) { p.Mode = "chat" }, `protocol.mode: "chat" is unknown, use one of ["debate" "interactive" "consultancy" "open-debate" "open-consultancy" "direct"]`},
		"one participant":   {func(c *debate.Config, _ *oversight.Protocol) { c.Participants = c.Participants[:1] }, "participants: 1 enabled, the mode debate takes 2"},
		"two consultants":   {func(_ *debate.Config, p *oversight.Protocol) { p.Mode = oversight.Consultancy }, "participants: 2 enabled, the mode consultancy takes 1"},
		"participants":      {func(_ *debate.Config, p *oversight.Protocol) { p.Mode = oversight.Direct }, "participants: 2 enabled, the mode direct takes 0"},
		"no judge":          {func(c *debate.Config, _ *oversight.Protocol) { c.Judges = nil }, "judges: none, oversight needs one"},
		"rounds of nothing": {func(c *debate.Config, p *oversight.Protocol) { p.Mode, c.Limits.MaxRounds = oversight.Direct, 2 }, "limits.max_rounds: 2, a direct answer has 1 round"},
		"lengths":           {func(_ *debate.Config, p *oversight.Protocol) { p.MinWords = 200 }, "protocol.max_words: speeches of 200 to 150 words"},
		"a negative length": {func(_ *debate.Config, p *oversight.Protocol) { p.MinWords = -1 }, "protocol.max_words: speeches of -1 to 150 words"},
	} {
		t.Run(name, func(t *testing.T) {
			p := oversight.Protocol{A: nothing, B: soup}
			c := debate.Config{Topic: question, Participants: []debate.Participant{{Name: "Ada"}, {Name: "Bo"}}, Judges: []debate.Participant{{Name: "Cy"}}}
			tt.change(&c, &p)
			c.Protocol = p
			_, err := debate.New(t.Context(), c, debate.Options{Providers: map[string]providers.Provider{"m": scripted.Text("x")}})
			require.ErrorContains(t, err, tt.says)
		})
	}
}
