package transport

import (
	"fmt"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// impersonationChecks is the check of users that a request names beside its credential.
var impersonationChecks = []review.Check{
	{
		ID: "A-NAME", Name: "a user named by the request instead of the credential", Over: "http", Era: "modern", Severity: review.Critical, Category: "security",
		Sent: "lists, calls that ask and, with --effects, read-only tools, with members such as user and userId in " +
			"_meta, in params and in the query, which name a made-up user and the second user; with the credential of " +
			"each user the other headers of the other one, or headers and values that the texts of the server name",
		Want:   "answers for the user of the credential",
		Source: authorizationSpec + "; CWE-639, CWE-290",
		Impact: "any user acts as any other",
		Fix:    "take the user only from the credential",
		Run:    checkNamedUsers,
	},
}

// userMembers are names of members in which careless servers look for the user.
var userMembers = []string{"user", "userId", "user_id", "username", "sub", "principal"}

// withClaim runs f while every call has members that name a user.
func withClaim(t *review.T, x client.Claim, f func()) {
	t.Client.Claim = &x
	defer func() { t.Client.Claim = nil }()
	f()
}

func checkNamedUsers(t *review.T) {
	if !requiresCredentials(t) {
		return
	}
	values := []string{"sealab-user"}
	if name := client.NameOf(t.Options.Target, client.SecondUser); name != "" {
		values = append(values, name)
	}
	for _, place := range []string{"_meta", "params", "query"} {
		for _, value := range values {
			x := client.Claim{Place: place, Value: value, Names: userMembers}
			if !t.Selected(x.Place) {
				continue
			}
			if claimBindsTokens(t, x) || claimChangesAnswers(t, x) {
				return
			}
		}
	}
	headersNameUsers(t)
}

// unreadClaim returns the claim under a name that servers do not read.
func unreadClaim(x client.Claim) client.Claim {
	x.Names = []string{"sealabNone"}
	return x
}

// claimBindsTokens mints tokens with a claim. It records a finding if they are refused without the
// claim, and tokens with an unrelated member are accepted.
func claimBindsTokens(t *review.T, x client.Claim) bool {
	if len(t.Oracles) == 0 {
		return false
	}
	o := t.Oracles[0]
	var a client.Answer
	mintedWith := func(x client.Claim) (token string) {
		withClaim(t, x, func() { token, _, _ = t.Client.Mint(t.Context, o.Flow, client.FirstUser) }) // "" if the call is refused
		return token
	}
	for range 2 {
		token, other := mintedWith(x), ""
		if token == "" {
			return false
		}
		withClaim(t, x, func() { a = t.Client.Present(t.Context, o.Flow, jsondoc.Quote(token), client.FirstUser) })
		if o.Verdict(a) != review.Accepted {
			return false
		}
		if token = mintedWith(x); token == "" {
			return false
		}
		a = t.Tried(t.Client.Present(t.Context, o.Flow, jsondoc.Quote(token), client.FirstUser))
		if o.Verdict(a) != review.Refused {
			return false
		}
		if other = mintedWith(unreadClaim(x)); other == "" || o.Verdict(t.Client.Present(t.Context, o.Flow, jsondoc.Quote(other), client.FirstUser)) != review.Accepted {
			return false
		}
	}
	t.Fault(x.Place, review.Critical, fmt.Sprintf("a member of %s such as %s names the user of a good credential", x.Place, x.Names[0]), a)
	return true
}

// claimChangesAnswers makes calls with a claim. It records a finding if an answer names the claimed
// user, twice. It must not do so without the claim or with an unrelated member.
func claimChangesAnswers(t *review.T, x client.Claim) bool {
	for _, call := range userCalls(t) {
		names := func() bool {
			a := t.Tried(t.Call(call))
			return client.Served(a) && strings.Contains(string(a.Result), x.Value)
		}
		with := func(x client.Claim) (is bool) {
			withClaim(t, x, func() { is = names() })
			return is
		}
		if with(x) && !names() && !with(unreadClaim(x)) && with(x) {
			var a client.Answer
			withClaim(t, x, func() { a = t.Call(call) })
			t.Fault(x.Place, review.Critical, fmt.Sprintf("%s answers for the user that a member of %s such as %s names", strings.TrimSpace(call.Method+" "+call.Target), x.Place, x.Names[0]), a)
			return true
		}
	}
	return false
}

// maxUserCalls is the number of calls that are made for each claim.
const maxUserCalls = 8

// userCalls returns calls whose answers may name their user: lists, a flow and, with effects,
// read-only tools.
func userCalls(t *review.T) []client.Call {
	var all []client.Call
	for _, capability := range []string{"resources", "tools", "prompts"} {
		if t.Report.Server.Has(capability) {
			all = append(all, client.Call{Method: capability + "/list"})
		}
	}
	for _, f := range t.Flows[:min(len(t.Flows), 1)] {
		all = append(all, f.Call(client.FirstUser))
	}
	for _, tool := range t.Readers() {
		all = append(all, t.FlowOf(tool).Call(client.FirstUser))
	}
	// A tool without arguments is the most likely to answer by its user.
	slices.SortStableFunc(all, func(a, b client.Call) int { return len(a.Arguments) - len(b.Arguments) })
	return all[:min(len(all), maxUserCalls)]
}
