package findings

import (
	"fmt"
	"strings"

	"sealab/codecs"
	"sealab/internal/verdict"
)

// longest is the maximum number of bytes of a value that evidence shows.
const longest = 160

// evidence describes the deciding calls of a reproducer. It omits the keys, which the reproducer contains.
func evidence(w verdict.Reproducer) string { return strings.Join(steps(w), "; ") }

// steps returns the seed and the deciding calls, one by one.
func steps(w verdict.Reproducer) []string {
	said := []string{fmt.Sprintf("seed %d", w.Seed)}
	for _, c := range w.Calls {
		said = append(said, call(c))
	}
	return said
}

func call(c verdict.Call) string {
	in := c.Token
	if c.Op == verdict.OpSeal {
		in = c.State
	}
	text := fmt.Sprintf("%s %s", c.Op, head(in, max(len(in), c.Cut)))
	if c.Op == verdict.OpOpen {
		text = fmt.Sprintf("open %d keys", len(c.Keys))
	}
	if c.Context != nil {
		text += " for " + context(*c.Context)
	}
	return text + " -> " + answer(c.Answer)
}

func context(c verdict.Context) string {
	text := fmt.Sprintf("%s %s at %s", shown([]byte(c.Method)), shown([]byte(c.Target)), c.Now.UTC().Format("2006-01-02T15:04:05.000Z"))
	if c.Arguments != nil {
		text += " with " + shown(c.Arguments)
	}
	if c.Principal != nil {
		text += " as " + shown([]byte(*c.Principal))
	}
	if c.Audience != nil {
		text += " to " + shown([]byte(*c.Audience))
	}
	return text
}

func answer(a verdict.Answer) string {
	switch a.Outcome {
	case verdict.Done:
		return shown(a.Out)
	case verdict.Refused:
		return strings.TrimSpace(fmt.Sprintf("refused, %s %s", a.Stage, a.Reason))
	default:
		return strings.TrimSpace(fmt.Sprintf("%s %s", a.Outcome, a.Text))
	}
}

// shown quotes the first bytes of a value in ASCII, so that different characters that look alike can be
// distinguished.
func shown(b []byte) string { return head(b, len(b)) }

// head is like [shown], of a value of n bytes that begins with b.
func head(b []byte, n int) string {
	b = b[:min(len(b), longest)]
	if len(b) < n {
		return fmt.Sprintf("%+q... (%d bytes)", b, n)
	}
	return fmt.Sprintf("%+q", b)
}

// repairs describes how a design can provide a refuted property.
var repairs = map[codecs.Property]string{
	codecs.Integrity: "authenticate every byte that is read, format and key id included, with a tag of 16 bytes or more that is compared " +
		"whole and before anything else is done; give each purpose a key of its own",
	codecs.Confidentiality:      "encrypt the state with an AEAD under a fresh nonce, put nothing derived from it beside the ciphertext, and do not compress it",
	codecs.Canonical:            "decode strictly, encode the result again, and refuse a text that is not the same",
	codecs.BindsMethod:          "put the method into the authenticated claims and compare it",
	codecs.BindsTarget:          "put the target into the authenticated claims and compare it, byte for byte",
	codecs.BindsArguments:       "put a digest of the arguments' canonical form into the authenticated claims and compare it",
	codecs.BindsPrincipal:       "put the principal, or a salted digest of it, into the authenticated claims and compare it; keep its absence apart from an empty one",
	codecs.BindsAudience:        "put the audience into the authenticated claims and compare it; keep its absence apart from an empty one",
	codecs.Unambiguous:          "write each field of the binding with its length, or as JSON, and compare bytes without folding or normalizing",
	codecs.Expiry:               "require times of issue and expiry, in one unit, and refuse a token from its expiry on and before its issue less the stated skew",
	codecs.Rotation:             "name the key in the token by a fingerprint that does not depend on its place, and look it up in the ring that is there now",
	codecs.KeySeparation:        "derive the key from the whole secret with HKDF under a label of the design's own",
	codecs.KeyCommitting:        "use a committing AEAD, or put a commitment to the key beside the ciphertext",
	codecs.NonceMisuseResistant: "use AES-GCM-SIV or another misuse-resistant mode, or do not claim it",
	codecs.FreshNonces:          "draw nonces of 96 bits or more at random for each token, or store the counter",
	codecs.SenderAuthenticated:  "sign with a private key that readers do not have",
	codecs.Unlinkable:           "salt every digest that stands in a token, with a fresh salt for each",
	codecs.UniformRefusal:       "check the tag before everything else, and give one answer and one text to every refusal",
	codecs.SteadyTiming:         "compare tags in constant time",
	codecs.Total:                "check lengths before they are used, bound the memory that a token may make the reader allocate, and answer every input",
	codecs.ByteExact:            "carry the state as bytes, and give the caller a copy",
	codecs.StrongKeys:           "refuse secrets under 32 bytes, and a ring with a secret twice, at construction",
	codecs.SingleUse:            "store the ids of tokens that were used until they expire",
	codecs.Inert:                "verify the tag before any key stretching or decompression, and read the payload with a parser that runs no code",
	codecs.PrivateKeys:          "name the key by an ID that is not computed from the key alone",
}

// Repair returns how a design can provide a refuted property.
func Repair(p codecs.Property) string { return repairs[p] }

// cwes maps a property to the weakness (Common Weakness Enumeration, MITRE) of a design that lacks it.
var cwes = map[codecs.Property]string{
	codecs.Integrity:            "CWE-347",  // improper verification of cryptographic signature
	codecs.Confidentiality:      "CWE-311",  // missing encryption of sensitive data
	codecs.Canonical:            "CWE-1289", // improper validation of unsafe equivalence in input
	codecs.BindsMethod:          "CWE-345",  // insufficient verification of data authenticity
	codecs.BindsTarget:          "CWE-345",
	codecs.BindsArguments:       "CWE-345",
	codecs.BindsPrincipal:       "CWE-863", // incorrect authorization
	codecs.BindsAudience:        "CWE-345",
	codecs.Unambiguous:          "CWE-436", // interpretation conflict
	codecs.Expiry:               "CWE-613", // insufficient session expiration
	codecs.Rotation:             "CWE-324", // use of a key past its expiration date
	codecs.KeySeparation:        "CWE-323", // reusing a nonce, key pair in encryption
	codecs.KeyCommitting:        "CWE-327", // use of a broken or risky cryptographic algorithm
	codecs.NonceMisuseResistant: "CWE-323",
	codecs.FreshNonces:          "CWE-323",
	codecs.SenderAuthenticated:  "CWE-287", // improper authentication
	codecs.Unlinkable:           "CWE-359", // exposure of private personal information
	codecs.UniformRefusal:       "CWE-204", // observable response discrepancy
	codecs.SteadyTiming:         "CWE-208", // observable timing discrepancy
	codecs.Total:                "CWE-400", // uncontrolled resource consumption
	codecs.ByteExact:            "CWE-838", // inappropriate encoding for output context
	codecs.StrongKeys:           "CWE-326", // inadequate encryption strength
	codecs.SingleUse:            "CWE-294", // authentication bypass by capture-replay
	codecs.Inert:                "CWE-502", // deserialization of untrusted data
	codecs.PrivateKeys:          "CWE-522", // insufficiently protected credentials
}
