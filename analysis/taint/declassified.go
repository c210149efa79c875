package taint

import (
	"slices"
	"strings"

	"sealab/internal/runfile"
)

// A row describes dependences on a secret that reveal no secret, with the reason. It names functions,
// never the text of a line or a design. A name is compared with the end of a function's full name,
// starting at its package name.
type row struct {
	kind    runfile.Dependence // empty: any
	verdict string             // the line branches on the result of this function alone
	at      string             // the line is in this function, or in a package of the runtime
	within  string             // this function is anywhere in the stack
	reason  string
}

// declassified holds all reasons. A row that no report needs is printed.
var declassified = []row{
	{verdict: "subtle.ConstantTimeCompare",
		reason: "the branch is on the verdict of a comparison that takes the same time for all tags, and the verdict is public"},
	{verdict: "mac.Ring.Verify",
		reason: "the branch is on the union of the verdicts under all keys, and it is public"},
	{verdict: "chacha20poly1305.chacha20Poly1305Open",
		reason: "the branch is on the verdict of the tag comparison, which is made with vector instructions over the whole tag, and the verdict is public"},
	{verdict: "aegis.open256",
		reason: "the branch is on the verdict of the tag comparison, which assembly makes over the whole tag, and the verdict is public"},
	{at: "subtle.(*AESSIV).DecryptDeterministically",
		reason: "the branch is on the union of all differences between two tags, and the verdict is public"},
	{kind: runfile.Branch, at: "chacha20.(*Cipher).SetCounter",
		reason: "a counter of 32 bits that follows from a tag is compared with its last value, which one tag in 2^32 reaches"},
	{kind: runfile.Branch, at: "chacha20.(*Cipher).XORKeyStream",
		reason: "a counter of 32 bits that follows from a tag is compared with its last values, which one tag in 2^32 reaches"},
	{within: "ed25519.Verify",
		reason: "a signature is verified under the public key alone, which is made from the secret and is public"},
	{within: "mldsa.Verify",
		reason: "a signature is verified under the public key alone, which is made from the secret and is public"},
	{verdict: "x25519.Shared",
		reason: "the branch is on whether the shared secret is all zero (RFC 7748, section 6.1), which a public key of low order brings about and no honest one"},
	{at: "keyring.(*Ring).Lookup",
		reason: "a key ID is public: every token shows that of its key"},
	{within: "keyring.Index", at: "runtime.",
		reason: "a ring is indexed by key IDs, and every token shows that of its key"},
	{within: "base64url.appendEncode",
		reason: "the encoded bytes are the token, which goes to the client next"},
	{kind: runfile.Division, at: "runtime.",
		reason: "the runtime divides sizes of memory, never its content"},
	{kind: runfile.Division, at: "sync.(*Pool).getSlow",
		reason: "a pool divides the number of a processor"},
}

// rowFor returns the index of the row that declassifies r, or -1.
func rowFor(r runfile.Report) int {
	return slices.IndexFunc(declassified, func(d row) bool { return d.matches(r) })
}

func (d row) matches(r runfile.Report) bool {
	at := r.Stack[0]
	return (d.kind == "" || d.kind == r.Kind) &&
		(d.at == "" || named(at.Function, d.at)) &&
		(d.verdict == "" || r.Kind == runfile.Branch && slices.ContainsFunc(at.Tests, func(f string) bool { return named(f, d.verdict) })) &&
		(d.within == "" || slices.ContainsFunc(r.Stack, func(f runfile.Frame) bool { return named(f.Function, d.within) }))
}

// named reports whether a function's full name, such as "sealab/codecs/x.(*T).F", ends with the short one,
// such as "x.(*T).F". A short name that ends with a dot, such as "x.", matches every function of the
// package.
func named(full, short string) bool {
	if strings.HasSuffix(short, ".") {
		folder, _, _ := strings.Cut(full[strings.LastIndex(full, "/")+1:], ".")
		return folder+"." == short || strings.HasPrefix(full, "internal/"+strings.TrimSuffix(short, ".")+"/")
	}
	return full == short || strings.HasSuffix(full, "/"+short)
}
