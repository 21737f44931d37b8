package debate

import (
	"encoding/base64"
	"fmt"
	"slices"

	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/transcript"
)

// of are the turns of a round.
func of(r *protocol.Record, round int) []transcript.Turn {
	turns := r.Since(round)
	if end := slices.IndexFunc(turns, func(t transcript.Turn) bool { return t.Round > round }); end >= 0 {
		turns = turns[:end]
	}
	return turns
}

// embedding is a protocol with a further phase after the speeches of each round: vectors are made of them.
type embedding struct{ protocol.Protocol }

const embed = "embed"

// Phases are the protocol's own and the further one.
func (p embedding) Phases(r *protocol.Record) []protocol.Phase {
	phases := p.Protocol.Phases(r)
	if r.Cursor.Stage != transcript.Speech {
		return phases
	}
	parts := max(1, (len(speeches(of(r, r.Cursor.Round)))+batch-1)/batch)
	last := protocol.Phase{Name: embed, Parallel: parts > 1}
	for i := range parts {
		step := protocol.Step{Key: transcript.Key{Actor: protocol.Embedding}, Output: vectorsContract.Name()}
		if i > 0 {
			step.Target = fmt.Sprintf("part %d", i+1)
		}
		last.Steps = append(last.Steps, step)
	}
	return append(slices.Clip(phases), last)
}

// batch is how many texts an embedder is given at once: the longest vectors of so many have room in one reply.
const batch = 8

// vectors are the reply of an embedder: for each text its vector of length 1, each component times 127 and rounded to a
// signed byte, in base64.
type vectors struct {
	Vectors []string `json:"vectors" jsonschema:"maxItems=256" jsonschema_description:"one vector for each text"`
}

var vectorsContract = reply.New[vectors]("vectors/1")

// Text says how many there are.
func (v *vectors) Text() string { return fmt.Sprintf("%d vectors", len(v.Vectors)) }

// Fallback has none, so that nothing is found.
func (v *vectors) Fallback([]string) { v.Vectors = []string{} }

func speeches(turns []transcript.Turn) (list []transcript.Turn) {
	for _, t := range turns {
		if t.Kind == transcript.Speech {
			list = append(list, t)
		}
	}
	return list
}

// components are the values of a vector; nil where it is none.
func components(s string) (values []float32) {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return nil
	}
	for _, x := range b {
		values = append(values, float32(int8(x))/127) //nolint:gosec // the byte is a signed one
	}
	return values
}
