package offers

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/inputs"
	"sealab/fuzz/review/jsondoc"
)

// maxFiles is the number of files that withPresentFiles tries.
const maxFiles = 8

// listedFile matches names of files in the texts of a list.
var listedFile = regexp.MustCompile(`(?m)[\w./-]*\w\.[a-z]{2,4}\b`)

// withPresentFiles returns a call whose arguments name files that exist. A file that the usual call names may
// have been removed, and an answer that it does not exist is no evidence about the other files.
func withPresentFiles(t *review.T, f client.Flow, files []string) client.Flow {
	if len(files) == 0 || t.Call(f.Call(client.FirstUser)).Succeeded() {
		return f
	}
	for _, file := range knownFiles(t) {
		other := f
		for _, name := range files {
			other = other.WithArgument(name, jsondoc.Quote(file))
		}
		if t.Call(other.Call(client.FirstUser)).Succeeded() {
			return other
		}
	}
	return f
}

// knownFiles returns the files that the usual calls of read-only tools name, and those in the answers to calls
// without arguments.
func knownFiles(t *review.T) []string {
	var all []string
	for _, tool := range t.Readers() {
		f := t.FlowOf(tool)
		given := jsondoc.Members(f.Arguments)
		for _, name := range fileArguments(f) {
			text, _ := jsondoc.Text(given[name])
			all = append(all, text)
		}
		if len(given) == 0 {
			all = append(all, listedFile.FindAllString(t.Call(f.Call(client.FirstUser)).Text, maxFiles)...)
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	return all[:min(len(all), maxFiles)]
}

// comparesBeginnings reports whether a tool compares only the beginning of a path with its folder: it
// refuses files of a folder beside its own otherwise if the name of that folder begins with its own.
// Neither folder exists.
func comparesBeginnings(t *review.T, f client.Flow, name string) bool {
	refusal := func(folder string) (client.Answer, string) {
		word := t.Word()
		call := f.Call(client.FirstUser)
		call.Arguments = jsondoc.WithMember(f.Arguments, name, jsondoc.Quote("../"+folder+word+"/"+word+".txt"))
		a := t.Tried(t.Call(call))
		if !a.Refused() {
			return a, ""
		}
		return a, strings.ReplaceAll(strings.ReplaceAll(a.Message, folder+word, "sealab"), word, "sealab")
	}
	refusedBy := func(folder, text string) bool {
		_, other := refusal(folder)
		return other == text
	}
	_, usual := refusal("")
	if usual == "" || !refusedBy("", usual) {
		return false
	}
	for _, folder := range inputs.Folders(t) {
		a, text := refusal(folder)
		if text == "" || text == usual || strings.Contains(text, folder) { // a similar name may be proposed
			continue
		}
		if refusedBy(folder, text) && refusedBy("not-"+folder, usual) && refusedBy(folder, text) {
			t.Fault(f.Target+": "+name, review.Warning, "folders whose name begins with "+folder+" are refused otherwise than others: the path is compared by its beginning", a)
			return true
		}
	}
	return false
}

// resolvesLater reports whether a call refuses or resolves a path with .. in it, shows one with %2e%2e in its last question
// as it was sent, and is carried out on the path that this leads to, twice. Each branch of a flow is gone through.
func resolvesLater(t *review.T, o *review.Oracle) bool {
	if !o.Completes() || o.Flow.Method != "tools/call" {
		return false
	}
	given := jsondoc.Members(o.Flow.Arguments)
	for _, name := range jsondoc.SortedKeys(given) {
		folder, _ := jsondoc.Text(given[name])
		label := o.Flow.Target + ": " + name + " resolved later"
		if !strings.Contains(strings.Trim(folder, "/"), "/") || strings.Contains(folder, "://") || !t.Selected(label) {
			continue
		}
		for _, f := range t.Branches(t.Context, o) {
			resolves := func(dots string) (a client.Answer, later bool) {
				sent := folder + "/" + dots + "/" + path.Base(folder)
				f := f.WithArgument(name, jsondoc.Quote(sent))
				state, question, _ := t.Client.Mint(t.Context, f, o.User) // the question is empty without a state
				if state == "" || !strings.Contains(question.ShownTexts(), sent) {
					return question, false
				}
				a = t.Tried(t.Client.Present(t.Context, f, jsondoc.Quote(state), o.User))
				text := a.ShownTexts()
				return a, a.Kind == client.Completed && strings.Contains(text, folder) && !strings.Contains(text, dots)
			}
			_, first := resolves("%2e%2e")
			_, plain := resolves("..")
			if a, again := resolves("%2e%2e"); first && again && !plain {
				t.Fault(label, review.Warning, "a path with .. is refused or resolved at once, and one with %2e%2e is shown in the question and resolved after it", a)
				return true
			}
		}
	}
	return false
}

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
