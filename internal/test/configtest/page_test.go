package configtest

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/invopop/jsonschema"
	"github.com/stretchr/testify/require"

	"github.com/elenchus-go/debate/protocol"
)

const introduction = `# Configuration

This page is for people who write the configuration of a debate as JSON, and for authors of programs that do.
It lists each field with its type, its default and its meaning.

'Engine.ParseConfig' reads the JSON into a 'debate.Config', and 'json.Marshal' writes it. 'json.Unmarshal' reads it too if
the library has the protocol. The JSON Schema [configuration.schema.json](configuration.schema.json) describes the
same fields for editors and other programs.
'make generate' writes this page and the schema from the Go types and their comments.

## Example

This configuration has every field, apart from the parameters of other protocols. The models and prices are
placeholders.

'''json
%s'''

Most fields have defaults. This is the shortest configuration of a panel:

'''json
%s'''

These rules hold for all fields:

- An unknown field is an error, so that you notice a misspelt name.
- A field that you leave out has its default. If it has no default, it is empty, zero or false.
- A duration is a string of numbers with units, such as '"500ms"', '"90s"' or '"1h30m"'.
- 'provider' is a name that the program gives a provider in 'Options.Providers'. A configuration contains no keys.

'Engine.Create' checks rules that the schema cannot express, such as unique names, and returns all problems at once. In
turn, the schema refuses some JSON that the library accepts: 'null', an empty string in the place of one of several
values, field names in another letter case, the name of a protocol without its version, which means the newest one,
and errors in a participant that is disabled.
`

const protocolsIntroduction = `
## Protocols

The field 'protocol' is an object with the name of a protocol and its parameters. [Protocols](../protocols.md) compares
the protocols. A program can add protocols of its own. The schema does not know those.
`

// page returns docs/reference/configuration.md.
func (b *book) page(t *testing.T) string {
	t.Helper()
	var p strings.Builder
	fmt.Fprintf(&p, code(introduction), read(t, "testdata/example.json"), read(t, "testdata/smallest.json"))
	level, protocols := "##", false
	for _, o := range b.objects {
		switch {
		case o.protocol != nil && !protocols:
			p.WriteString(code(protocolsIntroduction))
			protocols = true
			fallthrough
		case o.protocol != nil:
			level = "###"
		case protocols:
			level = "####"
		}
		fmt.Fprintf(&p, "\n%s %s\n", level, o.heading())
		b.writeObject(t, &p, o)
	}
	return p.String()
}

// code puts backquotes, which a raw string cannot contain, in the place of single quotes.
func code(s string) string { return strings.ReplaceAll(s, "'", "`") }

func (o *object) heading() string {
	if o.protocol != nil {
		return "`" + o.title + "`"
	}
	return o.title
}

// anchor returns the link to the object's section.
func (o *object) anchor() string {
	keep := func(r rune) rune {
		if strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789_- ", r) {
			return r
		}
		return -1
	}
	return "#" + strings.ReplaceAll(strings.Map(keep, strings.ToLower(o.title)), " ", "-")
}

var methodVerb = regexp.MustCompile("^`?Defaults`? (?:returns|are)")

// writeObject writes a section: what the object is, its fields, and what their values mean.
func (b *book) writeObject(t *testing.T, p *strings.Builder, o *object) {
	t.Helper()
	src := b.of(t, o.typ.PkgPath())
	if o.protocol != nil {
		fmt.Fprintf(p, "\n```json\n%s```\n", b.snippet(t, o))
	}
	if o.all != nil {
		fmt.Fprintf(p, "\n%s\n", b.text(t, o, nil, false).block(src.typeComment(o.all.Name())))
	}
	fmt.Fprintf(p, "\n%s\n", b.text(t, o, nil, false).block(src.typeComment(o.typ.Name())))
	if defaults := protocolDefaults(o.protocol); defaults != "" {
		comment := b.text(t, o, nil, false).line(src.methodComment(o.typ.Name(), "Defaults"))
		comment = methodVerb.ReplaceAllString(comment, "By default, the protocol has")
		fmt.Fprintf(p, "\n%s In JSON, for the default parameters: %s.\n", comment, defaults)
	}
	p.WriteString("\n| name | type | default | meaning |\n|---|---|---|---|\n")
	s := b.definition(o)
	if o.protocol != nil {
		writeRow(p, "`name`", "`\""+o.protocol.Name()+"\"`", "required", nameMeaning)
	}
	for i, f := range o.fields {
		if o.name == "configuration" && f.name == "participants" { // where the Go type has the protocol
			f := b.protocolField()
			meaning, value := splitDefault(b.text(t, o, f, false).line(f.comment.text))
			writeRow(p, "`protocol`", "[object](#protocols)", value, meaning)
		}
		property, _ := s.Properties.Get(f.name)
		if i > 0 && len(f.comment.shared) > 1 && slices.Contains(o.fields[i-1].comment.shared, f.StructField.Name) {
			above, _ := s.Properties.Get(o.fields[i-1].name)
			require.Equal(t, b.typeText(o, o.fields[i-1], above), b.typeText(o, f, property), "%s.%s has no type of its own: give it its own comment", o.name, f.name)
			continue // its row is that of the field above
		}
		meaning, value := splitDefault(b.text(t, o, f, false).line(f.comment.text))
		if v := b.defaultValue(t, o, f); v != nil {
			value = fmt.Sprintf("`%v`", v)
		}
		if f.required {
			value = "required"
		}
		if o.name+"."+f.name == "participant.name" {
			value = "required of participants and judges"
		}
		writeRow(p, b.rowName(o, f), b.typeText(o, f, property), value, sentence(meaning))
	}
	b.writeValues(t, p, o)
}

// definition returns the schema of an object.
func (b *book) definition(o *object) *jsonschema.Schema {
	if o.name == "configuration" {
		return b.schema
	}
	return b.schema.Definitions[o.name]
}

// rowName returns the names of all fields that share a comment.
func (b *book) rowName(o *object, f *field) string {
	names := []string{}
	for _, other := range o.fields {
		if other == f || len(f.comment.shared) > 1 && slices.Contains(f.comment.shared, other.StructField.Name) {
			names = append(names, "`"+other.name+"`")
		}
	}
	return strings.Join(names, "<br>")
}

func writeRow(p *strings.Builder, cells ...string) {
	for _, c := range cells {
		p.WriteString(strings.TrimRight("| "+strings.ReplaceAll(c, "|", `\|`), " ") + " ")
	}
	p.WriteString("|\n")
}

// typeText describes the type of a field in words.
func (b *book) typeText(o *object, f *field, s *jsonschema.Schema) string {
	if f.valueType().Kind() == reflect.String && len(f.values) > 0 && f.Type.Kind() != reflect.Map {
		list := []string{}
		for _, c := range f.values {
			list = append(list, "`"+c.value+"`")
		}
		return "one of " + strings.Join(list, ", ")
	}
	one, many := "object", "objects"
	if inner := b.object(f.Type); inner != nil {
		one, many = "["+one+"]("+inner.anchor()+")", "["+many+"]("+inner.anchor()+")"
	}
	return typeWords(f.Type, s, one, many)
}

// typeWords describes a type, where one and many are what to call structs.
func typeWords(typ reflect.Type, s *jsonschema.Schema, one, many string) string {
	plural := func(elem reflect.Type, s *jsonschema.Schema) string {
		if elem.Kind() == reflect.Struct {
			return many
		}
		singular := typeWords(elem, s, one, many)
		word, bounds, _ := strings.Cut(singular, " ")
		return strings.TrimSpace(word + "s " + bounds)
	}
	switch typ.Kind() {
	case reflect.Pointer:
		return typeWords(typ.Elem(), s, one, many)
	case reflect.Struct:
		return one
	case reflect.Slice:
		return "list of " + plural(typ.Elem(), s.Items)
	case reflect.Map:
		return "object of " + plural(typ.Elem(), s.AdditionalProperties)
	case reflect.Bool:
		return "boolean"
	case reflect.String:
		return "string"
	case reflect.Float32, reflect.Float64:
		return "number" + boundWords(s)
	}
	if typ == reflect.TypeFor[time.Duration]() {
		return "duration"
	}
	return "integer" + boundWords(s)
}

func boundWords(s *jsonschema.Schema) string {
	switch {
	case s == nil || s.Minimum == "" && s.Maximum == "" || s.Minimum == "0" && s.Maximum == "":
		return ""
	case s.Maximum == "":
		return " from " + s.Minimum.String()
	case s.Minimum == "":
		return " up to " + s.Maximum.String()
	}
	return " from " + s.Minimum.String() + " to " + s.Maximum.String()
}

// writeValues writes a table for each set of values, with the fields that take them.
func (b *book) writeValues(t *testing.T, p *strings.Builder, o *object) {
	t.Helper()
	done := map[string]bool{}
	for _, f := range o.fields {
		if key := f.valueKey(); len(f.values) > 0 && !done[key] {
			done[key] = true
			alike := slices.DeleteFunc(slices.Clone(o.fields), func(x *field) bool { return x.valueKey() != key })
			b.writeValueTable(t, p, o, alike)
		}
	}
}

// valueKey is the same for fields that take values of one type.
func (f *field) valueKey() string {
	if f.typeName() == "string" {
		return f.name
	}
	return f.typeName()
}

func (b *book) writeValueTable(t *testing.T, p *strings.Builder, o *object, fields []*field) {
	t.Helper()
	names, list := []string{}, []constant{}
	for _, f := range fields {
		names = append(names, "`"+f.name+"`")
		for _, c := range f.values {
			if !slices.Contains(list, c) {
				list = append(list, c)
			}
		}
	}
	if !slices.ContainsFunc(list, func(c constant) bool { return c.comment != "" }) {
		return // their names say it
	}
	what := "Values"
	if fields[0].Type.Kind() == reflect.Map {
		what = "Keys"
	}
	fmt.Fprintf(p, "\n%s of %s:", what, strings.Join(names, ", "))
	all := &field{StructField: fields[0].StructField, values: list}
	if path := fields[0].valueType().PkgPath(); path != "" {
		if len(fields) == 1 {
			all.name = fields[0].name
		}
		x := b.valueText(t, o, all, list[0], false)
		p.WriteString(" " + x.line(b.of(t, path).typeComment(fields[0].typeName())))
	}
	p.WriteString("\n\n| value | meaning |\n|---|---|\n")
	for _, c := range list {
		writeRow(p, "`"+c.value+"`", b.valueText(t, o, all, c, false).sentence(c.comment))
	}
}

// stated returns the default that the comment of a field states; empty if it states none.
func (b *book) stated(t *testing.T, o *object, f *field) string {
	t.Helper()
	_, value := splitDefault(b.text(t, o, f, false).line(f.comment.text))
	return value
}

// snippet returns the line with the protocol that the comment of the protocol's package begins with.
func (b *book) snippet(t *testing.T, o *object) string {
	t.Helper()
	src := b.of(t, o.typ.PkgPath())
	for line := range strings.Lines(src.pkg.Doc) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, `"protocol": {`) {
			return line + "\n"
		}
	}
	require.Fail(t, `the package's comment has no line "protocol": {...}`, "%s", src.pkg.ImportPath)
	return ""
}

// protocolDefaults lists what a protocol puts in the place of the library's defaults.
func protocolDefaults(p protocol.Protocol) string {
	own, ok := p.(protocol.Defaulter)
	if !ok {
		return ""
	}
	d := own.Defaults()
	var list []string
	add := func(name string, value any) {
		if !reflect.ValueOf(value).IsZero() {
			list = append(list, fmt.Sprintf("`%s` %v", name, value))
		}
	}
	add("limits.min_rounds", d.MinRounds)
	add("limits.max_rounds", d.MaxRounds)
	add("limits.output_tokens", d.OutputTokens)
	add("limits.step_tokens", d.StepTokens)
	add("limits.judge_tokens", d.JudgeTokens)
	if d.Time > 0 {
		list = append(list, fmt.Sprintf("`limits.running_time` `%s`", shorten(d.Time.String())))
	}
	for i, x := range d.Temperatures {
		list = append(list, fmt.Sprintf("`participants[%d].temperature` %v", i, x))
	}
	if d.JudgeTemperature != nil {
		list = append(list, fmt.Sprintf("`judges[].temperature` %v", *d.JudgeTemperature))
	}
	return strings.Join(list, ", ")
}
