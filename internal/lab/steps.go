package lab

import (
	"bytes"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"strings"
	"time"

	"sealab/codecs"
)

// A Field is one part of a token on the wire, in order. The Wire bytes of all
// fields, joined, are the token.
type Field struct {
	Name Step
	// Wire is the part of the token text, and Bytes its decoded bytes. If a text segment carries several
	// fields, each has its own Bytes and the first has the segment's Wire.
	Wire, Bytes []byte
	// Readable says that the bytes are neither encrypted, nor random, nor a tag.
	Readable bool
	// Time is the time that a readable field encodes. It is zero in other fields.
	Time time.Time
}

// A Step names one intermediate value of making a token.
type Step string

// The steps. Each design uses the steps of its format, in its own order, and may add others.
//
// The first group are inputs of the cryptography. The result of an Edit for one of them is authenticated
// (and encrypted) as if the design had made it.
const (
	StepPrefix  Step = "prefix"          // text that names format and version
	StepKeyID   Step = "key-id"          // name of the sealing key
	StepEnc     Step = "encapsulation"   // KEM ciphertext
	StepNonce   Step = "nonce"           // nonce, initialization vector
	StepSalt    Step = "salt"            // salt of a key derived for one token
	StepClaims  Step = "claims"          // claims bytes of a scheme, before sealing
	StepPayload Step = "payload"         // payload of a codec, before sealing
	StepAAD     Step = "associated-data" // authenticated with the payload
	StepBind    Step = "bind-tag"        // claim that represents the context
	StepText    Step = "text"            // an encoded segment, if the text is authenticated
	StepTime    Step = "time"            // time of issue outside the claims
	StepTag     Step = "tag"             // tag of a signed design, before encoding
)

// The second group are fields on the wire, after authentication. Their names, and those of other wire fields
// that designs add, start with "wire-". The wire fields of one text segment, joined, are the bytes before
// text encoding.
const (
	WireVersion Step = "wire-version"
	WireTime    Step = "wire-time" // time of minting outside the payload
	WireKeyID   Step = "wire-key-id"
	WireEnc     Step = "wire-encapsulation"
	WireNonce   Step = "wire-nonce"
	WireBody    Step = "wire-body" // ciphertext or readable payload
	WireTag     Step = "wire-tag"
	WirePrefix  Step = "wire-prefix"    // text
	WireText    Step = "wire-text"      // an encoded segment, text
	WireSep     Step = "wire-separator" // text between two segments
)

// OnWire reports whether the step is a field on the wire.
func (s Step) OnWire() bool { return strings.HasPrefix(string(s), "wire-") }

// An Edit receives the value of one step and returns its replacement: the same value, another one, or an
// empty one. It may change the slice it receives, but must not keep it. A step that occurs more than once
// is passed each time, in order. The nil Edit changes no value.
type Edit func(s Step, value []byte) []byte

// Apply passes a copy of value to the edit and returns the replacement. The nil Edit returns value itself.
func (e Edit) Apply(s Step, value []byte) []byte {
	if e == nil {
		return value
	}
	return e(s, bytes.Clone(value))
}

// Give is Apply without the copy, for a value that was made for this step alone.
func (e Edit) Give(s Step, value []byte) []byte {
	if e == nil {
		return value
	}
	return e(s, value[:len(value):len(value)])
}

// Tail applies Give to buf[n:] and returns buf[:n] with the replacement.
func (e Edit) Tail(s Step, buf []byte, n int) []byte { return append(buf[:n], e.Give(s, buf[n:])...) }

// Random fills b with random bytes. Instruments and broken designs call it; production designs have their
// own function.
func Random(b []byte) {
	rand.Read(b) //nolint:errcheck // documented never to return an error
}

// Derive returns n bytes of HKDF-SHA256 (RFC 5869) of secret, with an empty salt and label as info.
// Production designs derive their keys in the same way.
func Derive(secret []byte, label string, n int) []byte {
	out, err := hkdf.Key(sha256.New, secret, nil, label, n)
	if err != nil {
		panic("lab: deriving a key: " + err.Error()) // n too large: a mistake in the caller
	}
	return out
}

// NewSecret returns a random secret that every design accepts.
func NewSecret() []byte {
	secret := make([]byte, codecs.MinSecret)
	Random(secret)
	return secret
}
