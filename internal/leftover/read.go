package leftover

import (
	"encoding/json"
	"regexp"
	"strings"
)

// recipient matches the recipient in a header of Harmony.
var recipient = regexp.MustCompile(`to=([\w.-]+)`)

func recipientOf(header string) string {
	m := recipient.FindStringSubmatch(header)
	if m == nil {
		return ""
	}
	return strings.TrimPrefix(m[1], "functions.")
}

// readCalls returns the calls in a block. name is that of the tool, if a header has it.
func readCalls(text, name string) (found []Call) {
	if m := recipient.FindStringSubmatch(text); name == "" && m != nil && strings.HasPrefix(text, commentaryWord) {
		name = strings.TrimPrefix(m[1], "functions.")
	}
	if name != "" {
		arguments := json.RawMessage("{}")
		if i := strings.IndexByte(text, '{'); i >= 0 {
			arguments = firstValue(text[i:])
		}
		return []Call{{name, arguments}}
	}
	for _, read := range []func(string) []Call{taggedCalls, jsonCalls} {
		found = read(text)
		if found != nil {
			return found
		}
	}
	return namedCalls(text)
}

// firstValue returns the JSON value with which a text begins, or the text as a JSON string if it begins with none.
func firstValue(text string) json.RawMessage {
	var value json.RawMessage
	if json.NewDecoder(strings.NewReader(text)).Decode(&value) != nil {
		value, _ = json.Marshal(text)
	}
	return value
}

// jsonCalls reads calls such as {"name": "search", "arguments": {"query": "edge"}}, alone, in a row or in a list.
func jsonCalls(text string) (found []Call) {
	for text = strings.TrimLeft(text, space+"`"); text != ""; {
		text = strings.TrimPrefix(text, "json")
		at := strings.IndexAny(text, "{[")
		if at < 0 || strings.Trim(text[:at], space+"`,") != "" {
			return found
		}
		d := json.NewDecoder(strings.NewReader(text[at:]))
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return found
		}
		found = append(found, callsIn(value)...)
		text = text[at+int(d.InputOffset()):]
	}
	return found
}

// callsIn returns the calls in a JSON value.
func callsIn(value json.RawMessage) (found []Call) {
	var list []json.RawMessage
	if json.Unmarshal(value, &list) == nil {
		for _, v := range list {
			found = append(found, callsIn(v)...)
		}
		return found
	}
	var c struct {
		Name, Tool, Function, Arguments, Parameters, Args, Input json.RawMessage
		ToolName                                                 json.RawMessage `json:"tool_name"`
	}
	if json.Unmarshal(value, &c) != nil {
		return nil
	}
	if inner := callsIn(c.Function); inner != nil {
		return inner
	}
	name := firstText(c.Name, c.Tool, c.ToolName, c.Function)
	if name == "" {
		return nil
	}
	for _, given := range []json.RawMessage{c.Arguments, c.Parameters, c.Args, c.Input} {
		if given != nil {
			var text string
			if json.Unmarshal(given, &text) == nil && json.Valid([]byte(text)) {
				given = json.RawMessage(text)
			}
			return []Call{{name, given}}
		}
	}
	return []Call{{name, json.RawMessage("{}")}}
}

// firstText returns the first of the values that is a text.
func firstText(values ...json.RawMessage) (text string) {
	for _, v := range values {
		if json.Unmarshal(v, &text) == nil && text != "" {
			return text
		}
	}
	return ""
}

// Tags of calls: <function=name><parameter=key>value</parameter></function>, <invoke name="name"><parameter name="key">value
// </parameter></invoke>, and name<arg_key>key</arg_key><arg_value>value</arg_value>.
var (
	functionTag  = regexp.MustCompile(`<(?:｜DSML｜)?(?:function=|invoke name=)"?([\w.:-]+)"?>`)
	parameterTag = regexp.MustCompile(`(?s)<(?:｜DSML｜)?parameter(?:=| name=)"?([\w.-]+)"?(?: \w+="\w*")*>(.*?)</(?:｜DSML｜)?parameter>`)
	argumentTag  = regexp.MustCompile(`(?s)<arg_key>\s*(.*?)\s*</arg_key>\s*<arg_value>(.*?)</arg_value>`)
	nameFirst    = regexp.MustCompile(`^\s*([A-Za-z_][\w.-]*)\s*(?:<arg_key>|$)`)
)

// taggedCalls reads calls whose arguments are in tags.
func taggedCalls(text string) (found []Call) {
	if m := nameFirst.FindStringSubmatch(text); m != nil {
		return []Call{{m[1], tagged(argumentTag, text)}}
	}
	starts := functionTag.FindAllStringSubmatchIndex(text, -1)
	for i, at := range starts {
		to := len(text)
		if i+1 < len(starts) {
			to = starts[i+1][0]
		}
		body := text[at[1]:to]
		arguments := tagged(parameterTag, body)
		if begin := strings.TrimLeft(body, space); begin != "" && begin[0] == '{' { // Llama 3
			arguments = firstValue(begin)
		}
		found = append(found, Call{text[at[2]:at[3]], arguments})
	}
	return found
}

// tagged returns the arguments in tags that a pattern matches. A value that is no JSON is a text.
func tagged(tag *regexp.Regexp, text string) json.RawMessage {
	arguments := map[string]json.RawMessage{}
	for _, m := range tag.FindAllStringSubmatch(text, -1) {
		value := strings.Trim(m[2], "\r\n")
		if !json.Valid([]byte(value)) {
			raw, _ := json.Marshal(value) // a text always encodes
			value = string(raw)
		}
		arguments[m[1]] = json.RawMessage(value)
	}
	raw, _ := json.Marshal(arguments)
	return raw
}

// namedCall matches the name of a tool before its arguments: name{…}, name[ARGS]{…}, call:name{…}, functions.name:0<mark>{…} and
// function<mark>name followed by JSON.
var namedCall = regexp.MustCompile(`(?:call:|functions?\.)?([A-Za-z_][\w.-]*?)(?::\d+)?\s*(?:\[ARGS\]|<[^<>{}]*>)?\s*(?:` + "```" + `)?(?:json)?\s*\{`)

// namedCalls reads calls whose names precede their arguments.
func namedCalls(text string) (found []Call) {
	for text != "" {
		m := namedCall.FindStringSubmatchIndex(text)
		if m == nil {
			return found
		}
		d := json.NewDecoder(strings.NewReader(text[m[1]-1:]))
		var arguments json.RawMessage
		if d.Decode(&arguments) != nil {
			return found
		}
		found = append(found, Call{text[m[2]:m[3]], arguments})
		text = text[m[1]-1+int(d.InputOffset()):]
	}
	return found
}
