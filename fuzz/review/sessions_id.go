package review

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"sealab/internal/rawmcp"
)

// minSessionBits is the least number of bits in which random ids differ, as far as
// eight ids show it. Ids of 64 random bits show 56 to 64.
const minSessionBits = 56

// timed is a UUID of a version that is made of the time and the machine (RFC 9562).
var timed = regexp.MustCompile(`(?i)[0-9a-f]{8}-[0-9a-f]{4}-[126][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`)

func sessionIDs(t *T) {
	var ids []string
	var before, after time.Time
	for range 8 {
		before = t.r.opts.Clock.Now()
		a := t.r.client.initialize(t.ctx, older, first)
		if after = t.r.opts.Clock.Now(); a.Kind != completed {
			t.skip("initialize: %v", a)
			return
		}
		t.trials++
		if id := a.Exchange.Header("Mcp-Session-Id"); id != "" {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return // stateless
	}
	last := ids[len(ids)-1]
	inOrder := slices.Clone(ids)
	slices.Sort(ids)
	bits := varyingBits(ids)
	issue := ""
	switch {
	case counted(inOrder):
		issue = "ids count up"
	case len(slices.Compact(slices.Clone(ids))) < len(ids):
		issue = "two sessions have one id"
	case slices.ContainsFunc(ids, func(id string) bool { return len(id) < 16 }):
		issue = "an id has fewer than 16 characters"
	case slices.ContainsFunc(ids, func(id string) bool {
		return strings.ContainsFunc(id, func(r rune) bool { return r < '!' || r > '~' })
	}):
		issue = "an id has other characters than visible ASCII"
	case timed.MatchString(ids[0]) && timed.MatchString(last):
		issue = "ids are UUIDs of the time"
	case bits < minSessionBits:
		issue = fmt.Sprintf("ids differ in %.0f bits", bits)
	default:
		if text := t.hashedIn(last, before, after); text != "" {
			issue = "an id is the hash of " + text
		}
	}
	if issue != "" {
		t.refute(Finding{Case: "ids", Severity: Warning, Issue: issue, Evidence: strings.Join(ids, ", "), Want: "random ids", Got: issue, Revision: older})
	}
}

// maxCounter is the largest counter whose hash is looked for in an id.
const maxCounter = 1 << 14

// hashedIn describes what an id is the hash of, if that can be guessed: a counter or
// the time of its request, alone or behind the credential of the user; "" if not.
func (t *T) hashedIn(id string, before, after time.Time) string {
	id = strings.ToLower(id)
	numbers := map[string]string{}
	for n := range maxCounter {
		numbers[strconv.Itoa(n)] = "a counter"
	}
	for at := before.Add(-time.Second); !at.After(after.Add(time.Second)); at = at.Add(time.Millisecond) {
		numbers[strconv.FormatInt(at.Unix(), 10)] = "the time"
		numbers[strconv.FormatInt(at.UnixMilli(), 10)] = "the time"
	}
	prefixes := []string{"", "session", "session-", "state-"}
	if _, secret := t.r.opts.Target.authorization(); secret != "" {
		prefixes = append(prefixes, secret, secret+":", secret+"-")
	}
	for number, what := range numbers {
		for _, prefix := range prefixes {
			text := []byte(prefix + number)
			long, middle, short := sha256.Sum256(text), sha1.Sum(text), md5.Sum(text)
			for _, sum := range [][]byte{long[:], middle[:], short[:]} {
				if strings.Contains(id, hex.EncodeToString(sum[:8])) {
					return what
				}
			}
		}
	}
	return ""
}

// An otherID is an id that a server did not give.
type otherID struct {
	name, id string
	severity Severity
}

// otherIDs are ids beside the one of a session: none, made-up ones, and parts and
// spellings of the id.
func otherIDs(id string) []otherID {
	half := len(id) / 2
	all := []otherID{
		{"no session", "", Warning}, {"a made-up session", madeUpID(id), Warning}, {"a made-up UUID", "6ba7b814-9dad-41d1-80b4-00c04fd430c8", Warning},
		{"the first half of an id", id[:half], Warning}, {"the first half of an id and made-up characters", id[:half] + madeUpID(id[half:]), Warning},
		{"the second half of an id behind made-up characters", madeUpID(id[:half]) + id[half:], Warning},
		{"an id behind a made-up one and a comma", madeUpID(id) + ", " + id, Warning}, {"an id before a comma and a made-up one", id + "," + madeUpID(id), Warning},
		{"an id with more characters", id + "0", Suggestion}, {"an id in quotes", strconv.Quote(id), Suggestion},
	}
	if swapped := swapCase(id); swapped != id {
		severity := Suggestion // as a UUID, which has one value in either case
		if strings.ToLower(id) != id && strings.ToUpper(id) != id {
			severity = Warning
		}
		all = append(all, otherID{"an id in the other case", swapped, severity})
	}
	return slices.DeleteFunc(all, func(o otherID) bool { return o.id == id })
}

// swapCase replaces letters by those of the other case.
func swapCase(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return r
	}, text)
}

// sessionParameters are the parameters of a URL that careless servers take ids from.
var sessionParameters = []string{"sessionId", "session_id", "sid", "mcp-session-id"}

func noSession(t *T) {
	s, ok := t.keeping()
	if !ok {
		return
	}
	for _, o := range otherIDs(s.id) {
		other := s
		other.id = o.id
		a := t.inSession(other, first, t.oldList())
		t.trials++
		if a.Kind == completed {
			t.refute(Finding{Case: o.name, Severity: o.severity, Issue: o.name + ": a request in the session " + short(o.id, 60) + ", which was not given, is served", Evidence: sent(a.Exchange) + " -> " + a.String(), Want: "400 or 404", Got: "served", Revision: older})
			return
		}
		if slices.ContainsFunc(t.r.client.given, func(id string) bool { return !strings.Contains(o.id, id) && a.contains(id) }) {
			t.refute(Finding{Case: "an id in an answer", Severity: Critical, Issue: "the answer to " + o.name + " holds the id of a session", Evidence: sent(a.Exchange) + " -> " + short(string(a.Exchange.Body), 300), Want: "no id", Got: "an id", Revision: older})
			return
		}
	}
	for _, name := range sessionParameters {
		c, without := t.r.client, s
		without.id = ""
		e := c.raw(t.ctx, rawmcp.Request{Verb: "POST", Path: c.pathWith(name, s.id), Headers: t.r.client.sessionHeaders(without, first), Body: []byte(t.oldList()), Done: isAnswer(c.id)})
		a := read(e, c.id)
		t.trials++
		if a.Kind == completed {
			t.refute(Finding{Case: "an id in the URL", Severity: Warning, Issue: "the parameter " + name + " of the URL names the session, so that ids stand in logs and histories", Evidence: sent(e) + " -> " + a.String(), Want: "400 or 404", Got: "served", Revision: older})
			return
		}
	}
	var cookies []string
	for _, name := range append([]string{"Mcp-Session-Id", "mcp_session_id", "session"}, sessionParameters...) {
		cookies = append(cookies, name+"="+s.id)
	}
	ownCookies := cookiesOf(s.answer)
	made, none := s, s
	made.id, none.id = madeUpID(s.id), ""
	for _, c := range []struct {
		name    string
		session session
		header  rawmcp.Header
	}{{"an id in a cookie", none, rawmcp.Header{Name: "Cookie", Value: strings.Join(cookies, "; ")}}, {"a cookie that the server sets", none, rawmcp.Header{Name: "Cookie", Value: ownCookies}}, {"a second header with an id", made, rawmcp.Header{Name: "Mcp-Session-Id", Value: s.id}}} {
		a := t.r.client.rawCall(t.ctx, append(t.r.client.sessionHeaders(c.session, first), c.header), []byte(t.oldList()))
		if t.trials++; a.Kind == completed {
			t.refute(Finding{Case: c.name, Severity: Warning, Issue: c.name + " names the session", Evidence: sent(a.Exchange) + " -> " + a.String(), Want: "400 or 404", Got: "served", Revision: older})
			return
		}
	}
	if e := t.streamOf(made, first); e.Stream {
		t.refute(Finding{Case: "the stream of a made-up session", Severity: Warning, Issue: "GET opens the stream of a session that was not given", Evidence: sent(e) + " -> status 200", Want: "404", Got: "200", Revision: older})
	}
}

// madeUpID is an id of the same form with other digits.
func madeUpID(id string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= '0' && r < '9', r >= 'a' && r < 'f', r >= 'g' && r < 'z', r >= 'A' && r < 'Z' && r != 'F':
			return r + 1
		case r == '9':
			return '0'
		case r == 'f':
			return 'a'
		case r == 'z':
			return 'g'
		}
		return r
	}, id)
}

// unknownToolCall is a call that no tool answers, with the next id.
func (t *T) unknownToolCall() string {
	t.r.client.id++
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{}}}`, t.r.client.id, noSuchTool)
}

// lives reports whether a request in a session is served: tools/list, or a call of an
// unknown tool that is answered as in the live session of its user, and unlike one in a
// made-up session.
func (t *T) lives(s session, as user, own session, owner user) (Answer, bool) {
	a := t.inSession(s, as, t.oldList())
	t.trials++
	if a.Kind == completed {
		return a, true
	}
	none := own
	none.id = madeUpID(own.id)
	live, dead := t.inSession(own, owner, t.unknownToolCall()), t.inSession(none, owner, t.unknownToolCall())
	b := t.inSession(s, as, t.unknownToolCall())
	t.trials++
	return b, live.conclusive() && live.refusal() != dead.refusal() && b.refusal() == live.refusal()
}

func ended(t *T) {
	s, ok := t.keeping()
	if !ok {
		return
	}
	own, ok := t.opened()
	if !ok {
		return
	}
	t.inSession(s, first, t.unknownToolCall()) // a session that was used may be kept elsewhere
	e := t.remove(s, first)
	t.trials++
	if e.Status/100 != 2 {
		return
	}
	if a, lives := t.lives(s, first, own, first); lives {
		t.refute(Finding{Case: "DELETE", Severity: Warning, Issue: "a session goes on after DELETE was answered with success", Evidence: fmt.Sprintf("DELETE -> status %d; %s -> %v", e.Status, sent(a.Exchange), a), Want: "404", Got: "served", Revision: older})
	} else if next, ok := t.opened(); ok && slices.Contains(t.r.client.given[:len(t.r.client.given)-1], next.id) {
		t.refute(Finding{Case: "the id of an ended session", Severity: Warning, Issue: "a new session has the id of an earlier one", Evidence: fmt.Sprintf("DELETE of %s, then initialize -> %s", s.id, next.id), Want: "a new id", Got: "an old id", Revision: older})
	} else if after := t.streamOf(s, first); after.Stream {
		t.refute(Finding{Case: "the stream after DELETE", Severity: Warning, Issue: "the stream of a session opens after DELETE was answered with success", Evidence: sent(after) + " -> status 200", Want: "404", Got: "200", Revision: older})
	}
}

// remove ends a session with the credentials of a user.
func (t *T) remove(s session, as user) *rawmcp.Exchange {
	return t.r.client.raw(t.ctx, rawmcp.Request{Verb: "DELETE", Path: t.r.client.http.Path(), Headers: t.r.client.sessionHeaders(s, as)})
}
