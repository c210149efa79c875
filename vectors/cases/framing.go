package cases

import (
	"bytes"
	"fmt"
	"slices"

	"sealab/codecs"
	"sealab/internal/lab"
)

// framingCases alters the text between and around the segments of a token.
func framingCases(s *Scene) []Case {
	cs := wholeTokenCases(s)
	for _, step := range s.Trace.steps(func(s lab.Step) bool { return s == lab.WirePrefix || s == lab.WireSep }) {
		cs = append(cs, alterationCases([]Step{step}, frameAlterations(step.Value), "%s", onWire, refusedCase(flagFraming))...)
	}
	return append(cs, alterationCases(s.Trace.steps(isSegment), []Alteration{
		{Name: "empty", Doc: "empty", Change: cutTo(0)},
		{Name: "twice", Doc: "there twice", Change: func(b []byte) []byte { return bytes.Repeat(b, 2) }},
	}, "%s", onWire, refusedCase(flagFraming))...)
}

// The descriptions of altered steps: on the wire, and before authentication.
const (
	onWire       = "%s of the sound token: %s"
	beforeSealed = "%s changed before it is authenticated: %s"
)

// refusedCase returns the fields of a case that must be refused if the design claims integrity.
func refusedCase(flag string) Case {
	return Case{Flags: []string{flag}, Want: Refused, Property: codecs.Integrity}
}

// alterationCases returns a case for every alteration of every step. name is the format of the case's name
// before the alteration's name. doc is the format of its description, with the step and the alteration.
// The other fields come from like.
func alterationCases(steps []Step, as []Alteration, name, doc string, like Case) []Case {
	var cs []Case
	for _, step := range steps {
		for _, a := range as {
			c := like
			c.Name = fmt.Sprintf(name, step.At) + "-" + a.Name
			c.Doc = fmt.Sprintf(doc, stepLabel(step.At), a.Doc)
			c.Edit = onlyStep(step.At, a.Change)
			cs = append(cs, c)
		}
	}
	return cs
}

// frameAlterations are the alterations of a prefix or separator.
func frameAlterations(text []byte) []Alteration {
	as := []Alteration{
		{Name: "dropped", Doc: "left out", Change: cutTo(0)},
		{Name: "repeated", Doc: "there twice", Change: func(b []byte) []byte { return bytes.Repeat(b, 2) }},
		{Name: "upper", Doc: "in capitals", Change: bytes.ToUpper},
		{Name: "space", Doc: "with a space after it", Change: appendText(" ")},
		{Name: "nul", Doc: "with a NUL after it", Change: appendText("\x00")},
		{Name: "wide-dot", Doc: "with a full-width dot", Change: replaceFirst(".", "\uff0e")},
		{Name: "comma", Doc: "with a comma for the dot", Change: replaceFirst(".", ",")},
		{Name: "colon", Doc: "with a colon for the dot", Change: replaceFirst(".", ":")},
		{Name: "no-dot", Doc: "without its dot", Change: replaceFirst(".", "")},
	}
	for i, c := range text {
		if c < '0' || c > '9' {
			continue
		}
		for digit := byte('0'); digit <= '9'; digit++ {
			as = append(as, Alteration{
				Name: fmt.Sprintf("version-%d-%c", i, digit), Doc: fmt.Sprintf("version digit %c", digit),
				Change: func(b []byte) []byte { b[i] = digit; return b },
			})
		}
	}
	return as
}

// wholeTokenCases alters the token as a single text.
func wholeTokenCases(s *Scene) []Case {
	token := slices.Clone(s.Token)
	var cs []Case
	for _, a := range []Alteration{
		{Name: "empty", Doc: "the empty token", Change: cutTo(0)},
		{Name: "leading-space", Doc: "a space in front", Change: prependText(" ")},
		{Name: "leading-lf", Doc: "a line feed in front", Change: prependText("\n")},
		{Name: "leading-bom", Doc: "a byte order mark in front", Change: prependText("\ufeff")},
		{Name: "quoted", Doc: "in quotation marks", Change: func(b []byte) []byte { return fmt.Appendf(nil, "%q", b) }},
		{Name: "json", Doc: "as a JSON object", Change: func(b []byte) []byte { return fmt.Appendf(nil, `{"token":%q}`, b) }},
		{Name: "null", Doc: "the text null", Change: setTo([]byte("null"))},
		{Name: "dots", Doc: "dots alone", Change: setTo([]byte("....."))},
		{Name: "two-tokens", Doc: "the token twice", Change: appendText(string(token))},
		{Name: "two-tokens-dot", Doc: "the token twice, with a dot between", Change: appendText("." + string(token))},
		{Name: "trailing-dot", Doc: "a dot at the end", Change: appendText(".")},
		{Name: "trailing-segment", Doc: "a further segment", Change: appendText(".AAAA")},
		{Name: "trailing-empty-segments", Doc: "two dots at the end", Change: appendText("..")},
		{Name: "upper", Doc: "in capitals", Change: bytes.ToUpper},
		{Name: "lower", Doc: "in small letters", Change: bytes.ToLower},
	} {
		cs = append(cs, Case{
			Name: "token-" + a.Name, Doc: "the whole token: " + a.Doc, Flags: []string{flagFraming},
			Text: a.Change, Want: Refused, Property: codecs.Integrity,
		})
	}
	return cs
}

// A token is cut at every index up to allLengths bytes. A longer token is cut around the ends of its
// segments and at every cutStride characters.
const (
	allLengths = 120
	cutStride  = 16
)

// truncationCases cuts a token short.
func truncationCases(s *Scene) []Case {
	var cs []Case
	for n := range len(s.Token) {
		if len(s.Token) > allLengths && n%max(cutStride, len(s.Token)/24) != 0 && !nearDot(s.Token, n) && n < len(s.Token)-4 {
			continue
		}
		cs = append(cs, Case{
			Name: fmt.Sprintf("cut-to-%d", n), Doc: fmt.Sprintf("cut to its first %d characters", n), Flags: []string{flagTruncated},
			Text: cutTo(n), Want: Refused, Property: codecs.Integrity,
		})
	}
	return cs
}

// nearDot reports whether a dot is within two characters of index n.
func nearDot(token []byte, n int) bool {
	return bytes.IndexByte(token[max(n-2, 0):min(n+2, len(token))], '.') >= 0
}

// fieldCases alters each field of the token after authentication.
func fieldCases(s *Scene) []Case {
	return alterationCases(s.Trace.steps(isField), Alterations, "%s", onWire, refusedCase(flagField))
}

// tagCases tries every length of a tag and changes each of its bytes.
func tagCases(s *Scene) []Case {
	var cs []Case
	for _, step := range s.Trace.steps(func(s lab.Step) bool { return s == lab.WireTag }) {
		for _, n := range sampledPlaces(len(step.Value)) {
			short, changed := refusedCase(flagShortTag), refusedCase(flagPartialTag)
			short.Name, short.Doc = fmt.Sprintf("%s-cut-to-%d", step.At, n), fmt.Sprintf("%s cut to its first %d bytes", stepLabel(step.At), n)
			short.Edit = onlyStep(step.At, cutTo(n))
			changed.Name, changed.Doc = fmt.Sprintf("%s-byte-%d", step.At, n), fmt.Sprintf("byte %d of %s changed", n, stepLabel(step.At))
			changed.Edit = onlyStep(step.At, Flip(n, 0x10))
			cs = append(cs, short, changed)
		}
	}
	return cs
}

// sampledPlaces returns numbers below n: all if n is at most 64, otherwise the first
// 8, the last 8 and about 8 between.
func sampledPlaces(n int) []int {
	var all []int
	for i := range n {
		if n <= 64 || i < 8 || i >= n-8 || i%(n/8) == 0 {
			all = append(all, i)
		}
	}
	return all
}

// spliceCases replaces one field at a time by the field of another sound token. Replacing all fields would
// give the other token.
func spliceCases(s *Scene) []Case {
	steps := s.Trace.steps(isField)
	if segments := s.Trace.steps(isSegment); len(segments) > 1 {
		steps = append(steps, segments...)
	}
	var cs []Case
	for _, step := range steps {
		value, ok := s.Other.Find(step.At)
		if !ok {
			continue
		}
		cs = append(cs, Case{
			Name: "splice-" + step.At.String(), Doc: stepLabel(step.At) + " taken from another sound token",
			Flags: []string{flagSplice}, Edit: onlyStep(step.At, setTo(value)),
			Want: Refused, Property: codecs.Integrity,
		})
	}
	return cs
}

func isSegment(s lab.Step) bool { return s == lab.WireText }

func stepLabel(at At) string { return "the step " + at.String() }

// insideCases alters each value that enters the cryptography, so that the result is authentic. A refusal
// then comes from a check after the tag, or from another tag.
func insideCases(s *Scene) []Case {
	return alterationCases(s.Trace.steps(isInside), Alterations, "sealed-%s", beforeSealed, Case{Flags: []string{flagInside}})
}

// stretchedCases appends 300 characters to each printable text that enters the cryptography.
func stretchedCases(s *Scene) []Case {
	steps := slices.DeleteFunc(s.Trace.steps(isInside), func(step Step) bool {
		return step.Step == lab.StepText || step.Step == lab.StepPrefix || len(step.Value) == 0 || bytes.ContainsFunc(step.Value, func(r rune) bool { return r <= ' ' || r > '~' })
	})
	return alterationCases(steps, []Alteration{{Name: "stretched", Doc: "300 characters longer", Change: func(b []byte) []byte {
		return append(b, bytes.Repeat(b[len(b)-1:], 300)...)
	}}}, "sealed-%s", beforeSealed, Case{Flags: []string{flagInside}})
}

// isInside reports whether s is worth altering bytewise. Payloads hold any bytes; claims and tags have
// their own families.
func isInside(s lab.Step) bool {
	return !s.OnWire() && s != lab.StepPayload && s != lab.StepClaims && s != lab.StepTag
}

// wireOf maps each step to the wire step that carries its value.
var wireOf = map[lab.Step]lab.Step{
	lab.StepPrefix: lab.WirePrefix,
	lab.StepKeyID:  lab.WireKeyID,
	lab.StepEnc:    lab.WireEnc,
	lab.StepNonce:  lab.WireNonce,
	lab.StepText:   lab.WireText,
}

// concealedCases authenticates a value that differs from the value on the wire. A
// format accepts the token if it does not authenticate that value.
func concealedCases(s *Scene) []Case {
	var cs []Case
	for _, step := range s.Trace.steps(func(s lab.Step) bool { return wireOf[s] != "" }) {
		wire := At{Step: wireOf[step.Step], N: step.N}
		value, ok := s.Trace.Find(wire)
		if !ok {
			continue
		}
		of := alterationCases([]Step{step}, Alterations, "concealed-%s", "%s authenticated with a change (%s), and the right one on the wire", refusedCase(flagUnauthenticated))
		for i := range of {
			of[i].Edit = bothEdits(of[i].Edit, onlyStep(wire, setTo(value)))
		}
		cs = append(cs, of...)
	}
	return cs
}

// respellingCases authenticates another encoding of a text that is encoded before
// authentication.
func respellingCases(s *Scene) []Case {
	texts := s.Trace.steps(func(s lab.Step) bool { return s == lab.StepText })
	return alterationCases(texts, base64Aliases, "sealed-%s", "%s spelled in another way and authenticated so: %s", Case{Flags: []string{flagInside}})
}
