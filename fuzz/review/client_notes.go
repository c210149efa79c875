package review

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"mime"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"sealab/internal/rawmcp"
)

// note counts the tools that ran to their end, and keeps error codes.
func (c *client) note(call Call, a Answer) {
	if call.Method == "tools/call" && a.Kind == completed {
		c.ran++
	}
	for key := range a.Questions {
		c.keys[key]++
	}
	c.noteCode(call.Method, a)
	if a.Kind == completed && c.uncached.Kind == "" && misleadsCaches(a.Result) {
		c.uncached, c.uncachedBy = a, call.Method
	}
	if c.shared.Kind == "" && a.isShared() {
		c.shared, c.sharedBy = a, call.Method
	}
}

// isShared reports whether Cache-Control gives an answer of one user to shared caches: one
// that cacheScope calls private, or a question with a state.
func (a Answer) isShared() bool {
	if a.Exchange == nil || string(members(a.Result)["cacheScope"]) != `"private"` && (a.Kind != asked || a.State == nil) {
		return false
	}
	public := false
	for _, directive := range strings.Split(strings.ToLower(strings.Join(a.Exchange.Headers["Cache-Control"], ",")), ",") {
		switch name, value, _ := strings.Cut(strings.TrimSpace(directive), "="); {
		case name == "private", name == "no-store", name == "no-cache", name == "max-age" && strings.Trim(value, `0"`) == "":
			return false
		case name == "public":
			public = true
		}
	}
	return public
}

// misleadsCaches reports whether a result has a ttlMs or a cacheScope of another form than
// that of the protocol.
func misleadsCaches(result json.RawMessage) bool {
	m := members(result)
	var ttl float64
	scope := string(m["cacheScope"])
	return m["ttlMs"] != nil && (json.Unmarshal(m["ttlMs"], &ttl) != nil || ttl < 0) || scope != "" && scope != `"public"` && scope != `"private"`
}

// noteCode keeps the code of an error with its first message, and the first stack trace.
func (c *client) noteCode(method string, a Answer) {
	if a.Kind == failed && c.codes[a.Code] == "" {
		c.codes[a.Code] = fmt.Sprintf("%s -> %v", method, a)
	}
	if a.Kind != completed && a.Kind != asked && a.Exchange != nil && c.trace == "" {
		if c.target.repeatedIn(string(a.Exchange.Body)) {
			c.trace = fmt.Sprintf("%s -> %v, with %s", method, a, ofTheUser)
		} else if name := c.target.variableIn(string(a.Exchange.Body), string(a.Exchange.Sent)); name != "" {
			c.trace = fmt.Sprintf("%s -> %v, with the variable %s of the environment", method, a, name)
		} else if found := a.insides(); found != nil {
			c.trace = fmt.Sprintf("%s -> %v, with %s", method, a, short(string(found), 80))
		}
	}
}

// kept takes the credentials out of an exchange and records it.
func (c *client) kept(e *rawmcp.Exchange) {
	e.Sent, c.last = c.target.masked(e.Sent), e
	if c.lost == nil && c.http != nil && e.Status == 0 {
		c.lost = e
	}
	c.firstDocument(e)
	c.noteNotices(e)
	c.noteAnswers(e)
	if c.record != nil {
		kept := *e
		kept.Received = c.target.masked(e.Received)
		c.record(&kept)
	}
}

// noteNotices keeps the longest run of logs and progress beside the answer to a request of
// the newest revision of a server, and the first response of each odd form. The requests of a
// review ask for no logs, and no progress but those of [progressToken].
func (c *client) noteNotices(e *rawmcp.Exchange) {
	if c.older == "" && !bytes.Contains(e.Sent, []byte(`"`+metaVersion+`":"`+modern+`"`)) || bytes.Contains(e.Sent, []byte(progressToken)) {
		return
	}
	var one string
	n := 0
	for _, m := range e.Messages {
		all := members(m)
		if fault := oddity(e, all); fault != "" && c.odd[fault] == "" {
			c.odd[fault] = short(string(e.Sent), 300) + " -> " + short(string(m), 300)
		}
		var method string
		if _ = json.Unmarshal(all["method"], &method); method == "notifications/message" || method == "notifications/progress" {
			n++
			one = cmp.Or(one, short(string(m), 200))
		}
	}
	if n > c.noisy {
		c.noisy, c.notice = n, fmt.Sprintf("%s -> %d, the first %s", short(string(e.Sent), 300), n, one)
	}
}

// The odd forms of responses.
const (
	bothMembers   = "a response has both a result and an error"
	followed      = "a response is followed by more data"
	inPieces      = "a response is cut into several events"
	misnamed      = "a response has another id than its request"
	answeredTwice = "a request is answered twice"
	noNumbers     = "a response has NaN or Infinity, which JSON has not"
	otherCoding   = "a response is not UTF-8"
	typedAsOther  = "a response is neither of the type JSON nor a stream"
)

// oddity is the fault of the form of a response; "" if it has none.
func oddity(e *rawmcp.Exchange, response map[string]json.RawMessage) string {
	media, _, _ := mime.ParseMediaType(e.Header("Content-Type"))
	switch {
	case response["result"] != nil && response["error"] != nil:
		return bothMembers
	case e.Cut:
		return inPieces
	case e.Mended:
		return noNumbers
	case (response["result"] != nil || response["error"] != nil) && !utf8.Valid(e.Body):
		return otherCoding
	case (response["result"] != nil || response["error"] != nil) && e.Status != 0 && media != "application/json" && media != "text/event-stream":
		return typedAsOther
	}
	return ""
}

// ofAnotherID reads the only message of an exchange, if it is a response with another id than
// that of the request, which it keeps.
func (c *client) ofAnotherID(a Answer) Answer {
	m := members(a.Exchange.Messages[0])
	if m["result"] == nil && m["error"] == nil || m["id"] == nil {
		return a
	}
	if c.odd[misnamed] == "" {
		c.odd[misnamed] = short(string(a.Exchange.Sent), 600) + " -> " + short(string(a.Exchange.Messages[0]), 300)
	}
	renamed := *a.Exchange
	renamed.Messages = [][]byte{object(with(m, "id", json.RawMessage(fmt.Sprint(c.id))))}
	return read(&renamed, c.id)
}

// firstDocument takes what follows a JSON-RPC response out of the messages of an exchange,
// and keeps the first response that something follows.
func (c *client) firstDocument(e *rawmcp.Exchange) {
	if e.Status == 0 || e.Stream || len(e.Messages) != 1 || json.Valid(e.Body) {
		return
	}
	first, rest, ok := jsonPrefix(bytes.TrimSpace(e.Body))
	if !ok || members(first)["jsonrpc"] == nil {
		return
	}
	e.Messages = [][]byte{first}
	if c.odd[followed] == "" {
		c.odd[followed] = short(string(e.Sent), 300) + " -> " + short(string(rest), 100)
	}
}

// sentID is the id of a request as it is sent.
var sentID = regexp.MustCompile(`"id":(\d+)`)

// noteAnswers keeps the first response to a number that has been answered as often as it
// was sent: in one exchange over HTTP, in all of them over standard streams.
func (c *client) noteAnswers(e *rawmcp.Exchange) {
	sent, got := c.sentIDs, c.gotIDs
	if c.http != nil {
		sent, got = map[string]int{}, map[string]int{}
	}
	for _, id := range sentID.FindAllSubmatch(e.Sent, -1) {
		sent[string(id[1])]++
	}
	for _, m := range e.Messages {
		all := members(m)
		id := string(all["id"])
		if _, err := strconv.Atoi(id); err != nil || sent[id] == 0 || all["method"] != nil || all["result"] == nil && all["error"] == nil {
			continue
		}
		if got[id]++; got[id] > sent[id] && c.odd[answeredTwice] == "" {
			c.odd[answeredTwice] = "again: " + short(string(m), 300)
		}
	}
}
