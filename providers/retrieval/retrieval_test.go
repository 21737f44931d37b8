package retrieval_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/internal/test/calltest"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/providers/retrieval"
)

var errCause = errors.New("the cause")

// ask returns a request with the given user messages.
func ask(texts ...string) providers.Request {
	r := providers.Request{Messages: []providers.Message{{Role: providers.System, Text: "Find."}}}
	for _, text := range texts {
		r.Messages = append(r.Messages, providers.Message{Role: providers.User, Text: text})
	}
	return r
}

// found returns the documents of a reply.
func found(t *testing.T, p providers.Provider, r providers.Request) []retrieval.Document {
	t.Helper()
	res := calltest.Generate(t, p, r)
	var reply struct{ Documents []retrieval.Document }
	require.NoError(t, json.Unmarshal([]byte(res.Text), &reply))
	require.NotNil(t, reply.Documents, "no documents are an empty list: %s", res.Text)
	return reply.Documents
}

func fixed(docs ...retrieval.Document) retrieval.Search {
	return func(context.Context, string) ([]retrieval.Document, error) { return docs, nil }
}

func failing(err error) retrieval.Search {
	return func(context.Context, string) ([]retrieval.Document, error) { return nil, err }
}

func ExampleNew() {
	mine := append(retrieval.BuiltInTemplates(), retrieval.Document{Title: "Ask the cat", Text: "Use it for questions about cats and mice."})
	p := retrieval.New(retrieval.InMemory(retrieval.NGrams{}, mine...), "ngrams/1")
	res, err := p.Generate(context.Background(), providers.Request{
		Messages: []providers.Message{{Role: providers.User, Text: "Do cats like mice?"}},
	})
	var reply struct{ Documents []retrieval.Document }
	fmt.Println(json.Unmarshal([]byte(res.Text), &reply), err)
	fmt.Println(reply.Documents[0].Title, "by", res.Model)
	// Output:
	// <nil> <nil>
	// Ask the cat by ngrams/1
}

func TestAReplyIsOneObject(t *testing.T) {
	p := retrieval.New(fixed(retrieval.Document{Title: "A <b>", Text: "x & y"}), "m")
	res := calltest.Generate(t, p, ask("q"))
	require.Equal(t, providers.Response{Text: `{"documents":[{"title":"A <b>","text":"x & y"}]}`, FinishReason: providers.Stop, Model: "m"}, res)
	require.Empty(t, found(t, retrieval.New(fixed(), ""), ask("q")))
}

func TestAReplyStreamsInOnePiece(t *testing.T) {
	p := retrieval.New(fixed(retrieval.Document{Title: "A", Text: "x"}), "m")
	r := ask("q")
	var chunks []string
	r.OnChunk = func(text string) error {
		chunks = append(chunks, text)
		return nil
	}
	res := calltest.Generate(t, p, r)
	require.Equal(t, []string{res.Text}, chunks)

	r.OnChunk = func(string) error { return errCause }
	res, err := p.Generate(t.Context(), r)
	require.Equal(t, errCause, err, "the error itself")
	require.Zero(t, res)
}

func TestTheQueryIsTheLastWordOfTheUserBeforeAnyReply(t *testing.T) {
	var query string
	p := retrieval.New(func(_ context.Context, q string) ([]retrieval.Document, error) {
		query = q
		return nil, nil
	}, "")
	r := ask("first", "second")
	found(t, p, r)
	require.Equal(t, "second", query)
	r.Messages = append(r.Messages, providers.Message{Role: providers.Assistant, Text: "{}"}, providers.Message{Role: providers.User, Text: "Again, please."})
	found(t, p, r)
	require.Equal(t, "second", query, "asking again asks for the same")

	_, err := p.Generate(t.Context(), ask())
	require.EqualError(t, err, "invalid_request: read request: no user message before the first assistant message")
}

func TestDocumentsFitIntoAReply(t *testing.T) {
	long := strings.Repeat("é", 3000)
	doc := func(title, text string) retrieval.Document { return retrieval.Document{Title: title, Text: text} }
	for _, tt := range []struct {
		name string
		docs []retrieval.Document
		want []retrieval.Document
	}{
		{"as they are", []retrieval.Document{doc("A", "x\ty\nz")}, []retrieval.Document{doc("A", "x\ty\nz")}},
		{"blank ones are left out", []retrieval.Document{doc("A", " \n"), doc("B", " b ")}, []retrieval.Document{doc("B", "b")}},
		{"a title on one line", []retrieval.Document{doc(" A\n title ", "x")}, []retrieval.Document{doc("A title", "x")}},
		{"the first line for a title", []retrieval.Document{doc("", "Once.\nUpon.")}, []retrieval.Document{doc("Once.", "Once.\nUpon.")}},
		{"no broken characters", []retrieval.Document{doc("A\x00", "x\xffy\x1b[31m")}, []retrieval.Document{doc("A", "xy[31m")}},
		{"long ones are cut", []retrieval.Document{doc(long, long)}, []retrieval.Document{doc(strings.Repeat("é", 73)+"…", strings.Repeat("é", 1898)+"…")}},
		{"at most eight", slicesOf(doc("A", "x"), 12), slicesOf(doc("A", "x"), 8)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, found(t, retrieval.New(fixed(tt.docs...), ""), ask("q")))
		})
	}
	worst := retrieval.Document{Title: strings.Repeat(`"`, 5000), Text: strings.Repeat("\n\"", 5000)}
	res := calltest.Generate(t, retrieval.New(fixed(slicesOf(worst, 20)...), ""), ask("q"))
	require.Less(t, len(res.Text), 64<<10, "a contract reads no more")
	require.True(t, utf8.ValidString(res.Text))
}

func slicesOf(d retrieval.Document, n int) (list []retrieval.Document) {
	for range n {
		list = append(list, d)
	}
	return list
}

type broken struct{ timeout bool }

func (b broken) Error() string   { return "the line is dead" }
func (b broken) Timeout() bool   { return b.timeout }
func (b broken) Temporary() bool { return false }

func TestFailuresHaveTheirKind(t *testing.T) {
	var _ net.Error = broken{}
	for _, tt := range []struct {
		err  error
		kind providers.ErrorKind
	}{
		{errCause, providers.ServerError},
		{&providers.Error{Kind: providers.ContextOverflow, RetryAfter: time.Second, Err: errCause}, providers.ContextOverflow},
		{fmt.Errorf("search: %w", &providers.Error{Kind: providers.Authentication, Err: errCause}), providers.Authentication},
		{broken{}, providers.Network},
		{broken{timeout: true}, providers.Timeout},
		{context.DeadlineExceeded, providers.Timeout},
		{errors.New("API returned unexpected status code: 429: slow down"), providers.RateLimit},
		{errors.New("status 401"), providers.Authentication},
		{errors.New("status code 403"), providers.Authentication},
		{errors.New("Status: 408"), providers.Timeout},
		{errors.New("status code: 404: no such collection"), providers.InvalidRequest},
		{errors.New("status code: 503"), providers.ServerError},
		{errors.New("found 429 documents"), providers.ServerError},
		{errors.New("Rate limit reached"), providers.RateLimit},
		{errors.New("invalid API key"), providers.Authentication},
		{errors.New("input exceeds the context length"), providers.ContextOverflow},
		{errors.New("dial tcp 127.0.0.1:1: connection refused"), providers.Network},
		{errors.New("the request timed out"), providers.Timeout},
	} {
		t.Run(tt.err.Error(), func(t *testing.T) {
			res, err := retrieval.New(failing(tt.err), "m").Generate(t.Context(), ask("q"))
			require.Zero(t, res)
			failed, ok := errors.AsType[*providers.Error](err)
			require.True(t, ok, "%v", err)
			require.Equal(t, tt.kind, failed.Kind)
			require.ErrorIs(t, err, tt.err)
			require.Contains(t, err.Error(), "search documents: ")
			if known, ok := errors.AsType[*providers.Error](tt.err); ok {
				require.Equal(t, known.RetryAfter, failed.RetryAfter)
			}
		})
	}
}

func TestAPanicOfASearchIsAFailure(t *testing.T) {
	_, err := retrieval.New(func(context.Context, string) ([]retrieval.Document, error) { panic("oops") }, "").Generate(t.Context(), ask("q"))
	require.EqualError(t, err, "panic: oops")
}

func TestAnEndedContextEndsTheCall(t *testing.T) {
	t.Run("before it began", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errCause)
		_, err := retrieval.New(func(context.Context, string) ([]retrieval.Document, error) { panic("it is not asked") }, "").Generate(ctx, ask("q"))
		require.Equal(t, &providers.Error{Kind: providers.ServerError, Err: errCause}, err)
	})
	t.Run("while a search goes on that ignores it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			stop := make(chan struct{})
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			_, err := retrieval.New(func(context.Context, string) ([]retrieval.Document, error) {
				<-stop
				return nil, nil
			}, "").Generate(ctx, ask("q"))
			require.Equal(t, &providers.Error{Kind: providers.Timeout, Err: context.DeadlineExceeded}, err)
			close(stop) // release the goroutine
		})
	})
	t.Run("while a search goes on that ends with it", func(t *testing.T) {
		for range 100 { // either of the two may be noticed first
			ctx, cancel := context.WithCancelCause(t.Context())
			_, err := retrieval.New(func(context.Context, string) ([]retrieval.Document, error) {
				cancel(errCause)
				return nil, errors.New("something was interrupted")
			}, "").Generate(ctx, ask("q"))
			require.Equal(t, &providers.Error{Kind: providers.ServerError, Err: errCause}, err)
		}
	})
	t.Run("within the callback", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		r := ask("q")
		r.OnChunk = func(string) error {
			cancel(errCause)
			return nil
		}
		res, err := retrieval.New(fixed(), "").Generate(ctx, r)
		require.Zero(t, res)
		require.ErrorIs(t, err, errCause)
		require.Equal(t, `{"documents":[]}`, providers.AsError(err).Partial.Text)
	})
}

func TestManyCallsAtOnceDoNotMix(t *testing.T) {
	p := retrieval.New(retrieval.InMemory(retrieval.NGrams{}, retrieval.BuiltInTemplates()...), "")
	var group sync.WaitGroup
	for _, d := range retrieval.BuiltInTemplates() {
		group.Go(func() {
			res, err := p.Generate(t.Context(), ask(d.Text))
			if err != nil || !strings.HasPrefix(res.Text, `{"documents":[{"title":"`+d.Title+`"`) {
				t.Errorf("%s: %v %.80s", d.Title, err, res.Text)
			}
		})
	}
	group.Wait()
}
