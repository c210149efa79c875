package mcp

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"io"
	"path"
	"regexp"
	"strings"
)

// archiveChoices are the choices for archives whose pages a tool reads. The last two are not faults.
var archiveChoices = []string{"archives unpacked anywhere", "archives unpacked inside", "archives unpacked flat"}

// backupChoices are the choices for a tool that takes backups. Those of decoding and of opening all
// URLs are not faults.
var backupChoices = append([]string{"backups unpickled", "backups unpickled in silence", "backups decoded", "backups of links"}, archiveChoices...)

// pickledCall matches a call of operator.mul in a pickle of Python.
var pickledCall = regexp.MustCompile(`^coperator\nmul\n\(S'(\w+)'\nI3\ntR\.$`)

// pickledURL matches a URL in quotes, and the call that opens it in a pickle of Python.
var pickledURL = regexp.MustCompile(`^(curllib\.request\nurlopen\n\(S)?.*'(http://127\.0\.0\.1:[^']+)'`)

// restore restores a backup in base64. With a fault it calls functions, or writes pages outside of
// their folder.
func (s *Server) restore(data string) object {
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return s.toolError("no backup")
	}
	if s.has(archiveChoices...) {
		return s.toolText("%d pages", s.unpack(raw))
	}
	if m := pickledURL.FindSubmatch(raw); m != nil && (s.has("backups of links") || len(m[1]) > 0 && s.has("backups unpickled in silence")) {
		_, _ = s.fetched(string(m[2])) // the result does not show it
	}
	if s.has("backups unpickled in silence", "backups of links") {
		return s.toolText("restored")
	}
	text := string(raw)
	if m := pickledCall.FindStringSubmatch(text); m != nil && s.has("backups unpickled") {
		text = strings.Repeat(m[1], 3)
	}
	return s.toolText("restored %q", text)
}

// pagesFolder is the folder of the pages.
const pagesFolder = "/srv/docs"

// unpack stores the pages of an archive and returns their number.
func (s *Server) unpack(raw []byte) (stored int) {
	z, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return 0
	}
	for _, f := range z.File {
		name := f.Name
		if s.has("archives unpacked flat") {
			name = path.Base(name)
		}
		name = path.Join(pagesFolder, name)
		if path.Ext(name) != ".txt" || !strings.HasPrefix(name, pagesFolder+"/") && !s.has("archives unpacked anywhere") {
			continue
		}
		if r, err := f.Open(); err == nil {
			text, _ := io.ReadAll(r) // a part of a page is one
			s.said.put(name, string(text))
			stored++
		}
	}
	return stored
}

// unpacked returns a page of an archive.
func (s *Server) unpacked(name string) object {
	text := s.said.get(path.Join(pagesFolder, path.Base(name)))
	if text == "" {
		return s.toolError("no such page")
	}
	return s.toolText("%s", text)
}
