package readmetest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// curl is a request as a command line describes it.
type curl struct {
	method, path, body string
	header             http.Header
	stream             bool // -N: the reader ends it
}

// parseCurl reads the arguments of curl that documents use. The server is one of this machine.
func parseCurl(args []string) (q curl, err error) {
	q.header = http.Header{}
	for i := 0; i < len(args); i++ {
		value := func() string {
			i++
			if i < len(args) {
				return args[i]
			}
			return ""
		}
		switch args[i] {
		case "-N":
			q.stream = true
		case "-X":
			q.method = value()
		case "-H":
			name, text, _ := strings.Cut(value(), ": ")
			q.header.Set(name, text)
		case "-d":
			q.body = value()
		default:
			_, path, ok := strings.Cut(strings.TrimPrefix(args[i], "http://"), ":8080")
			if !ok || q.path != "" {
				return q, fmt.Errorf("the test does not know curl %s", args[i])
			}
			q.path = path
		}
	}
	switch {
	case q.method != "":
	case q.body != "":
		q.method = http.MethodPost
	default:
		q.method = http.MethodGet
	}
	return q, nil
}

// send sends the request. Answers that say that something is not there yet are asked for again, as a reader would do.
func (q curl) send(ctx context.Context, url string, r *ran) error {
	for {
		req, err := http.NewRequestWithContext(ctx, q.method, url+q.path, strings.NewReader(q.body))
		if err != nil {
			return err
		}
		req.Header = q.header
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		text, err := q.read(res.Body)
		if err != nil {
			return err
		}
		if res.StatusCode == http.StatusConflict && ctx.Err() == nil {
			time.Sleep(100 * time.Millisecond) // the server is another process
			continue
		}
		fmt.Fprintln(os.Stdout, text)
		if res.StatusCode >= http.StatusBadRequest {
			r.Code, r.Said = 22, res.Status+": "+text
		}
		return nil
	}
}

// read returns the whole body, or of a stream what comes within a moment.
func (q curl) read(body io.ReadCloser) (string, error) {
	if q.stream {
		stop := time.AfterFunc(1500*time.Millisecond, func() { _ = body.Close() })
		defer stop.Stop()
	}
	text, err := io.ReadAll(body)
	_ = body.Close()
	if q.stream {
		err = nil
	}
	return string(text), err
}
