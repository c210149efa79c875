package bench

import (
	"fmt"
	"slices"
	"time"

	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/codecs/worker"
	"sealab/internal/golibs"
	"sealab/internal/lab"
	"sealab/internal/runfile"
)

// A Subject is something that can be measured. Prepare sets up one of its cells. It returns
// codecs.ErrUnsupported if the subject lacks the operation.
type Subject struct {
	runfile.Subject
	Prepare func(op runfile.Op, payload []byte) (Operation, error)
}

// An Operation is an operation that is ready to be timed.
type Operation struct {
	// Run runs n operations and returns their total time. A subject in another process is timed there.
	Run func(n int) (time.Duration, error)
	// TokenSize is the length in bytes of the token that is sealed or unsealed.
	TokenSize int
	// InProcess says that Run allocates in this process, so that allocations can be counted.
	InProcess bool
}

// repeatSubject returns s as another subject, which is measured a second time.
func repeatSubject(s Subject) Subject {
	s.Role, s.Repeats = runfile.RoleRepeat, s.Name
	s.Name += "-again"
	s.Doc = s.Repeats + " a second time: the difference is noise"
	return s
}

// chooseSubjects returns the subjects with the given names, in the order of all. If names is empty, it
// returns all subjects. It fails if two subjects have the same name.
func chooseSubjects(all []Subject, names []string) ([]Subject, error) {
	var known []string
	for _, s := range all {
		if slices.Contains(known, s.Name) {
			return nil, fmt.Errorf("the subject %s is given twice", s.Name)
		}
		known = append(known, s.Name)
	}
	if len(names) == 0 {
		return all, nil
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, catalog.Unknown("subject", name, known)
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(s Subject) bool { return !slices.Contains(names, s.Name) }), nil
}

// Subjects returns the subjects of this process: the catalog, its first codec a second time, the
// baselines, and the Go libraries. The caller appends SDKs, which run in other processes.
func Subjects() []Subject {
	var all []Subject
	for _, d := range catalog.All() {
		all = append(all, FromDesign(d))
	}
	for _, s := range all {
		if s.Role == runfile.RoleDesign {
			all = append(all, repeatSubject(s))
			break
		}
	}
	for _, b := range allBaselines() {
		all = append(all, fromBaseline(b))
	}
	for _, d := range slices.Concat(golibs.All(), golibs.Schemes()) {
		all = append(all, fromLibrary(d))
	}
	return all
}

// allBaselines returns the fixed baselines, and one for each design with a bare primitive.
func allBaselines() []baseline {
	all := fixedBaselines()
	for _, d := range catalog.All() {
		if h := lab.HooksOf(d); h.Bare != nil {
			all = append(all, aeadBaseline(d.Name, h.Primitive, h.Bare))
		}
	}
	return all
}

// WithDesign appends the named design unless it is already a subject.
func WithDesign(subjects []Subject, name string) ([]Subject, error) {
	if slices.ContainsFunc(subjects, func(s Subject) bool { return s.Name == name }) {
		return subjects, nil
	}
	d, err := catalog.Find(name)
	return append(subjects, FromDesign(d)), err
}

// FromDesign returns a row of the catalog as a subject.
func FromDesign(d codecs.Design) Subject {
	s := Subject{Subject: runfile.Subject{
		Name: d.Name, Role: runfile.RoleDesign, Doc: d.Doc, Kind: kindOf(d),
		Primitive: lab.HooksOf(d).Primitive, Amortized: lab.HooksOf(d).Amortized,
		Allocates: lab.HooksOf(d).Allocates != "", Over: d.Over,
	}}
	m := newMeasured(d, openerOf(d))
	s.Prepare = m.prepare
	if d.IsScheme() {
		// Rings are a matter of the codec, and take long to set up a second time.
		s.Role, m.maxKeys = runfile.RoleScheme, 1
	}
	return s
}

func fromLibrary(d codecs.Design) Subject {
	s := FromDesign(d)
	s.Role, s.Claims = runfile.RoleLibrary, d.IsScheme()
	return s
}

// openerOf returns a function that opens d with its default options.
func openerOf(d codecs.Design) opener {
	return func(secrets [][]byte) (codecs.Codec, error) {
		return lab.OpenAt(d, codecs.Config{Secrets: secrets}, &callContext)
	}
}

// kindOf returns whether d encrypts or signs, according to its guarantees.
func kindOf(d codecs.Design) runfile.Kind {
	if g, _ := d.Guarantee(codecs.Confidentiality, nil); g.Holds {
		return runfile.Encrypts
	}
	return runfile.Signs
}

// fromBaseline returns a baseline as a subject that only seals and unseals.
func fromBaseline(b baseline) Subject {
	open := func([][]byte) (codecs.Codec, error) {
		key, err := baselineKey()
		if err != nil {
			return nil, err
		}
		return b.Open(key)
	}
	m := newMeasured(codecs.Design{MaxKeys: 1}, open)
	prepare := func(op runfile.Op, payload []byte) (Operation, error) {
		if op.Refuses() {
			return Operation{}, codecs.ErrUnsupported
		}
		return m.prepare(op, payload)
	}
	return Subject{
		Subject: runfile.Subject{Name: b.Name, Role: runfile.RoleBaseline, Doc: b.Doc, Primitive: b.Primitive, Claims: b.Claims, Over: b.Over},
		Prepare: prepare,
	}
}

// FromWorker returns a worker as a subject that is compared with the subject called mirrors. If slower is
// not 0, the worker must take at least slower times as long. It mints and verifies for the same request as
// schemes do. The worker times this itself, so that the times exclude the pipe. A worker without the
// ability bench supports no operation.
func FromWorker(c *worker.Client, mirrors string, slower int) Subject {
	d := c.Design()
	m := newMeasured(d, openerOf(d))
	m.maxKeys = 1
	return Subject{
		Subject: runfile.Subject{Name: d.Name, Role: runfile.RoleSDK, Doc: d.Doc, Kind: kindOf(d), Mirrors: mirrors, Slower: slower},
		Prepare: m.prepareWorker,
	}
}

// prepareWorker is prepare for a codec in another process.
func (m *measuredCodec) prepareWorker(op runfile.Op, payload []byte) (Operation, error) {
	c, err := m.ring(1)
	if err != nil {
		return Operation{}, err
	}
	timed, ok := unwrapInstance(c).(worker.Benchmark)
	if !ok {
		return Operation{}, fmt.Errorf("it is not a worker: %w", codecs.ErrUnsupported)
	}
	token, err := c.Seal(nil, payload)
	if err != nil {
		return Operation{}, err
	}
	cell := Operation{TokenSize: len(token)}
	switch op {
	case runfile.Seal:
		cell.Run = func(n int) (time.Duration, error) { return timed.BenchMake(n, payload, &callContext) }
	case runfile.Unseal:
		if _, err := unsealOperation(c, token, payload); err != nil {
			return Operation{}, err
		}
		cell.Run = func(n int) (time.Duration, error) { return timed.BenchJudge(n, token, &callContext) }
	default:
		return Operation{}, codecs.ErrUnsupported
	}
	return cell, nil
}

// unwrapInstance returns the codec or scheme of an instance, or c itself if it is not an instance.
func unwrapInstance(c codecs.Codec) any {
	if b, ok := c.(*lab.Bound); ok {
		return b.Instance.Opened()
	}
	return c
}

// callContext is the context in which schemes mint and verify.
var callContext = codecs.Context{
	Now:    time.Date(2026, time.November, 20, 12, 0, 0, 250e6, time.UTC),
	Method: "tools/call", Target: "deploy_release",
	Arguments: []byte(`{"release":"2026.11.2","environment":"eu-west-1","canary":true}`),
	Principal: new(`["client-1","https://as.example","alice"]`), Audience: new("releases"),
}
