// Package debate is a small copy of the package whose events the analyzer knows.
package debate

type Event interface {
	Meta() EventMeta
	sealed()
}

type EventMeta struct{}

func (s EventMeta) Meta() EventMeta { return s }

func (EventMeta) sealed() {}

type (
	TurnDone struct{ EventMeta }
	Ended    struct{ EventMeta }
)
