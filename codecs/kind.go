package codecs

// A Kind says which contract a design keeps.
type Kind string

// The kinds.
const (
	KindCodec  Kind = "codec"  // a [Codec]
	KindScheme Kind = "scheme" // a [Scheme]
)

// Kind returns the contract that the design keeps.
func (d *Design) Kind() Kind {
	if d.IsScheme() {
		return KindScheme
	}
	return KindCodec
}

// IsScheme reports whether the design is a scheme; else it is a codec.
func (d *Design) IsScheme() bool { return d.NewScheme != nil }
