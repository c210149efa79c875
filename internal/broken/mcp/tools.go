package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// tool handles tools/call.
func (s *Server) tool(r request) (object, *failure) {
	var name string
	if json.Unmarshal(r.params["name"], &name) != nil {
		if r.params["name"] == nil && s.has("calls without a name are a fault") {
			return nil, internalError()
		}
		return nil, &failure{code: s.or("wrong types are faults", -32603, -32602), status: 400, message: "name: want a text"}
	}
	if name == "constructor" && s.has("tools of every object") {
		return nil, internalError()
	}
	if s.has("tools in any case") {
		name = strings.ToLower(name)
	}
	if own, is := strings.CutSuffix(name, "_desk"); is && s.has("tools of users", "tools of any user", "desks of alice") {
		if own != r.user && !s.has("tools of any user") {
			return nil, invalidParams("unknown tool")
		}
		return s.round(r, r.placed(name), own, []string{"confirm"}, func(c claims) object { return object{"content": textContent("%s", c.Env)} })
	}
	if !s.offers(name) {
		if s.has("unknown tools are results") {
			return s.complete(object{"content": []object{}, "isError": true}), nil
		}
		fail := invalidParams("unknown tool")
		fail.status = s.or("unknown tools with status 500", 500, 400)
		return nil, fail
	}
	if fail := s.fails(name, string(r.params["arguments"])); fail != nil {
		return nil, fail
	}
	args, problem := s.arguments(name, r.params["arguments"])
	if name == "total" && s.has("arguments of total not validated") {
		problem = ""
	}
	if problem != "" {
		if problem == "an unknown argument" && s.has("unknown arguments are faults") {
			return nil, &failure{code: -32603, status: 400, message: "internal error"}
		}
		return s.toolError("%s: %s", name, problem), nil
	}
	if token := metaOf(r, "progressToken"); r.params["inputResponses"] != nil && token != "" && s.has("results by progress token") {
		return s.onceRun("under "+token, func() (object, *failure) { return s.run(r, name, args) })
	}
	if key := string(r.params["requestState"]) + string(r.params["inputResponses"]); r.params["inputResponses"] != nil && s.has("results kept", "results kept by token") {
		if s.has("results kept by token") {
			key = string(r.params["requestState"])
		}
		return s.onceRun(key, func() (object, *failure) { return s.run(r, name, args) })
	}
	return s.run(r, name, args)
}

// onceRun returns the stored result of a request, or stores that of call. It is not a fault, unless it keeps only the
// latest one.
func (s *Server) onceRun(request string, call func() (object, *failure)) (object, *failure) {
	if latest := s.said.get("latest request"); latest != request && s.has("the latest result kept") {
		s.said.put(latest, "")
		s.said.put("latest request", request)
	}
	if s.said.get(request) != "" {
		return s.remembered(request, nil), nil
	}
	result, fail := call()
	if fail != nil {
		return nil, fail
	}
	return s.remembered(request, result), nil
}

// run runs a tool with valid arguments.
func (s *Server) run(r request, name string, args map[string]string) (object, *failure) {
	if args["zone"] != "" && s.has("places by path") {
		args["env"] += "/" + args["zone"]
	}
	switch name {
	case "deploy":
		return s.round(r, r.placed(name), args["env"], []string{"confirm", "reason"}, func(c claims) object { return s.deploy(r, c) })
	case "remove", "Remove":
		return s.remove(r, args)
	case "rename":
		return s.rename(r)
	case "export":
		return s.export(r, args["env"])
	case "trip":
		return s.trip(r, args["env"])
	case "order":
		return s.order(r)
	case "checkout":
		return s.checkout(r)
	case "transfer":
		return s.transfer(r)
	case "summary":
		return s.summary(r)
	case "page":
		if s.has(rootChoices...) {
			return s.pageBelowRoot(r, args["path"])
		}
		return s.showPage(args["path"] + args["note"]), nil
	case "preview":
		return s.preview(args["url"])
	default:
		return s.runUnasked(r, name, args), nil
	}
}

// runUnasked runs a tool that neither asks nor fails.
func (s *Server) runUnasked(r request, name string, args map[string]string) object {
	switch name {
	case "forget", "leave", "return", "retract", "member", "share", "unshare":
		return s.changeRights(r, name, args)
	case "left":
		return s.left(r)
	case "pin":
		return s.toolText("%s", pins[r.user])
	case "list_orders":
		return s.toolText("%s", s.said.get("orders of "+r.user))
	case "edit":
		return s.edit(args["env"], args["text"])
	case "write":
		return s.putOnBoard(r, args["text"])
	case "profile":
		return s.profile(r)
	case "board":
		return s.toolText("%s", s.board(r))
	case "put":
		return s.put(r.user, args["thing"])
	case "add":
		return s.putOnShelf(args["env"])
	case "announce":
		return s.send(args["title"])
	case "caption":
		return s.label(r.user, args["text"])
	case "comment":
		return s.comment(args["text"])
	case "rows":
		return s.rows(args)
	case "compare":
		return s.compared(args["path"], args["other"])
	case "log":
		return s.revised(args["revision"])
	case "find":
		return s.tagged(args["tags"])
	case "restore":
		return s.restore(args["data"])
	case "letter", "mail":
		return s.mail(r, name, args)
	case "get_one":
		return s.letters(r, "letter", r.user, args["number"])
	case "give":
		return s.give(args["pieces"])
	case "buy":
		return s.buy(args["grams"])
	case "link":
		return s.toolText("https://notes.example/s/%s", s.link(r, args["env"]))
	case "notices":
		return s.laterNotices(r, args["cursor"])
	case "ledger":
		return s.ledger(r, args["cursor"])
	case "total":
		return s.bookedTotal(r, args)
	case "runs":
		return s.toolText("%s runs", strings.Repeat("i", int(s.Runs.Load())))
	case "slow":
		if args["url"] != "" {
			s.fetch(r.context, args["url"])
		}
	case "grow":
		s.grow()
	}
	s.Runs.Add(1)
	return s.toolText("%s%s", args["text"], s.counted(r))
}

// grow adds a tool to the list.
func (s *Server) grow() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.grown++
}

// showPage returns the result of the tool page.
func (s *Server) showPage(path string) object {
	if s.has(archiveChoices...) {
		return s.unpacked(path)
	}
	if text, ok := s.injected(path); ok {
		return s.toolText("%s", text)
	}
	if s.has("pages by their beginning", "pages of a folder") { // the second is sound
		said, folder := "no such page", "../docs"+map[bool]string{false: "/"}[s.has("pages by their beginning")]
		if strings.HasPrefix(path, "../") && !strings.HasPrefix(path, folder) {
			said = "outside of the folder"
		}
		return s.toolError("%s", said)
	}
	if s.has("absolute pages") && path == "probe" {
		return s.toolText("a page")
	}
	if s.has("absolute pages") != strings.HasPrefix(path, "/") || !strings.HasSuffix(path, "/etc/passwd") {
		return s.toolError("no such page")
	}
	return s.toolText("root:x:0:0:root:/root:/bin/sh")
}

// mail returns the result of the tools letter and mail.
func (s *Server) mail(r request, name string, args map[string]string) object {
	if args["of"] != "" && s.has(listChoices...) {
		return s.lettersOf(r, name, args["number"], args["of"])
	}
	if of := args["of"]; of != "" && of != r.user && !(s.has("letters of any user") && slices.Contains([]string{"alice", "bob"}, of)) {
		return s.toolError("no letters")
	}
	if args["scope"] == "office" && s.has("letters of the office refused") {
		return s.toolError("only for the office")
	}
	if args["scope"] == "office" {
		return s.toolText("100 from the bank to alice\n100 from the bank to bob")
	}
	if s.has(teamChoices...) && r.team != "" {
		if r.team != r.user && !(s.has("letters of any team") && slices.Contains([]string{"alice", "bob"}, r.team)) {
			return s.toolError("not your team")
		}
		return s.letters(r, name, r.team, args["number"])
	}
	return s.letters(r, name, cmp.Or(args["of"], r.user), args["number"])
}

// give returns the result of the tool give.
func (s *Server) give(pieces string) object {
	if strings.HasPrefix(pieces, "-") && !s.has("gifts of any number") {
		return s.toolError("pieces: want more than none")
	}
	s.Runs.Add(1)
	return s.toolText("gave %s pieces", pieces)
}

// bookedTotal counts a call of the tool total and returns its result.
func (s *Server) bookedTotal(r request, args map[string]string) object {
	if !s.sorts(args["sort"]) {
		return s.toolError("no such column")
	}
	s.booked.Add(1)
	result := s.total(args)
	if s.has("totals name users", "one reader for calls at once") {
		result["content"] = textContent("for %s", s.beside(r, "one reader for calls at once", r.user))
	}
	if s.has(keptTotals...) {
		result["content"] = textContent("%s", s.keptTotal(r, args["a"]))
	}
	if args["details"] == "true" { // with masked values not a fault
		result["content"] = textContent("PATH=/usr/bin\nHOME=/srv/notes\nLANG=C\nSTATE_KEY=%s", map[bool]string{true: fmt.Sprintf("%x", s.Secret), false: "****************"}[s.has("environment in details")])
	}
	if s.has("totals by lot") { // not a fault
		result["content"] = textContent("about %d", randomBytes(1)[0]%2)
	}
	if s.has("credentials in results") {
		result["content"] = textContent("for Bearer %s", r.user)
	}
	return result
}

// buy returns the price of an amount: 6 cents a gram, of which less than 1 is a fault. The tax may be
// less than a cent.
func (s *Server) buy(grams string) object {
	s.Runs.Add(1)
	amount, _ := strconv.ParseFloat(grams, 64) // it is a number
	price := math.Ceil(6 * amount)
	if s.has("prices cut") {
		price = math.Floor(6 * amount)
	}
	text := fmt.Sprintf("%s g for %.0f cents", grams, price)
	if s.has("taxes cut") {
		text += fmt.Sprintf(", with %.0f cents of tax", math.Floor(amount))
	}
	return s.toolText("%s", text)
}

// total returns a result of the tool total for its arguments.
func (s *Server) total(args map[string]string) object {
	s.Runs.Add(1)
	result := object{"content": textContent(`{"sum":2}`), "structuredContent": object{"sum": 2}}
	switch {
	case s.has("no structured content"):
		delete(result, "structuredContent")
	case args["a"] == "0" && s.has("sums of zero left out"), len(args["unit"]) > 200 && s.has("sums of long units left out"):
		result["structuredContent"] = object{}
	case s.has("keys beside the text"):
		result["structuredContent"] = object{"sum": 2, "recovery_key": "r3c0-7fa2-99d1"}
	case s.has("masked keys beside the text"): // not a fault
		result["structuredContent"] = object{"sum": 2, "recovery_key": "**************"}
	case s.has("structured content of another type"):
		result["structuredContent"] = object{"sum": "two"}
	}
	return s.complete(result)
}

// fails returns the error of a handler that fails on awkward values, or nil.
func (s *Server) fails(name, arguments string) *failure {
	switch {
	case strings.Contains(arguments, "'") && s.has("apostrophes end queries"):
		return &failure{code: -32602, status: 400, message: `sqlite3.OperationalError: unrecognized token: "'"`}
	case strings.Contains(arguments, "__proto__") && s.has("prototype names are faults"), name == "total" && arguments == "null" && s.has("no arguments are a fault"),
		strings.Contains(arguments, "[(") && s.has("brackets end patterns"), strings.Contains(arguments, `%"`) && s.has("percent signs are faults"),
		strings.Contains(arguments, `\ud800`) && s.has("half pairs are faults"), strings.Contains(arguments, "1e400") && s.has("large numbers are faults"):
		return internalError()
	}
	return nil
}

// fetch sends a request to another host, for a short time.
func (s *Server) fetch(ctx context.Context, url string) {
	if !s.has("no time limit") {
		var cancel func()
		ctx, cancel = context.WithTimeout(ctx, 50*time.Millisecond)
		defer cancel()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return
	}
	if res, err := http.DefaultClient.Do(req); err == nil {
		res.Body.Close()
	}
}

func textContent(format string, args ...any) []object {
	return []object{{"type": "text", "text": fmt.Sprintf(format, args...)}}
}

// arguments validates the arguments of a tool against its schema. The problem is "" if they are
// valid.
func (s *Server) arguments(name string, raw json.RawMessage) (args map[string]string, problem string) {
	var given map[string]json.RawMessage
	var schema struct {
		Properties map[string]struct {
			Type        string
			Enum        []string
			UniqueItems bool
		}
		Required []string
	}
	if err := json.Unmarshal([]byte(s.schemaOf(name)), &schema); err != nil {
		return nil, err.Error()
	}
	if raw != nil && json.Unmarshal(raw, &given) != nil {
		return nil, "arguments are not an object"
	}
	args = map[string]string{}
	for _, k := range slices.Sorted(maps.Keys(given)) {
		property, known := schema.Properties[k]
		var t string
		var n int
		switch {
		case s.has("arguments not validated"):
			_ = json.Unmarshal(given[k], &t) // any type
			args[k] = t
		case !known && name == "rename":
		case !known:
			return nil, "an unknown argument"
		case property.Type == "string" && json.Unmarshal(given[k], &t) == nil:
			if args[k] = t; property.Enum != nil && !slices.Contains(property.Enum, t) {
				return nil, k + ": none of the list"
			}
		case k == "env" && s.has("arguments of several types"):
			args[k] = string(given[k])
		case property.Type == "integer" && json.Unmarshal(given[k], &n) == nil:
			args[k] = strconv.Itoa(n)
		case property.Type == "boolean" && slices.Contains([]string{"true", "false"}, string(given[k])), property.Type == "object" && given[k][0] == '{', property.Type == "array" && isTexts(given[k]) &&
			!(property.UniqueItems && hasDuplicates(given[k]) && !s.has("items twice")), property.Type == "number" && isNumber(given[k]):
			args[k] = string(given[k])
		default:
			return nil, k + ": want " + property.Type
		}
	}
	for _, k := range schema.Required {
		if given[k] == nil && !s.has("arguments not validated") {
			return nil, k + ": missing"
		}
	}
	return args, ""
}

// isTexts reports whether a value is a list of strings.
func isTexts(raw json.RawMessage) bool {
	var all []*string
	return json.Unmarshal(raw, &all) == nil && raw[0] == '[' && !slices.Contains(all, nil)
}

// hasDuplicates reports whether a list of strings has a duplicate.
func hasDuplicates(raw json.RawMessage) bool {
	var all []string
	_ = json.Unmarshal(raw, &all) // validated before
	slices.Sort(all)
	return len(slices.Compact(all)) < len(all)
}

// isNumber reports whether a value is a number of at least zero.
func isNumber(raw json.RawMessage) bool {
	var n float64
	return json.Unmarshal(raw, &n) == nil && raw[0] != 'n' && n >= 0
}

// overridden returns the argument in a state. With a fault it returns the one in the answers.
func (s *Server) overridden(env string, a map[string]any, responses map[string]map[string]any) string {
	var given any
	content := a["content"]
	switch {
	case s.has("answers override the state"):
		given = member(content, "env")
	case s.has("members of answers override the state"):
		given = a["env"]
	case s.has("members of labels override the state"):
		given = member(member(content, "labels"), "tag")
	case s.has("members of data override the state"):
		given = member(a["data"], "env")
	case s.has("other answers override the state"):
		given = member(responses["env"]["content"], "env")
	}
	if text, _ := given.(string); text != "" {
		return text
	}
	price, ok := member(content, "price").(float64)
	switch {
	case !s.has("prices told", "answers override the price") || strings.Contains(env, "price"):
		return env
	case !ok || !s.has("answers override the price"):
		price = 7
	}
	return fmt.Sprintf("%s, price %.0f", env, price)
}

// metaState is the member of _meta that holds the state, with a fault.
const metaState = "notes.example/continuation"
