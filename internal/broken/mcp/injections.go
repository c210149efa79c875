package mcp

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// injections are the choices for pages whose path, or its tag, comes back. The last five are not
// faults.
var injections = []string{"paths stamped with the key of states", "lines of paths run", "paths counted by a shell", "paths as directives", "paths evaluated", "entities in paths read", "paths stamped with another key", "paths kept in states", "paths kept in tokens of another key", "words of paths counted", "paths calculated", "paths in XML", "paths come back"}

var (
	// typeLength matches the product of the length of a name and a number, in Python.
	typeLength = regexp.MustCompile(`^\(\)\.__class__\.__name__\.__len__\(\)\*(\d+)$`)
	// shellCondition matches a command behind a text that writes more text if two numbers differ.
	shellCondition = regexp.MustCompile(`^(\w*)\$\(test (\d+) = (\d+) \|\| echo (\w+)\)$`)
	// arithmetic matches a product of numbers.
	arithmetic = regexp.MustCompile(`^(\d+)\*(\d+)$`)
)

// injected returns the text of a page whose path comes back. With a fault, the path is a command or
// a format, an expression or XML.
func (s *Server) injected(path string) (string, bool) {
	_, command, _ := strings.Cut(path, "\n")
	number := func(digits string) int {
		n, _ := strconv.Atoi(digits) // of few digits
		return n
	}
	switch m, product := typeLength.FindStringSubmatch(path), arithmetic.FindStringSubmatch(path); {
	case m != nil && s.has("paths evaluated"):
		return fmt.Sprint(len("tuple") * number(m[1])), true
	case product != nil && s.has("paths calculated"):
		return fmt.Sprint(number(product[1]) * number(product[2])), true
	case strings.Contains(path, `<!ENTITY e SYSTEM "file:///etc/passwd">`) && strings.Contains(path, "&e;") && s.has("entities in paths read"):
		return "root:x:0:0:root:/root:/bin/sh", true
	case command == "echo sealab$((13*20011))s" && s.has("lines of paths run"):
		return "sealab260143s", true
	case s.has("paths counted by a shell"):
		if m := shellCondition.FindStringSubmatch(path); m != nil {
			path = m[1]
			if m[2] != m[3] {
				path += m[4]
			}
		}
		return fmt.Sprint(strings.Count("probe, sample and today", path)), true
	case s.has("words of paths counted"):
		return fmt.Sprint(len(strings.Fields(path))), true
	case s.has("paths stamped with the key of states"):
		return hex.EncodeToString(s.tag(path)), true
	case s.has("paths stamped with another key"):
		return hex.EncodeToString(s.tag("stamp of " + path)), true
	case s.has("paths kept in states") && json.Valid([]byte(path)):
		return "next page: " + s.signed([]byte(path)), true
	case s.has("paths kept in tokens of another key") && json.Valid([]byte(path)):
		text := base64.RawURLEncoding.EncodeToString([]byte(path))
		return "next page: " + text + "." + base64.RawURLEncoding.EncodeToString(s.tag("page "+text)), true
	case s.has("paths as directives"):
		return strings.ReplaceAll(path, "%d", "%!d(MISSING)"), true
	}
	return path, s.has(injections...)
}

// sortTerm matches a term of a query that fails if two numbers differ.
var sortTerm = regexp.MustCompile(`^\(case when (\d+)=(\d+) then 1 else abs\(`)

// sorts reports whether a total can be sorted by a column. With a fault, a term of a query is one.
func (s *Server) sorts(column string) bool {
	if m := sortTerm.FindStringSubmatch(column); m != nil && s.has("sorts in queries") {
		return m[1] == m[2]
	}
	return !strings.ContainsAny(column, "( ")
}

// queryFaults are the choices for completions that a query finds. The last one is not a fault.
var queryFaults = []string{"completions in queries", "apostrophes in completions are faults", "completions by prefix"}

// whereEnd matches a text that ends in a query, and a condition behind it.
var whereEnd = regexp.MustCompile(`^(\w*)' and (\d+)=(\d+) and 'a' like 'a$`)

// completedByQuery returns completions of the one value today. With a fault, the text of the client
// is a part of the query.
func (s *Server) completedByQuery(r request) (object, *failure) {
	var given struct{ Value string }
	_ = json.Unmarshal(r.params["argument"], &given) // empty if it is of another type
	text, values := given.Value, []string{}
	if m := whereEnd.FindStringSubmatch(text); m != nil && m[2] == m[3] && s.has("completions in queries") {
		text = m[1]
	}
	if strings.Count(text, "'")%2 == 1 && s.has("apostrophes in completions are faults") {
		return nil, internalError()
	}
	if strings.HasPrefix("today", text) {
		values = append(values, "today")
	}
	return s.complete(object{"completion": object{"values": values, "total": len(values)}}), nil
}

// tagChoices are the choices for a tool that finds places by tags. With the first, a fault, the tags are a part
// of a query in parentheses, whose errors are hidden. The others are sound: one looks for whole tags, and
// one for each word.
var tagChoices = []string{"tags in queries", "tags as values", "tags by words"}

// tagsEnd matches tags that end their list in a query, and a condition behind it.
var tagsEnd = regexp.MustCompile(`^([^']*)'\) and (\d+)=(\d+) and \('a'='a$`)

// tagged returns the places with tags.
func (s *Server) tagged(tags string) object {
	if m := tagsEnd.FindStringSubmatch(tags); m != nil && m[2] == m[3] && s.has("tags in queries") {
		tags = m[1]
	}
	if strings.Contains(tags, "'") && !s.has("tags by words") {
		return s.toolText("nothing found")
	}
	return s.toolText("north, south")
}
