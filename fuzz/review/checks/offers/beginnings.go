package offers

import (
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/inputs"
	"sealab/fuzz/review/jsondoc"
)

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
