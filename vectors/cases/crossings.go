package cases

import (
	"bytes"
	"fmt"

	"sealab/codecs"
)

// crossings reads tokens of other designs that are sealed under the same
// secret. Each is read as it is, and with this design's prefix.
func crossings(s *Scene) []Case {
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
