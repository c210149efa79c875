package injections

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/inputs"
	"sealab/fuzz/review/jsondoc"
)

// serializedNames are parts of texts about inputs that take the data of a program.
var serializedNames = []string{"import", "restore", "serializ", "pickle", "marshal", "yaml", "base64", "snapshot", "backup"}

// serializedCalls are data in which a reader that builds any object calls a function. The call
// repeats a word, which the name of the data precedes.
var serializedCalls = []struct{ name, text string }{
	{"a call in a pickle", "coperator\nmul\n(S'%s'\nI3\ntR."},
	{"a call in a pickle", "(dS'sealab'\ncoperator\nmul\n(S'%s'\nI3\ntRs."},
	{"a call in YAML", "!!python/object/apply:operator.mul [%s, 3]"},
	{"a call in YAML", "sealab: !!python/object/apply:operator.mul [%s, 3]"},
	{"a function in YAML", `{toString: !!js/function 'function () {return "%[1]s".repeat(3)}', toJSON: !!js/function 'function () {return "%[1]s".repeat(3)}'}`},
	{"a function in JSON", `{"sealab":"_$$ND_FUNC$$_function (){return '%s'.repeat(3)}()"}`},
	{"a call in JSON", `{"py/reduce":[{"py/function":"operator.mul"},{"py/tuple":["%s",3]}]}`},
}

// repeatedWords are the words of serializedCalls.
var repeatedWords = [2]string{"sealab26s", "sealab71s"}

// serializedRequests are data in which such a reader opens a URL, for inputs that do not show the data.
var serializedRequests = []struct{ name, text string }{
	{"a call in a pickle", "curllib.request\nurlopen\n(S'%s'\ntR."},
	{"a call in YAML", "!!python/object/apply:urllib.request.urlopen ['%s']"},
	{"a call in JSON", `{"py/reduce":[{"py/function":"urllib.request.urlopen"},{"py/tuple":["%s"]}]}`},
}

// dataEncodings are the forms in which data is sent.
var dataEncodings = []func(string) string{func(text string) string { return text }, inBase64}

// loadingInputs returns the texts in arguments of tools that may run to their end, and of calls that
// are carried out, if their texts fit. It skips the check if a fitting tool may not be called.
func loadingInputs(t *review.T, fits func(about string) bool) []inputs.Input {
	var all []inputs.Input
	callable := append(t.Readers(), t.Changers()...)
	for _, tool := range callable {
		for name, s := range jsondoc.Fields(tool.Input) {
			if _, free := inputs.FreeText(nil, s.Raw); free {
				all = append(all, inputs.Argument(t, t.FlowOf(tool), name))
			}
		}
	}
	all = append(all, inputs.Carried(t)...)
	all = slices.DeleteFunc(all, func(x inputs.Input) bool { return !fits(x.About()) })
	for _, tool := range t.Report.Server.Tools {
		is := func(o client.Offer) bool { return o.Name == tool.Name }
		if t.Options.Effects && fits(inputs.Input{Offer: tool}.About()) && !slices.ContainsFunc(callable, is) {
			t.Skip("%[1]s may read data of a program, and was not called; --tool %[1]s allows it", tool.Name)
		}
	}
	return all[:min(len(all), inputs.Max)]
}

// takesSerialized reports whether a text is about data of a program.
func takesSerialized(about string) bool { return client.Mentions(about, serializedNames) }

// callsFunction reports whether serialized data calls a function, for two words. The data is sent
// as it is and in base64.
func callsFunction(t *review.T, x inputs.Input) bool {
	for _, s := range serializedCalls {
		for _, encode := range dataEncodings {
			a, calls := confirmedTwice(func(number int) (client.Answer, bool) {
				word := repeatedWords[number]
				a := x.Send(encode(fmt.Sprintf(s.text, word)))
				return a, strings.Contains(a.ShownTexts(), strings.Repeat(word, 3))
			})
			if calls {
				x.Refute(t, review.Critical, s.name+" is carried out", "called", a)
				return true
			}
		}
	}
	return false
}

// opensSerialized reports whether serialized data opens a URL, twice. The same URL in a text must stay
// unopened.
func opensSerialized(t *review.T, x inputs.Input) bool {
	if t.Client.HTTP != nil && !t.OnLoopback() {
		return false
	}
	c := inputs.NewCanary(t)
	if c == nil {
		return false
	}
	defer c.Close()
	number := 0
	opens := func(text string, encode func(string) string) (client.Answer, bool) {
		number++
		return c.Opens(inputs.CanaryURL, number, func(u string) client.Answer { return x.Send(encode(fmt.Sprintf(text, u))) })
	}
	for _, s := range serializedRequests {
		for _, encode := range dataEncodings {
			if _, does := opens(s.text, encode); !does {
				continue
			}
			if _, links := opens("sealab '%s'", encode); links {
				return false
			}
			if a, again := opens(s.text, encode); again {
				x.Refute(t, review.Critical, s.name+" is carried out: the server opens its URL", "called", a)
				return true
			}
		}
	}
	return false
}

func inBase64(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

var (
	archiveText = regexp.MustCompile(`(?i)zip|archive|bundle|tgz|unpack|(?:\b|_)tar(?:ball)?(?:\b|_)`)
	postalText  = regexp.MustCompile(`(?i)postal|zip ?code|address`)
	// endingText matches usual endings of files in the texts of a tool.
	endingText = regexp.MustCompile(`\.(?:txt|md|csv|json|html|yaml)\b`)
)

// takesArchive reports whether a text is about an archive.
func takesArchive(about string) bool {
	return archiveText.MatchString(about) && !postalText.MatchString(about)
}

// archiveWriters write an archive with one file. Writing to a buffer does not fail.
var archiveWriters = []func(name, text string) string{zipArchive, tarArchive, func(name, text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(tarArchive(name, text)))
	_ = w.Close()
	return b.String()
}}

func zipArchive(name, text string) string {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, _ := w.Create(name)
	_, _ = f.Write([]byte(text))
	_ = w.Close()
	return b.String()
}

func tarArchive(name, text string) string {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	_ = w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text)), Typeflag: tar.TypeReg})
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return b.String()
}

// An unpacker puts archives into an input and reads the files of a folder.
type unpacker struct {
	t      *review.T
	x      inputs.Input
	write  func(name, text string) string
	ending string
	reader inputs.Input // of the folder
}

// A packedFile is a file that was sent in an archive.
type packedFile struct {
	file, text string
	answer     client.Answer
	said       string // by the answer, without the path and the name of the file
}

// put sends a file of a new name, with a path before the name.
func (u *unpacker) put(path, ending string) packedFile {
	word := u.t.Word()
	f := packedFile{file: word + ending, text: u.t.Word()}
	f.answer = u.x.Send(inBase64(u.write(path+f.file, f.text)))
	f.said = strings.NewReplacer(path+f.file, "", strings.Trim(path, "./")+"/"+f.file, "", f.file, "", word, "").Replace(f.answer.ShownTexts())
	return f
}

// shows reports whether the folder has a file under its bare name.
func (u *unpacker) shows(f packedFile) bool {
	return strings.Contains(u.reader.Send(f.file).ShownTexts(), f.text)
}

// findReader finds a read-only tool or a template that shows a file, and reports whether there is
// one.
func (u *unpacker) findReader(f packedFile) bool {
	all := inputs.Templates(u.t)
	for _, tool := range u.t.Readers() {
		for _, name := range jsondoc.SortedKeys(jsondoc.ParseSchema(tool.Input).Properties) {
			all = append(all, inputs.Input{Send: func(text string) client.Answer {
				return u.t.Call(u.t.FlowOf(tool).WithArgument(name, jsondoc.Quote(text)).Call(client.FirstUser))
			}})
		}
	}
	for _, u.reader = range all {
		if u.shows(f) {
			return true
		}
	}
	return false
}

// refusesSome reports whether the input says something else of a file that it does not take: one
// with an absolute path, below an unknown folder or of another kind.
func (u *unpacker) refusesSome(said string) bool {
	other := u.t.Word()
	return u.put("/"+other+"/", u.ending).said != said || u.put("../"+other+"/", u.ending).said != said || u.put("", ".sealab").said != said
}

// follows reports whether a path with .. leads back into the folder.
func (u *unpacker) follows() bool {
	paths := []string{u.t.Word() + "/../"}
	for _, folder := range inputs.Folders(u.t) {
		paths = append(paths, "../"+folder+"/")
	}
	return slices.ContainsFunc(paths, func(path string) bool { return u.shows(u.put(path, u.ending)) })
}

// leavesFolder reports whether archives write files beside the folder of a server: a file with ..
// before its name is taken as one without, twice, and does not appear in the folder. The input must
// refuse other files, follow .. and keep folders apart, because a server may shorten names.
func leavesFolder(t *review.T, x inputs.Input) bool {
	u := &unpacker{t: t, x: x, ending: ".txt"}
	if found := endingText.FindString(x.About()); found != "" {
		u.ending = found
	}
	for _, u.write = range archiveWriters {
		usual := u.put("", u.ending)
		if usual.answer.Kind != client.Completed || !u.findReader(usual) {
			continue
		}
		outside := func() (client.Answer, bool) {
			f := u.put("../", u.ending)
			return f.answer, f.answer.Kind == client.Completed && f.said == usual.said && !u.shows(f)
		}
		if _, does := outside(); !does || u.shows(u.put(t.Word()+"/", u.ending)) || !u.refusesSome(usual.said) || !u.follows() {
			continue
		}
		if a, again := outside(); again && u.shows(u.put("", u.ending)) {
			x.Refute(t, review.Critical, "a file of an archive with ../ before its name is written outside of the folder", "written", a)
			return true
		}
	}
	return false
}
