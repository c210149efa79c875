package injections

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"regexp"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/inputs"
	"sealab/fuzz/review/jsondoc"
)

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
