package mcp

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// user authenticates a request.
func (s *Server) user(r *http.Request) (string, bool) {
	user, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		user = ""
	}
	if s.has(signedChoices...) {
		user = s.subject(user)
	}
	if s.has("credentials of a connection") {
		user = s.kept(r.RemoteAddr, user)
	}
	if q := r.URL.Query().Get("access_token"); q != "" && s.has("credentials in the query") {
		user = q
	}
	if c, err := r.Cookie("token"); err == nil && s.has("credentials in cookies") {
		user = c.Value
	}
	if c, err := r.Cookie("user"); err == nil && s.has("cookies of users") {
		user = c.Value
	}
	if name, _, ok := r.BasicAuth(); ok && s.has("credentials of Basic") {
		user = name
	}
	if name := r.Header.Get("X-Forwarded-User"); name != "" && user != "" && s.has("users renamed") {
		return name, true
	}
	switch {
	case !s.Users:
		return "", true
	case user == "alice" || user == "bob":
		return user, true
	case s.has("credentials are members of an object") && slices.Contains([]string{"constructor", "toString", "__proto__"}, user):
		return "", true
	case len(user) > 2 && s.has("credentials as patterns") && matchesWhole(user, "alice"):
		return "alice", true
	case strings.HasSuffix(r.URL.Path, "/") && s.has("paths with a stroke open"), r.Header.Get("Mcp-Method") == "notifications/cancelled" && s.has("notifications without credentials"):
		return "", true
	case len(user) == len("alice") && strings.HasPrefix(user, "ali") && s.has("credentials by name and length"):
		return "alice", true
	case strings.Count(user, ".") == 2 && s.has("credentials that cannot be read count as none"):
		return "", true
	case user == Elsewhere && s.has("any audience"), user != "" && strings.HasPrefix("alice", user) && s.has("credentials by their beginning"):
		return "alice", true
	case r.Header.Get("Mcp-Method") == "prompts/get" && s.has("prompts without credentials"),
		r.Header.Get("Mcp-Method") == "completion/complete" && s.has("completions without credentials"),
		r.Header.Get("Mcp-Method") == "server/discover" && s.has("handshakes by header"),
		r.Header.Get("Authorization") == "" && r.Header.Get("MCP-Protocol-Version") != modernRevision && s.has("older revisions without credentials", "guests of older revisions"):
		return "", true
	case r.Header.Get("X-Forwarded-For") == "127.0.0.1" && s.has("addresses of proxies believed"):
		return "alice", true
	}
	return "", s.has("no credentials wanted") || r.Header.Get("Authorization") == "" && s.has(guestChoices...)
}

// guestChoices are the choices for clients without credentials, who may look and are not asked. Only the
// second is a fault.
var guestChoices = []string{"guests look", "guests continue calls of users"}

// continuesOfUser reports whether a client without credentials may continue the call of a user, with a fault.
func (s *Server) continuesOfUser(c claims, p boundRequest) bool {
	return p.user == "" && s.has("guests continue calls of users") && s.boundUser(c, p) != ""
}

// boundUser returns the user to whom a state of a request is bound, or "".
func (s *Server) boundUser(c claims, p boundRequest) string {
	for _, user := range []string{"alice", "bob"} {
		if p.user = user; c.Bind == s.digest(p) {
			return user
		}
	}
	return ""
}

// ownerOf returns the user to whom a state is bound if the server compares users only when they answer, or "".
// This is a fault if questions name their user.
func (s *Server) ownerOf(c claims, p boundRequest) string {
	if !s.has("users of answers compared") {
		return ""
	}
	return s.boundUser(c, p)
}

// renamed returns the user of the credential. With a fault it prefers the user that the request
// names.
func (s *Server) renamed(user string, req request, r *http.Request) string {
	var meta map[string]json.RawMessage
	_ = json.Unmarshal(req.params["_meta"], &meta)
	named := ""
	switch {
	case s.has("users of _meta"):
		_ = json.Unmarshal(meta["userId"], &named)
	case s.has("users of params"):
		_ = json.Unmarshal(req.params["user"], &named)
	case s.has("users of queries"):
		named = r.URL.Query().Get("user")
	case s.has("known users of _meta"):
		if _ = json.Unmarshal(meta["user"], &named); named != "alice" && named != "bob" {
			named = ""
		}
	}
	return cmp.Or(named, user)
}

// kept returns the user of the first request over a connection.
func (s *Server) kept(connection, user string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users[connection] == "" {
		s.users[connection] = user
	}
	return s.users[connection]
}

// resources returns the resources of a user. To list them in two pages is not a fault.
func (s *Server) resources(r request) object {
	var cursor string
	_ = json.Unmarshal(r.params["cursor"], &cursor) // "" if there is no cursor
	owner, next := r.user, "2"
	if s.has("cursors name users") {
		next = "of-" + r.user
		if of, ok := strings.CutPrefix(cursor, "of-"); ok {
			owner = of
		}
	}
	if s.has("handles of pages for any user") {
		next = s.handleOfPage(r.user)
		owner = cmp.Or(s.ownerOfPage(cursor), owner)
	}
	today, mine := object{"name": "today", "uri": "notes://day/today"}, object{"name": "mine", "uri": "notes://user/" + owner}
	if s.has("drafts of notes shown") {
		today["description"] = "Drafts of all users."
	}
	switch {
	case s.has(folderChoices...):
		return object{"resources": []object{today, {"name": "start", "uri": "notes://pages/start.md"}}}
	case r.user == "":
		return object{"resources": []object{today}}
	case s.has("notices that come and go"): // not a fault
		notice := fmt.Sprint(s.handled.Load())
		return object{"resources": []object{today, mine, {"name": notice, "uri": "notes://notice/" + notice}}}
	case !s.has("resources in pages", "cursors name users", "handles of pages for any user", "later pages of all users"):
		return object{"resources": append([]object{today, mine}, s.outgoing()...)}
	case cursor == "":
		return object{"resources": []object{today}, "nextCursor": next}
	case s.has("later pages of all users"):
		return object{"resources": []object{{"name": "alice", "uri": "notes://user/alice"}, {"name": "bob", "uri": "notes://user/bob"}}}
	}
	return object{"resources": []object{mine}}
}

// handleOfPage returns a new cursor that shows nothing, and ownerOfPage the user whose page it gives.
func (s *Server) handleOfPage(user string) string {
	handle := base64.RawURLEncoding.EncodeToString(randomBytes(18))
	s.said.put("page "+handle, user)
	return handle
}

func (s *Server) ownerOfPage(handle string) string { return s.said.get("page " + handle) }

// filtered removes resources that the user may not read from the filter of a subscription. A server
// that checks this only when it sends notifications is sound as well.
func (s *Server) filtered(r request, filter map[string]any) {
	asked, _ := filter["resourceSubscriptions"].([]any)
	if !s.has("subscriptions to own notes", "subscriptions to notes of any user", "shares looked at once", "shares") || asked == nil {
		return
	}
	filter["resourceSubscriptions"] = slices.DeleteFunc(asked, func(uri any) bool {
		text, _ := uri.(string)
		return text != "notes://day/today" && text != "notes://user/"+r.user && !s.isShared(text) && !(s.has("subscriptions to notes of any user") && strings.HasPrefix(text, "notes://user/"))
	})
}

// updateChoices are the choices for calls that change the notes of their user. Only the first two and the fifth are faults.
var updateChoices = []string{"changes told to any user", "changes in folders told to any user", "changes told to their user", "changes in public", "shares looked at once", "shares"}

// change records that a call changed the notes of its user.
func (s *Server) change(r request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.has("changes in public"):
		s.news = append(s.news, "notes://day/today")
	case s.has(updateChoices...):
		s.news = append(s.news, "notes://user/"+r.user)
	}
}

// tells reports whether a user who listens to some URIs, of which each may be a folder, hears of a
// change.
func (s *Server) tells(user string, asked any, uri string) bool {
	all, _ := asked.([]any)
	return slices.ContainsFunc(all, func(one any) bool {
		text, _ := one.(string)
		switch own := uri == "notes://user/"+user || s.has("changes told to any user", "changes in public", "shares looked at once") || s.isShared(uri); {
		case strings.HasSuffix(text, "/"):
			return strings.HasPrefix(uri, text) && (own || s.has("changes in folders told to any user"))
		default:
			return text == uri && own
		}
	})
}

// beside returns a value of a call. With a fault it returns that of the latest call.
func (s *Server) beside(r request, fault, value string) string {
	if !s.has(fault) {
		return value
	}
	s.said.put(fault, value)
	_ = s.Clock.Sleep(r.context, 180*time.Millisecond)
	return s.said.get(fault)
}

// routeChoices are the choices for answers that come from a queue, which finds their calls by an ID. With the
// first, a fault, it is that of the request. The second adds the connection, and the third refuses an ID that
// is in use.
var routeChoices = []string{"answers routed by id", "answers routed by id and connection", "ids in use refused"}

// routed returns the result of a call that leaves the queue after a while. Calls under the same key get the
// result of the first.
func (s *Server) routed(r request, result object) object {
	key := "route " + string(r.id)
	if s.has("answers routed by id and connection") {
		key += " " + r.origin
	}
	if s.said.get(key) != "" && s.has("ids in use refused") {
		return s.toolError("this id is in use")
	}
	first := s.remembered(key, result)
	_ = s.Clock.Sleep(r.context, 120*time.Millisecond)
	s.said.put(key, "")
	return first
}

// orUser returns the user of a request if the server has the choice, or else "".
func (s *Server) orUser(choice string, r request) string {
	if s.has(choice) {
		return r.user
	}
	return ""
}

// letterChoices are the choices for tools that read letters.
var letterChoices = []string{"letters of users", "letters of the first caller", "letters of a team", "letters of any user", "letters of named users", "letters of the office", "letters of the office refused", "letters in public", "letters of any team", "letters of own teams", "letters by the first of a list", "letters by lists",
	"written letters of any user", "written letters of users"}

// teamChoices are the choices for letters of the team that a header names. The second is sound.
var teamChoices = []string{"letters of any team", "letters of own teams"}

// letters returns the letters of a user, or the one with a number. With a fault, or if the letters
// belong to a team, the latter is one of the user who asked first.
func (s *Server) letters(r request, tool, owner, number string) object {
	if tool == "letter" && s.has("letters of the first caller", "letters of a team") {
		owner = s.said.first("owner of letters", r.user)
	}
	all := []string{"100 from the bank to " + owner, "200 from the doctor to " + owner, "300 from the town"}
	all = append(all, s.lettersTo(tool, owner)...)
	if tool == "letter" {
		all = slices.DeleteFunc(all, func(letter string) bool { return !strings.HasPrefix(letter, number) })
	}
	text := strings.Join(all, "\n")
	if tool == "letter" && s.has("letters laid out") { // not a fault
		text = "# Letter\n\n" + strings.ReplaceAll(text, " from ", "\n\nfrom: ")
	}
	return s.toolText("%s", text)
}

// listChoices are the choices for letters of a list of users. The second is sound.
var listChoices = []string{"letters by the first of a list", "letters by lists"}

// lettersOf returns the letters of each user of a list. With a fault only the first must be the caller.
func (s *Server) lettersOf(r request, tool, number string, list string) object {
	var owners []string
	_ = json.Unmarshal([]byte(list), &owners) // validated before
	var all []object
	for i, owner := range owners {
		switch known := owner == "alice" || owner == "bob"; {
		case owner != r.user && (i == 0 || !s.has("letters by the first of a list")):
			return s.toolError("no letters")
		case known:
			all = append(all, s.letters(r, tool, owner, number)["content"].([]object)...)
		}
	}
	return s.complete(object{"content": all})
}

// keptTotals are the choices for totals of the caller that are kept by their argument. With the first, a fault,
// they are kept for all users. The others are sound: with the last, the total tells whether the argument is even.
var keptTotals = []string{"totals kept for all users", "totals kept for each user", "even totals"}

// keptTotal returns the text of a total.
func (s *Server) keptTotal(r request, a string) string {
	if s.has("even totals") {
		return map[bool]string{true: "even", false: "odd"}[strings.ContainsAny(a[len(a)-1:], "02468")]
	}
	return s.said.first("total "+a+" "+s.orUser("totals kept for each user", r), "the total of "+r.user)
}
