package transport

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/internal/rawmcp"
)

// Headers and texts of servers whose users belong to organizations, teams or the like.
var (
	headerInText = regexp.MustCompile(`\bX-[A-Z][A-Za-z]*(?:-[A-Za-z]+)*`)
	wordInText   = regexp.MustCompile(`[\pL\d_-]{2,40}`)
	// otherHeader matches names of headers that hold secrets, or wishes for the form of an answer.
	otherHeader = regexp.MustCompile(`(?i)key|token|auth|secret|cookie|session|sign|passw|lang|locale|zone|region|currency|unit|format|version|trace|request|theme|forwarded|-ip$`)
	// callersText matches texts of tools whose answers belong to their caller.
	callersText = regexp.MustCompile(`(?i)(?:\b|_)(?:your|my|own)(?:\b|_)`)
)

// The numbers of headers, values and calls that are tried.
const (
	maxNamedHeaders = 3
	maxNamedValues  = 16
	maxPrivateCalls = 2
)

// A privateCall is a call with another answer for each user, that is the same each time.
type privateCall struct {
	client.Call
	texts map[client.User]string
}

// privateCalls returns the first calls with an answer of its own for each user.
func privateCalls(t *review.T) []privateCall {
	var all []privateCall
	for _, call := range userCalls(t) {
		texts := map[client.User]string{}
		for _, as := range client.BothUsers {
			if text := servedText(t, call, as); text == servedText(t, call, as) {
				texts[as] = text
			}
		}
		if texts[client.FirstUser] != "" && texts[client.SecondUser] != "" && texts[client.FirstUser] != texts[client.SecondUser] {
			all = append(all, privateCall{call, texts})
		}
	}
	return all[:min(len(all), maxPrivateCalls)]
}

// servedText returns the text of an answer to a user, or "" if the call is not served.
func servedText(t *review.T, call client.Call, as client.User) string {
	a := t.Tried(t.Call(call.By(as)))
	switch {
	case !client.Served(a):
		return ""
	case call.Method == "tools/call":
		return a.ShownTexts()
	default:
		return string(a.Result)
	}
}

// showsOther reports whether a user gets the answer of the other one with a header.
func (p privateCall) showsOther(t *review.T, as, other client.User, h rawmcp.Header) bool {
	own := t.Client.Target
	defer func() { t.Client.Target = own }()
	headers := &t.Client.Target.Headers
	if as == client.SecondUser {
		headers = &t.Client.Target.Second
	}
	kept := slices.DeleteFunc(slices.Clone(*headers), func(given rawmcp.Header) bool { return strings.EqualFold(given.Name, h.Name) })
	*headers = append(kept, h)
	return servedText(t, p.Call, as) == p.texts[other]
}

// headersNameUsers makes calls with the credential of one user and a header of the other one, or one that
// texts of the server name. It records a finding if each user gets the answer of the other, twice.
func headersNameUsers(t *review.T) {
	if len(t.Options.Target.Second) == 0 || !t.Selected("headers") {
		return
	}
	calls := privateCalls(t)
	for _, p := range calls {
		given := givenHeaders(t)
		for _, name := range jsondoc.SortedKeys(given) {
			if reportsHeader(t, p, review.Critical, name, given[name][:1], given[name][1:]) {
				return
			}
		}
	}
	named := headersIn(t, serverText(t))
	for _, p := range calls {
		if !slices.ContainsFunc(t.Report.Server.Tools, func(o client.Offer) bool { return o.Name == p.Target && callersText.MatchString(o.About()) }) {
			continue
		}
		for _, name := range jsondoc.SortedKeys(named) {
			if reportsHeader(t, p, review.Warning, name, named[name], named[name]) {
				return
			}
		}
	}
}

// reportsHeader records a finding if one of the values of a header gives the first user the answer of the
// second, and one of the others gives the second user that of the first. Neither an unread header nor a
// made-up value may do so.
func reportsHeader(t *review.T, p privateCall, severity review.Severity, name string, values, others []string) bool {
	find := func(as, other client.User, values []string) int {
		return slices.IndexFunc(values, func(v string) bool { return p.showsOther(t, as, other, rawmcp.Header{Name: name, Value: v}) })
	}
	i := find(client.FirstUser, client.SecondUser, values)
	if i < 0 || p.showsOther(t, client.FirstUser, client.SecondUser, rawmcp.Header{Name: "X-Sealab-None", Value: values[i]}) ||
		p.showsOther(t, client.FirstUser, client.SecondUser, rawmcp.Header{Name: name, Value: "sealab-none"}) ||
		find(client.SecondUser, client.FirstUser, others) < 0 || find(client.FirstUser, client.SecondUser, values[i:i+1]) < 0 {
		return false
	}
	t.Refute(review.Finding{Case: "headers", Severity: severity, Issue: fmt.Sprintf("the header %s gives each user the answer of the other", name),
		Evidence: fmt.Sprintf("%s %s with the credential of the first user and %s: %s -> %s", p.Method, p.Target, name, values[i], client.Short(p.texts[client.SecondUser], 200)),
		Want:     "the answer of the first user, or a refusal", Got: "the answer of the second user"})
	return true
}

// givenHeaders returns the headers, other than credentials, in which the users differ: the value of the
// second user and that of the first. There is none if the users differ in one header alone.
func givenHeaders(t *review.T) map[string][]string {
	all := map[string][]string{}
	differ := 0
	for _, h := range t.Options.Target.Headers {
		i := slices.IndexFunc(t.Options.Target.Second, func(o rawmcp.Header) bool { return strings.EqualFold(o.Name, h.Name) && o.Value != h.Value })
		if i < 0 {
			continue
		}
		if differ++; !otherHeader.MatchString(h.Name) {
			all[h.Name] = []string{t.Options.Target.Second[i].Value, h.Value}
		}
	}
	if differ < 2 {
		return nil
	}
	return all
}

// serverText returns the instructions of the server and the texts of its tools.
func serverText(t *review.T) string {
	all := []string{t.Instructions()}
	for _, o := range t.Report.Server.Tools {
		all = append(all, o.About()+" "+string(o.Input))
	}
	return strings.Join(all, "\n")
}

// headersIn returns headers that a text names and the users do not send, each with the words behind it.
func headersIn(t *review.T, text string) map[string][]string {
	all := map[string][]string{}
	for _, at := range headerInText.FindAllStringIndex(text, -1) {
		name := text[at[0]:at[1]]
		given := slices.ContainsFunc(t.Options.Target.Headers, func(h rawmcp.Header) bool { return strings.EqualFold(h.Name, name) })
		if words := wordInText.FindAllString(text[at[1]:], maxNamedValues); len(all) < maxNamedHeaders && len(words) > 0 && !given && !otherHeader.MatchString(name) {
			all[name] = words
		}
	}
	return all
}
