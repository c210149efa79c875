package offers

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/inputs"
	"sealab/fuzz/review/jsondoc"
)

// rootFiles are names of files in /etc, which a list of that folder contains.
var rootFiles = []string{"passwd", "group", "hosts"}

// trustsRoots reports whether a tool that asks for the roots of the client (client/roots) reads below
// a root outside of its own folder. Over HTTP the roots of a client are not folders of the server. A
// server on standard streams runs for its client, which may read these files itself.
func trustsRoots(t *review.T, f client.Flow) bool {
	label := f.Target + ": roots"
	if t.Client.HTTP == nil || !t.Selected(label) {
		return false
	}
	key := ""
	first := t.Call(f.Call(client.FirstUser))
	for k, q := range jsondoc.InOrder(first.Questions) {
		if q.Method == "roots/list" {
			key = k
		}
	}
	if key == "" || !first.HasState() {
		return false
	}
	read := func(root string, arguments json.RawMessage) client.Answer {
		asked := f.With(arguments)
		asked.Last = jsondoc.WithMember(review.AnswersTo(first.Questions)[0], key, rootAnswer(root))
		return t.Tried(t.Fresh(asked, client.FirstUser))
	}
	for _, arguments := range []json.RawMessage{f.Arguments, withTexts(f, rootFiles[0])} {
		a := read("file:///etc", arguments)
		if !showsRoot(a) || showsRoot(read("file:///sealab-"+t.Word(), arguments)) || !showsRoot(read("file:///etc", arguments)) {
			continue
		}
		t.Fault(label, review.Warning, "the server reads its own files below any root that a client names", a)
		return true
	}
	return false
}

// rootAnswer returns the answer to roots/list of a client with one root.
func rootAnswer(root string) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"roots":[{"uri":%q,"name":"sealab"}]}`, root))
}

// cutsRoots reports whether a tool takes a path for one below a root because the texts begin alike: the root is the
// folder of the path without its last letter. The controls are the folder itself, and another folder
// beside it, for which the answer differs. All answers are seen twice.
func cutsRoots(t *review.T, f client.Flow) bool {
	for name, v := range jsondoc.InOrder(jsondoc.Members(f.Arguments)) {
		label := f.Target + ": a part of the root of " + name
		text, _ := jsondoc.Text(v) // "" if it is not a text
		folder := folderOf(text)
		if !t.Options.Effects || !t.Selected(label) || utf8.RuneCountInString(path.Base(folder)) < 2 {
			continue
		}
		_, size := utf8.DecodeLastRuneInString(folder)
		part, beside := folder[:len(folder)-size], path.Join(path.Dir(folder), t.Word())
		usual := endBelow(t, f, folder)
		shown := func(root string) (client.Answer, bool) {
			a := endBelow(t, f, root)
			return a, a.Kind == client.Completed && a.SameWords(usual)
		}
		follows := func() (a client.Answer, does bool) {
			if _, is := shown(beside); is {
				return a, false
			}
			if a, does = shown(part); !does {
				return a, false
			}
			_, does = shown(folder)
			return a, does
		}
		if usual.Kind != client.Completed || usual.Text == "" {
			continue
		}
		if _, does := follows(); !does {
			continue
		}
		if a, does := follows(); does {
			t.Fault(label, review.Warning, fmt.Sprintf("a path below %s is taken for one below the root %s, and not for one below %s", client.Short(folder, 60), client.Short(part, 60), client.Short(beside, 60)), a)
			return true
		}
	}
	return false
}

// folderOf returns the folder of an absolute path or of a URI of a file, or "".
func folderOf(text string) string {
	if u, err := url.Parse(text); err == nil && u.Scheme == "file" {
		text = u.Path
	}
	if !strings.HasPrefix(text, "/") || strings.Contains(text, "..") {
		return ""
	}
	return strings.TrimSuffix(path.Dir(path.Clean(text)), "/")
}

// maxRootRounds is the number of rounds that endBelow answers.
const maxRootRounds = 4

// endBelow makes a call and answers its questions, those for roots with a folder. It returns the last answer, or
// one without a kind if no question asked for roots.
func endBelow(t *review.T, f client.Flow, folder string) client.Answer {
	call, asked := f.Call(client.FirstUser), false
	a := t.Tried(t.Call(call))
	for range maxRootRounds {
		if a.Kind != client.Asked {
			break
		}
		answers := review.AnswersTo(a.Questions)[0]
		for key, q := range jsondoc.InOrder(a.Questions) {
			if q.Method == "roots/list" {
				asked, answers = true, jsondoc.WithMember(answers, key, rootAnswer((&url.URL{Scheme: "file", Path: folder}).String()))
			}
		}
		a = t.Call(t.Client.Reply(call, a, answers))
	}
	if !asked {
		return client.Answer{}
	}
	return a
}

// withTexts returns the arguments of a call with another value for each text that may have any value.
func withTexts(f client.Flow, text string) json.RawMessage {
	arguments := f.Arguments
	for name := range jsondoc.Members(f.Arguments) {
		changed := jsondoc.WithMember(arguments, name, jsondoc.Quote(text))
		if s := jsondoc.ParseSchema(jsondoc.ParseSchema(f.Offer.Input).Properties[name]); s.TypeOf() == "string" && f.Offer.Allows(changed) {
			arguments = changed
		}
	}
	return arguments
}

// showsRoot reports whether a result shows a file of /etc or lists its files.
func showsRoot(a client.Answer) bool {
	if a.Kind != client.Completed {
		return false
	}
	listed := 0
	for _, name := range rootFiles {
		if strings.Contains(a.Text, name) {
			listed++
		}
	}
	return listed == len(rootFiles) || inputs.PasswdLine.MatchString(a.Text)
}
