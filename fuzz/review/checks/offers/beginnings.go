package offers

import (
	"regexp"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// folderNames are usual names of folders that a server serves.
var folderNames = []string{"docs", "data", "public", "files", "notes", "pages", "content", "documents", "static", "shared", "root", "workspace"}

// folderWord matches words that may be the name of a folder.
var folderWord = regexp.MustCompile(`[a-z][\w-]{2,}`)

// maxFolders is the number of folders that comparesBeginnings tries.
const maxFolders = 24

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
	for _, folder := range foldersFor(t) {
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

// foldersFor returns words in the texts about the offers of a server, and usual names of folders.
func foldersFor(t *review.T) []string {
	about := ""
	s := t.Report.Server
	for _, o := range slices.Concat(s.Tools, s.Resources) {
		about += o.Name + " " + o.URI + " " + o.Description + "\n"
	}
	all := slices.Clone(folderNames)
	for _, word := range folderWord.FindAllString(about, -1) {
		if !slices.Contains(all, word) {
			all = append(all, word)
		}
	}
	return all[:min(len(all), maxFolders)]
}
