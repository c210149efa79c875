package review_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/review"
	"sealab/internal/broken/mcp"
	"sealab/internal/rawmcp"
	"sealab/internal/testenv"
)

// A row is a fault of the broken server and the checks that show it.
type row struct {
	fault    string
	checks   []string
	also     []string // checks that may refute it as well
	change   func(*review.Options)
	second   string // the fault of a second instance
	twin     bool   // a second instance has the same key
	stdio    bool
	critical bool // its own checks call it critical
	ends     bool // the server ends at an earlier check, which leaves nothing to review
	modern   bool // it shows in the newest revision alone
	timed    bool // an answer is late beside good ones, which the race detector makes late as well
}

func oneTime(o *review.Options) { o.Effects, o.OneTime = true, []string{"deploy", "remove", "report"} }

// brief is for servers that never answer or never end.
func brief(o *review.Options) {
	o.Effects, o.Slow, o.Effect, o.Changes = true, "slow", "runs", "grow"
	o.Limits.Time, o.Hang, o.Grace = time.Second, time.Second, 300*time.Millisecond
}

// lingers is for servers that never end, and answer until then.
func lingers(o *review.Options) { o.Grace = 300 * time.Millisecond }

func told(o *review.Options) { o.TTL = mcp.TTL }
func slowTool(o *review.Options) {
	o.Effects, o.Slow, o.Effect, o.Changes = true, "slow", "runs", "grow"
}

// unsealed are the checks that a state falls to that has no tag.
var unsealed = []string{"RS-TAMPER", "RS-FORGE", "RS-SPLICE", "RS-CUT", "RS-ARGS", "RS-TOOL", "RS-METHOD", "RS-USER", "RS-CLEAR", "RS-DOWN", "RS-UNIFORM", "RS-TEXT"}

// rows has a row for each check at least; TestMatrix fails otherwise.
var rows = []row{
	{fault: "state in the clear", checks: []string{"RS-TAMPER", "RS-FORGE", "RS-SPLICE", "RS-ARGS", "RS-TOOL", "RS-METHOD", "RS-USER", "RS-CLEAR"}, also: unsealed},
	{fault: "tag not compared", checks: []string{"RS-TAMPER", "RS-FORGE", "RS-CUT"}, also: unsealed},
	{fault: "tag compared as far as it goes", checks: []string{"RS-CUT"}, also: []string{"RS-FORGE", "RS-CLEAR"}},
	{fault: "one byte of the tag compared", checks: []string{"RS-TAMPER"}, also: unsealed},
	{fault: "states in _meta", checks: []string{"RS-SHAPE"}},
	{fault: "states in _meta + tag not compared", checks: []string{"RS-TAMPER", "RS-FORGE", "RS-CUT"}, also: []string{"RS-SHAPE", "RS-SPLICE", "RS-CLEAR"}},
	{fault: "states in _meta + unbound user", checks: []string{"RS-USER"}, also: []string{"RS-SHAPE"}},
	{fault: "careless base64", checks: []string{"RS-SPELL"}, also: []string{"RS-CLEAR"}},
	{fault: "a state of any type", checks: []string{"RS-TYPE"}},
	{fault: "states as objects + readable and careful", checks: []string{"RS-TYPE"}, also: []string{"RS-CLEAR"}, critical: true},
	{fault: "keys in headers", checks: []string{"RS-FORGE"}, also: []string{"RS-CLEAR"}},
	{fault: "keys in headers of another name", checks: []string{"RS-FORGE"}, also: []string{"RS-CLEAR"}},
	{fault: "unknown keys are empty + names of keys in tokens", checks: []string{"RS-FORGE"}, also: []string{"RS-CLEAR"}},
	{fault: "versions in tokens + older versions unsigned", checks: []string{"RS-FORGE"}, also: []string{"RS-CLEAR"}, critical: true},
	{fault: "last byte of the tag unread + states of varying length", checks: []string{"RS-TAMPER"}, also: []string{"RS-CLEAR"}, critical: true},
	{fault: "tags of long tokens unread", checks: []string{"RS-TAMPER"}, also: []string{"RS-CLEAR"}},
	{fault: "first member counts", checks: []string{"RS-DUP"}},
	{fault: "one member verified, another read", checks: []string{"RS-DUP"}, also: []string{"RS-CLEAR"}, critical: true},
	{fault: "unbound arguments", checks: []string{"RS-ARGS"}},
	{fault: "optional arguments unbound", checks: []string{"RS-ARGS"}},
	{fault: "empty arguments unbound", checks: []string{"RS-ARGS"}},
	{fault: "empty texts left out + questions name all arguments", checks: []string{"RS-ARGS"}},
	{fault: "empty arguments not compared", checks: []string{"RS-ARGS"}},
	{fault: "members of members unbound + labels of any members", checks: []string{"RS-ARGS"}},
	{fault: "long arguments cut", checks: []string{"RS-ARGS"}},
	{fault: "arguments without case", checks: []string{"RS-ARGS"}},
	{fault: "arguments in one normal form + questions name the call", checks: []string{"RS-ARGS"}},
	{fault: "another status elsewhere", checks: []string{"RS-UNIFORM"}},
	{fault: "arguments joined", checks: []string{"RS-ARGS"}},
	{fault: "credentials in a readable state", checks: []string{"RS-CLEAR"}},
	{fault: "tag without regard to case", checks: []string{"RS-TAMPER"}, also: []string{"RS-CLEAR"}},
	{fault: "verdicts remembered by token", checks: []string{"RS-USER"}, also: []string{"RS-ARGS", "RS-TOOL", "RS-METHOD"}},
	{fault: "refusals tell in a header", checks: []string{"RS-UNIFORM"}},
	{fault: "refusals tell in a number", checks: []string{"RS-UNIFORM"}},
	{fault: "expired states told apart", checks: []string{"RS-EXP"}, change: told},
	{fault: "the first of two arguments bound", checks: []string{"RS-ARGS"}},
	{fault: "arguments without spaces", checks: []string{"RS-ARGS"}},
	{fault: "keys of questions by chance + unbound arguments", checks: []string{"RS-ARGS"}, change: withEffects},
	{fault: "answers under any key", checks: []string{"RS-DECLINE"}, change: withEffects},
	{fault: "rounds out of order", checks: []string{"RS-SKIP"}, change: withEffects},
	{fault: "full stops take long", checks: []string{"RS-SIZE"}, timed: true, change: func(o *review.Options) { o.Hang = 3 * time.Second }},
	{fault: "unbound tool", checks: []string{"RS-TOOL"}},
	{fault: "unbound method", checks: []string{"RS-METHOD"}, also: []string{"RS-TOOL", "RS-ARGS"}},
	{fault: "cursors as states", checks: []string{"RS-METHOD"}, change: withEffects, critical: true},
	{fault: "unbound user", checks: []string{"RS-USER"}},
	{fault: "textual arguments", checks: []string{"RS-ARGSAME"}},
	{fault: "refusals differ", checks: []string{"RS-UNIFORM"}},
	{fault: "refusals tell", checks: []string{"RS-TEXT"}, also: []string{"H-TRACE"}},
	{fault: "refusals tell the tag", checks: []string{"RS-TEXT"}, also: []string{"RS-UNIFORM", "RS-CLEAR"}},
	{fault: "refusals tell the key", checks: []string{"RS-TEXT"}, also: []string{"RS-UNIFORM", "RS-CLEAR"}},
	{fault: "refusals name exceptions", checks: []string{"RS-TEXT"}},
	{fault: "readable and careful", checks: []string{"RS-CLEAR"}, change: func(o *review.Options) { o.Secrets = []string{"confirm"} }},
	{fault: "one nonce", checks: []string{"RS-NONCE"}, also: []string{"RS-FRESH"}},
	{fault: "compressed state", checks: []string{"RS-LEN"}},
	{fault: "published key", checks: []string{"RS-KEY"}, also: []string{"RS-CLEAR", "RS-FORGE"}},
	{fault: "careless key", checks: []string{"RS-KEY"}, also: []string{"RS-CLEAR", "RS-FORGE"}},
	{fault: "a form for a password", checks: []string{"RS-FORMSECRET"}},
	{fault: "keys in questions", checks: []string{"RS-FORMSECRET"}},
	{fault: "an unknown kind of question", checks: []string{"RS-SHAPE"}},
	{fault: "forms without a message", checks: []string{"RS-SHAPE"}},
	{fault: "nested forms", checks: []string{"RS-SHAPE"}},
	{fault: "capabilities ignored", checks: []string{"RS-CAP"}},
	{fault: "capabilities read once", checks: []string{"RS-CAP"}},
	{fault: "capabilities read once", checks: []string{"RS-CAP"}, change: withEffects},
	{fault: "not asked again", checks: []string{"RS-ASKAGAIN"}, change: func(o *review.Options) { o.Effects = true }},
	{fault: "other answers refused", checks: []string{"RS-EXTRA"}},
	{fault: "state on lists", checks: []string{"RS-WHERE"}},
	{fault: "action ignored", checks: []string{"RS-DECLINE"}, change: withEffects},
	{fault: "no action is an acceptance", checks: []string{"RS-DECLINE"}, change: withEffects},
	{fault: "drafts of any form", checks: []string{"RS-FORM"}, change: withEffects},
	{fault: "answers not validated", checks: []string{"RS-FORM"}, change: withEffects},
	{fault: "long states unverified", checks: []string{"RS-SIZE"}, critical: true},
	{fault: "long states end the server", checks: []string{"RS-SIZE"}, ends: true},
	{fault: "deep states end the server + readable and careful", checks: []string{"RS-SIZE"}, ends: true},
	{fault: "states of 4 KiB at most", checks: []string{"RS-TAKEBACK"}},
	{fault: "no expiry", checks: []string{"RS-EXP"}, change: told},
	{fault: "used twice", checks: []string{"RS-REPLAY"}, also: []string{"RS-ROLL"}, change: oneTime},
	{fault: "used twice", checks: []string{"RS-ROLL"}, also: []string{"RS-REPLAY"}, change: oneTime},
	{fault: "used twice at once", checks: []string{"RS-REPLAY"}, also: []string{"RS-ROLL"}, change: oneTime},
	{fault: "used twice at once", checks: []string{"RS-REPLAY"}, also: []string{"RS-ROLL"}, change: withEffects},
	{fault: "answers override the state", checks: []string{"RS-FORM"}, change: withEffects, critical: true},
	{fault: "members of answers override the state", checks: []string{"RS-FORM"}, change: withEffects, critical: true},
	{fault: "members of labels override the state + labels with a tag", checks: []string{"RS-FORM"}, change: withEffects, critical: true},
	{fault: "other answers override the state", checks: []string{"RS-FORM"}, change: withEffects, critical: true},
	{fault: "rounds skipped", checks: []string{"RS-SKIP"}, change: oneTime},
	{fault: "short tag", checks: []string{"RS-TAG"}, also: []string{"RS-CLEAR"}},
	{fault: "hashed handles", checks: []string{"RS-GUESS"}},
	{fault: "blocks encrypted alone", checks: []string{"RS-NONCE"}, critical: true},
	{fault: "empty states unverified", checks: []string{"RS-SKIP"}, change: withEffects, critical: true},
	{fault: "counted handles", checks: []string{"RS-GUESS"}, also: unsealed},
	{fault: "a URL with credentials", checks: []string{"RS-URL"}},
	{fault: "states in URLs", checks: []string{"RS-URL"}, also: []string{"RS-CAP"}},
	{fault: "URLs of forwarded hosts", checks: []string{"RS-URL"}, also: []string{"RS-CAP"}},
	{fault: "bound to the connection", checks: []string{"RS-CONN"}},
	{fault: "unknown keys end the server", second: "unknown keys end the server", checks: []string{"RS-INST"}, ends: true},
	{fault: "used tokens of one instance alone", twin: true, checks: []string{"RS-INST"}, change: oneTime},
	{fault: "nonces of one seed", second: "nonces of one seed", twin: true, checks: []string{"RS-INST"}},
	{fault: "used tokens forgotten", checks: []string{"RS-RESTART"}, change: oneTime},
	{fault: "a key for each process", checks: []string{"RS-RESTART"}},
	{fault: "older revisions unverified + readable and careful", checks: []string{"RS-DOWN"}, also: []string{"RS-CLEAR"}},
	{fault: "one nonce", checks: []string{"RS-FRESH"}, also: []string{"RS-NONCE"}},

	{fault: "any revision", checks: []string{"H-VER"}},
	{fault: "any later revision", checks: []string{"H-VER"}},
	{fault: "any of several names", checks: []string{"H-SMUGGLE"}},
	{fault: "names without case", checks: []string{"H-SMUGGLE"}},
	{fault: "methods without case", checks: []string{"H-SMUGGLE"}},
	{fault: "header names as in CGI", checks: []string{"H-METHOD"}},
	{fault: "name headers without case", checks: []string{"H-NAME"}},
	{fault: "hosts of request lines unread", checks: []string{"H-TWICE"}},
	{fault: "requests without an id answered", checks: []string{"H-202"}, also: []string{"H-ID"}},
	{fault: "ids of 32 bits", checks: []string{"H-ID"}},
	{fault: "texts of digits are numbers", checks: []string{"H-ID"}},
	{fault: "zero is no id", checks: []string{"H-ID"}},
	{fault: "calls without an id refused aloud", checks: []string{"H-202"}},
	{fault: "logs for everybody", checks: []string{"H-NOTICE"}},
	{fault: "paths in errors", checks: []string{"H-TRACE"}},
	{fault: "unknown methods with status 200", checks: []string{"H-UNKNOWN"}},
	{fault: "unknown tools with status 500", checks: []string{"T-UNKNOWN"}},
	{fault: "credentials in cookies", checks: []string{"A-LIKE"}},
	{fault: "keys in instructions", checks: []string{"T-HIDDEN"}},
	{fault: "prompts declared alone", checks: []string{"H-RESULT"}},
	{fault: "results as text", checks: []string{"H-RESULT"}},
	{fault: "passwords on pages", checks: []string{"H-PATH"}},
	{fault: "more values than in total", checks: []string{"C-COMP"}},
	{fault: "any revision on calls", checks: []string{"H-VER"}},
	{fault: "cursors as offsets", checks: []string{"H-CURSOR"}},
	{fault: "ids of ended sessions given again", checks: []string{"S-END"}},
	{fault: "sessions told in every stream", checks: []string{"S-RESUME"}},
	{modern: true, fault: "apostrophes end queries", checks: []string{"T-VALUE"}, critical: true},
	{modern: true, fault: "half pairs are faults", checks: []string{"T-VALUE"}},
	{fault: "large numbers are faults", checks: []string{"T-VALUE"}, change: withEffects},
	{fault: "pages by path", checks: []string{"T-VALUE"}, change: withEffects, critical: true},
	{fault: "credentials as patterns", checks: []string{"A-LIKE"}},
	{fault: "notifications without credentials", checks: []string{"A-METHOD"}},
	{fault: "paths with a stroke open", checks: []string{"A-METHOD"}},
	{fault: "refused with status 200", checks: []string{"A-401"}},
	{fault: "refusals repeat credentials", checks: []string{"A-401"}},
	{fault: "challenges repeat credentials", checks: []string{"A-401"}},
	{fault: "no metadata", checks: []string{"A-META"}},
	{fault: "metadata of forwarded hosts", checks: []string{"A-META"}},
	{fault: "challenges of forwarded hosts", checks: []string{"A-META"}},
	{fault: "authorization servers without TLS + challenges without metadata", checks: []string{"A-META"}},
	{fault: "resources of any URL", checks: []string{"R-FETCH"}, critical: true},
	{modern: true, fault: "progress after the answer", checks: []string{"L-PROGRESS"}},
	{modern: true, fault: "progress after resources", checks: []string{"L-PROGRESS"}},
	{modern: true, fault: "progress under another token", checks: []string{"L-PROGRESS"}},
	{modern: true, fault: "progress that falls", checks: []string{"L-PROGRESS"}},
	{modern: true, fault: "streams left open", checks: []string{"L-PROGRESS"}},
	{modern: true, stdio: true, fault: "progress after the answer", checks: []string{"L-PROGRESS"}},
	{modern: true, fault: "keys in logs", checks: []string{"L-PROGRESS"}},
	{modern: true, fault: "settings in logs", checks: []string{"L-PROGRESS"}},
	{modern: true, fault: "states in logs", checks: []string{"L-PROGRESS"}},
	{fault: "credentials of Basic", checks: []string{"A-LIKE"}},
	{fault: "credentials by name and length", checks: []string{"A-LIKE"}},
	{fault: "cookies of users", checks: []string{"A-LIKE"}, also: []string{"H-TOLD"}},
	{modern: true, fault: "users renamed", checks: []string{"A-LIKE"}},
	{fault: "sessions in cookies", checks: []string{"S-MISSING"}},
	{fault: "lists of sessions", checks: []string{"S-MISSING"}},
	{fault: "the last of several sessions", checks: []string{"S-MISSING"}},
	{fault: "Referer believed", checks: []string{"H-ORIGIN"}},
	{fault: "origins by their beginning", checks: []string{"H-ORIGIN"}},
	{fault: "frames in sandboxes may read", checks: []string{"H-CORS"}},
	{fault: "readers by their end", checks: []string{"H-CORS"}},
	{fault: "readers by their beginning", checks: []string{"H-CORS"}},
	{fault: "clients by their end", checks: []string{"H-ORIGIN"}},
	{fault: "origins by their end", checks: []string{"H-ORIGIN"}},
	{modern: true, fault: "any origin on lists of prompts", checks: []string{"H-ORIGIN"}},
	{fault: "forwarded hosts believed", checks: []string{"H-HOST"}},
	{modern: true, fault: "wrong types are faults + traces in errors", checks: []string{"H-PARAMS", "H-TRACE"}},
	{fault: "credentials that cannot be read count as none", checks: []string{"A-LIKE"}},
	{modern: true, fault: "numbers come back as texts", checks: []string{"H-CODES"}, also: []string{"H-ID", "H-INIT", "H-LASTID", "H-META", "H-METHOD", "H-NAME64", "H-PARAM", "H-PARAMS", "H-SESSION", "H-UNKNOWN", "H-VER", "H-VERMIS"}},
	{modern: true, fault: "terms in braces worked out", checks: []string{"T-VALUE"}, critical: true},
	{fault: "hosts by their beginning", checks: []string{"H-HOST"}},
	{fault: "no challenges", checks: []string{"A-401"}},
	{fault: "messages in two events", checks: []string{"H-CODES"}},
	{fault: "key from the name of the server", checks: []string{"RS-KEY"}, also: []string{"RS-CLEAR"}},
	{fault: "users of _meta", checks: []string{"A-NAME"}},
	{fault: "users of params", checks: []string{"A-NAME"}},
	{fault: "users of queries", checks: []string{"A-NAME"}},
	{fault: "known users of _meta", checks: []string{"A-NAME"}},
	{fault: "tools of any user", checks: []string{"T-USER"}},
	{fault: "desks of alice", checks: []string{"T-USER"}},
	{modern: true, fault: "lists remembered by id", checks: []string{"T-MIX"}},
	{fault: "questions name the call before", checks: []string{"T-MIX"}},
	{fault: "completions of all users", checks: []string{"T-MIX"}},
	{modern: true, fault: "one variable for calls at once", checks: []string{"T-MIX"}, change: withEffects},
	{modern: true, fault: "one user for calls at once", checks: []string{"T-MIX"}, change: withEffects},
	{modern: true, fault: "tools in any case", checks: []string{"T-UNKNOWN"}},
	{fault: "revisions as lists", checks: []string{"H-VERMIS"}, also: []string{"H-TWICE"}},
	{fault: "batches of one", checks: []string{"H-BATCH"}},
	{fault: "requests traced", checks: []string{"H-VERB"}, also: []string{"H-TRACE"}},
	{fault: "origins of extensions", checks: []string{"H-ORIGIN"}},
	{fault: "answers for shared caches", checks: []string{"H-RESULT"}},
	{fault: "revisions not compared", checks: []string{"H-VERMIS"}},
	{fault: "no _meta wanted", checks: []string{"H-META"}},
	{fault: "any method header", checks: []string{"H-METHOD"}, also: []string{"H-SMUGGLE", "H-TWICE"}},
	{fault: "any name header", checks: []string{"H-NAME"}, also: []string{"H-NAME64"}},
	{fault: "beginnings of names", checks: []string{"H-NAME"}},
	{fault: "names of tools alone compared", checks: []string{"H-NAME"}},
	{fault: "texts from any origin", checks: []string{"H-TYPE"}},
	{fault: "params that are null end the connection", checks: []string{"H-PARAMS"}},
	{fault: "ids in events", checks: []string{"H-ID"}},
	{fault: "tools of every object", checks: []string{"T-UNKNOWN"}},
	{fault: "errors show the request", checks: []string{"H-TRACE"}},
	{fault: "passwords in errors", checks: []string{"H-TRACE"}},
	{fault: "keys in errors", checks: []string{"H-TRACE"}},
	{fault: "numbers that are none", checks: []string{"H-CODES"}},
	{modern: true, fault: "answers in Latin-1", checks: []string{"H-CODES", "H-ID"}},
	{fault: "params of arrays read", checks: []string{"H-PARAMS"}},
	{fault: "sources in errors", checks: []string{"H-TRACE"}},
	{fault: "resources cached for a negative time", checks: []string{"H-RESULT"}},
	{fault: "base64 names not read", checks: []string{"H-NAME64"}},
	{fault: "headers twice", checks: []string{"H-TWICE"}},
	{fault: "members without case", checks: []string{"H-SMUGGLE"}, also: []string{"H-METHOD", "H-TWICE"}},
	{fault: "any origin", checks: []string{"H-ORIGIN", "S-ORIGIN"}},
	{modern: true, fault: "any origin on calls", checks: []string{"H-ORIGIN"}},
	{fault: "calls by GET", checks: []string{"H-VERB"}},
	{fault: "settings for everybody", checks: []string{"H-PATH"}},
	{fault: "settings for everybody + readable and careful", checks: []string{"H-PATH"}, also: []string{"RS-CLEAR"}, critical: true},
	{fault: "secret keys among the public ones", checks: []string{"H-PATH"}},
	{fault: "states in a header", checks: []string{"H-TOLD"}},
	{fault: "any host", checks: []string{"H-HOST"}},
	{fault: "any reader", checks: []string{"H-CORS"}, also: []string{"H-ORIGIN", "S-ORIGIN"}},
	{fault: "any type", checks: []string{"H-TYPE"}, also: []string{"H-ORIGIN", "S-ORIGIN"}},
	{fault: "sessions repeated", checks: []string{"H-SESSION"}},
	{fault: "Last-Event-ID refused", checks: []string{"H-LASTID"}},
	{fault: "any verb", checks: []string{"H-VERB"}},
	{fault: "any parameter header", checks: []string{"H-PARAM"}},
	{fault: "Accept is a fault", checks: []string{"H-ACCEPT"}},
	{fault: "initialize unanswered", checks: []string{"H-INIT"}},
	{fault: "unknown methods answered", checks: []string{"H-UNKNOWN"}},
	{fault: "batches end the server", checks: []string{"H-BATCH"}, also: []string{"H-JSON", "S-BATCH"}},
	{fault: "batches served", checks: []string{"H-BATCH", "S-BATCH"}},
	{fault: "bad lines end the server", checks: []string{"H-JSON"}, ends: true},
	{fault: "wrong types are faults", checks: []string{"H-PARAMS"}},
	{fault: "any id", checks: []string{"H-ID"}},
	{fault: "notifications answered", checks: []string{"H-202", "S-202"}},
	{fault: "one cache for all users", checks: []string{"H-RESULT"}},
	{fault: "results of another type", checks: []string{"H-RESULT"}},
	{fault: "results without cache members", checks: []string{"H-RESULT"}},
	{modern: true, fault: "undefined code", checks: []string{"H-CODES", "H-UNKNOWN"}},
	{fault: "any cursor", checks: []string{"H-CURSOR"}},
	{fault: "changing order", checks: []string{"H-ORDER"}},
	{fault: "no credentials wanted", checks: []string{"A-401"}},
	{fault: "any audience", checks: []string{"A-AUD"}},
	{fault: "prompts without credentials", checks: []string{"A-METHOD"}},
	{fault: "credentials by their beginning", checks: []string{"A-LIKE"}},
	{fault: "credentials of a connection", checks: []string{"A-CONN"}},
	{fault: "kinds of methods compared", checks: []string{"H-METHOD"}},
	{fault: "credentials in the query", checks: []string{"A-QUERY"}},

	{fault: "unknown tools are results", checks: []string{"T-UNKNOWN"}},
	{fault: "no schema", checks: []string{"T-SCHEMA"}},
	{fault: "schemas of unknown types", checks: []string{"T-SCHEMA"}},
	{modern: true, fault: "arguments not validated", checks: []string{"T-TYPE", "T-EXTRA"}},
	{fault: "descriptions in tag characters", checks: []string{"T-HIDDEN"}},
	{fault: "every change told", checks: []string{"L-LISTEN"}},
	{fault: "notes cached for all users", checks: []string{"R-USER"}},
	{modern: true, fault: "answers remembered by id + questions name the call", checks: []string{"T-MIX"}},
	{fault: "paths in pages", checks: []string{"H-PATH"}},
	{fault: "arguments of total not validated", checks: []string{"T-TYPE"}, change: withEffects},
	{fault: "no arguments are a fault", checks: []string{"T-TYPE"}, change: withEffects},
	{fault: "sums of zero left out", checks: []string{"T-OUT"}, change: withEffects},
	{fault: "prototype names are faults", checks: []string{"T-PROTO"}},
	{fault: "no structured content", checks: []string{"T-OUT"}, change: withEffects},
	{fault: "structured content of another type", checks: []string{"T-OUT"}, change: withEffects},
	{fault: "any path", checks: []string{"R-PATH"}},
	{fault: "notes of any user", checks: []string{"R-USER"}},
	{fault: "notes of any user + resources in pages", checks: []string{"R-USER"}},
	{fault: "cursors name users", checks: []string{"R-USER"}, critical: true},
	{modern: true, fault: "subscriptions to notes of any user", checks: []string{"R-USER"}},
	{fault: "questions remembered by tool", checks: []string{"T-MIX"}, also: []string{"RS-ARGS"}},
	{fault: "questions remembered for every user", checks: []string{"T-MIX"}},
	{fault: "unknown resources are empty", checks: []string{"R-MISSING"}},
	{fault: "unknown prompts are faults", checks: []string{"P-UNKNOWN"}},
	{fault: "long completions", checks: []string{"C-COMP"}},
	{fault: "completions declared alone", checks: []string{"C-COMP"}},
	{fault: "completions of any folder", checks: []string{"R-PATH"}},
	{fault: "paths decoded twice", checks: []string{"R-PATH"}},
	{fault: "arguments of prompts expanded", checks: []string{"P-EXPAND"}},
	{fault: "arguments of prompts as formats", checks: []string{"P-EXPAND"}},
	{fault: "formats that fail are left alone", checks: []string{"P-EXPAND"}},
	{fault: "arguments of prompts begin messages", checks: []string{"P-EXPAND"}},
	{fault: "files in arguments of prompts", checks: []string{"P-EXPAND"}, critical: true},
	{fault: "prompts without arguments", checks: []string{"P-ARGS"}},
	{fault: "prompts of the system", checks: []string{"R-FORM"}},
	{fault: "blobs of text", checks: []string{"R-FORM"}},
	{fault: "subscriptions without a filter", checks: []string{"L-LISTEN"}},
	{fault: "changes not told", checks: []string{"L-CHANGED"}, change: brief},
	{fault: "cancellation ignored", checks: []string{"X-CANCEL", "S-CANCEL"}, change: slowTool},
	{fault: "no time limit", checks: []string{"X-TIME"}, change: brief},
	{fault: "many headers end the server", checks: []string{"X-SIZE"}, change: withEffects, ends: true},
	{fault: "endless bodies", checks: []string{"X-SIZE"}, change: slowTool},

	{fault: "endless bodies in chunks", checks: []string{"X-SIZE"}, change: slowTool},
	{fault: "endless compressed bodies", checks: []string{"X-SIZE"}, change: slowTool},
	{fault: "one body at a time", checks: []string{"X-SLOW"}, change: slowTool},
	{fault: "errors followed by data", checks: []string{"H-CODES"}},
	{fault: "errors as text", checks: []string{"H-CODES"}},
	{fault: "pages of unknown methods", checks: []string{"H-UNKNOWN"}},
	{fault: "results beside errors", checks: []string{"H-CODES"}},

	{fault: "any revision negotiated", checks: []string{"S-NEG"}},
	{fault: "counted session ids", checks: []string{"S-ID"}},
	{fault: "hashed session ids", checks: []string{"S-ID"}},
	{fault: "session ids of few characters", checks: []string{"S-ID"}},
	{fault: "sessions by their beginning", checks: []string{"S-MISSING"}},
	{fault: "sessions ended by any user", checks: []string{"S-HIJACK"}},
	{fault: "any session", checks: []string{"S-MISSING"}, also: []string{"S-END", "S-HIJACK"}},
	{fault: "sessions without end", checks: []string{"S-END"}},
	{fault: "any revision in a session", checks: []string{"S-VER"}},
	{fault: "streams without a session", checks: []string{"S-GET"}},
	{fault: "answers of any session taken", checks: []string{"S-PUSH"}, change: withEffects, critical: true},
	{fault: "answers lost", checks: []string{"S-PUSH"}, change: brief},
	{fault: "sessions of any user", checks: []string{"S-HIJACK"}},
	{fault: "pings of any user", checks: []string{"S-HIJACK"}},
	{fault: "session ids of cookies", checks: []string{"S-FIX"}, critical: true},
	{fault: "session ids of queries", checks: []string{"S-FIX"}, critical: true},
	{fault: "chosen session ids", checks: []string{"S-FIX"}},
	{fault: "streams of any session", checks: []string{"S-RESUME"}},
	{fault: "answers of any session replayed", checks: []string{"S-RESUME"}},
	{fault: "unknown events open every session", checks: []string{"S-RESUME"}, critical: true},
	{fault: "unknown events are the first", checks: []string{"S-RESUME"}},
	{fault: "streams by event alone", checks: []string{"S-RESUME"}, critical: true},
	{fault: "any origin in a session", checks: []string{"S-ORIGIN"}},
	{fault: "any origin on streams", checks: []string{"S-ORIGIN"}},
	{fault: "sessions in cookies of their own", checks: []string{"S-MISSING"}},
	{fault: "streams of made-up sessions", checks: []string{"S-MISSING"}, also: []string{"S-END"}},
	{fault: "streams without end", checks: []string{"S-END"}},
	{fault: "revisions of one year negotiated", checks: []string{"S-NEG"}},
	{fault: "changes of roots answered", checks: []string{"S-202"}},
	{fault: "answers without numbers replayed", checks: []string{"S-RESUME"}},
	{fault: "calls told in every stream", checks: []string{"S-RESUME"}},
	{fault: "handshakes by header", checks: []string{"A-METHOD"}},
	{fault: "completions without credentials", checks: []string{"A-METHOD"}},
	{fault: "addresses of proxies believed", checks: []string{"A-LIKE"}},
	{fault: "sessions break", checks: []string{"S-REINIT"}},

	{stdio: true, fault: "noise on standard output", checks: []string{"IO-CLEAN"}},
	{stdio: true, fault: "messages over several lines", checks: []string{"IO-CLEAN"}, also: []string{"IO-LINE", "IO-NOTE"}, critical: true},
	{stdio: true, fault: "requests to the client", checks: []string{"IO-REQUEST"}},
	{stdio: true, fault: "any revision", checks: []string{"IO-VER"}},
	{stdio: true, fault: "calls without an id refused aloud", checks: []string{"IO-NOTE"}},
	{stdio: true, fault: "batches served", checks: []string{"IO-NOTE"}},
	{stdio: true, fault: "cancellations of nothing end the server", checks: []string{"IO-NOTE"}},
	{stdio: true, fault: "changes of roots logged", checks: []string{"IO-NOTE"}},
	{stdio: true, fault: "late cancellations count for the next request", checks: []string{"IO-NOTE"}, change: func(o *review.Options) { o.Limits.Time, o.Grace = time.Second, 300*time.Millisecond }},
	{modern: true, stdio: true, fault: "lines end at U+2028", checks: []string{"IO-LINE"}},
	{stdio: true, fault: "unknown methods unanswered", checks: []string{"H-UNKNOWN"}},
	{stdio: true, fault: "unknown methods answered", checks: []string{"H-UNKNOWN"}},
	{modern: true, stdio: true, fault: "chunks are lines", checks: []string{"IO-LINE"}},
	{stdio: true, fault: "answers over two lines", checks: []string{"IO-CLEAN"}, also: []string{"IO-LINE", "IO-NOTE"}, critical: true},
	{stdio: true, fault: "numbers that are none", checks: []string{"IO-CLEAN"}, also: []string{"IO-LINE", "IO-NOTE"}, critical: true},
	{stdio: true, fault: "answers in Latin-1", checks: []string{"IO-ID", "H-CODES"}},
	{stdio: true, fault: "errors answered twice", checks: []string{"H-CODES"}},
	{stdio: true, fault: "params of arrays read", checks: []string{"H-PARAMS"}},
	{stdio: true, fault: "environment in errors", checks: []string{"H-TRACE"}},
	{stdio: true, fault: "bad lines logged", checks: []string{"IO-LINE"}, also: []string{"IO-NOTE"}},
	{stdio: true, fault: "texts of digits are numbers", checks: []string{"IO-ID"}},
	{stdio: true, fault: "logs for everybody", checks: []string{"H-NOTICE"}},
	{modern: true, stdio: true, fault: "no handshake wanted", checks: []string{"IO-PREINIT"}},
	{stdio: true, fault: "bad lines end the server", checks: []string{"IO-LINE"}},
	{stdio: true, fault: "one call at a time", checks: []string{"IO-PARALLEL"}, also: []string{"IO-CANCEL"}, change: slowTool},
	{stdio: true, fault: "cancellation ignored", checks: []string{"IO-CANCEL"}, change: slowTool},
	{stdio: true, fault: "the end of input ignored", checks: []string{"IO-EOF"}, change: lingers},
	{stdio: true, fault: "SIGTERM ignored", checks: []string{"IO-TERM"}, change: lingers},
	{stdio: true, fault: "NUL in a text ends the server", checks: []string{"RS-ARGS"}, ends: true},
	{stdio: true, fault: "long lines end the server", checks: []string{"IO-LINE"}, ends: true},
	{modern: true, stdio: true, fault: "refused tokens on standard error", checks: []string{"IO-STDERR"}},
	{modern: true, stdio: true, fault: "tokens on standard error", checks: []string{"IO-STDERR"}},
	{stdio: true, fault: "unknown keys end the server", checks: []string{"IO-RESTART"}, ends: true},
}

// review reviews the broken server of a row.
func (x row) review(t *testing.T, checks []string) (*review.Report, *mcp.Server) {
	t.Helper()
	clock := &fakeClock{now: time.Unix(1_795_164_472, 0)}
	target := review.Target{Command: []string{"/usr/bin/env", serverVariable + "=mcp:" + x.fault, os.Args[0]}}
	s := &mcp.Server{}
	if !x.stdio {
		s, target.URL = x.serve(t, clock, strings.Split(x.fault, " + ")...)
		target.Command = nil
	}
	o := review.Options{Target: target, Checks: checks, Seed: 1, Budget: 6000, Limits: rawmcp.Limits{Time: 30 * time.Second}, Hang: 20 * time.Second, Grace: 5 * time.Second, Large: 8 << 20}
	twoUsers(&o)
	o.Target.Foreign = []rawmcp.Header{{Name: "Authorization", Value: "Bearer " + mcp.Elsewhere}}
	if x.stdio {
		o.Target.Headers, o.Target.Second, o.Target.Foreign = nil, nil, nil
	}
	o.Clock = review.Clock{Now: clock.Now, Sleep: clock.Sleep}
	o.Restart = func(context.Context) error { s.Restart(); return nil }
	if x.second != "" || x.twin {
		var other *mcp.Server
		if other, o.Target.Also = x.serve(t, clock, x.second); x.twin {
			other.Secret = s.Secret
		}
	}
	if x.change != nil {
		x.change(&o)
	}
	report, err := review.Run(context.Background(), o)
	require.NoError(t, err)
	return report, s
}

// serve serves a broken server over HTTP.
func (x row) serve(t *testing.T, clock *fakeClock, faults ...string) (*mcp.Server, string) {
	s := mcp.New(mcp.Clock{Now: clock.Now, Sleep: func(ctx context.Context, d time.Duration) error {
		return review.SystemClock().Sleep(ctx, d/3)
	}}, faults...)
	s.Users = true
	h := httptest.NewUnstartedServer(s)
	h.Config.ErrorLog = log.New(io.Discard, "", 0)
	h.Start()
	t.Cleanup(h.Close)
	return s, h.URL + "/mcp"
}

var all = flag.Bool("all", false, "carry every check out on every broken server")

// inSample reports whether the i-th broken server is in the sample of a test: each third
// one, and each twelfth under the race detector.
func inSample(i int) bool {
	switch {
	case *all || !testenv.Sample():
		return true
	case testenv.Race():
		return i%12 == 0
	}
	return i%3 == 0
}

// TestMatrix reviews a server with one fault for each check: its own checks refute
// it. With -args -all no other check does.
func TestMatrix(t *testing.T) {
	seen := map[string]bool{}
	for i, x := range rows {
		for _, id := range x.checks {
			seen[id] = true
		}
		if !inSample(i) || testenv.Race() && x.timed {
			continue
		}
		t.Run(fmt.Sprintf("%d %s", i, x.fault), func(t *testing.T) {
			t.Parallel()
			checks := x.checks
			if *all && !x.ends {
				checks = nil
			}
			report, s := x.review(t, checks)
			found := refutedBy(report, review.Critical, review.Warning, review.Suggestion)
			for _, id := range x.checks {
				require.Contains(t, found, id, describe(report))
				require.True(t, !x.critical || found[id] == review.Critical, describe(report))
				delete(found, id)
			}
			for _, id := range x.also {
				delete(found, id)
			}
			if *all {
				require.Empty(t, found, describe(report))
			}
			if x.change == nil {
				require.Zero(t, s.Runs.Load(), "a tool ran to its end")
			}
		})
	}
	for _, c := range review.Checks() {
		require.True(t, seen[c.ID], "%s has no broken server", c.ID)
	}
}

// TestEnded reviews a server that ends at an earlier check: later checks cannot be
// carried out and accuse it of nothing.
func TestEnded(t *testing.T) {
	report, _ := row{fault: "bad lines end the server"}.review(t, []string{"H-JSON", "T"})
	found := refutedBy(report, review.Critical, review.Warning, review.Suggestion)
	require.Equal(t, map[string]review.Severity{"H-JSON": review.Warning}, found, describe(report))
}

// TestUnbroken reviews the server without a fault: no check accuses it. A sample has it
// with effects, over HTTP and standard input; under the race detector, without them.
func TestUnbroken(t *testing.T) {
	effects := func(o *review.Options) { oneTime(o); told(o); slowTool(o) }
	shared := func(o *review.Options) { oneTime(o); o.Target.Also = o.Target.URL }
	sample := []string{"effects", "stdio, effects"}
	if testenv.Race() {
		sample = []string{"safe"}
	}
	for name, x := range map[string]row{"safe": {}, "effects": {change: effects}, "two instances with one store": {change: shared},
		"begins again": {fault: "begins again elsewhere", change: told}, "begins again, effects": {fault: "begins again elsewhere", change: effects},
		"questions name the call": {fault: "questions name the call"}, "questions name the call, effects": {fault: "questions name the call", change: effects},
		"answers in streams": {fault: "answers in streams"}, "no sessions": {fault: "no sessions", change: brief}, "compressed bodies": {fault: "compressed bodies", change: brief}, "flags of emoji": {fault: "flags of emoji"}, "a prompt that answers at once": {fault: "a prompt that answers at once"}, "arguments of several types": {fault: "arguments of several types"}, "keys of questions by chance, effects": {fault: "keys of questions by chance", change: effects}, "stdio": {stdio: true, fault: "answers in parts"}, "stdio, responses refused": {stdio: true, fault: "responses refused aloud"}, "stdio, effects": {stdio: true, change: func(o *review.Options) { oneTime(o); slowTool(o) }}} {
		if testenv.Sample() && !slices.Contains(sample, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report, s := x.review(t, nil)
			require.Empty(t, report.Findings, describe(report))
			if name == "begins again" {
				require.Contains(t, describe(report), "begins again on a good state")
			}
			if x.change == nil {
				require.Zero(t, report.Ran)
				require.Zero(t, s.Runs.Load(), "a tool ran to its end")
			}
			t.Log(describe(report))
		})
	}
}

// TestUnbrokenInChecks reviews sound servers of another kind by the checks that could take
// them for broken ones.
func TestUnbrokenInChecks(t *testing.T) {
	for _, x := range []row{
		{fault: "revisions looked up before they are compared", checks: []string{"H-VERMIS"}},
		{fault: "messages over two lines + questions name the call", checks: []string{"H-CODES", "H-RESULT", "T-VALUE", "H-HOST", "A-401", "A-META"}},
		{fault: "tools of users", checks: []string{"A-NAME", "T-USER", "T-MIX", "T-UNKNOWN"}},
		{fault: "resources in pages + subscriptions to own notes", checks: []string{"R-USER", "T-USER", "T-MIX", "RS-METHOD"}, change: withEffects},
		{fault: "drafts asked for", checks: []string{"RS-FORM", "RS-DECLINE", "RS-CAP", "RS-SHAPE", "RS-EXTRA", "RS-ASKAGAIN", "T-MIX"}, change: withEffects},
		{fault: "digests in logs", checks: []string{"L-PROGRESS"}, change: withEffects},
		{fault: "labels with a tag", checks: []string{"RS-FORM"}, change: withEffects},
		{fault: "results name users", checks: []string{"T-MIX"}, change: withEffects},
		{fault: "sessions to end are named", checks: []string{"H-VERB"}},
		{fault: "challenges without metadata", checks: []string{"A-META"}},
		{fault: "challenges without metadata + no metadata", checks: []string{"A-META", "A-401"}},
		{fault: "answers in streams", checks: []string{"L-PROGRESS", "S-RESUME"}},
		{fault: "questions name all arguments", checks: []string{"RS-ARGS"}},
		{fault: "absent texts are empty + labels of any members + questions name the call", checks: []string{"RS-ARGS"}},
		{fault: "absent texts are empty + labels of any members", checks: []string{"RS-ARGS", "RS-FORM"}, change: withEffects},
		{fault: "names of keys in tokens", checks: []string{"RS-FORGE", "RS-TAMPER", "RS-CUT", "RS-SPLICE"}},
		{fault: "versions in tokens + states of varying length", checks: []string{"RS-FORGE", "RS-TAMPER", "RS-CUT", "RS-SPLICE"}},
		{fault: "one reader + one extension", checks: []string{"H-CORS", "H-ORIGIN"}},
		{fault: "answers for the cache of a user", checks: []string{"H-RESULT", "H-VERB", "H-BATCH", "H-VERMIS"}},
		{checks: []string{"A-401", "H-CORS", "H-ORIGIN", "H-UNKNOWN", "H-CODES"}},
		{checks: []string{"T-VALUE", "T-HIDDEN", "H-RESULT", "H-PATH", "C-COMP", "H-VER", "H-CURSOR", "S-END", "S-RESUME", "A-META", "L-PROGRESS", "R-FETCH"}, change: withEffects},
		{fault: "questions name the call", checks: []string{"RS-FORMSECRET"}},
		{stdio: true, checks: []string{"T-VALUE", "T-HIDDEN", "H-RESULT", "L-PROGRESS", "R-FETCH", "IO-LINE"}, change: withEffects},
	} {
		t.Run(fmt.Sprint(x.fault, x.checks), func(t *testing.T) {
			t.Parallel()
			report, _ := x.review(t, x.checks)
			require.Empty(t, report.Findings, describe(report))
		})
	}
}

// TestRepeatedNames reviews a sound server on standard input that refuses repeated names
// in an error without an id. No call waits for an answer that cannot come.
func TestRepeatedNames(t *testing.T) {
	calls, refused := 0, 0
	record := func(o *review.Options) {
		o.Effects = true
		o.Record = func(e *rawmcp.Exchange) {
			calls++
			require.NoError(t, e.Err, "%s", e.Sent)
			if bytes.Contains(e.Received, []byte("parse error")) {
				refused++
			}
		}
	}
	report, _ := row{stdio: true, fault: "repeated names refused without an id", change: record}.review(t, []string{"RS-ARGS"})
	require.Empty(t, report.Findings, describe(report))
	require.NotZero(t, refused, "of %d calls", calls)
}

// TestEndIsNamed reviews a server on standard input that ends: the finding has the request
// that ended it, and not an honest one before it.
func TestEndIsNamed(t *testing.T) {
	report, _ := row{stdio: true, fault: "NUL in a text ends the server"}.review(t, []string{"RS-ARGS"})
	require.Len(t, report.Findings, 1, describe(report))
	require.Contains(t, report.Findings[0].Evidence, `u0000`)
}

// TestEndIsShownAgain asks for the end of a server again, as a replay does, and for that
// of a sound one.
func TestEndIsShownAgain(t *testing.T) {
	for fault, want := range map[string]int{"batches end the server": 1, "": 0} {
		x := row{fault: fault, change: func(o *review.Options) { o.Case = "the server goes on" }}
		report, _ := x.review(t, []string{"H-BATCH"})
		require.Len(t, report.Findings, want, describe(report))
	}
}

// serveFaults is the broken server on standard streams.
func serveFaults(faults []string) {
	clock := review.SystemClock()
	s := mcp.New(mcp.Clock{Now: clock.Now, Sleep: func(ctx context.Context, d time.Duration) error { return clock.Sleep(ctx, d/3) }}, faults...)
	if slices.Contains(faults, "SIGTERM ignored") {
		signal.Ignore(syscall.SIGTERM)
	}
	err := s.ServeLines(os.Stdin, os.Stdout, os.Stderr)
	if slices.Contains(faults, "the end of input ignored") {
		select {}
	}
	if err != nil {
		os.Exit(1)
	}
}
