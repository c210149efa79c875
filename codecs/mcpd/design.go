package mcpd

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"

	"sealab/codecs"
	"sealab/codecs/internal/framework"
	"sealab/codecs/internal/guarantee"
	"sealab/codecs/internal/layouts"
	"sealab/internal/lab"
)

// The options and their values.
const (
	optionMode    = "mode"
	modeSigned    = "signed"
	modeEncrypted = "encrypted"

	// The names that the SDK uses.
	optionBind  = "bind"
	bindSubject = "authSubject"
	bindTool    = "authSubjectAndTool"
	bindNone    = "none"
)

// Design is the catalog row. Its tokens begin with "v1." under mode=signed and
// with "v1e." under mode=encrypted.
var Design = codecs.Design{
	Name:    "mcp-d",
	Doc:     "D SDK: by default signed and readable, and open to forgery; or AES-256-GCM",
	Spec:    "Poita/mcp.d 7e2cbff, mcp.server.request_state",
	Prefix:  "v1",
	Format:  "mcp-d",
	MaxKeys: 1,
	Options: []codecs.Option{
		{Name: optionMode, Doc: "how tokens are protected", Values: []string{modeSigned, modeEncrypted}},
		{Name: optionBind, Doc: "what tokens are bound to", Values: []string{bindSubject, bindTool, bindNone}},
		framework.Reading("the SDK"),
	},
	Hooks:      &lab.Hooks{Primitive: "HMAC-SHA256", Inspect: inspect},
	Guarantees: guarantees,
	NewScheme: func(c codecs.Config) (codecs.Scheme, error) {
		s, err := newScheme(c)
		if err != nil {
			return nil, err
		}
		return layouts.Assemble(s, s.mode.seedSize(), (*scheme).mint), nil
	},
}

func guarantees(options map[string]string) []codecs.Guarantee {
	protection := signedGuarantees()
	if options[optionMode] == modeEncrypted {
		protection = encryptedGuarantees()
	}
	return slices.Concat(framework.Canonical(options, "the spare bits of a segment's last character are ignored, and a NUL may stand for a _"), protection, bindings[options[optionBind]], common())
}

// bindings maps the values of the option bind to their guarantees.
var bindings = map[string][]codecs.Guarantee{
	bindSubject: slices.Concat(
		codecs.Disclaims(codecs.BindsPrincipal, "different principals are distinguished, but an absent principal counts as an empty one"),
		codecs.Disclaims(codecs.BindsTarget, "bound only under bind=authSubjectAndTool, which is not the default"),
		codecs.Disclaims(codecs.Unambiguous, "an absent principal counts as an empty one"),
	),
	bindTool: slices.Concat(
		codecs.Disclaims(codecs.BindsPrincipal, "different principals are distinguished, but an absent principal counts as an empty one"),
		codecs.Disclaims(codecs.BindsTarget, "tokens of a tool are bound to it, but tokens of resources/read are not bound to a target"),
		codecs.Disclaims(codecs.Unambiguous, "an absent principal counts as an empty one, and a NUL can move text between subject and tool"),
	),
	bindNone: slices.Concat(
		codecs.Disclaims(codecs.BindsPrincipal, "bind=none binds nothing"),
		codecs.Disclaims(codecs.BindsTarget, "bind=none binds nothing"),
		codecs.Disclaims(codecs.Unambiguous, "bind=none binds nothing"),
	),
}

func signedGuarantees() []codecs.Guarantee {
	return slices.Concat(
		codecs.Disclaims(codecs.Integrity, "every token shows its bind tag, which is the MAC of its subject: whoever chooses a subject can get chosen claims signed"),
		guarantee.ReadableClaims, guarantee.EqualClaims,
		codecs.Disclaims(codecs.Unlinkable, "the bind tag is unsalted and readable: the tokens of a principal share it"),
		codecs.Disclaims(codecs.KeySeparation, "one key computes bind tags and MACs"),
		codecs.Disclaims(codecs.PrivateKeys, "the bind tag is a second MAC under the key"),
		codecs.Holds(codecs.SteadyTiming),
		codecs.HoldsBecause(codecs.KeyCommitting, "two keys with the same MAC need a collision of HMAC-SHA256 under derived keys"),
		guarantee.NoNonce,
	)
}

func encryptedGuarantees() []codecs.Guarantee {
	return slices.Concat(
		codecs.Holds(codecs.Integrity, codecs.Confidentiality, codecs.KeySeparation, codecs.PrivateKeys),
		guarantee.AESTiming, guarantee.Nonce96,
		codecs.HoldsBecause(codecs.Unlinkable, "the bind tag is encrypted"),
		guarantee.GCMTwoKeys, guarantee.RepeatedStream,
	)
}

func common() []codecs.Guarantee {
	return slices.Concat(
		codecs.Holds(codecs.UniformRefusal, codecs.Total, codecs.Inert),
		guarantee.UTF8, guarantee.Key32, guarantee.NoMethod, guarantee.NoArguments,
		guarantee.NoAudience, guarantee.NoIssue, guarantee.OneKey,
		codecs.Disclaims(codecs.SenderAuthenticated, "one symmetric secret: whoever can open tokens can mint them"),
		guarantee.Stateless,
	)
}

// inspect splits a token of either mode, in its canonical encoding, into
// fields.
func inspect(token []byte) ([]lab.Field, error) {
	if bytes.HasPrefix(token, []byte(encryptedPrefix)) {
		return inspectEncrypted(token)
	}
	return inspectSigned(token)
}

// inspectSigned splits a canonical signed token into fields.
func inspectSigned(token []byte) ([]lab.Field, error) {
	fields, err := layouts.ParseDotted(signedPrefix, token, lab.WireBody, lab.WireTag)
	if err != nil {
		return nil, err
	}
	if mac := fields[len(fields)-1].Bytes; len(mac) != sha256.Size {
		return nil, fmt.Errorf("the mac of the token has %d bytes, want %d", len(mac), sha256.Size)
	}
	return fields, nil
}

// inspectEncrypted splits a canonical encrypted token into fields.
func inspectEncrypted(token []byte) ([]lab.Field, error) {
	return layouts.ParseJoined(encryptedPrefix, token, layouts.Piece{Name: lab.WireNonce, Bytes: nonceSize},
		layouts.Piece{Name: lab.WireBody}, layouts.Piece{Name: lab.WireTag, Bytes: tagSize})
}
