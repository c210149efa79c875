package tokenfmt

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"iter"
	"slices"
	"sync"
)

// A packing is a format of compressed bytes.
type packing struct {
	name   string
	open   func(io.Reader) (io.Reader, error)
	create func(w io.Writer, level int) (io.WriteCloser, error)
}

const deflate = "deflate"

// packings are the formats: gzip (RFC 1952), zlib (RFC 1950) and deflate (RFC 1951). The last has
// no checksum, so that other bytes may pass for it.
var packings = []packing{
	{"gzip", func(r io.Reader) (io.Reader, error) {
		z, err := gzip.NewReader(r)
		if err == nil {
			z.Multistream(false)
		}
		return z, err
	}, func(w io.Writer, level int) (io.WriteCloser, error) { return gzip.NewWriterLevel(w, level) }},
	{"zlib", func(r io.Reader) (io.Reader, error) { return zlib.NewReader(r) }, func(w io.Writer, level int) (io.WriteCloser, error) { return zlib.NewWriterLevel(w, level) }},
	{deflate, inflating, func(w io.Writer, level int) (io.WriteCloser, error) { return flate.NewWriter(w, level) }},
}

// The bounds of a search for compressed bytes in a segment.
const (
	mostPackedHead = 16      // bytes in front of them
	mostUnpacked   = 1 << 20 // bytes that they stand for
)

// Recompressed compresses the compressed bytes of each segment in other ways. A reader whose tag
// is inside takes them for the same.
func Recompressed(f Format, _ *Source) iter.Seq[Alteration] {
	return inEncoded(f, func(i int, raw []byte, yield func(Alteration)) {
		for at := range min(mostPackedHead, len(raw)) {
			for _, p := range packings {
				plain, rest, ok := p.unpacked(raw[at:])
				if !ok {
					continue
				}
				for _, level := range []int{flate.NoCompression, flate.BestSpeed, flate.BestCompression, flate.HuffmanOnly} {
					yield(Alteration{f.With(i, slices.Concat(raw[:at], p.packed(plain, level), rest)), fmt.Sprintf("%s at byte %d of segment %d compressed at level %d", p.name, at, i, level)})
				}
			}
		}
	})
}

// inflaters are readers of deflate, which are large and may be used again.
var inflaters = sync.Pool{New: func() any { return flate.NewReader(nil) }}

// inflating opens deflate with a reader of the pool.
func inflating(r io.Reader) (io.Reader, error) {
	z := inflaters.Get()
	return z.(io.Reader), z.(flate.Resetter).Reset(r, nil)
}

// unpacked returns the bytes that the beginning of raw stands for, and the rest of it.
func (p packing) unpacked(raw []byte) (plain, rest []byte, ok bool) {
	in := bytes.NewReader(raw)
	r, err := p.open(in)
	if err != nil {
		return nil, nil, false
	}
	plain, err = io.ReadAll(io.LimitReader(r, mostUnpacked))
	if p.name == deflate {
		inflaters.Put(r)
	}
	return plain, raw[len(raw)-in.Len():], err == nil && len(plain) >= minEncoded && len(plain) < mostUnpacked
}

func (p packing) packed(plain []byte, level int) []byte {
	var b bytes.Buffer
	w, err := p.create(&b, level)
	if err != nil {
		panic("tokenfmt: " + err.Error()) // the levels are constants of compress/flate
	}
	w.Write(plain)
	w.Close()
	return b.Bytes()
}
