package mcp

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// A tool describes one of the tools of the server.
type tool struct {
	schema  string   // of its arguments
	text    string   // its description; "": its name
	hint    string   // an annotation that is true, or ""
	choices []string // of which it needs one to be listed; nil: it always is
}

// The annotations of tools.
const (
	readOnly    = "readOnlyHint"
	destructive = "destructiveHint"
)

// noValues is the schema of an object without members.
const noValues = `{"type":"object","additionalProperties":false}`

// valuesOf returns the schema of an object with some properties, all or some of which are required.
func valuesOf(properties string, required ...string) string {
	schema := `{"type":"object","properties":{` + properties + `},`
	if len(required) > 0 {
		schema += `"required":["` + strings.Join(required, `","`) + `"],`
	}
	return schema + `"additionalProperties":false}`
}

// textsOf returns the schema of an object with texts, which are all required.
func textsOf(names ...string) string {
	return valuesOf(`"`+strings.Join(names, `":{"type":"string"},"`)+`":{"type":"string"}`, names...)
}

// tools are the tools by name. A header repeats the argument zone of deploy.
var tools = map[string]tool{
	"deploy": {valuesOf(`"env":{"type":"string"},"zone":{"type":"string","default":"north","x-mcp-header":"Zone"}`, "env", "zone"), "", "", nil},
	"remove": {valuesOf(`"env":{"type":"string"},"zone":{"type":"string"}`, "env"), "", "", nil},
	"Remove": {valuesOf(`"env":{"type":"string"},"zone":{"type":"string"}`, "env"), "", "", []string{"two names of a tool"}},
	"echo":   {textsOf("text"), "", destructive, nil},
	"slow":   {valuesOf(`"ms":{"type":"integer","minimum":1},"url":{"type":"string","format":"uri"}`), "", destructive, nil},
	"total":  {valuesOf(`"a":{"type":"integer","default":2}`, "a"), "", readOnly, nil},
	"grow":   {noValues, "", destructive, nil},
	"runs":   {noValues, "", destructive, nil},

	"page":    {textsOf("path"), "", readOnly, slices.Concat([]string{"pages by path", "pages by their beginning", "pages of a folder"}, injections, archiveChoices, rootChoices)},
	"letter":  {valuesOf(`"number":{"type":"integer"}`, "number"), "your letter", readOnly, letterChoices},
	"mail":    {noValues, "your mail", readOnly, letterChoices},
	"get_one": {valuesOf(`"number":{"type":"integer"}`, "number"), "fetches one of your letters", "", unlistedChoices},
	"give":    {valuesOf(`"pieces":{"type":"integer"}`, "pieces"), "", "", []string{"gifts of any number", "gifts"}},
	"buy":     {valuesOf(`"grams":{"type":"number","exclusiveMinimum":0}`, "grams"), "", "", []string{"prices cut", "prices rounded up", "taxes cut"}}, // the first is a fault
	"ledger": {valuesOf(`"cursor":{"type":"string"}`), "", readOnly,
		[]string{"ledgers in pages", "totals are booked", "totals are counted", "counts in ledgers", "ledgers of the cursor's user"}},
	"notices": {textsOf("cursor"), "", readOnly, pagedChoices},
	"find":    {textsOf("tags"), "", "", tagChoices},
	"restore": {textsOf("data"), "restores pages (.txt) from a zip archive in base64", "", backupChoices},
	"forget":  {textsOf("env"), "deletes a place", "", []string{"deletions", "deletions looked at once"}},
	"leave":   {noValues, "ends your duty", "", []string{"duties", "duties looked at once", "duties end with new calls"}},
	"return":  {noValues, "begins your duty", "", []string{"duties", "duties looked at once", "duties end with new calls"}},
	"retract": {noValues, "withdraws all calls that wait for an answer", "", []string{"withdrawals", "withdrawals reach removals alone", "withdrawals of removals"}},
	"member": {valuesOf(`"user":{"type":"string","enum":["alice","bob"]},"role":{"type":"string","enum":["member","none"]}`, "user", "role"),
		"names or removes a member, who may deploy", "", membershipChoices},
	"share":       {noValues, "lets other users read your notes: shares them", "", shareChoices},
	"unshare":     {noValues, "takes the share of your notes back", "", shareChoices},
	"add":         {textsOf("env"), "puts a place on the shelf", "", shelfChoices},
	"edit":        {textsOf("env", "text"), "", "", editChoices},
	"write":       {textsOf("text"), "", "", boardChoices},
	"board":       {noValues, "", readOnly, slices.Concat(boardChoices, mappedChoices[:2])},
	"announce":    {textsOf("title"), "", "", envelopeChoices},
	"caption":     {textsOf("text"), "", "", trailChoices},
	"comment":     {textsOf("text"), "", "", summaryChoices},
	"summary":     {noValues, "", readOnly, summaryChoices},
	"rows":        {valuesOf(`"sql":{"type":"string","examples":["select a from totals"]}`, "sql"), "", readOnly, rowChoices},
	"compare":     {valuesOf(`"path":{"type":"string"},"other":{"type":"string","examples":["plain.txt"]}`, "path", "other"), "", readOnly, comparedChoices},
	"log":         {valuesOf(`"revision":{"type":"string","default":"main"}`, "revision"), "", readOnly, revisionChoices},
	"rename":      {`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`, "", "", profileChoices},
	"profile":     {noValues, "", readOnly, profileChoices},
	"pin":         {noValues, "your PIN", readOnly, approvalChoices},
	"order":       {valuesOf(`"pieces":{"type":"integer","minimum":1,"maximum":20}`, "pieces"), "orders pieces after a confirmation", "", slices.Concat(orderChoices, enteredChoices)},
	"transfer":    {valuesOf(`"amount":{"type":"integer","minimum":1,"maximum":5000}`, "amount"), "transfers an amount after a confirmation", "", slices.Concat(limitChoices, giveBackChoices)},
	"left":        {noValues, "what you may still transfer", readOnly, giveBackChoices},
	"list_orders": {noValues, "your orders", readOnly, enteredChoices},
	"put":         {valuesOf(`"thing":{"type":"string","enum":["chair","desk"]}`, "thing"), "puts a thing in the basket", "", basketChoices},
	"checkout":    {noValues, "orders the things in the basket after a confirmation", "", basketChoices},
	"trip": {valuesOf(`"env":{"type":"string","enum":["prod","lake","wood"]}`, "env"),
		"books a trip after an approval, which holds for later trips to the same place", "", tripChoices},
	"export":  {textsOf("env"), "gives your places to the client, asks for your consent, which is remembered", "", consentChoices},
	"link":    {textsOf("env", "zone"), "", "", linkChoices},
	"preview": {valuesOf(`"url":{"type":"string","format":"uri"}`, "url"), "", readOnly, previews},
}

// offers reports whether the server has a tool.
func (s *Server) offers(name string) bool {
	t, ok := tools[name]
	return ok && (t.choices == nil || s.has(t.choices...))
}

// otherTexts are descriptions that tools have with a choice.
var otherTexts = []struct{ tool, choice, text string }{
	{"letter", "letters of a team", "a letter to your team"},
	{"ledger", "totals are counted", "the ledger, and how often a total was taken"},
	{"page", "entities in paths read", "page of a path in XML"},
	{"page", "paths in XML", "page of a path in XML"}, // sound
	{"leave", "duties end with new calls", "ends your duty: no new calls"},
	{"retract", "withdrawals of removals", "withdraws all calls to remove that wait for an answer"},
	{"export", "consents for all users", "gives your places to the client, asks for your consent, which counts for all users"},
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

// A schemaChange is a change of the schema of a tool, or of every tool, with a choice.
type schemaChange struct{ tool, choice, from, to string }

// apply returns the schema of a tool with the first text changed.
func (c schemaChange) apply(s *Server, name, schema string) string {
	if c.tool != "" && c.tool != name || !s.has(c.choice) {
		return schema
	}
	return strings.Replace(schema, c.from, c.to, 1)
}

// schemaChanges are changes of what a tool takes. Only that of filters in queries is a fault.
var schemaChanges = []schemaChange{
	{"remove", "receipts of known places", `"required":[`, `"required":["reference",`},
	{"remove", "receipts of users and known places", `"required":[`, `"required":["reference",`},
	{"deploy", "two parameter headers", `"env":{`, `"env":{"x-mcp-header":"Env",`},
	{"total", "numbers in headers", `"a":{`, `"a":{"x-mcp-header":"A",`},
	{"", "places of a list", `"env":{`, `"env":{"enum":["north","south"],`},
	{"", "places with a pattern", `"env":{`, `"env":{"pattern":"^[^ ]{2,40}$",`},
	{"rename", "profiles of free members", `"required"`, `"additionalProperties":{"type":"string"},"required"`},
	{"page", "pages of notes", `"path":{"type":"string"}`, `"note":{"type":"string","examples":["plain.txt"]}`},
	{"page", "pages of notes", `["path"]`, `["note"]`},
	{"rows", "filters in queries", `"sql"`, `"filter"`},
	{"rows", "filters in queries", `["sql"]`, `["filter"]`},
	{"rows", "filters in queries", "select a from totals", "north"},
	{"total", "units", `"required":["a"]`, `"required":["a","unit"]`},
}

// schemaOf returns the input schema of a tool, or "".
func (s *Server) schemaOf(name string) string {
	schema := tools[name].schema
	for _, more := range moreArguments {
		if name == more.tool && s.has(more.choice) {
			schema = strings.Replace(schema, `"properties":{`, `"properties":{`+more.property+`,`, 1)
		}
	}
	for _, c := range schemaChanges {
		schema = c.apply(s, name, schema)
	}
	if name == "rename" && s.has(nestedProfiles) { // not a fault
		schema = valuesOf(`"changes":`+schema, "changes")
	}
	return schema
}

// unusualSchemas are unusual or invalid forms of schemas, which do not change what a tool takes.
var unusualSchemas = []schemaChange{
	{"echo", "descriptions in tag characters", `"type":"string"`, "\"type\":\"string\",\"description\":\"\U000E0069\U000E0067\U000E006E\""},
	{"echo", "descriptions without width", `"type":"string"`, "\"type\":\"string\",\"title\":\"Text\u200b\u200d\u200b\u2062\u200d\""},
	{"echo", "flags of emoji", `"type":"string"`, "\"type\":\"string\",\"description\":\"" + // of Wales, and a family with a variation selector
		"\U0001F3F4\U000E0067\U000E0062\U000E0077\U000E006C\U000E0073\U000E007F \U0001F469\u200d\u2764\ufe0f\u200d\U0001F469\""},
	{"echo", "schemas of unknown types", `"type":"string"`, `"type":"text"`},
	{"page", "schemas of draft 4", `"type":"string"`, `"type":"number","minimum":0,"exclusiveMinimum":true`},
	{"deploy", "arguments of several types", `"env":{"type":"string"}`, `"env":{"type":["string","integer","array"]}`},
}

// shownSchema returns the input schema of a tool as the list of tools shows it.
func (s *Server) shownSchema(name string) json.RawMessage {
	schema := s.schemaOf(name)
	switch {
	case schema == "":
		return json.RawMessage(`{"type":"object"}`)
	case s.has("no schema") && name == "grow":
		return json.RawMessage(`"none"`)
	case s.has("texts of 6,000 characters at most"):
		schema = strings.ReplaceAll(schema, `"type":"string"`, `"type":"string","maxLength":6000`)
	}
	for _, c := range unusualSchemas {
		schema = c.apply(s, name, schema)
	}
	return json.RawMessage(schema)
}

// entry returns the list entry of a tool.
func (s *Server) entry(name string) object {
	t := object{"name": name, "description": cmp.Or(tools[name].text, name), "inputSchema": s.shownSchema(name)}
	if hint := tools[name].hint; hint != "" {
		t["annotations"] = object{hint: true}
	}
	for _, o := range otherTexts {
		if o.tool == name && s.has(o.choice) {
			t["description"] = o.text
		}
	}
	switch name {
	case "deploy", "remove":
		if s.has("tools that ask are destructive, and no prompts") {
			t["annotations"] = object{destructive: true}
		}
		if name == "remove" && s.has("removals counted", "removals counted in words") { // the first is not a fault
			t["outputSchema"] = json.RawMessage(`{"type":"object","properties":{"count":{"type":"integer"}},"required":["count"]}`)
		}
		if !s.has("tools that do not say that they ask") {
			t["description"] = name + " after a confirmation"
		}
		if name == "remove" && s.has(editChoices...) {
			t["description"] = "publishes the text of a place after a confirmation"
		}
	case "total":
		t["outputSchema"] = json.RawMessage(`{"type":"object","properties":{"sum":{"type":"integer"}},"required":["sum"]}`)
		if s.has("tasks") {
			t["execution"] = object{"taskSupport": "optional"}
		}
	case "preview", "log":
		if s.has(map[string]string{"preview": "previews without annotations", "log": "revisions of places"}[name]) {
			delete(t, "annotations")
		}
	}
	return t
}
