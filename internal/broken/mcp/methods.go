package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A request is a JSON-RPC request of either era.
type request struct {
	id     json.RawMessage
	method string
	params map[string]json.RawMessage
	// verified is the member requestState to verify; nil: the one that is read.
	verified json.RawMessage
	body     []byte // as received
	user     string
	origin   string // the address of the connection
	// forwarded is the host in X-Forwarded-Host.
	forwarded string
	team      string // in X-Team
	address   string // in X-Forwarded-For
	modern    bool
	version   string
	session   string
	context   context.Context
}

// A failure is a JSON-RPC error and its HTTP status.
type failure struct {
	code, status int
	message      string
	data         any
	header       string // the cause, with a fault
	number       int    // reveals the cause, with a fault
}

func invalidParams(message string) *failure {
	return &failure{code: -32602, status: 400, message: message}
}

func internalError() *failure { return &failure{code: -32603, status: 500, message: "internal error"} }

type object = map[string]any

// driftPeriod is the number of requests after which a reading changes.
const driftPeriod = 4

// handle answers a request.
func (s *Server) handle(r request) (object, *failure) {
	s.handled.Add(1)
	if r.modern && r.params["requestState"] != nil && strings.HasSuffix(r.method, "/list") && s.has("state on lists") {
		return nil, invalidParams("unexpected requestState")
	}
	if s.lacks(r.method) {
		return nil, &failure{code: -32601, status: 404, message: "method not found"}
	}
	if s.Users && r.user == "" && s.has("guests of older revisions") { // not a fault
		return s.guest(r)
	}
	switch r.method {
	case "server/discover":
		versions := legacyRevisions
		if !s.has(Older) {
			versions = append([]string{modernRevision}, legacyRevisions...)
		}
		found := object{"supportedVersions": versions, "capabilities": s.capabilities(), "ttlMs": 0, "cacheScope": "private"}
		return s.complete(s.instructed(found)), nil
	case "tools/list":
		return s.toolList(r)
	case "prompts/list":
		if s.has("prompts declared alone") {
			break
		}
		if s.has("tools that ask are destructive, and no prompts") {
			return s.listed(object{"prompts": []object{}}), nil
		}
		return s.listed(object{"prompts": s.prompts()}), nil
	case "resources/list":
		return s.listed(s.resources(r)), nil
	case "resources/templates/list":
		return s.listed(s.templates()), nil
	case "resources/read":
		return s.readResource(r)
	case "prompts/get":
		return s.prompt(r)
	case "tools/call":
		return s.tool(r)
	case "completion/complete":
		return s.completion(r)
	case "ping":
		if !r.modern || s.has("unknown methods answered") {
			return s.complete(object{}), nil
		}
	}
	if s.has("unknown methods answered") {
		return s.complete(object{}), nil
	}
	return nil, &failure{code: s.or("undefined code", -32044, -32601), status: s.or("unknown methods with status 200", 200, 404), message: "method not found"}
}

// lacks reports whether the server, rightly, has only methods of another kind.
func (s *Server) lacks(method string) bool {
	kind, _, _ := strings.Cut(method, "/")
	return kind == "tools" && s.has("prompts alone", "resources alone", "discovery alone") || kind == "prompts" && s.has("resources alone", "discovery alone") ||
		kind == "resources" && s.has("prompts alone", "discovery alone")
}

// guest answers requests without credentials. Guests have their own tool.
func (s *Server) guest(r request) (object, *failure) {
	switch r.method {
	case "tools/list":
		return s.listed(object{"tools": []object{{"name": "hours", "inputSchema": object{"type": "object"}}}}), nil
	case "ping":
		return s.complete(object{}), nil
	default:
		return nil, &failure{code: -32601, status: 404, message: "method not found"}
	}
}

// instructed adds instructions for clients to a result.
func (s *Server) instructed(found object) object {
	if s.has("keys in instructions") {
		found["instructions"] = "Call the service with sk-live-4f9a1c77e0b2d35688aa."
	}
	if s.has(teamChoices...) {
		found["instructions"] = "Users of several teams name one in X-Team (alice or bob)."
	}
	return found
}

// or returns broken if the server has the fault, or else sound.
func (s *Server) or(fault string, broken, sound int) int {
	if s.has(fault) {
		return broken
	}
	return sound
}

func (s *Server) capabilities() object {
	all := object{"tools": object{"listChanged": true}, "prompts": object{}, "resources": object{}, "completions": object{}}
	maps.DeleteFunc(all, func(kind string, _ any) bool { return s.lacks(kind) })
	return all
}

// complete adds the members that every result has.
func (s *Server) complete(result object) object {
	if result["resultType"] = "complete"; s.has("results of another type") {
		result["resultType"] = "done"
	}
	result["_meta"] = object{"io.modelcontextprotocol/serverInfo": object{"name": "broken", "version": "1"}}
	return result
}

// toolText returns the result of a tool with a text.
func (s *Server) toolText(format string, args ...any) object {
	return s.complete(object{"content": textContent(format, args...)})
}

// toolError returns the result of a tool that failed.
func (s *Server) toolError(format string, args ...any) object {
	return s.complete(object{"isError": true, "content": textContent(format, args...)})
}

func (s *Server) listed(result object) object {
	result["ttlMs"], result["cacheScope"] = 0, "private"
	if s.has("results without cache members") {
		delete(result, "ttlMs")
	}
	return s.complete(result)
}

// notesOfUser is the URI template of users' resources.
const notesOfUser = "notes://user/{user}"

// visitsOfUser is the URI template of resources whose days are completed beside a user.
const visitsOfUser = "notes://user/{user}/{day}"

// visitChoices are the choices for these resources. The first is a fault.
var visitChoices = []string{"visits of any user completed", "own visits completed", "visits in public"}

// visits returns the completions of visitsOfUser. With a fault it believes the user in the context.
func (s *Server) visits(r request) []string {
	var argument struct{ Name string }
	var given struct{ Arguments struct{ User string } }
	_ = json.Unmarshal(r.params["argument"], &argument) // empty if it is of another type
	_ = json.Unmarshal(r.params["context"], &given)
	owner := cmp.Or(given.Arguments.User, r.user)
	switch {
	case argument.Name == "user":
		return []string{r.user}
	case owner == r.user, s.has("visits of any user completed", "visits in public") && slices.Contains([]string{"alice", "bob"}, owner):
		return []string{"visit-of-" + owner}
	}
	return []string{}
}

func (s *Server) toolList(r request) (object, *failure) {
	names := []string{"deploy", "echo", "grow"}
	var cursor string
	if raw := r.params["cursor"]; raw != nil {
		if string(raw) == `"-1"` && s.has("cursors as offsets") {
			return nil, internalError()
		}
		if json.Unmarshal(raw, &cursor) != nil {
			return nil, invalidParams("unknown cursor")
		}
	}
	switch {
	case s.has("cursors as objects", "cursors show hidden tools", "unknown places are faults"), s.has(numberedCursors...): // the first is sound
		return s.toolsFrom(cursor)
	case r.params["cursor"] != nil && cursor != "2" && !s.has("any cursor"):
		return nil, invalidParams("unknown cursor")
	}
	if cursor == "2" {
		names = []string{"remove", "runs", "slow", "total"}
		for _, name := range slices.Sorted(maps.Keys(tools)) {
			if tools[name].choices != nil && s.offers(name) {
				names = append(names, name)
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.grown {
		if cursor == "2" {
			names = append(names, fmt.Sprintf("grown%d", i))
		}
	}
	if s.count++; s.has("changing order") && s.count%2 == 0 {
		slices.Reverse(names)
	}
	var entries []object
	for _, n := range names {
		entries = append(entries, s.entry(n))
	}
	if desk := r.user; cursor == "" && desk != "" && s.has("tools of users", "tools of any user", "desks of alice") {
		if s.has("desks of alice") {
			desk = "alice"
		}
		entries = append(entries, object{"name": desk + "_desk", "description": "clears the desk after a confirmation", "inputSchema": object{"type": "object"}})
	}
	result := s.listed(object{"tools": entries})
	if s.has("one cache for all users") {
		entries[0]["description"] = fmt.Sprintf("%v, for %s", entries[0]["description"], r.user)
		result["cacheScope"] = "public"
	}
	if cursor == "" || s.has("pages without an end") {
		result["nextCursor"] = "2"
	}
	if cursor != "" && s.has("later pages without a time to live") {
		delete(result, "ttlMs")
	}
	return result, nil
}

// placed returns the request that a token is bound to.
func (r request) placed(target string) boundRequest {
	return boundRequest{method: r.method, target: target, user: r.user, connection: r.origin, arguments: r.params["arguments"]}
}
