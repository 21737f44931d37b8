package inspector

import (
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"path"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/elenchus-go/debate/evidence"
)

// The limits of the form for a new debate, in bytes, apart from maxDocuments.
const (
	maxUpload    = 24 << 20 // of the whole form
	maxLaunch    = 8 << 20  // of the configuration that it makes, as JSON
	maxDocuments = 20       // of a form
	maxFileName  = 100
)

// A document is a text that participants and judges read, as the form holds it. The form sends uploaded files back as texts, so
// that they need not be uploaded again when something else in the form is wrong.
type document struct{ Name, Text string }

// documentsIn returns the documents in a form: the texts that were pasted or uploaded before, and the files. It returns what is wrong with
// them, by document.
func (v *visit) documentsIn(form *multipart.Form) (list []document, wrong []string) {
	names, texts := form.Value["document-name"], form.Value["document-text"]
	for i, text := range texts {
		text = strings.ReplaceAll(text, "\r\n", "\n")
		if strings.TrimSpace(text) == "" {
			continue
		}
		name := ""
		if i < len(names) {
			name = names[i]
		}
		list = append(list, document{name, text})
	}
	files := form.File["files"]
	if len(list)+len(files) > maxDocuments {
		wrong = append(wrong, fmt.Sprintf("There are %d documents, use at most %d.", len(list)+len(files), maxDocuments))
		files = files[:max(0, min(len(files), maxDocuments-len(list)))]
	}
	for _, file := range files {
		if file.Filename == "" && file.Size == 0 {
			continue // no file was chosen
		}
		text, err := v.readFile(file)
		if err != nil {
			wrong = append(wrong, fmt.Sprintf("%s: %v.", plainName(file.Filename, "the file"), err))
			continue
		}
		list = append(list, document{file.Filename, text})
	}
	taken := map[string]bool{}
	for i := range list {
		list[i].Name = freeName(plainName(list[i].Name, "document "+strconv.Itoa(i+1)), taken)
	}
	return list, wrong
}

// readFile returns the text of an uploaded file.
func (v *visit) readFile(file *multipart.FileHeader) (string, error) {
	opened, err := file.Open()
	if err != nil {
		return "", errors.New("it cannot be read")
	}
	defer func() { _ = opened.Close() }()
	data, err := io.ReadAll(opened)
	if err != nil {
		return "", errors.New("it cannot be read")
	}
	text, err := v.Read(v.r.Context(), plainName(file.Filename, "file"), data)
	if err != nil {
		return "", err
	}
	if strings.TrimSpace(text) == "" {
		return "", errors.New("it has no text")
	}
	return text, nil
}

// plainName returns a name of a file without folders, control characters and what changes the direction of text. It returns other if
// nothing is left.
func plainName(name, other string) string {
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	name = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, ""))
	name = strings.TrimSpace(name)
	for len(name) > maxFileName {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	name = strings.TrimSpace(name)
	if name == "" || name == "." || name == "/" || name == ".." {
		return other
	}
	return name
}

// freeName returns a name that is not taken, and takes it.
func freeName(name string, taken map[string]bool) string {
	free := name
	for n := 2; taken[free]; n++ {
		free = name + " (" + strconv.Itoa(n) + ")"
	}
	taken[free] = true
	return free
}

// evidenceOf returns documents for everybody.
func evidenceOf(list []document) (shared []evidence.Document) {
	for _, d := range list {
		shared = append(shared, evidence.Shared(d.Name, d.Text))
	}
	return shared
}
