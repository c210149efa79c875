package offers

import (
	"regexp"
	"slices"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
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
