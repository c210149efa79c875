package mcp

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
)

// templates returns the list of resource templates.
func (s *Server) templates() object {
	templates := []object{{"name": "day", "uriTemplate": "notes://day/{day}"}}
	if s.has("completions name the user", "completions name all users") { // the first is sound
		templates = append(templates, object{"name": "notes of a user", "uriTemplate": notesOfUser})
	}
	if s.has(slipChoices...) {
		templates = append(templates, object{"name": "slip", "uriTemplate": slipsOfPlace, "description": "your slip of an env (prod, test)"})
	}
	if s.has(visitChoices...) {
		templates = append(templates, object{"name": "visits of a user", "uriTemplate": visitsOfUser})
	}
	return object{"resourceTemplates": templates}
}

// readResource answers resources/read.
func (s *Server) readResource(r request) (object, *failure) {
	var uri string
	if json.Unmarshal(r.params["uri"], &uri) != nil {
		return nil, invalidParams("uri: want a text")
	}
	if text, ok := s.writtenText(uri); ok {
		return s.listed(object{"contents": []object{{"uri": uri, "text": text}}}), nil
	}
	switch {
	case s.isSlip(uri):
		return s.readSlip(r, uri)
	case uri == "notes://day/today" && s.has("resources cached for a negative time"):
		return s.complete(object{"contents": []object{{"uri": uri, "text": "nothing"}}, "ttlMs": -5, "cacheScope": "private"}), nil
	case uri == "notes://day/today" && s.has("readings of a user for all caches", "readings by lot for all caches"): // the second is sound
		reading := map[bool]string{true: "for " + r.user, false: fmt.Sprint(randomBytes(1)[0] % 2)}[s.has("readings of a user for all caches")]
		return s.complete(object{"contents": []object{{"uri": uri, "text": reading}}, "ttlMs": 60_000, "cacheScope": "public"}), nil
	case uri == "notes://day/today" && s.has("readings that drift"): // not a fault
		return s.listed(object{"contents": []object{{"uri": uri, "text": fmt.Sprint(s.handled.Load() / driftPeriod)}}}), nil
	case uri == "notes://day/today" && s.has("blobs of text"):
		return s.listed(object{"contents": []object{{"uri": uri, "blob": "not base64!"}}}), nil
	case uri == "notes://day/today" && s.has("passwords in URLs", "masks in URLs"): // the second is sound
		password := map[bool]string{true: "Kr7me!2719", false: "********"}[s.has("passwords in URLs")]
		return s.listed(object{"contents": []object{{"uri": uri, "text": "kept in postgres://notes:" + password + "@db.internal:5432/notes"}}}), nil
	case uri == "notes://day/today" && s.has("keys in readings", "keys of examples in readings", "masked keys in readings"): // the first is a fault
		text := "mail of post@notes.example goes out with SG.q4Tz9vKe2mWd7LpB"
		if s.has("keys of examples in readings") {
			text = "set a key of your own, for example SG.q4Tz9vKe2mWd7LpB"
		} else if s.has("masked keys in readings") {
			text = "mail goes out with SG.q4Tzxxxxxxxxxxxx"
		}
		return s.listed(object{"contents": []object{{"uri": uri, "text": text}}}), nil
	case uri == "notes://day/today" && s.has("resources without a type"):
		result := s.listed(object{"contents": []object{{"uri": uri, "text": "nothing"}}})
		delete(result, "resultType")
		return result, nil
	case uri == "notes://day/today" && s.has("questions on the board", "own questions on the board"): // the second is sound
		return s.listed(object{"contents": []object{{"uri": uri, "text": "waiting: " + s.said.get("board"+s.orUser("own questions on the board", r))}}}), nil
	case uri == "notes://day/today" && s.has(openNotes...):
		return s.listed(object{"contents": []object{{"uri": uri, "text": "today: " + s.shownNote(r)}}}), nil
	case uri == "notes://day/today" && s.removalFor(r) != "":
		return s.listed(object{"contents": []object{{"uri": uri, "text": "held for " + s.removalFor(r)}}}), nil
	case uri == "notes://day/today":
		return s.listed(object{"contents": []object{{"uri": uri, "text": "nothing"}}}), nil
	case s.has("notices that come and go") && strings.HasPrefix(uri, "notes://notice/"):
		return s.listed(object{"contents": []object{{"uri": uri, "text": "a notice"}}}), nil
	case s.has("resources of any URL") && strings.HasPrefix(uri, "http://"):
		return s.fetched(uri)
	case r.user != "" && uri == "notes://user/"+r.user && s.has("notes cached for all users"):
		return s.complete(object{"contents": []object{{"uri": uri, "text": "a note at " + uri}}, "ttlMs": 0, "cacheScope": "public"}), nil
	case r.user != "" && uri == "notes://user/"+r.user, s.has("notes of any user") && strings.HasPrefix(uri, "notes://user/"), s.isShared(uri):
		return s.listed(object{"contents": []object{{"uri": uri, "text": "a note at " + uri}}}), nil
	case r.user != "" && s.has(visitChoices...) && uri == "notes://user/"+r.user+"/visit-of-"+r.user, s.has("visits in public") && strings.Contains(uri, "/visit-of-"):
		return s.listed(object{"contents": []object{{"uri": uri, "text": "a visit"}}}), nil
	case s.has("own notes in any case") && strings.EqualFold(uri, "notes://user/"+r.user), s.has("notes in any case") && strings.ToLower(uri) != uri && strings.HasPrefix(strings.ToLower(uri), "notes://user/"): // the first is sound
		return s.listed(object{"contents": []object{{"uri": uri, "text": "a note at " + strings.ToLower(uri)}}}), nil
	case s.has("any path") && strings.Contains(uri, "etc/passwd"), s.has("paths decoded twice") && strings.Contains(uri, "%252e%252e%252F"):
		return s.complete(object{"contents": []object{{"uri": uri, "text": "root:x:0:0:root:/root:/bin/sh\n"}}}), nil
	case s.hasPage(uri):
		return s.listed(object{"contents": []object{{"uri": uri, "text": "a page"}}}), nil
	case s.has("unknown resources are empty"):
		return s.complete(object{"contents": []object{}}), nil
	}
	return nil, s.unknownResource(r)
}

// unknownResource returns the refusal of a resource that does not exist. With a fault it shows internals.
func (s *Server) unknownResource(r request) *failure {
	fail := invalidParams("unknown resource")
	switch {
	case s.has("errors show the request"):
		fail.data = object{"headers": object{"Authorization": "Bearer " + r.user}}
	case s.has("sources in the data of errors"):
		fail.data = object{"main": "/srv/app/notes/main.js"}
	}
	for _, e := range []struct{ fault, message string }{
		{"keys in errors", fmt.Sprintf("no store under STATE_SECRET=%x", s.Secret)},
		{"passwords in errors", "no row in postgres://app:S3cr3tPw@db.internal:5432/notes"},
		{"traces of Java in errors", "java.lang.IllegalStateException: no note\n\tat notes.Store.read(Store.java:12)\n"},
		{"sources in errors", "not found (/srv/app/notes/store.py)"},
		{"paths in errors", "[Errno 2] No such file or directory: '/srv/app/notes/none'"},
	} {
		if s.has(e.fault) {
			return invalidParams(e.message)
		}
	}
	return fail
}

// folderChoices are the choices for pages in a folder. With the first, paths are decoded after a look for
// "..", and the others are sound: pages are found by the end of their path, or by the nearest name.
var folderChoices = []string{"pages decoded late", "pages found by name", "pages found by the nearest name"}

// hasPage reports whether there is a page. The folder has start.md and, above it, README.md.
func (s *Server) hasPage(uri string) bool {
	name, is := strings.CutPrefix(uri, "notes://pages/")
	switch {
	case !is || !s.has(folderChoices...):
		return false
	case s.has("pages decoded late"):
		decoded, _ := url.PathUnescape(name) // "" if it is malformed
		return name == "start.md" || !strings.Contains(name, "..") && decoded == "../README.md"
	case s.has("pages found by name"):
		return strings.HasSuffix(name, "start.md") || strings.HasSuffix(name, "README.md")
	}
	return strings.HasSuffix(name, ".md")
}

// completion answers completion/complete.
func (s *Server) completion(r request) (object, *failure) {
	if s.has("completions declared alone") {
		return nil, &failure{code: -32601, status: 404, message: "method not found"}
	}
	if strings.Contains(string(r.params["argument"]), "/etc/") && s.has("completions of any folder") {
		return s.complete(object{"completion": object{"values": []string{"group", "passwd"}}}), nil
	}
	if s.has(queryFaults...) {
		return s.completedByQuery(r)
	}
	if strings.Contains(string(r.params["ref"]), visitsOfUser) {
		return s.complete(object{"completion": object{"values": s.visits(r)}}), nil
	}
	if strings.Contains(string(r.params["ref"]), notesOfUser) {
		users := []string{r.user}
		if s.has("completions name all users") {
			users = []string{"alice", "bob"}
		}
		return s.complete(object{"completion": object{"values": users, "total": len(users)}}), nil
	}
	n := 2
	if s.has("long completions") {
		n = 101
	}
	values := make([]string, n)
	if s.has("completions of all users") {
		values[0] = s.said.get("topic")
	}
	return s.complete(object{"completion": object{"values": values, "total": s.or("more values than in total", 1, n)}}), nil
}
