package fault

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Patterns for the delays that services ask for: after a word, in a field, in Chinese, and until a time.
var (
	waitWord = pattern{text: `(?i)\b(?:wait|again|retry|retrying|resets?|available|refreshe?s?)[ :]+(?:(?:in|for|after|again|about|approximately|at least|another) +){0,3}\d`}
	waitPart = pattern{text: `^(?i)[ ,]*(?:and +)?(\d+(?:\.\d+)?) ?([a-z]+)`}
	// Source of retryDelay: https://cloud.google.com/apis/design/errors#retry_info
	waitField   = pattern{text: `(?i)"(?:retry_?delay|retry_?after(?:_seconds)?|resets?_in_seconds|estimated_time)": ?"?(\d+(?:\.\d+)?)s?"?[ ,}\n]`}
	waitChinese = pattern{text: `(\d+) ?(毫秒|秒|分钟|分|小时|天)(?:钟)?(?:之|以)?后`}
	waitUntil   = pattern{text: `(?i)\b(?:resets?|until|after|again)\D{0,20}(\d{4}-\d\d-\d\d)[T ]([\d:.]+) ?(Z|UTC|GMT|[+-]\d\d:?\d\d)`}
	// OpenRouter quotes the headers of the service that it called.
	waitQuoted = pattern{text: `(?i)"x-ratelimit-reset[a-z-]*": ?"?([\w.:+-]+)"?`}
)

// units maps the units of delays to durations.
var units = map[string]time.Duration{
	"ms": time.Millisecond, "millisecond": time.Millisecond, "毫秒": time.Millisecond,
	"s": time.Second, "sec": time.Second, "second": time.Second, "秒": time.Second,
	"m": time.Minute, "min": time.Minute, "minute": time.Minute, "分钟": time.Minute, "分": time.Minute,
	"h": time.Hour, "hr": time.Hour, "hour": time.Hour, "小时": time.Hour,
	"d": 24 * time.Hour, "day": 24 * time.Hour, "天": 24 * time.Hour,
}

// RetryAfter returns the retry delay in a text or in the JSON of an error, or 0 if there is none.
func RetryAfter(text string, now time.Time) time.Duration {
	if at := waitWord.compiled().FindStringIndex(text); at != nil {
		if d := spokenDelay(text[at[1]-1:]); d > 0 {
			return d
		}
	}
	if m := waitField.compiled().FindStringSubmatch(text); m != nil {
		return delay(m[1], time.Second)
	}
	if m := waitChinese.compiled().FindStringSubmatch(text); m != nil {
		return delay(m[1], units[m[2]])
	}
	if m := waitUntil.compiled().FindStringSubmatch(text); m != nil {
		zone := strings.NewReplacer("UTC", "Z", "GMT", "Z", "utc", "Z", "gmt", "Z", "z", "Z").Replace(m[3])
		if !strings.Contains(zone, ":") && zone != "Z" {
			zone = zone[:3] + ":" + zone[3:]
		}
		return resetDelay(m[1]+"T"+m[2]+zone, now)
	}
	return 0
}

// spokenDelay returns the delay at the beginning of a text, such as "8 hours 24 minutes" or "1m26.4s".
func spokenDelay(text string) (sum time.Duration) {
	for {
		m := waitPart.compiled().FindStringSubmatch(text)
		if m == nil {
			return sum
		}
		name := strings.ToLower(m[2])
		unit := cmp.Or(units[name], units[strings.TrimSuffix(name, "s")])
		if unit == 0 {
			return sum
		}
		sum += delay(m[1], unit)
		text = text[len(m[0]):]
	}
}

// maxDelay limits what is read as a delay.
const maxDelay = 1e9 * time.Second

func delay(number string, unit time.Duration) time.Duration {
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || !(n > 0) { // not a number either
		return 0
	}
	return time.Duration(min(n*float64(unit), float64(maxDelay)))
}

// headerDelay returns the retry delay in the headers of a response, or 0 if there is none.
func headerDelay(h http.Header, now time.Time) time.Duration {
	if ms := delay(h.Get("Retry-After-Ms"), time.Millisecond); ms > 0 {
		return ms
	}
	after := strings.TrimSpace(h.Get("Retry-After"))
	if d := delay(after, time.Second); d > 0 {
		return d
	}
	at, err := http.ParseTime(after)
	if err != nil {
		return 0
	}
	return max(0, at.Sub(now))
}

// clock returns the service's time of a response, or the time of this machine.
func clock(h http.Header) time.Time {
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		return date
	}
	return time.Now()
}

// resetHeaders returns when the limits of a response end: the latest of those that are used up. If the service does not
// say which limits are used up, it returns the latest of all.
func resetHeaders(h http.Header, now time.Time) time.Duration {
	var used, all time.Duration
	for name, values := range h {
		lower := strings.ToLower(name)
		if !strings.Contains(lower, "ratelimit") || !strings.Contains(lower, "reset") {
			continue
		}
		d := resetDelay(values[0], now)
		all = max(all, d)
		if left := h.Get(strings.Replace(lower, "reset", "remaining", 1)); left == "" || left == "0" {
			used = max(used, d)
		}
	}
	return cmp.Or(used, all)
}

// resetDelay returns the delay until a limit ends. Services give a delay such as 1m30s or in seconds, a time as text, or
// the seconds or milliseconds since 1970.
func resetDelay(value string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	if n, err := strconv.ParseFloat(value, 64); err == nil {
		const year2001, asMillis = 1e9, 1e12
		switch {
		case n >= asMillis:
			return max(0, time.UnixMilli(int64(min(n, 1e15))).Sub(now))
		case n >= year2001:
			return max(0, time.Unix(int64(n), 0).Sub(now))
		}
		return delay(value, time.Second)
	}
	if d, err := time.ParseDuration(value); err == nil {
		return max(0, d)
	}
	if at, err := time.Parse(time.RFC3339, value); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
