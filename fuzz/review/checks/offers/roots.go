package offers

import (
	"encoding/json"
	"fmt"
	"strings"

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
		asked.Last = jsondoc.WithMember(review.AnswersTo(first.Questions)[0], key, json.RawMessage(fmt.Sprintf(`{"roots":[{"uri":%q,"name":"sealab"}]}`, root)))
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
