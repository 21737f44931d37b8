package runs

import "errors"

// Mistakes is everything that is wrong with what a caller has described, such as an evaluation. It is found before the first call.
type Mistakes struct {
	Of   string // for example "evaluation"
	List []error
}

// Check returns [*Mistakes], or nil if the list is empty.
func Check(of string, list []error) error {
	if len(list) == 0 {
		return nil
	}
	return &Mistakes{of, list}
}

// Error implements error.
func (m *Mistakes) Error() string { return "check " + m.Of + ": " + errors.Join(m.List...).Error() }

// Unwrap lets errors.Is and errors.As find the errors of the list.
func (m *Mistakes) Unwrap() []error { return m.List }
