package tokenfmt

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"slices"
	"sync"
)

// A compression is a compression format.
type compression struct {
	name   string
	open   func(io.Reader) (io.Reader, error)
	create func(w io.Writer, level int) (io.WriteCloser, error)
}

const deflate = "deflate"

// compressions are gzip (RFC 1952), zlib (RFC 1950) and deflate (RFC 1951). Deflate has no
// checksum, so other bytes may decompress as well.
var compressions = []compression{
	{"gzip", func(r io.Reader) (io.Reader, error) {
		z, err := gzip.NewReader(r)
		if err == nil {
			z.Multistream(false)
		}
		return z, err
	}, func(w io.Writer, level int) (io.WriteCloser, error) { return gzip.NewWriterLevel(w, level) }},
	{"zlib", func(r io.Reader) (io.Reader, error) { return zlib.NewReader(r) }, func(w io.Writer, level int) (io.WriteCloser, error) { return zlib.NewWriterLevel(w, level) }},
	{deflate, newInflater, func(w io.Writer, level int) (io.WriteCloser, error) { return flate.NewWriter(w, level) }},
}

// The bounds of the search for compressed bytes in a segment.
const (
	mostPackedHead = 16      // bytes before the compressed bytes
	mostUnpacked   = 1 << 20 // bytes after decompression
)

// Recompressed compresses the compressed bytes of each segment again at other levels. If the
// tag covers only the decompressed bytes, a reader treats both as equal.
func Recompressed(f Format, _ *Source, yield func(Alteration)) {
	for i, raw := range f.EncodedBytes() {
		for at := range min(mostPackedHead, len(raw)) {
			for _, p := range compressions {
				plain, rest, ok := p.unpacked(raw[at:])
				if !ok {
					continue
				}
				for _, level := range []int{flate.NoCompression, flate.BestSpeed, flate.BestCompression, flate.HuffmanOnly} {
					yield(Alteration{f.With(i, slices.Concat(raw[:at], p.packed(plain, level), rest)), fmt.Sprintf("%s at byte %d of segment %d compressed at level %d", p.name, at, i, level)})
				}
			}
		}
	}
}

// inflaterPool is a pool of deflate readers, which are large.
var inflaterPool = sync.Pool{New: func() any { return flate.NewReader(nil) }}

// newInflater returns a reader of the pool that decompresses r.
func newInflater(r io.Reader) (io.Reader, error) {
	z := inflaterPool.Get()
	return z.(io.Reader), z.(flate.Resetter).Reset(r, nil)
}

// unpacked decompresses the beginning of raw. It returns the decompressed bytes and the rest of
// raw.
func (p compression) unpacked(raw []byte) (plain, rest []byte, ok bool) {
	in := bytes.NewReader(raw)
	r, err := p.open(in)
	if err != nil {
		return nil, nil, false
	}
	plain, err = io.ReadAll(io.LimitReader(r, mostUnpacked))
	if p.name == deflate {
		inflaterPool.Put(r)
	}
	return plain, raw[len(raw)-in.Len():], err == nil && len(plain) >= minEncoded && len(plain) < mostUnpacked
}

func (p compression) packed(plain []byte, level int) []byte {
	var b bytes.Buffer
	w, err := p.create(&b, level)
	if err != nil {
		panic("tokenfmt: " + err.Error()) // the levels are constants of compress/flate
	}
	w.Write(plain)
	w.Close()
	return b.Bytes()
}
