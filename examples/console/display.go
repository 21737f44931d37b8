package console

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/transcript"
)

// display shows the progress of a debate: prose word by word on a terminal, everything else turn by turn.
type display struct {
	w        io.Writer
	live     bool           // show prose word by word
	parallel bool           // several actors speak at the same time; their words would mix, so show complete turns
	showing  transcript.Key // key of the turn that is shown word by word
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
		retry := ""
		if e.RetryIn >= 0 {
			retry = ", retrying"
		}
		if e.RetryIn > 0 {
			retry = fmt.Sprintf(", retrying in %v", max(e.RetryIn.Round(time.Second), time.Second))
		}
		fmt.Fprintf(v.w, "\n%s failed%s: %s\n", e.Key.Actor, retry, strings.Join(strings.Fields(e.Message), " "))
		v.showing = transcript.Key{}
	case debate.Warning:
		fmt.Fprintln(v.w, "warning:", e.Text)
	case debate.Dropped:
		fmt.Fprintf(v.w, "%s dropped out: %s\n", e.Name, e.Failure.Message)
	case debate.TurnDone:
		if v.showing == e.Turn.Key {
			fmt.Fprintln(v.w)
			return
		}
		v.writeHeading(e.Turn.Key)
		fmt.Fprintln(v.w, e.Turn.Text)
	}
}

// chunk shows a part of a reply. It skips replies that begin with a JSON object; the display shows the text of their
// turns instead.
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
