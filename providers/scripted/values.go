package scripted

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/elenchus-go/debate/providers"
)

// Values are chosen values of structured replies. Everything that is not chosen is filled in as the schema of the request
// says, so that any judge can be scripted:
//
//	judge := &scripted.Provider{Func: scripted.Values{
//		"evidence": 9, // the score of each participant for this criterion
//		"winner":   "Debater A",
//	}.Reply}
//
// A key is one of these, and a later kind overrides an earlier one:
//
//   - The empty key holds the text of replies to requests without a schema, and of all texts that are not chosen.
//   - A name chooses the value of each property of this name. A name that the schema lacks has no effect, so one script
//     serves several kinds of replies.
//   - A path, which begins with a slash, chooses one value, such as "/arguments/0/claim". Its segment "*" stands for each item
//     and each property. A path that the schema lacks is an error, so use names for a judge who gives several kinds of replies.
//
// In the schemas of a debate, what has an entry for each participant or criterion is an object with a property for each. A
// segment of a path may be its name as the prompt has it, such as "Debater A". Participants have pseudonyms there; see
// [Statements].
//
// A value is anything that encoding/json encodes. It must follow its part of the schema.
//
// What is not chosen is always the same for the same schema: null, or nothing, where the schema allows that; the first value
// of an enum; as few items as possible; false; the middle of the range of a number, or 5 without one, which every scale of the
// library's judges has. A decision needs a reason: choose "/reasons/0/text".
type Values map[string]any

// defaultText stands for texts that are not chosen.
const defaultText = "Text."

// Reply returns a reply to a request: the JSON of [Values.Fill] for its schema. If that fails, the reply is an error of kind
// [providers.InvalidRequest], which no debate retries. The reply to a request without a schema is the text of the empty key.
//
// The schemas that debates send have no bounds of numbers, no patterns and no formats. Choose the values that your contract
// limits.
func (v Values) Reply(r providers.Request) Reply {
	if r.Schema == nil {
		text, _ := v[""].(string)
		return Reply{Text: cmp.Or(text, defaultText)}
	}
	data, err := v.Fill(r.Schema)
	if err != nil {
		return Reply{Err: &providers.Error{Kind: providers.InvalidRequest, Err: fmt.Errorf("scripted: reply %s: %w", r.SchemaName, err)}}
	}
	return Reply{Text: string(data)}
}

// Fill returns JSON that follows a schema, such as that of a request or of a [providers.Tool]. It supports the keywords type,
// properties, required, additionalProperties, items, enum, anyOf, and the bounds of numbers, texts and lists. It returns an
// error for a schema with other keywords, for a path that the schema lacks, and for a chosen value that does not follow the
// schema.
func (v Values) Fill(schema json.RawMessage) (json.RawMessage, error) {
	root, err := parseSchema(schema)
	if err != nil {
		return nil, err
	}
	chosen, err := newChoices(v)
	if err != nil {
		return nil, err
	}
	f := &filler{choices: chosen, used: map[string]bool{}}
	f.words, _ = chosen.values[""].(string)
	if f.words == "" {
		f.words = defaultText
	}
	value, err := f.whole(root)
	if err != nil {
		return nil, fmt.Errorf("fill in the schema: %w", err)
	}
	return json.Marshal(value)
}
