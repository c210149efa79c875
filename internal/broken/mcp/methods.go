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

// inputSchemas are the input schemas of the tools. A header repeats the argument zone of deploy.
var inputSchemas = map[string]string{
	"deploy":   `{"type":"object","properties":{"env":{"type":"string"},"zone":{"type":"string","default":"north","x-mcp-header":"Zone"}},"required":["env","zone"],"additionalProperties":false}`,
	"remove":   `{"type":"object","properties":{"env":{"type":"string"},"zone":{"type":"string"}},"required":["env"],"additionalProperties":false}`,
	"Remove":   `{"type":"object","properties":{"env":{"type":"string"},"zone":{"type":"string"}},"required":["env"],"additionalProperties":false}`,
	"echo":     `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}`,
	"slow":     `{"type":"object","properties":{"ms":{"type":"integer","minimum":1},"url":{"type":"string","format":"uri"}},"additionalProperties":false}`,
	"total":    `{"type":"object","properties":{"a":{"type":"integer","default":2}},"required":["a"],"additionalProperties":false}`,
	"grow":     `{"type":"object","additionalProperties":false}`,
	"runs":     `{"type":"object","additionalProperties":false}`,
	"page":     `{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}`,
	"letter":   `{"type":"object","properties":{"number":{"type":"integer"}},"required":["number"],"additionalProperties":false}`,
	"get_one":  `{"type":"object","properties":{"number":{"type":"integer"}},"required":["number"],"additionalProperties":false}`,
	"give":     `{"type":"object","properties":{"pieces":{"type":"integer"}},"required":["pieces"],"additionalProperties":false}`,
	"buy":      `{"type":"object","properties":{"grams":{"type":"number","exclusiveMinimum":0}},"required":["grams"],"additionalProperties":false}`,
	"mail":     `{"type":"object","additionalProperties":false}`,
	"ledger":   `{"type":"object","properties":{"cursor":{"type":"string"}},"additionalProperties":false}`,
	"notices":  `{"type":"object","properties":{"cursor":{"type":"string"}},"required":["cursor"],"additionalProperties":false}`,
	"find":     `{"type":"object","properties":{"tags":{"type":"string"}},"required":["tags"],"additionalProperties":false}`,
	"restore":  `{"type":"object","properties":{"data":{"type":"string"}},"required":["data"],"additionalProperties":false}`,
	"forget":   `{"type":"object","properties":{"env":{"type":"string"}},"required":["env"],"additionalProperties":false}`,
	"member":   `{"type":"object","properties":{"user":{"type":"string","enum":["alice","bob"]},"role":{"type":"string","enum":["member","none"]}},"required":["user","role"],"additionalProperties":false}`,
	"add":      `{"type":"object","properties":{"env":{"type":"string"}},"required":["env"],"additionalProperties":false}`,
	"edit":     `{"type":"object","properties":{"env":{"type":"string"},"text":{"type":"string"}},"required":["env","text"],"additionalProperties":false}`,
	"write":    `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}`,
	"board":    `{"type":"object","additionalProperties":false}`,
	"announce": `{"type":"object","properties":{"title":{"type":"string"}},"required":["title"],"additionalProperties":false}`,
	"caption":  `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}`,
	"comment":  `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}`,
	"summary":  `{"type":"object","additionalProperties":false}`,
	"rows":     `{"type":"object","properties":{"sql":{"type":"string","examples":["select a from totals"]}},"required":["sql"],"additionalProperties":false}`,
	"compare":  `{"type":"object","properties":{"path":{"type":"string"},"other":{"type":"string","examples":["plain.txt"]}},"required":["path","other"],"additionalProperties":false}`,
	"log":      `{"type":"object","properties":{"revision":{"type":"string","default":"main"}},"required":["revision"],"additionalProperties":false}`,
	"rename":   `{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`,
	"profile":  `{"type":"object","additionalProperties":false}`,
	"pin":      `{"type":"object","additionalProperties":false}`,
	"order":    `{"type":"object","properties":{"pieces":{"type":"integer","minimum":1,"maximum":20}},"required":["pieces"],"additionalProperties":false}`,
	"put":      `{"type":"object","properties":{"thing":{"type":"string","enum":["chair","desk"]}},"required":["thing"],"additionalProperties":false}`,
	"checkout": `{"type":"object","additionalProperties":false}`,
	"trip":     `{"type":"object","properties":{"env":{"type":"string","enum":["prod","lake","wood"]}},"required":["env"],"additionalProperties":false}`,
	"export":   `{"type":"object","properties":{"env":{"type":"string"}},"required":["env"],"additionalProperties":false}`,
	"leave":    `{"type":"object","additionalProperties":false}`,
	"return":   `{"type":"object","additionalProperties":false}`,
	"share":    `{"type":"object","additionalProperties":false}`,
	"unshare":  `{"type":"object","additionalProperties":false}`,
	"retract":  `{"type":"object","additionalProperties":false}`,
	"link":     `{"type":"object","properties":{"env":{"type":"string"},"zone":{"type":"string"}},"required":["env","zone"],"additionalProperties":false}`,
	"preview":  `{"type":"object","properties":{"url":{"type":"string","format":"uri"}},"required":["url"],"additionalProperties":false}`,
}

// officeScope is an argument with a value for some users.
const officeScope = `"scope":{"type":"string","enum":["mine","office"],"description":"office: only for the office"}`

// worthProperty is an amount as a text.
const worthProperty = `"amount":{"type":"string","pattern":"^[0-9.]{1,9}$","default":"5"}`

// referenceProperty is a reference that the client gives to a call.
const referenceProperty = `"reference":{"type":"string","pattern":"^[a-z0-9-]{1,40}$"}`

// bidProperty is the amount of a bid.
const bidProperty = `"amount":{"type":"integer","minimum":1,"maximum":100000000}`

// moreArguments are arguments that only a choice adds to a tool.
var moreArguments = []struct{ tool, choice, property string }{
	{"remove", "labels with a tag", `"labels":{"type":"object","properties":{"tag":{"type":"string"}}}`},
	{"remove", "labels of any members", `"labels":{"type":"object"}`},
	{"remove", "lists of labels", `"labels":{"type":"array","items":{"type":"string"}}`},
	{"remove", "receipts of any user", referenceProperty},
	{"remove", "receipts of users", referenceProperty},
	{"remove", "receipts of known places", referenceProperty},
	{"remove", "receipts of users and known places", referenceProperty},
	{"remove", "amounts", `"amount":{"type":"number","minimum":0}`},
	{"remove", "answers override bids", bidProperty},
	{"remove", "bids", bidProperty},
	{"remove", "bids with remarks", bidProperty},
	{"remove", "worths", worthProperty},
	{"remove", "worths read twice", worthProperty},
	{"remove", "bins", `"bin":{"type":"string","pattern":"^[A-Z][0-9]{1,4}$"},"count":{"type":"integer","minimum":1,"maximum":9999}`},
	{"remove", "degrees", `"degrees":{"type":"integer","minimum":-40,"maximum":40}`},
	{"remove", "sums", `"pieces":{"type":"integer","minimum":0,"maximum":1000000}`},
	{"letter", "letters of any user", `"of":{"type":"string"}`},
	{"letter", "letters of named users", `"of":{"type":"string"}`},
	{"letter", "letters by the first of a list", `"of":{"type":"array","items":{"type":"string"}}`},
	{"letter", "letters by lists", `"of":{"type":"array","items":{"type":"string"}}`},
	{"letter", "letters of the office", officeScope},
	{"letter", "letters of the office refused", officeScope},
	{"letter", "letters in public", `"scope":{"type":"string","enum":["mine","office"]}`},
	{"total", "details", `"details":{"type":"boolean"}`},
	{"total", "units", `"unit":{"type":"string"}`},
	{"total", "sorts in queries", `"sort":{"type":"string"}`},
	{"total", "sorts of a list", `"sort":{"type":"string"}`},
	{"total", "lists of units", `"units":{"type":"array","items":{"type":"string"},"uniqueItems":true}`},
}

// schemaOf returns the input schema of a tool.
func (s *Server) schemaOf(name string) string {
	schema := inputSchemas[name]
	for _, more := range moreArguments {
		if name == more.tool && s.has(more.choice) {
			schema = strings.Replace(schema, `"properties":{`, `"properties":{`+more.property+`,`, 1)
		}
	}
	if name == "remove" && s.has(receiptChoices[2:]...) {
		schema = strings.Replace(schema, `"required":[`, `"required":["reference",`, 1)
	}
	if name == "deploy" && s.has("two parameter headers") { // not a fault
		schema = strings.Replace(schema, `"env":{`, `"env":{"x-mcp-header":"Env",`, 1)
	}
	if name == "total" && s.has("numbers in headers") { // not a fault
		schema = strings.Replace(schema, `"a":{`, `"a":{"x-mcp-header":"A",`, 1)
	}
	if s.has("places of a list") { // not a fault
		schema = strings.Replace(schema, `"env":{`, `"env":{"enum":["north","south"],`, 1)
	}
	if s.has("places with a pattern") { // not a fault
		schema = strings.Replace(schema, `"env":{`, `"env":{"pattern":"^[^ ]{2,40}$",`, 1)
	}
	if name == "rename" && s.has("profiles of free members") { // not a fault
		schema = strings.Replace(schema, `"required"`, `"additionalProperties":{"type":"string"},"required"`, 1)
	}
	if name == "rename" && s.has(nestedProfiles) { // not a fault
		schema = `{"type":"object","properties":{"changes":` + schema + `},"required":["changes"],"additionalProperties":false}`
	}
	if name == "page" && s.has("pages of notes") { // not a fault
		schema = strings.ReplaceAll(strings.Replace(schema, `"type":"string"`, `"type":"string","examples":["plain.txt"]`, 1), `"path"`, `"note"`)
	}
	if name == "rows" && s.has("filters in queries") {
		schema = strings.NewReplacer(`"sql"`, `"filter"`, "select a from totals", "north").Replace(schema)
	}
	if name == "total" {
		schema = strings.Replace(schema, `"required":["a"]`, map[bool]string{true: `"required":["a","unit"]`, false: `"required":["a"]`}[s.has("units")], 1)
	}
	return schema
}

// unusual returns the schema of a tool, or with a choice an unusual or invalid form of it.
func (s *Server) unusual(n, schema string) string {
	switch {
	case s.has("descriptions in tag characters") && n == "echo":
		schema = strings.Replace(schema, `"type":"string"`, "\"type\":\"string\",\"description\":\"\U000E0069\U000E0067\U000E006E\"", 1)
	case s.has("descriptions without width") && n == "echo":
		schema = strings.Replace(schema, `"type":"string"`, "\"type\":\"string\",\"title\":\"Text\u200b\u200d\u200b\u2062\u200d\"", 1)
	case s.has("flags of emoji") && n == "echo": // of Wales, and a family with a variation selector
		schema = strings.Replace(schema, `"type":"string"`, "\"type\":\"string\",\"description\":\""+
			"\U0001F3F4\U000E0067\U000E0062\U000E0077\U000E006C\U000E0073\U000E007F \U0001F469\u200d\u2764\ufe0f\u200d\U0001F469\"", 1)
	case s.has("schemas of unknown types") && n == "echo":
		schema = strings.Replace(schema, `"type":"string"`, `"type":"text"`, 1)
	case s.has("schemas of draft 4") && n == "page":
		schema = strings.Replace(schema, `"type":"string"`, `"type":"number","minimum":0,"exclusiveMinimum":true`, 1)
	case s.has("texts of 6,000 characters at most"):
		schema = strings.ReplaceAll(schema, `"type":"string"`, `"type":"string","maxLength":6000`)
	case s.has("arguments of several types") && n == "deploy":
		schema = strings.Replace(schema, `"env":{"type":"string"}`, `"env":{"type":["string","integer","array"]}`, 1)
	}
	return schema
}

// entry returns the list entry of a tool.
func (s *Server) entry(n string) object {
	schema := s.schemaOf(n)
	if schema == "" || s.has("no schema") && n == "grow" {
		schema = map[bool]string{true: `"none"`, false: `{"type":"object"}`}[schema != ""]
	}
	t := object{"name": n, "description": n, "inputSchema": json.RawMessage(s.unusual(n, schema))}
	switch n {
	case "deploy", "remove":
		if s.has("tools that ask are destructive, and no prompts") {
			t["annotations"] = object{"destructiveHint": true}
		}
		if n == "remove" && s.has("removals counted", "removals counted in words") { // the first is not a fault
			t["outputSchema"] = json.RawMessage(`{"type":"object","properties":{"count":{"type":"integer"}},"required":["count"]}`)
		}
		if !s.has("tools that do not say that they ask") {
			t["description"] = n + " after a confirmation"
		}
		if n == "remove" && s.has(editChoices...) {
			t["description"] = "publishes the text of a place after a confirmation"
		}
	case "total":
		t["annotations"], t["outputSchema"] = object{"readOnlyHint": true}, json.RawMessage(`{"type":"object","properties":{"sum":{"type":"integer"}},"required":["sum"]}`)
		if s.has("tasks") {
			t["execution"] = object{"taskSupport": "optional"}
		}
	case "letter", "mail":
		t["annotations"], t["description"] = object{"readOnlyHint": true}, "your "+n
		if n == "letter" && s.has("letters of a team") {
			t["description"] = "a letter to your team"
		}
	case "get_one":
		t["description"] = "fetches one of your letters"
	case "page", "ledger", "notices", "preview", "board", "profile", "rows", "compare", "log", "summary":
		if bare := n == "preview" && s.has("previews without annotations") || n == "log" && s.has("revisions of places"); !bare {
			t["annotations"] = object{"readOnlyHint": true}
		}
		if n == "ledger" && s.has("totals are counted") {
			t["description"] = "the ledger, and how often a total was taken"
		}
		if s.has("entities in paths read", "paths in XML") { // the second is sound
			t["description"] = n + " of a path in XML"
		}
	case "forget", "leave", "return", "retract", "member", "share", "unshare":
		t["description"] = rightsText[n]
		if n == "leave" && s.has("duties end with new calls") {
			t["description"] = "ends your duty: no new calls"
		}
		if n == "retract" && s.has("withdrawals of removals") {
			t["description"] = "withdraws all calls to remove that wait for an answer"
		}
	case "pin":
		t["annotations"], t["description"] = object{"readOnlyHint": true}, "your PIN"
	case "export":
		t["description"] = s.consentText()
	case "trip":
		t["description"] = "books a trip after an approval, which holds for later trips to the same place"
	case "order":
		t["description"] = "orders pieces after a confirmation"
	case "put":
		t["description"] = "puts a thing in the basket"
	case "checkout":
		t["description"] = "orders the things in the basket after a confirmation"
	case "add":
		t["description"] = "puts a place on the shelf"
	case "restore":
		t["description"] = "restores pages (.txt) from a zip archive in base64"
	case "slow", "echo", "grow", "runs":
		t["annotations"] = object{"destructiveHint": true}
	}
	return t
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
		for _, name := range slices.Sorted(maps.Keys(optionalTools)) {
			if s.offers(name) {
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
	var tools []object
	for _, n := range names {
		tools = append(tools, s.entry(n))
	}
	if desk := r.user; cursor == "" && desk != "" && s.has("tools of users", "tools of any user", "desks of alice") {
		if s.has("desks of alice") {
			desk = "alice"
		}
		tools = append(tools, object{"name": desk + "_desk", "description": "clears the desk after a confirmation", "inputSchema": object{"type": "object"}})
	}
	result := s.listed(object{"tools": tools})
	if s.has("one cache for all users") {
		tools[0]["description"] = fmt.Sprintf("%v, for %s", tools[0]["description"], r.user)
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
