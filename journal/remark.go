package journal

// Remark is a person's contribution between turns.
type Remark struct {
	// ID identifies the remark: adding the same remark twice adds it once. Use at most 128 bytes without control
	// characters. Defaults to a new id.
	ID string
	// From is the person's name, as it appears in prompts. It must not be the name of an actor in the debate.
	From string
	// Text is what the person says. A run has at most 1,000 remarks, with 1 MiB of text in all.
	Text string
}
