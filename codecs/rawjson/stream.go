package rawjson

import "slices"

// pieceSize is the number of bytes after which a streamer gives away its output.
const pieceSize = 4 << 10

// StreamSorted writes the form of AppendValue with members by ByName, without a
// tree: give gets it in pieces that it must not keep, and the last piece is
// returned. It takes about three bytes of heap for each byte of doc at most.
func (p *Printer) StreamSorted(d Dialect, doc []byte, give func(piece []byte)) (last []byte, err error) {
	s := newScanner(d, doc)
	members := s.maxMembers()
	s.entries = make([]entry, 0, members)
	if err := s.document(); err != nil {
		return nil, err
	}
	w := streamer{Printer: p, scanner: s, give: give, open: make([]uint32, 0, members), out: make([]byte, 0, min(len(doc)*9/8, pieceSize)+64)}
	s.at = 0
	w.value()
	return w.out, nil
}

// A streamer writes a document that was scanned. Its methods begin at s.at and
// leave it behind what they have written.
type streamer struct {
	*Printer
	*scanner
	give  func([]byte)
	out   []byte
	entry uint32   // the entry of the next object's first member
	open  []uint32 // the members of the objects at hand
}

func (w *streamer) write(s string) { w.out = append(w.out, s...) }

// relieve gives away what was written if it is a piece.
func (w *streamer) relieve() {
	if len(w.out) >= pieceSize {
		w.give(w.out)
		w.out = w.out[:0]
	}
}

func (w *streamer) value() {
	w.space()
	w.relieve()
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

// more skips what stands before an element, or the closing bracket, and then
// reports false.
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

// object writes the members by name. A repeated name has its last value.
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
		// The last member in the document is written in any case, so that the
		// end of the object is known.
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
		w.relieve()
		switch c := w.src[w.at]; {
		case c == '"':
			w.at++
			w.write(`"`)
			return
		case c == '\\':
			var room [4]byte
			r, _ := w.scanner.escape() // the scanner has checked it
			w.char(AppendRune(room[:0], r), 0)
		case w.plain[c]:
			w.plainRun()
		default:
			w.at += w.char(w.src, w.at)
		}
	}
}

// char writes the character at text[at] and returns its length there.
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

// plainRun writes the characters at hand that are plain, a piece of them at most.
func (w *streamer) plainRun() {
	start, end := w.at, min(len(w.src), w.at+pieceSize)
	for w.at < end && w.plain[w.src[w.at]] {
		w.at++
	}
	w.out = append(w.out, w.src[start:w.at]...)
}
