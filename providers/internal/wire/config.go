package wire

import (
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
