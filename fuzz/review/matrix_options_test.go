package review_test

import (
	"time"

	"sealab/fuzz/review"
	"sealab/internal/broken/mcp"
	"sealab/internal/rawmcp"
)

func oneTime(o *review.Options) { o.Effects, o.OneTime = true, []string{"deploy", "remove", "report"} }

// brief changes the options for servers that never answer or never end.
func brief(o *review.Options) {
	o.Effects, o.Slow, o.Effect, o.Changes = true, "slow", "runs", "grow"
	o.Limits.Time, o.Hang, o.Grace = time.Second, time.Second, 300*time.Millisecond
}

// lingers changes the options for servers that answer but never exit.
func lingers(o *review.Options) { o.Grace = 300 * time.Millisecond }

// removesProd lets the review call a tool whose effect can happen once for each argument.
func removesProd(o *review.Options) {
	o.Effects, o.Tools = true, map[string]review.Given{"remove": {Arguments: []byte(`{"env":"prod"}`), Other: []byte(`{"env":"test"}`)}}
}

// removesFolder lets the review call a tool with a path.
func removesFolder(o *review.Options) {
	o.Effects, o.Tools = true, map[string]review.Given{"remove": {Arguments: []byte(`{"env":"team/alpha"}`), Other: []byte(`{"env":"team/beta"}`)}}
}

// removesMilk lets the review call a tool with arguments of many letters.
func removesMilk(o *review.Options) {
	o.Effects, o.Tools = true, map[string]review.Given{"remove": {Arguments: []byte(`{"env":"milk"}`), Other: []byte(`{"env":"test"}`)}}
}

// bidsForProd lets the review call a tool that takes each amount once.
func bidsForProd(o *review.Options) {
	o.Effects, o.Tools = true, map[string]review.Given{"remove": {Arguments: []byte(`{"env":"prod","amount":150}`)}}
}

// readsPage names a page by its path.
func readsPage(o *review.Options) {
	o.Effects, o.Tools = true, map[string]review.Given{"page": {Arguments: []byte(`{"path":"/srv/pages/one.txt"}`)}}
}

// withLabels lets the review call a tool with a list of labels.
func withLabels(o *review.Options) {
	o.Effects, o.Tools = true, map[string]review.Given{"remove": {Arguments: []byte(`{"env":"prod","labels":["blue"]}`)}}
}

// refersToPlaces lets the review call a tool that knows the places of its user and wants a reference.
func refersToPlaces(o *review.Options) {
	o.Effects, o.Tools = true, map[string]review.Given{"remove": {Arguments: []byte(`{"env":"prod","reference":"r-1"}`), Other: []byte(`{"env":"test","reference":"r-2"}`)}}
}

// removesOnce names remove as a tool for one use.
func removesOnce(o *review.Options) { o.Effects, o.OneTime = true, []string{"remove"} }

// deploysOnce lets the review call only one tool for one use.
func deploysOnce(o *review.Options) {
	o.Effects, o.OneTime, o.Tools = true, []string{"deploy"}, map[string]review.Given{"deploy": {Arguments: []byte(`{"env":"prod","zone":"north"}`)}}
}

// ordersOnce lets the review call only one tool for one use, whose orders a list shows.
func ordersOnce(o *review.Options) {
	o.Effects, o.OneTime, o.Tools = true, []string{"order"}, map[string]review.Given{"order": {Arguments: []byte(`{"pieces":2}`)}, "list_orders": {Arguments: []byte(`{}`)}}
}

// forgetsPlaces lets the review call a tool that deletes the object of another.
func forgetsPlaces(o *review.Options) {
	o.Effects, o.Tools = true, map[string]review.Given{"deploy": {Arguments: []byte(`{"env":"prod","zone":"north"}`), Other: []byte(`{"env":"test","zone":"north"}`)}, "forget": {Arguments: []byte(`{"env":"none"}`)}}
}

// namesEcho lets the review call a tool that takes any text.
func namesEcho(o *review.Options) {
	o.Effects, o.Tools = true, map[string]review.Given{"echo": {Arguments: []byte(`{"text":"hello"}`)}}
}

// nobodyWithEffects lets the review run tools without credentials.
func nobodyWithEffects(o *review.Options) {
	o.Effects, o.Target.Headers, o.Target.Second, o.Target.Foreign = true, nil, nil, nil
}

// signedUsers gives the review credentials that are JWTs.
func signedUsers(o *review.Options) {
	o.Target.Headers[0].Value, o.Target.Second[0].Value = "Bearer "+mcp.SignedCredential("alice"), "Bearer "+mcp.SignedCredential("bob")
}

// teamsOfUsers gives each user another header beside the credential.
func teamsOfUsers(o *review.Options) {
	o.Effects = true
	o.Target.Headers = append(o.Target.Headers, rawmcp.Header{Name: "X-Team", Value: "alice"})
	o.Target.Second = append(o.Target.Second, rawmcp.Header{Name: "X-Team", Value: "bob"})
}

// deploysCredential gives the review arguments that contain the credential of the user.
func deploysCredential(o *review.Options) {
	o.Effects, o.Tools = true, map[string]review.Given{"deploy": {Arguments: []byte(`{"env":"Bearer alice","zone":"north"}`)}}
}

func told(o *review.Options) { o.TTL = mcp.TTL }
func slowTool(o *review.Options) {
	o.Effects, o.Slow, o.Effect, o.Changes = true, "slow", "runs", "grow"
}
