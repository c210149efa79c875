// Package runfile is the form in which a run of the benchmark lies in a folder:
// package bench writes it and package analysis reads it, and neither knows the
// other. A run is
//
//	<date>-<commit>-<host>/
//	    bench.txt      every measurement, in the order in which it was made
//	    subjects.json  what was measured: a list of Subject
//
// bench.txt is in the Go benchmark format
// (https://go.dev/design/14313-benchmark-format), headed by the stamp. The n-th
// line of one name was measured in round n, so that lines of two names can be
// paired. Names are
//
//	BenchmarkToken/design=<subject>/op=<op>/size=<payload bytes>
//
// and the units are ns/op, MB/s (of payload), B/op, allocs/op and token-B (bytes
// of one token). The last two do not vary and are marked assume=exact.
package runfile

import "fmt"

// The files of a run's folder.
const (
	BenchFile    = "bench.txt"
	SubjectsFile = "subjects.json"
)

// BaseName is the name that all measurements share, without "Benchmark".
const BaseName = "Token"

// The keys of a measurement's name.
const (
	SubjectKey = "design"
	OpKey      = "op"
	SizeKey    = "size"
)

// The units that the laboratory adds to those of package testing.
const UnitToken = "token-B"

// A Role is what a subject is measured for.
type Role string

// The roles.
const (
	RoleDesign  Role = "design"  // a codec of the catalog
	RoleScheme  Role = "scheme"  // a scheme of the catalog, with a fixed binding
	RoleFloor   Role = "floor"   // the least work that such a token takes
	RolePeer    Role = "peer"    // a Go library that would be used instead
	RoleForeign Role = "foreign" // an implementation in another process, timed inside it
	RoleRepeat  Role = "repeat"  // a subject a second time: it shows the noise
)

// A Kind is what a subject's tokens do for their payload.
type Kind string

// The kinds.
const (
	Encrypts Kind = "encrypts"
	Signs    Kind = "signs"
)

// A Subject is one thing that a run measured.
type Subject struct {
	Name string `json:"name"` // the value of SubjectKey
	Role Role   `json:"role"`
	Doc  string `json:"doc"`
	Kind Kind   `json:"kind,omitempty"`
	// Primitive is the algorithm whose bare use is the subject's floor; a
	// floor's own.
	Primitive string `json:"primitive,omitempty"`
	// Amortised says that the subject's cost per token includes a share of a
	// key agreement, see codecs.Design.
	Amortised bool `json:"amortised,omitempty"`
	// Mirrors is the name of the subject that one in RoleForeign answers as.
	Mirrors string `json:"mirrors,omitempty"`
	// Repeats is the name of the subject that one in RoleRepeat measures again.
	Repeats string `json:"repeats,omitempty"`
}

// An Op is an operation that is timed.
type Op string

// The operations. Each refusal is of a token of the size that a good one has.
const (
	Seal          Op = "seal"            // or mint
	Unseal        Op = "unseal"          // or verify; ring of one key
	UnsealRing    Op = "unseal-ring1000" // by the last key of a ring of 1,000
	RefuseGarbage Op = "refuse-garbage"  // no token at all
	RefuseTag     Op = "refuse-tag"      // one character near the end changed
	RefuseKey     Op = "refuse-key"      // sealed under a key that is not in the ring
)

// RingKeys is the number of keys in the ring of UnsealRing.
const RingKeys = 1000

// Ops returns every operation, in the order of reports.
func Ops() []Op {
	return []Op{Seal, Unseal, UnsealRing, RefuseGarbage, RefuseTag, RefuseKey}
}

// ParseOp returns the operation called name.
func ParseOp(name string) (Op, error) {
	for _, op := range Ops() {
		if string(op) == name {
			return op, nil
		}
	}
	return "", fmt.Errorf("sealab: %q is not an operation; there are %s", name, Ops())
}

// Refuses reports whether the operation ends in a refusal.
func (op Op) Refuses() bool { return op == RefuseGarbage || op == RefuseTag || op == RefuseKey }

// Name returns the name of a measurement, without "Benchmark".
func Name(subject string, op Op, size int) string {
	return fmt.Sprintf("%s/%s=%s/%s=%s/%s=%d", BaseName, SubjectKey, subject, OpKey, op, SizeKey, size)
}
