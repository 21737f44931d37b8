package fault

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var someday = time.Date(2026, 10, 21, 7, 28, 0, 0, time.UTC)

func TestDelaysInTexts(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"Please try again in 1m26.4s. See":                     86400 * time.Millisecond,
		"Please try again in 20ms.":                            20 * time.Millisecond,
		"Please retry in 41.379s.":                             41379 * time.Millisecond,
		"Please retry after 21 seconds.":                       21 * time.Second,
		"Please wait 7200 seconds before retrying.":            2 * time.Hour,
		"wait 8 hours 24 minutes and try again":                8*time.Hour + 24*time.Minute,
		"try again in about 1 hour, 5 minutes and 3 seconds":   time.Hour + 5*time.Minute + 3*time.Second,
		"The limit resets in 2 days":                           48 * time.Hour,
		"try again in 3 attempts":                              0,
		"try again later":                                      0,
		"wait for 1 model":                                     0,
		"请在 30 秒后重试":                                           30 * time.Second,
		"5分钟后再试":                                               5 * time.Minute,
		`{"retry_after": 20}`:                                  20 * time.Second,
		`{"retryDelay": "21s"}`:                                21 * time.Second,
		`{"resets_in_seconds": 900, "x": 1}`:                   15 * time.Minute,
		`{"error": "loading", "estimated_time": 20.5}`:         20500 * time.Millisecond,
		"It resets at 2026-10-21T08:00:00Z.":                   32 * time.Minute,
		"You may call again after 2026-10-21T10:00:00.5+02:00": 32*time.Minute + 500*time.Millisecond,
		"It resets at 1998-10-21T08:00:00Z.":                   0,
		"try again in 99999999999999999999999 days":            1e9 * time.Second,
	} {
		require.Equal(t, want, RetryAfter(text, someday), text)
	}
}

func TestDelaysInHeaders(t *testing.T) {
	for name, test := range map[string]struct {
		header map[string]string
		want   time.Duration
	}{
		"a duration":             {map[string]string{"X-Ratelimit-Reset-Requests": "1m30s"}, 90 * time.Second},
		"seconds":                {map[string]string{"X-Ratelimit-Reset": "30"}, 30 * time.Second},
		"seconds since 1970":     {map[string]string{"X-Ratelimit-Reset": "1792569600"}, 32 * time.Minute},
		"milliseconds since":     {map[string]string{"X-Ratelimit-Reset": "1792569600000"}, 32 * time.Minute},
		"a time":                 {map[string]string{"Anthropic-Ratelimit-Tokens-Reset": "2026-10-21T08:00:00Z"}, 32 * time.Minute},
		"the one that is used":   {map[string]string{"X-Ratelimit-Reset-Tokens": "6m", "X-Ratelimit-Remaining-Tokens": "7", "X-Ratelimit-Reset-Requests": "2s", "X-Ratelimit-Remaining-Requests": "0"}, 2 * time.Second},
		"the latest if none is":  {map[string]string{"X-Ratelimit-Reset-Tokens": "6m", "X-Ratelimit-Remaining-Tokens": "7", "X-Ratelimit-Reset-Requests": "2s", "X-Ratelimit-Remaining-Requests": "3"}, 6 * time.Minute},
		"a time that is gone":    {map[string]string{"X-Ratelimit-Reset": "1592569600"}, 0},
		"a word":                 {map[string]string{"X-Ratelimit-Reset": "soon"}, 0},
		"not a number":           {map[string]string{"X-Ratelimit-Reset": "NaN"}, 0},
		"a number beyond all":    {map[string]string{"X-Ratelimit-Reset": "1e300"}, time.UnixMilli(1e15).Sub(someday)},
		"another kind of header": {map[string]string{"X-Ratelimit-Limit": "30"}, 0},
	} {
		h := http.Header{}
		for k, v := range test.header {
			h.Set(k, v)
		}
		require.Equal(t, test.want, resetHeaders(h, someday), name)
	}
}

func FuzzRetryAfter(f *testing.F) {
	f.Add("try again in 1m2.5s", "1m30s")
	f.Add("请在 30 秒后重试", "1792569600000")
	f.Fuzz(func(t *testing.T, text, header string) {
		require.GreaterOrEqual(t, RetryAfter(text, someday), time.Duration(0))
		require.GreaterOrEqual(t, resetHeaders(http.Header{"X-Ratelimit-Reset": {header}}, someday), time.Duration(0))
	})
}
