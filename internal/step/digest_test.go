package step

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/providers"
)

// fill returns a request with a value in each field.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("a")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(3)
	case reflect.Uint8:
		v.SetUint(7)
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case reflect.Struct:
		for _, f := range v.Fields() {
			fill(f)
		}
	default:
	}
}

// vary calls try after each single change of a value, and takes the change back.
func vary(v reflect.Value, path string, try func(path string)) {
	old := reflect.New(v.Type()).Elem()
	old.Set(v)
	change := func(what string, to reflect.Value) {
		v.Set(to)
		try(path + what)
		v.Set(old)
	}
	switch v.Kind() {
	case reflect.String:
		change(" changed", reflect.ValueOf("b").Convert(v.Type()))
	case reflect.Bool:
		change(" changed", reflect.ValueOf(!v.Bool()))
	case reflect.Int, reflect.Int64, reflect.Uint8, reflect.Float64:
		change(" changed", reflect.ValueOf(1).Convert(v.Type()))
	case reflect.Pointer:
		vary(v.Elem(), path, try)
		change(" removed", reflect.Zero(v.Type()))
	case reflect.Slice:
		vary(v.Index(1), path+"[1]", try)
		change(" shortened", v.Slice(0, 1))
	case reflect.Struct:
		for i := range v.NumField() {
			vary(v.Field(i), path+"."+v.Type().Field(i).Name, try)
		}
	default:
	}
}

// If this test fails because a request has a new field, append it in digest.go.
func TestTheDigestCoversEachFieldOfARequest(t *testing.T) {
	var r providers.Request
	fill(reflect.ValueOf(&r).Elem())
	r.OnChunk = nil
	whole, n := (&known{}).digest(&r), 0
	seen := map[Digest]string{whole: "unchanged"}
	vary(reflect.ValueOf(&r).Elem(), "", func(path string) {
		n++
		sum := (&known{}).digest(&r)
		require.Empty(t, seen[sum], path)
		seen[sum] = path
	})
	require.Greater(t, n, 40)
	require.Equal(t, whole, (&known{}).digest(&r))
}

func TestKnownDigestsChangeNothing(t *testing.T) {
	var r providers.Request
	fill(reflect.ValueOf(&r).Elem())
	r.Messages = nil
	for _, text := range []string{"system", "first", "second", "second", "task"} {
		r.Messages = append(r.Messages, providers.Message{Role: providers.User, Text: text})
	}
	picture := []providers.Message{{
		Role:  providers.User,
		Parts: []providers.Part{{Attachment: &providers.Attachment{Name: "p", Data: []byte{1}}}},
	}}
	k := known{
		messages:             r.Messages,
		attachments:          picture,
		schema:               r.Schema,
		digestOfSchema:       DigestOfSchema(r.Schema),
		digestsOfAttachments: []Digest{DigestOf(&picture[0])},
	}
	for i := range r.Messages {
		k.digests = append(k.digests, DigestOf(&r.Messages[i]))
	}
	m := r.Messages
	for _, list := range [][]providers.Message{
		m, {m[0], m[3], m[4]}, {
			m[0],
			picture[0],
			m[1],
			m[4],
		}, {m[0], {Role: providers.Assistant, Text: "first"}, m[1], m[2], m[4], {Role: providers.User, Text: "again"}}, {m[4], m[0]}, nil,
	} {
		r.Messages = list
		require.Equal(t, (&known{}).digest(&r), k.digest(&r))
	}
	r.Schema = json.RawMessage(`{}`)
	require.Equal(t, (&known{}).digest(&r), k.digest(&r))
}
