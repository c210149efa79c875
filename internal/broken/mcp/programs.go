package mcp

import (
	"fmt"
	"regexp"
	"strings"
)

// rowChoices are the choices for a tool that shows rows and the errors of its database. With the first, a
// fault, a filter is a part of the query. The second is sound: its argument is the query.
var rowChoices = []string{"filters in queries", "rows of a query"}

// plainQuery matches the queries that the database of [Server.rows] understands.
var plainQuery = regexp.MustCompile(`^select \w+ from \w+$`)

// rows returns the rows of a query, or for a filter.
func (s *Server) rows(args map[string]string) object {
	if text := args["sql"] + args["filter"]; strings.Contains(text, "'") || args["sql"] != "" && !plainQuery.MatchString(text) {
		return s.toolError(`SQL error: near "%.6s": syntax error`, text)
	}
	return s.toolText("7 rows")
}

// comparedChoices are the choices for a tool that compares two files. With the first, a fault, only the first
// file is looked for in the folder. The others are sound: both files may be anywhere, or must be in the
// folder.
var comparedChoices = []string{"other files of any folder", "files of any folder", "files of one folder"}

// compared returns the differences of two files. The folder has probe and plain.txt.
func (s *Server) compared(path, other string) object {
	outside := func(file string) bool { return strings.HasPrefix(file, "/") || strings.HasPrefix(file, "../") }
	for i, file := range []string{path, other} {
		switch free := s.has("files of any folder") || i == 1 && s.has("other files of any folder"); {
		case outside(file) && !free:
			return s.toolError("outside of the folder")
		case outside(file) && !strings.HasSuffix(file, "/etc/passwd"), !outside(file) && file != "probe" && file != "plain.txt":
			return s.toolError("no such file")
		}
	}
	if outside(path) || outside(other) {
		return s.toolText("--- %s\n+++ %s\n+root:x:0:0:root:/root:/bin/sh", path, other)
	}
	return s.toolText("no differences")
}

// revisionChoices are the choices for a tool that runs a program with a revision. With the first three, faults,
// the program takes it for an option; the second says which it does not have, and the third shows a file. The
// others are sound: they refuse texts with hyphens, explain options by a manual, look for the text, or know the places of calls that were carried out.
var revisionChoices = []string{"options in revisions", "unknown options in revisions told", "files in options of revisions", "revisions without hyphens", "revisions in a manual", "revisions searched", "revisions of places"}

// revised returns what a program writes about a revision.
func (s *Server) revised(revision string) object {
	option := strings.HasPrefix(revision, "-")
	switch {
	case s.has("revisions without hyphens") && option:
		return s.toolError("unknown option %s: a revision has no hyphens in front", revision)
	case s.has("revisions in a manual") && strings.Contains(" -s --help --stat --date=iso ", " "+revision+" "):
		return s.toolText("usage: log [%s]", revision)
	case s.has("revisions of places") && s.said.get("deployed "+revision) != "":
		return s.toolText("1: a line of a place, %s", randomWord())
	case s.has("revisions searched") && revision != "main":
		return s.toolText("nothing found")
	case s.has("options in revisions") && (revision == "-s" || revision == "--date=iso"):
		return s.toolText("1: a line")
	case s.has("files in options of revisions") && revision == "--contents=/etc/passwd":
		return s.toolText("1: root:x:0:0:root:/root:/bin/sh")
	case s.has("unknown options in revisions told") && revision == "--help":
		return s.toolText("usage: log [options] revision")
	case s.has("unknown options in revisions told") && option:
		return s.toolError("log: unrecognized option '%s'", revision)
	case revision == "main", revision == "probe":
		return s.toolText("1: a line of %s", fmt.Sprint(len(revision)))
	}
	return s.toolError("the program failed")
}
