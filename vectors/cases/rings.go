package cases

import (
	"bytes"
	"fmt"
	"slices"

	"sealab/codecs"
	"sealab/internal/lab"
)

// keyRingCases reads a sound token under other rings.
func keyRingCases(s *Scene) []Case {
	var cs []Case
	for _, r := range []struct {
		name, doc string
		flag      string
		keys      []string
		want      Want
		property  codecs.Property
	}{
		{"alone", "its own key alone", flagRotation, []string{"k1"}, Accepted, codecs.Rotation},
		{"second", "its own key in second place", flagRotation, []string{"k2", "k1"}, Accepted, codecs.Rotation},
		{"last", "its own key in last place", flagRotation, []string{"k3", "k2", "k1"}, Accepted, codecs.Rotation},
		{"removed", "a ring from which its key was removed", flagRotation, []string{"k2", "k3"}, Refused, codecs.Rotation},
		{"other", "another key", flagWrongKey, []string{"k2"}, Refused, codecs.Integrity},
		{"one-bit", "a key that differs in one bit", flagWrongKey, []string{"k1-bit"}, Refused, codecs.Integrity},
		{"zero-byte", "the key with a zero byte after it, which HMAC takes for the same", flagEquivalentKey, []string{"k1-zero"}, Refused, codecs.KeySeparation},
		{"hex", "the hex digits of the key", flagEquivalentKey, []string{"k1-hex"}, Refused, codecs.KeySeparation},
	} {
		cs = append(cs, Case{
			Name: "ring-" + r.name, Doc: "read under " + r.doc, Flags: []string{r.flag},
			Read: func(set *Setting) { set.Keys = r.keys }, Want: r.want, Property: r.property,
		})
	}
	return cs
}

// keySlotCases reads tokens that are sealed under one key of the ring and carry the authenticated key ID
// of another.
func keySlotCases(s *Scene) []Case {
	if len(s.Base.Keys) < 2 {
		return nil
	}
	other := s.Base.Setting
	other.Keys = slices.Clone(s.Base.Keys)
	slices.Reverse(other.Keys)
	_, trace, err := s.Make(other, s.Seed, s.Base.Payload, nil)
	if err != nil {
		return nil
	}
	var cs []Case
	for _, step := range trace.steps(func(s lab.Step) bool { return s == lab.StepKeyID }) {
		cs = append(cs, Case{
			Name: "slot-" + step.At.String(), Doc: "sealed under its key, with the authenticated fingerprint of another key of the ring",
			Flags: []string{flagWrongKey}, Edit: onlyStep(step.At, setTo(step.Value)),
			Want: Refused, Property: codecs.Integrity,
		})
	}
	return cs
}

// longKeys reads tokens sealed under a key longer than a block of SHA-256.
func longKeys(*Scene) []Case {
	return []Case{{
		Name: "hashed", Doc: "read under the hash of the long key, which HMAC takes for the same", Flags: []string{flagEquivalentKey},
		Read: func(set *Setting) { set.Keys = []string{"long-hash"} }, Want: Refused, Property: codecs.KeySeparation,
	}}
}

// crossDesignCases reads tokens of other designs that are sealed under the same
// secret. Each is read as it is, and with this design's prefix.
func crossDesignCases(s *Scene) []Case {
	var cs []Case
	for _, f := range s.Foreign {
		c := Case{
			Name: "foreign-" + f.Design.Name, Doc: fmt.Sprintf("a token of %s under the same secrets", f.Design.Name),
			Flags: []string{flagForeign}, Text: func([]byte) []byte { return bytes.Clone(f.Token) },
			Want: Refused, Property: codecs.KeySeparation,
		}
		if s.Design.SharesFormat(f.Design) {
			continue
		}
		cs = append(cs, c)
		if f.Design.Prefix == s.Design.Prefix {
			continue
		}
		c.Name, c.Doc = c.Name+"-renamed", c.Doc+", with this design's prefix"
		c.Text = func([]byte) []byte {
			return append([]byte(s.Design.Prefix), bytes.TrimPrefix(f.Token, []byte(f.Design.Prefix))...)
		}
		cs = append(cs, c)
	}
	return cs
}
