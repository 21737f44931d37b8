package langchain

import (
	"errors"
	"fmt"
	"net/url"
)

// ParseBaseURL reads Config.BaseURL of a provider, which is to look like another address. One that could hold a key is
// refused, since addresses are quoted; no error shows what is given.
func ParseBaseURL(given, like string) (*url.URL, error) {
	u, err := url.Parse(given)
	switch {
	case err != nil, u.Host == "", u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("Config.BaseURL is no address, want one such as %s", like)
	case u.User != nil || u.RawQuery+u.Fragment != "":
		return nil, errors.New("Config.BaseURL holds a user or parameters: keys belong into Config.Key, others into HTTPClient")
	}
	return u, nil
}
