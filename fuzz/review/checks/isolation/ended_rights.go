package isolation

import (
	"fmt"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
)

// LastChecks returns the check that takes rights away. It runs after the checks of other families.
func LastChecks() []review.Check { return endedRightChecks }

var endedRightChecks = []review.Check{
	{
		ID: "R-REVOKE", Name: "a subscription that outlives its right", Over: "http", Era: "modern", Effects: true, Locks: true, Severity: review.Warning, Category: "security",
		Sent: "subscriptions/listen to a resource of one user as the other one, who may read it; then a tool that takes " +
			"the right away, and the calls of the first user; all again after a tool that gives the right back",
		Want:   "tells a user of no change to resources that it may not read any more",
		Source: "CWE-613; revision 2026-07-28, server/resources, security",
		Impact: "a user who has lost a right still learns of every change",
		Fix:    "look the right up before each notification, or end the subscription with it",
		Run:    checkFollowedRights,
	},
}

// A follower is a user who may read a resource of another one, until the latter takes the right away.
type follower struct {
	pair       [2]client.User // the owner and the follower
	uri        string
	give, take client.Flow
}

func checkFollowedRights(t *review.T) {
	if !t.Report.Server.Has("resources") || len(t.Options.Target.Second) == 0 {
		t.Skip("the server has no resources, or one user is known; --second gives another")
		return
	}
	if skipsUncalled(t) {
		return
	}
	lists := listsOf(t, "resources/list", "resources")
	for _, pair := range review.UserPairs {
		change := func() { carryOut(t, pair[0]) }
		heard := updatesDuring(t, namedByCalls(t, pair, lists), pair[0], change)
		for _, uri := range heard[:min(len(heard), maxPrivateUpdates)] {
			f := follower{pair: pair, uri: uri}
			readable := f.reads(t)
			if f.finds(t) && f.outlivesRight(t, change) {
				return
			}
			if readable != f.reads(t) && f.give.Target != "" {
				f.changeRight(t, readable)
			}
		}
	}
	t.SkipUntried("no tool was found that gives and takes the right to read a resource that the calls change")
}

// skipsUncalled skips the check if no tool takes rights away, or if it may not be called.
func skipsUncalled(t *review.T) bool {
	i := slices.IndexFunc(t.Report.Server.Tools, func(o client.Offer) bool { return !o.IsReadOnly() && review.TakesRights(o) })
	switch {
	case i < 0:
		t.Skip("no tool takes a right away")
	case len(t.RightCalls(client.SecondUser, true, client.Flow{})) == 0:
		t.Skip("%[1]s may take a right away, and was not called; --tool %[1]s allows it", t.Report.Server.Tools[i].Name)
	}
	return t.Reason != ""
}

func (f *follower) reads(t *review.T) bool {
	a := t.Call(client.ReadResource(f.uri).By(f.pair[1]))
	return a.Kind == client.Completed && a.Text != ""
}

// changeRight gives or takes the right, and reports whether it did.
func (f *follower) changeRight(t *review.T, give bool) bool {
	flow := f.take
	if give {
		flow = f.give
	}
	t.Walk(flow, f.pair[0])
	return f.reads(t) == give
}

// finds looks for the calls that give and take the right. It leaves the follower without the right, or with
// it if it could not be taken and given.
func (f *follower) finds(t *review.T) bool {
	find := func(give bool) bool {
		return slices.ContainsFunc(t.RightCalls(f.pair[1], !give, client.Flow{}), func(call client.Flow) bool {
			if give {
				f.give = call
			} else {
				f.take = call
			}
			return f.changeRight(t, give)
		})
	}
	if f.reads(t) {
		return find(false) && find(true) && f.changeRight(t, false)
	}
	return find(true) && find(false)
}

// outlivesRight records a finding if the follower hears of changes to a resource that it may not read any
// more, twice, and of none while nothing changes.
func (f *follower) outlivesRight(t *review.T, change func()) bool {
	folder := folderOf(f.uri)
	filter := []string{f.uri, folder, strings.TrimSuffix(folder, "/")}
	hears := func(change func()) (told []string, ended bool) {
		if !f.changeRight(t, true) {
			return nil, false
		}
		told = updatesDuring(t, filter, f.pair[1], func() {
			ended = f.changeRight(t, false)
			_ = t.Client.Clock.Sleep(t.Context, client.ListenFor) // an interruption ends the wait early
			change()
		})
		return told, ended
	}
	quiet, calm := hears(func() {})
	first, one := hears(change)
	second, two := hears(change)
	if !calm || !one || !two {
		return false
	}
	i := slices.IndexFunc(first, func(uri string) bool {
		return slices.Contains(second, uri) && !slices.Contains(quiet, uri) && servesFirstAlone(t, client.ReadResource(uri), f.pair)
	})
	if i < 0 {
		return false
	}
	t.Refute(review.Finding{Case: f.take.Target, Severity: review.Warning, Issue: fmt.Sprintf("after %s a user hears of changes to a resource that it may not read any more", f.take.Target),
		Evidence: fmt.Sprintf("subscriptions/listen to %s, then %s %s and calls of the other user -> notifications/resources/updated of %s; resources/read -> refused", client.Short(f.uri, 100), f.take.Target, f.take.Arguments, client.Short(first[i], 100)),
		Want:     "no notification", Got: "a notification"})
	return true
}
