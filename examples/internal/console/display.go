package console

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/transcript"
)

// display shows how a debate goes: prose word by word where somebody reads along, all else turn by turn.
type display struct {
	w        io.Writer
	live     bool
	parallel bool           // several speak at once, so that their words would mix
	showing  transcript.Key // of whom words were shown
	round    int
}

func (v *display) show(event debate.Event) {
	switch e := event.(type) {
	case debate.PhaseStarted:
		if v.parallel = e.Parallel; e.Stage == transcript.Speech && e.Round != v.round {
			v.round = e.Round
			fmt.Fprintf(v.w, "\n== round %d of %d ==\n", e.Round, e.Rounds)
		}
	case debate.Chunk:
		v.chunk(e)
	case debate.TurnFailed:
		fmt.Fprintf(v.w, "\n%s failed: %s\n", e.Key.Actor, e.Message)
		if v.showing = (transcript.Key{}); e.RetryIn > 0 {
			fmt.Fprintln(v.w, "trying again in", e.RetryIn.Round(time.Second))
		}
	case debate.Warning:
		fmt.Fprintln(v.w, "warning:", e.Text)
	case debate.Dropped:
		fmt.Fprintln(v.w, e.Name, "takes no further part:", e.Failure.Message)
	case debate.TurnDone:
		if v.showing == e.Turn.Key {
			fmt.Fprintln(v.w)
			return
		}
		v.writeHeading(e.Turn.Key)
		fmt.Fprintln(v.w, e.Turn.Text)
	}
}

// chunk shows words as they come. A reply that begins as an object is data, of which its turn has the text.
func (v *display) chunk(e debate.Chunk) {
	if !v.live || v.parallel {
		return
	}
	if e.Offset == 0 {
		if v.showing = (transcript.Key{}); strings.HasPrefix(strings.TrimLeft(e.Text, " \n`"), "{") {
			return
		}
		v.writeHeading(e.Key)
		v.showing = e.Key
	}
	if v.showing == e.Key {
		fmt.Fprint(v.w, e.Text)
	}
}

func (v *display) writeHeading(k transcript.Key) {
	about := k.Phase
	if k.Target != "" {
		about += ", " + k.Target
	}
	fmt.Fprintf(v.w, "\n%s (%s):\n", k.Actor, about)
}
