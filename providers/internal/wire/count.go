package wire

import (
	"bytes"
	"strconv"
)

// Count is a number of tokens. Some services write it with a fraction, such as 10.0, or as a string. Anything else, such as
// null, is 0.
type Count int

// UnmarshalJSON reads a number.
func (c *Count) UnmarshalJSON(raw []byte) error {
	n, err := strconv.ParseFloat(string(bytes.Trim(raw, `"`)), 64)
	if err != nil || !(n > 0 && n < 1<<53) {
		n = 0
	}
	*c = Count(n)
	return nil
}
