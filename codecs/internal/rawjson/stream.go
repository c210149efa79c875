package rawjson

import (
	"io"
	"slices"
	"sync"
)

// pieceSize is the number of bytes after which a streamer writes its output.
const pieceSize = 4 << 10

// StreamSorted writes the output of AppendValue, with members sorted by ByName,
// without building a tree. It writes to out in pieces and ignores errors of
// out. If it fails, it has written nothing. It uses at most about three bytes
// of memory per byte of doc.
func (p *Printer) StreamSorted(out io.Writer, d Dialect, doc []byte) error {
	w := streamers.Get().(*streamer)
	defer w.free()
	w.scanner = newScanner(d, doc)
	members := w.maxMembers()
	if cap(w.members) < members {
		w.members, w.open = make([]entry, 0, members), make([]uint32, 0, members)
	}
	w.entries = w.members[:0]
	if err := w.document(); err != nil {
		return err
	}
	w.Printer, w.sink, w.at = p, out, 0
	w.value()
	w.relieve(0)
	return nil
}

var streamers = sync.Pool{New: func() any { return new(streamer) }}

// A streamer writes a scanned document. Its methods start at s.at and advance
// it.
type streamer struct {
	*Printer
	scanner
	sink    io.Writer
	out     []byte
	members []entry  // reused for the entries of the next document
	entry   uint32   // the entry of the next object's first member
	open    []uint32 // the members of the open objects
}

// maxPooled is the maximum capacity, in members and in bytes, of memory that is
// kept.
const maxPooled = 64 << 10

// free clears the streamer and keeps its memory unless it is large.
func (w *streamer) free() {
	clear(w.out[:cap(w.out)])
	if cap(w.entries) > maxPooled || cap(w.out) > maxPooled {
		return
	}
	*w = streamer{out: w.out[:0], members: w.entries[:0], open: w.open[:0]}
	streamers.Put(w)
}

func (w *streamer) write(s string) { w.out = append(w.out, s...) }

// relieve writes the output to the sink if it has at least n bytes.
func (w *streamer) relieve(n int) {
	if len(w.out) >= n {
		w.sink.Write(w.out) //nolint:errcheck // the sink is a hash, which cannot fail
		w.out = w.out[:0]
	}
}

func (w *streamer) value() {
	w.space()
	w.relieve(pieceSize)
	switch c := w.src[w.at]; c {
	case '{':
		w.object()
	case '[':
		w.array()
	case '"':
		w.text()
	default:
		w.scalar(c)
	}
}

// scalar writes a word or a number.
func (w *streamer) scalar(c byte) {
	var v Value
	start := w.at
	switch c {
	case 'n':
		w.word(&v, Null, "null")
	case 't':
		w.word(&v, True, "true")
	case 'f':
		w.word(&v, False, "false")
	default:
		w.number(&v)
		w.out = w.Number(w.out, v.Text)
		return
	}
	w.out = append(w.out, w.src[start:w.at]...)
}

func (w *streamer) array() {
	w.at++
	w.write("[")
	for first := true; w.more(']'); first = false {
		if !first {
			w.write(",")
		}
		w.value()
	}
	w.write("]")
}

// more skips to the next element and reports true, or skips the closing bracket
// and reports false.
func (w *streamer) more(closing byte) bool {
	for {
		w.space()
		switch w.src[w.at] {
		case closing:
			w.at++
			return false
		case ',':
			w.at++
		default:
			return true
		}
	}
}

// object writes the members sorted by name. A repeated name has its last value.
func (w *streamer) object() {
	w.at++
	w.write("{")
	if !w.more('}') {
		w.write("}")
		return
	}
	start := len(w.open)
	w.open = append(w.open, w.entry)
	lastMember := w.entry
	for next := w.entries[w.entry].next; next != 0; next = w.entries[next].next {
		w.open = append(w.open, next)
		lastMember = next
	}
	members := w.open[start:]
	slices.SortFunc(members, func(a, b uint32) int {
		if c := w.compareNames(w.entries[a].name, w.entries[b].name, asIs); c != 0 {
			return c
		}
		return int(int64(a) - int64(b))
	})
	var endAt int
	var endEntry uint32
	comma := false
	for i, m := range members {
		// The last member in the document is always written, so that the end of
		// the object is known.
		if i+1 < len(members) && w.compareNames(w.entries[m].name, w.entries[members[i+1]].name, asIs) == 0 {
			continue
		}
		if comma {
			w.write(",")
		}
		comma = true
		w.member(m)
		if m == lastMember {
			endAt, endEntry = w.at, w.entry
		}
	}
	w.open = w.open[:start]
	w.at, w.entry = endAt, endEntry
	w.more('}')
	w.write("}")
}

func (w *streamer) member(m uint32) {
	w.at, w.entry = int(w.entries[m].name), m+1
	w.text()
	w.space()
	w.at++ // the colon
	w.write(":")
	w.value()
}

func asIs(r rune) rune { return r }

// text writes a string, as Quoting.Append does.
func (w *streamer) text() {
	w.at++
	w.write(`"`)
	for {
		w.relieve(pieceSize)
		switch c := w.src[w.at]; {
		case c == '"':
			w.at++
			w.write(`"`)
			return
		case c == '\\':
			var room [4]byte
			r, _ := w.scanner.escape() // the scanner has checked the escape
			w.char(AppendRune(room[:0], r), 0)
		case w.plain[c]:
			w.plainRun()
		default:
			w.at += w.char(w.src, w.at)
		}
	}
}

// char writes the character at text[at] and returns its length in text.
func (w *streamer) char(text []byte, at int) (n int) {
	switch c := text[at]; {
	case w.plain[c]:
		w.out = append(w.out, text...) // an escaped character is the whole text
	case w.letters[c] != 0:
		w.out = append(w.out, '\\', w.letters[c])
		return 1
	default:
		w.out, n = w.Quoting.escape(w.out, text, at)
	}
	return n
}

// plainRun writes the plain characters at the current position, at most a piece
// of them.
func (w *streamer) plainRun() {
	start, end := w.at, min(len(w.src), w.at+pieceSize)
	for w.at < end && w.plain[w.src[w.at]] {
		w.at++
	}
	w.out = append(w.out, w.src[start:w.at]...)
}
