package eval

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/internal/canonical"
	"github.com/elenchus-go/debate/internal/deepcopy"
	"github.com/elenchus-go/debate/protocol/vote"
)

// Arm is one way to answer the tasks.
type Arm struct {
	// Name identifies the arm. Use letters, digits, '.', '_' and '-', with a letter first.
	Name string
	// Config returns the debate that answers a task. It must return the same for the same task, because the debate's id
	// derives from it. An evaluation sets the ID and adds labels. See [Template].
	Config func(Task) debate.Config
	// Samples is how often the arm answers each task. Defaults to 1.
	Samples int
}

// armName matches the name of an arm. It has no '@', which names baselines of equal budget.
var armName = regexp.MustCompile(`^\pL[\pL\pN._-]{0,63}$`)

// Samples returns a template of k answers of one model, of which the most frequent one counts. With k = 1, it is one call
// of one model.
func Samples(p debate.Participant, k int) debate.Config {
	if p.Name == "" {
		p.Name = "Agent"
	}
	return debate.Config{Participants: []debate.Participant{p}, Protocol: vote.Protocol{Samples: k, Extract: "{{extract}}"}}
}

// Template returns a function for Arm.Config: it returns a copy of a configuration in which the placeholders in texts are
// filled in. If the topic is empty, it is {{question}}. If the task has a background and no text has the placeholder
// {{background}}, the background is added to that of the configuration. So are the task's documents. The placeholders are:
//
//	{{topic}}       the topic
//	{{question}}    the topic, and below it the choices with their letters
//	{{choices}}     the choices with their letters; in a list of texts, an element that is only this becomes the choices
//	{{background}}  the background
//	{{extract}}     the extractor of package vote for the task: letter with choices, number if each gold is one, or text
//	{{gold}}        the right answers, a line each; only in the reference, which only judges read
//
// Judges that read {{gold}} are measured by what they decide about the others. If their decision is the answer of the debate, its
// accuracy says nothing about debates without gold.
//
// Template returns an error if a text has another placeholder.
func Template(c debate.Config) (func(Task) debate.Config, error) {
	c = cloned(c)
	if c.Topic == "" {
		c.Topic = "{{question}}"
	}
	own, reference := false, c.Reference
	var wrong error
	c.Reference = strings.ReplaceAll(c.Reference, gold, "") // which no other text may have
	eachText(&c, func(text string) string {
		for _, found := range placeholder.FindAllString(text, -1) {
			own = own || found == "{{background}}"
			if _, known := (Task{}).placeholders()[found]; !known && wrong == nil {
				wrong = fmt.Errorf("read template: placeholder %s is unknown, use {{topic}}, {{question}}, {{choices}}, {{background}} or {{extract}}, and {{gold}} in the reference only", found)
			}
		}
		return text
	}, nil)
	c.Reference = reference
	if wrong != nil {
		return nil, wrong
	}
	return func(t Task) debate.Config {
		filled, values := cloned(c), t.placeholders()
		values[gold] = strings.Join(t.Gold, "\n")
		fill := func(text string) string {
			return placeholder.ReplaceAllStringFunc(text, func(name string) string { return values[name] })
		}
		eachText(&filled, fill, t.Choices)
		if !own {
			filled.Background = strings.TrimSpace(filled.Background + "\n\n" + t.Background)
		}
		filled.Documents = append(filled.Documents, t.Documents...)
		return filled
	}, nil
}

// cloned returns a copy of a configuration that shares no memory with it.
func cloned(c debate.Config) debate.Config {
	c = deepcopy.Of(c)
	c.Protocol = deepcopy.Of(c.Protocol)
	return c
}

// gold is the placeholder of the right answers.
const gold = "{{gold}}"

var placeholder = regexp.MustCompile(`\{\{[a-z_]+\}\}`)

// placeholders returns the values of the placeholders for a task.
func (t Task) placeholders() map[string]string {
	return map[string]string{
		"{{topic}}": t.Topic, "{{question}}": t.Question(), "{{choices}}": strings.TrimSpace(Task{Choices: t.Choices}.Question()),
		"{{background}}": t.Background, "{{extract}}": t.extractor(),
	}
}

// extractor returns the name of the extractor of package vote for answers to the task.
func (t Task) extractor() string {
	switch {
	case len(t.Choices) > 0:
		return "letter"
	case len(t.Gold) > 0 && !slices.ContainsFunc(t.Gold, func(g string) bool { return !isNumber(g) }):
		return "number"
	}
	return "text"
}

// isNumber reports whether a text is a number, perhaps with a sign and a unit of money before it.
func isNumber(text string) bool {
	text = strings.TrimSpace(text)
	return canonical.Number(text) != "" && strings.Trim(text, "0123456789.,/eE+-−–$€£¥%") == ""
}

// eachText replaces each text in the configuration. In a list of texts, the element {{choices}} becomes the choices.
func eachText(c *debate.Config, replace func(string) string, choices []string) {
	w := texts{replace, choices}
	labels := c.Labels // they name the debate, and are no part of what it says
	c.Labels = nil
	w.walk(reflect.ValueOf(c).Elem())
	c.Labels = labels
	if c.Protocol != nil {
		p := reflect.New(reflect.TypeOf(c.Protocol)).Elem()
		p.Set(reflect.ValueOf(c.Protocol))
		w.walk(p)
		reflect.ValueOf(&c.Protocol).Elem().Set(p)
	}
}

// texts replaces texts in data.
type texts struct {
	replace func(string) string
	choices []string
}

func (w texts) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() {
			v.SetString(w.replace(v.String()))
		}
	case reflect.Struct:
		for f, value := range v.Fields() {
			if f.IsExported() {
				w.walk(value)
			}
		}
	case reflect.Slice:
		w.walkList(v)
	case reflect.Map:
		for at := v.MapRange(); at.Next(); {
			value := reflect.New(at.Value().Type()).Elem()
			value.Set(at.Value())
			w.walk(value)
			v.SetMapIndex(at.Key(), value)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			w.walk(v.Elem())
		}
	default:
	}
}

func (w texts) walkList(v reflect.Value) {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		return
	}
	at := -1
	if list, ok := reflect.TypeAssert[[]string](v); ok && len(w.choices) > 0 {
		at = slices.Index(list, "{{choices}}")
	}
	for i := range v.Len() {
		if i != at {
			w.walk(v.Index(i))
		}
	}
	if at >= 0 { // last, because choices have no placeholders
		v.Set(reflect.ValueOf(slices.Replace(slices.Clone(v.Interface().([]string)), at, at+1, w.choices...)))
	}
}
