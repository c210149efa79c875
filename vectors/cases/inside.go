package cases

import (
	"fmt"

	"sealab/codecs"
	"sealab/internal/lab"
	"sealab/vectors/kit"
)

// inside alters each value that enters the cryptography, so that the result is
// authentic. A refusal then comes from a check behind the tag, or from another
// tag.
func inside(s *Scene) []Case {
	var cs []Case
	for _, step := range s.Trace.Steps(isInside) {
		for _, a := range kit.Alterations {
			cs = append(cs, Case{
				Name: "sealed-" + slug(step.At) + "-" + a.Name, Doc: fmt.Sprintf("%s changed before it is authenticated: %s", label(step.At), a.Doc),
				Flags: []string{flagInside}, Edit: kit.Only(step.At, a.Change),
			})
		}
	}
	return cs
}

// isInside reports whether it is useful to alter s bytewise. Payloads hold any
// bytes; claims and tags have families of their own.
func isInside(s lab.Step) bool {
	return !kit.IsWire(s) && s != lab.StepPayload && s != lab.StepClaims && s != lab.StepTag
}

// wireOf maps each step to the wire step that carries its value.
var wireOf = map[lab.Step]lab.Step{
	lab.StepPrefix: lab.WirePrefix,
	lab.StepKeyID:  lab.WireKeyID,
	lab.StepEnc:    lab.WireEnc,
	lab.StepNonce:  lab.WireNonce,
	lab.StepText:   lab.WireText,
}

// concealed authenticates a value that differs from the value on the wire. A
// format accepts the token if it does not authenticate that value.
func concealed(s *Scene) []Case {
	var cs []Case
	for _, step := range s.Trace.Steps(func(s lab.Step) bool { return wireOf[s] != "" }) {
		wire := kit.At{Step: wireOf[step.Step], N: step.N}
		value, ok := s.Trace.Find(wire)
		if !ok {
			continue
		}
		for _, a := range kit.Alterations {
			cs = append(cs, Case{
				Name:  "concealed-" + slug(step.At) + "-" + a.Name,
				Doc:   fmt.Sprintf("%s authenticated with a change (%s), and the right one on the wire", label(step.At), a.Doc),
				Flags: []string{flagUnauthenticated}, Edit: kit.Both(kit.Only(step.At, a.Change), kit.Only(wire, kit.Set(value))),
				Want: Refused, Property: codecs.Integrity,
			})
		}
	}
	return cs
}

// respellings authenticates another encoding of a text that is encoded before
// authentication.
func respellings(s *Scene) []Case {
	var cs []Case
	for _, step := range s.Trace.Steps(func(s lab.Step) bool { return s == lab.StepText }) {
		for _, a := range spellings {
			cs = append(cs, Case{
				Name: "sealed-" + slug(step.At) + "-" + a.Name, Doc: fmt.Sprintf("%s spelled in another way and authenticated so: %s", label(step.At), a.Doc),
				Flags: []string{flagInside}, Edit: kit.Only(step.At, a.Change),
			})
		}
	}
	return cs
}
