package findings

import (
	"encoding/base64"
	"fmt"
	"slices"

	"github.com/elenchus-go/debate/context/window"
	"github.com/elenchus-go/debate/judge/detect"
	"github.com/elenchus-go/debate/judge/reply"
	"github.com/elenchus-go/debate/protocol"
	"github.com/elenchus-go/debate/providers"
	"github.com/elenchus-go/debate/transcript"
)

// WithVectors returns a protocol that adds a phase after the speeches of each round. In that phase an embedder computes
// their vectors.
func WithVectors(p protocol.Protocol) protocol.Protocol { return withVectors{p} }

type withVectors struct{ protocol.Protocol }

// batch is the number of texts in one request. The longest vectors of that many texts fit into one reply.
const batch = 8

// Phases returns the phases of the protocol and the additional one.
func (p withVectors) Phases(r *protocol.Record) []protocol.Phase {
	phases := p.Protocol.Phases(r)
	if r.Cursor.Stage != transcript.Speech {
		return phases
	}
	parts := max(1, (len(speeches(r, r.Cursor.Round))+batch-1)/batch)
	last := protocol.Phase{Name: "embed", Parallel: parts > 1}
	for i := range parts {
		step := protocol.Step{
			Key:      transcript.Key{Actor: protocol.Embedder},
			Kind:     transcript.Embeddings,
			Contract: VectorContract.Name(),
		}
		if i > 0 {
			step.Target = fmt.Sprintf("part %d", i+1)
		}
		last.Steps = append(last.Steps, step)
	}
	return append(slices.Clip(phases), last)
}

// VectorContract is the contract of an embedder's reply.
var VectorContract = reply.New[vectors]("vectors/1")

// vectors is the reply of an embedder. It holds one vector for each text. Each vector has length 1; its components
// are multiplied by 127, rounded to a signed byte and encoded in base64.
type vectors struct {
	Vectors []string `json:"vectors" jsonschema:"maxItems=256" jsonschema_description:"one vector for each text"`
}

// Text returns the number of vectors in words.
func (v *vectors) Text() string { return fmt.Sprintf("%d vectors", len(v.Vectors)) }

// Default sets no vectors, so that the rules find nothing.
func (v *vectors) Default([]string) { v.Vectors = []string{} }

// Part returns the speeches of a round that the step with the given order embeds.
func Part(r *protocol.Record, round, order int) []transcript.Turn {
	said := speeches(r, round)
	return said[min(order*batch, len(said)):min((order+1)*batch, len(said))]
}

// SpeechesToEmbed returns the messages of the request of a step: its share of the speeches of the round, in order, each cut to limit
// tokens.
func SpeechesToEmbed(r *protocol.Record, limit int, s *protocol.Step) (list []providers.Message) {
	for _, t := range Part(r, s.Round, s.Order) {
		list = append(list, providers.Message{Role: providers.User, Text: window.Clip(t.Text, limit)})
	}
	return list
}

// Vectors returns the vectors that exist for the speeches of a round.
func Vectors(r *protocol.Record, round int) (list []detect.Vector) {
	for _, t := range r.TurnsOf(round) {
		if t.Kind != transcript.Embeddings {
			continue
		}
		part := Part(r, round, t.Order)
		made, err := transcript.Decode[vectors](t)
		if err != nil || len(made.Vectors) != len(part) { // no vectors, or not one for each text
			continue
		}
		for i, of := range part {
			list = append(list, detect.Vector{Of: of.Key, Values: components(made.Vectors[i])})
		}
	}
	return list
}

func speeches(r *protocol.Record, round int) (list []transcript.Turn) {
	for _, t := range r.TurnsOf(round) {
		if t.Kind == transcript.Speech {
			list = append(list, t)
		}
	}
	return list
}

// components returns the values of an encoded vector, or nil if it is not valid.
func components(s string) (values []float32) {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return nil
	}
	for _, x := range b {
		values = append(values, float32(int8(x))/127) //nolint:gosec // the byte holds a signed value
	}
	return values
}
