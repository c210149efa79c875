package runfile

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"sealab/internal/atomicfile"
)

// A benchmark run has three files:
//
//	bench.txt      every measurement, in the order of measurement
//	subjects.json  the subjects: a list of Subject
//	report.txt     its tables and thresholds
//
// bench.txt is in the Go benchmark format (https://go.dev/design/14313-benchmark-format) and begins with
// the stamp. The n-th line of a name was measured in round n, so lines of two names can be paired. Names
// are
//
//	BenchmarkToken/design=<subject>/op=<op>/size=<payload bytes>
//
// and the units are ns/op, MB/s (of payload), B/op, allocs/op and token-B (bytes
// of one token). The last two do not vary and are marked assume=exact.
const (
	BenchFile    = "bench.txt"
	SubjectsFile = "subjects.json"
	ReportFile   = "report.txt"
)

// baseName is the name that all measurements share, without "Benchmark".
const baseName = "Token"

// The keys of a measurement's name.
const (
	SubjectKey = "design"
	OpKey      = "op"
	SizeKey    = "size"
)

// UnitToken is the unit that the laboratory adds to those of package testing.
const UnitToken = "token-B"

// A Role is the reason why a subject is measured.
type Role string

// The roles.
const (
	RoleDesign   Role = "design"   // a codec of the catalog
	RoleScheme   Role = "scheme"   // a scheme of the catalog, in a fixed context
	RoleBaseline Role = "baseline" // the least work that such a token needs
	RoleLibrary  Role = "library"  // a Go library that could be used instead
	RoleSDK      Role = "sdk"      // an implementation in another process, timed inside it
	RoleRepeat   Role = "repeat"   // a second measurement of a subject, which shows the noise
)

// UnmarshalText reads a role. It also accepts the names used in older runs.
func (r *Role) UnmarshalText(text []byte) error {
	older := map[string]Role{"floor": RoleBaseline, "peer": RoleLibrary, "foreign": RoleSDK}
	*r = Role(text)
	if role, ok := older[string(text)]; ok {
		*r = role
	}
	return nil
}

// SubjectName returns the current name of a subject. Older runs call a baseline a floor.
func SubjectName(name string) string {
	if rest, ok := strings.CutPrefix(name, "floor-"); ok {
		return "baseline-" + rest
	}
	return name
}

// A Kind is the protection that tokens give the payload.
type Kind string

// The kinds.
const (
	Encrypts Kind = "encrypts"
	Signs    Kind = "signs"
)

// A Subject is a design, baseline, library or SDK that a run measured.
type Subject struct {
	Name string `json:"name"` // the value of SubjectKey
	Role Role   `json:"role"`
	Doc  string `json:"doc"`
	Kind Kind   `json:"kind,omitempty"`
	// Primitive is the algorithm whose bare use is the subject's baseline. For a baseline, it is the
	// baseline's own algorithm.
	Primitive string `json:"primitive,omitempty"`
	// Amortized says that the cost per token includes a share of a key agreement; see lab.Hooks.
	Amortized bool `json:"amortised,omitempty"`
	// Allocates says that the design's row states why it allocates.
	Allocates bool `json:"allocates,omitempty"`
	// Over is the name of the codec under a scheme's claims, or of the baseline under a baseline's claims.
	Over string `json:"over,omitempty"`
	// Claims says that a library or baseline carries claims with the payload.
	Claims bool `json:"claims,omitempty"`
	// Mirrors is the name of the subject that a RoleSDK subject is compared with.
	Mirrors string `json:"mirrors,omitempty"`
	// Slower is the least ratio of its time to that of the mirrored subject. It is 0 if there is no
	// threshold.
	Slower int `json:"slower,omitempty"`
	// Repeats is the name of the subject that a RoleRepeat subject measures again.
	Repeats string `json:"repeats,omitempty"`
}

// An Op is an operation that is timed.
type Op string

// The operations. A refused token has the size of a valid one.
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
func Ops() []Op { return []Op{Seal, Unseal, UnsealRing, RefuseGarbage, RefuseTag, RefuseKey} }

// ParseOp returns the operation called name.
func ParseOp(name string) (Op, error) {
	for _, op := range Ops() {
		if string(op) == name {
			return op, nil
		}
	}
	return "", fmt.Errorf("%q is not an operation; there are %s", name, Ops())
}

// Refuses reports whether the operation ends in a refusal.
func (op Op) Refuses() bool { return op == RefuseGarbage || op == RefuseTag || op == RefuseKey }

// Name returns the name of a measurement, without "Benchmark".
func Name(subject string, op Op, size int) string {
	return fmt.Sprintf("%s/%s=%s/%s=%s/%s=%d", baseName, SubjectKey, subject, OpKey, op, SizeKey, size)
}

// WriteBench makes the folder dir with the files of a run, all or none. It fails if the folder exists: a
// run is never overwritten.
func WriteBench(dir string, bench, report []byte, subjects []Subject) error {
	list, err := json.MarshalIndent(subjects, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.WriteFolder(dir, map[string][]byte{BenchFile: bench, ReportFile: report, SubjectsFile: append(list, '\n')})
}

// ReadSubjects returns the subjects of the run in dir. The error is fs.ErrNotExist if the file is missing.
func ReadSubjects(dir string) ([]Subject, error) {
	path := filepath.Join(dir, SubjectsFile)
	var subjects []Subject
	if err := atomicfile.ReadJSON(path, &subjects, "a list of subjects"); err != nil {
		return nil, err
	}
	for i := range subjects {
		subjects[i].Name, subjects[i].Repeats = SubjectName(subjects[i].Name), SubjectName(subjects[i].Repeats)
	}
	if len(subjects) == 0 {
		return nil, fmt.Errorf("%s: want at least one subject, there is none", path)
	}
	return subjects, nil
}
