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

// machineFiles are files of usual machines, by their extension, as paths from the root.
var machineFiles = map[string][]string{
	".md":   {"usr/lib/node_modules/npm/README.md", "usr/local/lib/node_modules/npm/README.md", "usr/share/nodejs/npm/README.md", "usr/local/go/README.md"},
	".json": {"usr/lib/node_modules/npm/package.json", "usr/local/lib/node_modules/npm/package.json", "usr/share/nodejs/npm/package.json"},
	".txt":  {"usr/share/X11/rgb.txt", "usr/share/gnupg/help.txt", "usr/share/gnupg/help.de.txt"},
	".csv":  {"usr/share/distro-info/debian.csv", "usr/share/distro-info/ubuntu.csv"},
	".conf": {"etc/host.conf", "etc/ld.so.conf", "etc/nsswitch.conf"},
	".log":  {"var/log/dpkg.log", "var/log/alternatives.log"},
	".pem":  {"etc/ssl/cert.pem"},
	".crt":  {"etc/ssl/certs/ca-certificates.crt"},
	".sh":   {"etc/profile.d/bash_completion.sh"},
}

// projectFiles are files that stand beside or above the served folder of many servers, by their extension.
var projectFiles = map[string][]string{
	".md":   {"README.md", "CHANGELOG.md"},
	".json": {"package.json", "tsconfig.json"},
	".txt":  {"requirements.txt", "README.txt"},
	".toml": {"pyproject.toml", "Cargo.toml"},
	".yaml": {"config.yaml"},
	".yml":  {"config.yml", "docker-compose.yml"},
	".js":   {"server.js", "index.js"},
	".py":   {"server.py", "main.py"},
	".go":   {"main.go"},
}

// climbSpellings returns spellings of a path that climbs, for filters that look for .. or / before or after
// they decode.
func climbSpellings(path string) []string {
	dots := strings.ReplaceAll(path, "..", "%2e%2e")
	return []string{path, dots, strings.ReplaceAll(dots, "/", "%2F"), strings.ReplaceAll(path, "/", "%2F"),
		strings.ReplaceAll(strings.ReplaceAll(dots, "/", "%2F"), "%", "%25"), strings.ReplaceAll(path, "../", "....//")}
}

// OutsideFile looks for a file outside of a served folder that has the extension of the served files. It
// returns a path for which read gives a file, if it gives neither a missing file by such a path, nor one of
// the same name in the folder. It returns "" without one.
func OutsideFile(extension string, read func(path string) bool) string {
	var all []string
	for _, name := range projectFiles[extension] {
		all = append(all, "../"+name, "../../"+name)
	}
	for _, name := range machineFiles[extension] {
		all = append(all, strings.Repeat("../", 8)+name)
	}
	for _, path := range all {
		name := path[strings.LastIndexByte(path, '/')+1:]
		missing := climbSpellings(strings.TrimSuffix(path, name) + "sealab-none" + extension)
		for i, spelling := range climbSpellings(path) {
			if read(spelling) && !read(missing[i]) && !read(name) && read(spelling) {
				return spelling
			}
		}
	}
	return ""
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
