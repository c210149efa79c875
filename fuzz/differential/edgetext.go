package differential

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf16"
)

// edgeMarks are texts that decoders skip, stop at, or confuse with others.
var edgeMarks = []string{
	" ", "\t", "\n", "\r", "\r\n", "\f", "\v", "\x00", "\x1c", "\x85", "\x7f", "\u00a0", "\u1680", "\u200b", "\u2028", "\u3000", "\ufeff",
	"=", "==", "===", "====", "=\n", " =", "+", "/", "-", "_", "~", "*", ":", ".", "--", ",", "%", "%3D", "%2B", "!", "\\", "\"", "'", "$",
	"é", "ａ", "А", "\U0001F600", "\xed\xa0\x80", "\xed\xbf\xbf", "A", "AA", "AAA", "AAAA", "=A", "==A", "=AAA", "A=", "A==", "AA==",
}

// marksBetween are the separators of the known formats.
const marksBetween = ".*:~"

// segmentBounds returns the start and end of each part of t between separators.
func segmentBounds(t []byte) [][2]int {
	var all [][2]int
	begin := 0
	for i := 0; i < len(t); i++ {
		width := 0
		switch {
		case strings.IndexByte(marksBetween, t[i]) >= 0:
			width = 1
		case bytes.HasPrefix(t[i:], []byte("--")) && i > 0:
			width = 2
		}
		if width > 0 {
			all = append(all, [2]int{begin, i})
			begin = i + width
			i += width - 1
		}
	}
	return append(all, [2]int{begin, len(t)})
}

// replaceRange returns t with the bytes from begin to end replaced.
func replaceRange(t []byte, begin, end int, instead string) []byte {
	return slices.Concat(t[:begin], []byte(instead), t[end:])
}

// textEdges returns variants of a text.
func textEdges(t []byte) [][]byte {
	all := [][]byte{{}, bytes.ToUpper(t), bytes.ToLower(t), slices.Concat(t, t), bytes.Replace(t, []byte("."), nil, -1)}
	for _, pair := range []string{"-+", "_/", "+-", "/_"} {
		all = append(all, bytes.ReplaceAll(t, []byte(pair[:1]), []byte(pair[1:])), bytes.Replace(t, []byte(pair[:1]), []byte(pair[1:]), 1))
	}
	for i := range min(len(t), 64) {
		all = append(all, t[:i], t[i:], t[:len(t)-i])
	}
	parts := segmentBounds(t)
	for i, p := range parts {
		all = append(all, segmentEdges(t, p[0], p[1])...)
		for _, q := range parts[:i] {
			swapped := replaceRange(t, p[0], p[1], string(t[q[0]:q[1]]))
			all = append(all, swapped, replaceRange(swapped, q[0], q[1], string(t[p[0]:p[1]])))
		}
	}
	return all
}

// segmentEdges returns variants of t in one segment.
func segmentEdges(t []byte, begin, end int) [][]byte {
	part := string(t[begin:end])
	all := [][]byte{replaceRange(t, begin, end, ""), replaceRange(t, begin, min(end+1, len(t)), ""), replaceRange(t, max(begin-1, 0), end, ""), replaceRange(t, begin, begin, part+"."), replaceRange(t, begin, end, strings.ToUpper(part))}
	for _, m := range edgeMarks {
		all = append(all, replaceRange(t, begin, begin, m), replaceRange(t, (begin+end)/2, (begin+end)/2, m), replaceRange(t, end, end, m))
		if end > begin {
			all = append(all, replaceRange(t, end-1, end, m))
		}
	}
	if end > begin {
		for i := range base64URLAlphabet {
			all = append(all, replaceRange(t, end-1, end, base64URLAlphabet[i:i+1]))
		}
	}
	raw, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		return all
	}
	for _, instead := range []string{
		base64.URLEncoding.EncodeToString(raw), base64.StdEncoding.EncodeToString(raw), base64.RawStdEncoding.EncodeToString(raw), string(raw),
		base64.RawURLEncoding.EncodeToString([]byte(part)), base64.RawURLEncoding.EncodeToString(append(raw, 0)),
		base64.RawURLEncoding.EncodeToString(append([]byte{0}, raw...)), base64.RawURLEncoding.EncodeToString(append(raw, ' ')),
	} {
		all = append(all, replaceRange(t, begin, end, instead))
	}
	return all
}

// byteEdges returns variants of a value that is not JSON: extreme integers at its start, bytes
// changed, inserted and removed, and other lengths.
func byteEdges(v []byte, now time.Time) [][]byte {
	all := [][]byte{{}, {0}, slices.Concat(v, v), append(slices.Clip(v), 0), slices.Concat([]byte{0}, v), bytes.Repeat([]byte{0xff}, len(v)), make([]byte, len(v)), bytes.Repeat(v, 300/(len(v)+1)+1)}
	for _, m := range edgeMarks {
		all = append(all, slices.Concat(v, []byte(m)), slices.Concat([]byte(m), v), []byte(m))
	}
	for _, n := range []int{1, 2, 7, 15, 16, 17, 31, 32, 33, 64, 127, 128, 254, 255, 256, 257, 1000} {
		all = append(all, bytes.Repeat([]byte("k"), n), bytes.Repeat([]byte("é"), n))
	}
	for i := range min(len(v), 48) {
		for _, flip := range []byte{1, 2, 0x20, 0x40, 0x80, 0xff} {
			changed := bytes.Clone(v)
			changed[i] ^= flip
			all = append(all, changed)
		}
		all = append(all, v[:i], v[i:], slices.Delete(bytes.Clone(v), i, i+1), slices.Insert(bytes.Clone(v), i, 0))
	}
	if len(v) >= 8 {
		for _, n := range edgeTimes(now) {
			changed := bytes.Clone(v)
			binary.BigEndian.PutUint64(changed, uint64(n))
			all = append(all, changed)
		}
	}
	return all
}

// edgeTimes returns integers at the limits of their types, and times near now in seconds,
// milliseconds and microseconds.
func edgeTimes(now time.Time) []int64 {
	all := []int64{0, 1, -1, 1<<31 - 1, 1 << 31, -1 << 31, 1 << 32, 1 << 53, 1<<53 + 1, 1<<63 - 1, -1 << 63, -1<<63 + 1, 253402300799, 253402300800, 8640000000000000, 8640000000000001}
	for _, at := range []int64{now.Unix(), now.UnixMilli(), now.UnixMicro()} {
		for _, d := range []int64{-1000, -61, -60, -2, -1, 0, 1, 2, 60, 61, 1000} {
			all = append(all, at+d)
		}
	}
	return all
}

// unicodeEncodings returns a document in other Unicode encodings.
func unicodeEncodings(v []byte) [][]byte {
	units := utf16.Encode([]rune(string(v)))
	var le16, be16, le32, be32 []byte
	for _, u := range units {
		le16, be16 = binary.LittleEndian.AppendUint16(le16, u), binary.BigEndian.AppendUint16(be16, u)
	}
	for _, c := range string(v) {
		le32, be32 = binary.LittleEndian.AppendUint32(le32, uint32(c)), binary.BigEndian.AppendUint32(be32, uint32(c))
	}
	return [][]byte{
		le16, be16, le32, be32, slices.Concat([]byte{0xff, 0xfe}, le16), slices.Concat([]byte{0xfe, 0xff}, be16),
		slices.Concat([]byte{0xff, 0xfe, 0, 0}, le32), slices.Concat([]byte{0, 0, 0xfe, 0xff}, be32), slices.Concat([]byte("+ADs-"), v),
	}
}

// compressedSegments returns base64url segments that are, or claim to be, compressed. A leading
// full stop marks them, as in Python's signers.
func compressedSegments(segment []byte) [][]byte {
	plain, err := base64.RawURLEncoding.DecodeString(string(segment))
	if err != nil {
		return nil
	}
	var z, g, f bytes.Buffer
	deflate, _ := flate.NewWriter(&f, 9)                         //nolint:errcheck // the level is valid
	dictionary, _ := zlib.NewWriterLevelDict(&z, 9, []byte("{")) //nolint:errcheck // the level is valid
	for _, w := range []io.WriteCloser{zlib.NewWriter(&g), deflate, dictionary} {
		w.Write(plain) //nolint:errcheck // to memory
		w.Close()      //nolint:errcheck // to memory
	}
	sound := g.Bytes()
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	w.Write(plain) //nolint:errcheck // to memory
	w.Close()      //nolint:errcheck // to memory
	bad := bytes.Clone(sound)
	bad[len(bad)-1] ^= 1
	bodies := [][]byte{sound, bad, sound[:len(sound)-1], sound[:len(sound)-4], append(slices.Clip(sound), 0), append(slices.Clip(sound), sound...),
		z.Bytes(), f.Bytes(), zipped.Bytes(), plain, {}, {0x78}, {0x78, 0x9c}}
	var all [][]byte
	for _, b := range bodies {
		text := base64.RawURLEncoding.EncodeToString(b)
		all = append(all, []byte("."+text), []byte(text), []byte(".."+text), []byte("."+text+"="), []byte(". "+text))
	}
	return append(all, append([]byte("."), segment...))
}
