package eval

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/elenchus-go/debate"
	"github.com/elenchus-go/debate/evidence"
	"github.com/elenchus-go/debate/internal/canonical"
	"github.com/elenchus-go/debate/internal/deepcopy"
	"github.com/elenchus-go/debate/internal/statistics"
	"github.com/elenchus-go/debate/protocol/oversight"
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

// armName matches the name of an arm, but for its length. It has no '@', which names baselines of equal budget.
var armName = regexp.MustCompile(`^\pL[\pL\pN._-]*$`)

// maxArmName limits the characters in the name of an arm.
const maxArmName = 64

// isArmName reports whether a name may be that of an arm.
func isArmName(name string) bool {
	return armName.MatchString(name) && utf8.RuneCountInString(name) <= maxArmName
}

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
// {{background}}, the background is added to that of the configuration. So are the task's documents, for everybody, unless the
// configuration has a document of the name {{documents}} or the protocol of package oversight: then only the readers of {{documents}} read them, as private
// documents, and an evaluation gives their texts. The placeholders are:
//
//	{{topic}}       the topic
//	{{question}}    the topic, and below it the choices with their letters
//	{{choices}}     the choices with their letters; in a list of texts, an element that is only this becomes the choices
//	{{background}}  the background
//	{{a}}, {{b}}    a right choice and a wrong one, in an order that the seed of the evaluation draws; see Task.Distractors
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
	own := false
	reference := c.Reference
	hidden := hiddenFrom(&c)
	var wrong error
	c.Reference = strings.ReplaceAll(c.Reference, gold, "") // which no other text may have
	eachText(&c, func(text string) string {
		for _, found := range placeholder.FindAllString(text, -1) {
			own = own || found == "{{background}}"
			if _, known := (Task{}).placeholders()[found]; !known && wrong == nil {
				wrong = fmt.Errorf("read template: placeholder %s is unknown, use {{topic}}, {{question}}, {{choices}}, {{a}}, {{b}}, {{background}} or {{extract}}, and {{gold}} in the reference only", found)
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
		filled.Documents = append(filled.Documents, t.documentsFor(hidden)...)
		return filled
	}, nil
}

// hiddenDocuments names a document that stands for those of a task.
const hiddenDocuments = "{{documents}}"

// hiddenFrom removes the documents that stand for those of a task from a configuration. It returns their readers, or nil if
// everybody reads the documents of a task.
func hiddenFrom(c *debate.Config) (readers []string) {
	if _, overseen := c.Protocol.(oversight.Protocol); overseen {
		readers = []string{}
	}
	c.Documents = slices.DeleteFunc(c.Documents, func(d evidence.Document) bool {
		if d.Name == hiddenDocuments {
			readers = append(readers, d.Readers...)
		}
		return d.Name == hiddenDocuments
	})
	return readers
}

// documentsFor returns the documents of a task for readers. If readers is nil, it returns them for everybody.
func (t Task) documentsFor(readers []string) (list []evidence.Document) {
	if readers == nil {
		return t.Documents
	}
	for _, d := range t.Documents {
		if len(readers) > 0 {
			list = append(list, evidence.Private(d.Name, d.Text, readers...))
		}
	}
	return list
}

// cloned returns a copy of a configuration that shares no memory with it.
func cloned(c debate.Config) debate.Config {
	c = deepcopy.Of(c)
	c.Protocol = deepcopy.Of(c.Protocol)
	return c
}

// gold names the placeholder of the right answers.
const gold = "{{gold}}"

var placeholder = regexp.MustCompile(`\{\{[a-z_]+\}\}`)

// placeholders returns the values of the placeholders for a task.
func (t Task) placeholders() map[string]string {
	a, b := t.pair()
	return map[string]string{
		"{{a}}": a, "{{b}}": b,
		"{{topic}}": t.Topic, "{{question}}": t.Question(), "{{choices}}": strings.TrimSpace(Task{Choices: t.Choices}.Question()),
		"{{background}}": t.Background, "{{extract}}": t.extractor(),
	}
}

// pair returns a right choice and a wrong one in an order that is drawn. They are empty if the task has no wrong choice.
func (t Task) pair() (a, b string) {
	wrong := t.Distractors
	if len(wrong) == 0 {
		for i, c := range t.Choices {
			if !t.isGold(string(rune('A' + i))) {
				wrong = append(wrong, c)
			}
		}
	}
	if len(wrong) == 0 {
		return "", ""
	}
	draw := statistics.Source(digest(t.seed + "\x00" + t.ID + "\x00" + t.Topic))
	right := t.Choices[t.letter(t.Gold[0])[0]-'A']
	other := t.Choices[t.letter(wrong[draw.Next()%uint64(len(wrong))])[0]-'A']
	if draw.Next()%2 == 1 {
		return other, right
	}
	return right, other
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
