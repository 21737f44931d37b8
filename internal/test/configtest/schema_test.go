package configtest

import (
	"encoding/json"
	"maps"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/invopop/jsonschema"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate"
)

// bounds are the least and the greatest value of numbers; "" is no bound. The library refuses values beyond.
var bounds = map[string][2]json.Number{
	"participant.temperature": {"0", "2"}, "participant.top_p": {"0", "1"}, "participant.max_tokens": {"0", ""}, "participant.window": {"0", ""},
	"limits.min_rounds": {"0", "10000"}, "limits.max_rounds": {"0", "10000"}, "limits.output_tokens": {"0", ""},
	"limits.tokens": {"0", ""}, "limits.cost": {"0", ""}, "limits.step_tokens": {"0", ""}, "limits.judge_tokens": {"0", ""},
	"limits.step_attempts": {"0", ""}, "configuration.retries": {"0", ""},
	"criterion.weight": {"0", "1000000"}, "rule.threshold": {"0", "100"},
	"price.input": {"0", ""}, "price.cached": {"0", ""}, "price.output": {"0", ""},
	"skeptic.templates": {"", "8"}, "skeptic.ready_score": {"0", "10"},
	"arbitration.scores": {"0", ""}, "arbitration.scale": {"0", ""}, "arbitration.max_adjustment": {"0", ""},
	"summary_policy.threshold": {"0", ""}, "summary_policy.target_length": {"0", ""},
	"vote.agreement": {"0", "1"},
}

// examples are values of fields that take others too.
var examples = map[string][]any{
	"participant.reasoning": {"none", "low", "medium", "high", "2048"},
	"vote.extract":          {"text", "number", "letter", "boxed"},
}

// duration is what time.ParseDuration reads, without a minus sign.
var duration = &jsonschema.Schema{
	Type: "string", Pattern: `^\+?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$`,
	Description: "Numbers with units.", Examples: []any{"500ms", "90s", "1h30m"},
}

// newSchema returns the JSON Schema of a configuration.
func (b *book) newSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	r := &jsonschema.Reflector{
		Anonymous: true, ExpandedStruct: true, RequiredFromJSONSchemaTags: true, KeyNamer: snake,
		Namer: func(typ reflect.Type) string {
			if o := b.object(typ); o != nil && o.typ == typ {
				return o.name
			}
			return strings.ToLower(typ.Name())
		},
		Mapper: func(typ reflect.Type) *jsonschema.Schema {
			if typ == reflect.TypeFor[time.Duration]() {
				return &jsonschema.Schema{Ref: "#/$defs/duration"}
			}
			return nil
		},
		LookupComment: func(typ reflect.Type, name string) string { return b.description(t, typ, name) },
	}
	s := r.Reflect(debate.Config{})
	s.Title = "Configuration of a debate"
	s.Definitions["duration"] = duration
	f := b.protocolField()
	protocols := &jsonschema.Schema{Description: b.text(t, b.objects[0], f, true).line(f.comment.text)}
	for _, o := range b.objects {
		if o.protocol != nil {
			b.addProtocol(s, r.Reflect(o.protocol), o)
			protocols.OneOf = append(protocols.OneOf, &jsonschema.Schema{Ref: "#/$defs/" + o.name})
		}
	}
	for _, o := range b.objects {
		b.refine(t, s, o)
	}
	insertAfter(s, "background", "protocol", protocols)
	restrictActors(s)
	return s
}

// protocolField returns the field Protocol of a configuration, which package debate encodes itself.
func (b *book) protocolField() *field {
	f, _ := b.objects[0].typ.FieldByName("Protocol")
	comment := b.library[b.objects[0].typ.PkgPath()].comment("Config", "Protocol")
	return &field{StructField: f, name: "protocol", comment: comment}
}

// description returns the comment of a type or of its field, as plain text.
func (b *book) description(t *testing.T, typ reflect.Type, name string) string {
	o := b.object(typ)
	if o == nil || typ.PkgPath() == "" {
		return ""
	}
	if name == "" {
		return b.text(t, o, nil, true).line(b.of(t, typ.PkgPath()).typeComment(typ.Name()))
	}
	for _, f := range o.fields {
		if f.StructField.Name == name {
			return b.text(t, o, f, true).sentence(f.comment.text)
		}
	}
	return ""
}

// addProtocol adds the definition of a protocol's parameters, with its name as the first of them.
func (b *book) addProtocol(s, params *jsonschema.Schema, o *object) {
	maps.Copy(s.Definitions, params.Definitions)
	params.Version, params.Definitions = "", nil
	params.Properties.Set("name", &jsonschema.Schema{Const: o.protocol.Name(), Description: nameMeaning})
	_ = params.Properties.MoveToFront("name") // it has just been set
	params.Required = []string{"name"}
	s.Definitions[o.name] = params
}

const nameMeaning = "The name of the protocol, with the version of its rules."

// refine adds what reflection cannot know: which fields are required, which values they take, and what they default to.
func (b *book) refine(t *testing.T, root *jsonschema.Schema, o *object) {
	t.Helper()
	s := root
	if o.name != "configuration" {
		s = root.Definitions[o.name]
	}
	require.NotNil(t, s, "nothing in a configuration is a %s", o.name)
	for _, f := range o.fields {
		p, ok := s.Properties.Get(f.name)
		require.True(t, ok, "%s has no property %s", o.name, f.name)
		if f.required {
			s.Required = append(s.Required, f.name)
		}
		p.Examples = examples[o.name+"."+f.name]
		if value := b.defaultValue(t, o, f); value != nil {
			p.Default = value
		}
		number := p
		if p.AdditionalProperties != nil {
			number = p.AdditionalProperties
		}
		limit := bounds[o.name+"."+f.name]
		number.Minimum, number.Maximum = limit[0], limit[1]
		if len(f.values) > 0 {
			b.restrict(t, p, o, f)
		}
	}
}

// restrict lets a property, or the keys of a map, have the field's values only.
func (b *book) restrict(t *testing.T, p *jsonschema.Schema, o *object, f *field) {
	t.Helper()
	var list []*jsonschema.Schema
	for _, c := range f.values {
		meaning := b.valueText(t, o, f, c, true).sentence(c.comment)
		list = append(list, &jsonschema.Schema{Const: c.value, Description: meaning})
	}
	if p.Type == "object" {
		p.PropertyNames = &jsonschema.Schema{OneOf: list}
		return
	}
	p.OneOf = list
}

func insertAfter(s *jsonschema.Schema, after, name string, p *jsonschema.Schema) {
	s.Properties.Set(name, p)
	_ = s.Properties.MoveAfter(name, after) // both are there
}

// restrictActors requires names of participants and judges, and allows judges nothing that the library refuses.
func restrictActors(s *jsonschema.Schema) {
	participants, _ := s.Properties.Get("participants")
	participants.Items.Required = []string{"name"}
	judges, _ := s.Properties.Get("judges")
	judges.Items.Required = []string{"name"}
	none := uint64(0)
	judges.Items.Properties = jsonschema.NewProperties()
	judges.Items.Properties.Set("side", &jsonschema.Schema{MaxLength: &none})
	judges.Items.Properties.Set("position", &jsonschema.Schema{MaxLength: &none})
	judges.Items.Properties.Set("disabled", &jsonschema.Schema{Enum: []any{false}})
}

// defaultValue returns the value that the library puts in the place of a field, or that the field's comment states. It
// returns nil if the default is not one value for all debates.
func (b *book) defaultValue(t *testing.T, o *object, f *field) any {
	stated := b.stated(t, o, f)
	if stated != "" && !simpleDefault.MatchString(stated) {
		return nil
	}
	number, err := strconv.ParseFloat(strings.ReplaceAll(stated, ",", ""), 64)
	if v := b.completed(o, f); v != nil {
		if _, ok := v.(float64); ok && err == nil {
			require.InDelta(t, v, number, 0, "%s.%s: the comment states another default than the library has", o.name, f.name)
		}
		return v
	}
	if err == nil {
		return number
	}
	for _, c := range f.values {
		if strings.Trim(stated, "`\"") == c.value {
			return c.value
		}
	}
	return nil
}

// completed returns the value that the library puts in the place of a field; nil if it puts none, or an object or list.
func (b *book) completed(o *object, f *field) any {
	in := b.filled
	switch o.typ {
	case reflect.TypeFor[debate.Config]():
	case reflect.TypeFor[debate.Limits]():
		in, _ = in["limits"].(map[string]any)
	case reflect.TypeFor[debate.Participant]():
		list, _ := in["participants"].([]any)
		in, _ = list[0].(map[string]any)
	default:
		return nil
	}
	switch v := in[f.name].(type) {
	case string:
		if f.duration() {
			return shorten(v)
		}
		if f.name == "name" || f.name == "topic" || f.name == "id" {
			return nil
		}
		return v
	case float64, bool:
		return v
	}
	return nil
}

// shorten leaves the zeros at the end of a duration out.
func shorten(duration string) string {
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(duration, zero) {
			duration = duration[:len(duration)-len("0s")]
		}
	}
	return duration
}
