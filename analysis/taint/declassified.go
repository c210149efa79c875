package taint

import (
	"slices"
	"strings"

	"sealab/internal/taintfile"
)

// A row says of one dependence on a secret why it gives nothing away. It is
// about a function or a line, never about a design.
type row struct {
	kind   taintfile.Kind // empty: any
	within string         // part of the name of some function in the stack
	at     string         // part of the name of the innermost function
	text   string         // part of the innermost line
	reason string
}

// declassified is every reason there is. A row that nothing needs is printed.
var declassified = []row{
	{text: "subtle.ConstantTimeCompare(",
		reason: "the branch is on the verdict of a comparison that takes the same time for all tags, and the verdict is public"},
	{text: "hmac.Equal(",
		reason: "the branch is on the verdict of a comparison that takes the same time for all tags, and the verdict is public"},
	{text: "if !chacha20Poly1305Open(",
		reason: "the branch is on the verdict of the tag comparison, which is made with vector instructions over the whole tag, and the verdict is public"},
	{text: "if !x25519.Shared(",
		reason: "the branch is on whether the shared secret is all zero (RFC 7748, section 6.1), which a public key of low order brings about and no honest one"},
	{text: "if Fingerprint(id) == r.first.ID",
		reason: "a fingerprint is made to be public: every token shows that of its key"},
	{within: "keyring.Index", at: "runtime",
		reason: "a ring is indexed by fingerprints, and every token shows that of its key"},
	{at: "keyring.checkStrength",
		reason: "set-up refuses a secret of one byte repeated; for every other the branch goes the same way, once, before there is a token"},
	{within: "codecs/b64.appendEncode",
		reason: "what is encoded is the token, which goes to the client next"},
	{kind: taintfile.Division, at: "runtime.",
		reason: "the runtime divides sizes of memory, never what lies in it"},
	{kind: taintfile.Division, at: "sync.(*Pool)",
		reason: "a pool divides the number of a processor"},
}

// rowFor returns the index of the row that declassifies r, or -1.
func rowFor(r taintfile.Report) int {
	return slices.IndexFunc(declassified, func(d row) bool { return d.matches(r) })
}

func (d row) matches(r taintfile.Report) bool {
	at := r.Stack[0]
	return (d.kind == "" || d.kind == r.Kind) &&
		strings.Contains(at.Function, d.at) && strings.Contains(at.Text, d.text) &&
		(d.within == "" || slices.ContainsFunc(r.Stack, func(f taintfile.Frame) bool {
			return strings.Contains(f.Function, d.within)
		}))
}
