package cases

import (
	"fmt"

	"sealab/codecs"
	"sealab/internal/lab"
	"sealab/vectors/kit"
)

// fields alters each field of the token after authentication.
func fields(s *Scene) []Case {
	var cs []Case
	for _, step := range s.Trace.Steps(kit.IsField) {
		for _, a := range kit.Alterations {
			cs = append(cs, Case{
				Name: slug(step.At) + "-" + a.Name, Doc: fmt.Sprintf("%s of the sound token: %s", label(step.At), a.Doc),
				Flags: []string{flagField}, Edit: kit.Only(step.At, a.Change),
				Want: Refused, Property: codecs.Integrity,
			})
		}
	}
	return cs
}

// tags tries every length of a tag and changes each of its bytes.
func tags(s *Scene) []Case {
	var cs []Case
	for _, step := range s.Trace.Steps(func(s lab.Step) bool { return s == lab.WireTag }) {
		for _, n := range places(len(step.Value)) {
			cs = append(cs, Case{
				Name: fmt.Sprintf("%s-cut-to-%d", slug(step.At), n), Doc: fmt.Sprintf("%s cut to its first %d bytes", label(step.At), n),
				Flags: []string{flagShortTag}, Edit: kit.Only(step.At, kit.Cut(n)),
				Want: Refused, Property: codecs.Integrity,
			}, Case{
				Name: fmt.Sprintf("%s-byte-%d", slug(step.At), n), Doc: fmt.Sprintf("byte %d of %s changed", n, label(step.At)),
				Flags: []string{flagPartialTag}, Edit: kit.Only(step.At, kit.Flip(n, 0x10)),
				Want: Refused, Property: codecs.Integrity,
			})
		}
	}
	return cs
}

// places returns numbers below n: all if n is at most 64, otherwise the first
// 8, the last 8 and about 8 between.
func places(n int) []int {
	var all []int
	for i := range n {
		if n <= 64 || i < 8 || i >= n-8 || i%(n/8) == 0 {
			all = append(all, i)
		}
	}
	return all
}

// splices replaces one field at a time by that of another sound token. Replacing
// all fields would give the other token.
func splices(s *Scene) []Case {
	steps := s.Trace.Steps(kit.IsField)
	if segments := s.Trace.Steps(isSegment); len(segments) > 1 {
		steps = append(steps, segments...)
	}
	var cs []Case
	for _, step := range steps {
		value, ok := s.Other.Find(step.At)
		if !ok {
			continue
		}
		cs = append(cs, Case{
			Name: "splice-" + slug(step.At), Doc: label(step.At) + " taken from another sound token",
			Flags: []string{flagSplice}, Edit: kit.Only(step.At, kit.Set(value)),
			Want: Refused, Property: codecs.Integrity,
		})
	}
	return cs
}

func isSegment(s lab.Step) bool { return s == lab.WireText }

// slug returns the name of a step for the name of a case.
func slug(at kit.At) string { return at.String() }

func label(at kit.At) string { return "the step " + at.String() }
