package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
)

// ParseBaseURL parses the Config.BaseURL of a provider. The error for a malformed URL quotes like as an example. Because
// messages quote URLs, ParseBaseURL refuses a URL that may contain a key, and no error contains the given URL.
func ParseBaseURL(given, like string) (*url.URL, error) {
	u, err := url.Parse(given)
	switch {
	case err != nil, u.Host == "", u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("Config.BaseURL is not a valid http or https URL, want one such as %s", like)
	case u.User != nil || u.RawQuery+u.Fragment != "":
		return nil, errors.New("Config.BaseURL has a user, query or fragment: set keys in Config.Key, and add other parameters with Config.HTTPClient")
	}
	return u, nil
}

// Key returns a function that returns the Config.Key or calls the Config.KeyFunc of a provider.
func Key(key string, f func(context.Context) (string, error)) func(context.Context) (string, error) {
	if f != nil {
		return f
	}
	return func(context.Context) (string, error) { return key, nil }
}

// ParseExtra returns a copy of the Config.Extra of a provider, as JSON values.
func ParseExtra(extra map[string]any) (Object, error) {
	raw, err := json.Marshal(extra)
	if err != nil {
		return nil, fmt.Errorf("Config.Extra cannot be written as JSON: %w", err)
	}
	var o Object
	_ = json.Unmarshal(raw, &o) // it was just encoded
	return o, nil
}
