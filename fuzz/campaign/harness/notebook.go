package harness

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"
)

// A notebook is a file mapped into memory that holds the input that runs and,
// as far as there is room, those that ran before it. What is written to it
// survives the process however that ends, and costs a copy.
//
// The file has 8 bytes that are 1 while the last input runs, 8 bytes of all that
// was ever written behind them, both little-endian, and a ring of records: an
// input and its length in 4 bytes, so that they are read from the last to the
// first.
type notebook struct {
	path    string
	mapped  []byte
	runs    atomic.Uint64 // inputs begun
	running atomic.Bool
}

// Room is how many bytes a process writes down in a campaign, at least.
const Room = notebookHeader + roomForHistory

const (
	notebookHeader = 16
	recordTrailer  = 4

	// What a notebook has room for. In a campaign a failure may come from what
	// an input of long ago left in memory. The engine's inputs are some hundred
	// bytes, so that this is the last hundred thousand.
	roomForHistory = 16 << 20
	roomForInput   = 1 << 20
)

func newNotebook(path string, room int) (*notebook, error) {
	n := &notebook{path: path}
	return n, n.grow(notebookHeader + room)
}

// grow maps the file anew with size bytes, and forgets what ran before.
func (n *notebook) grow(size int) error {
	mapped, err := mapFile(n.path, n.mapped, size)
	if err != nil {
		return fmt.Errorf("sealab: mapping %s: %w", n.path, err)
	}
	n.mapped = mapped
	clear(n.mapped[:notebookHeader])
	return nil
}

// begin writes down that input runs now.
func (n *notebook) begin(input []byte) error {
	need := len(input) + recordTrailer
	if notebookHeader+need > len(n.mapped) {
		if err := n.grow(notebookHeader + 2*need); err != nil {
			return err
		}
	}
	ring := n.mapped[notebookHeader:]
	end := binary.LittleEndian.Uint64(n.mapped[8:])
	end = write(ring, end, input)
	var trailer [recordTrailer]byte
	binary.LittleEndian.PutUint32(trailer[:], uint32(len(input)))
	end = write(ring, end, trailer[:])
	binary.LittleEndian.PutUint64(n.mapped[8:], end)
	binary.LittleEndian.PutUint64(n.mapped, 1)
	n.runs.Add(1)
	n.running.Store(true)
	return nil
}

// write copies data to the ring behind the first end bytes, and returns the new end.
func write(ring []byte, end uint64, data []byte) uint64 {
	at := end % uint64(len(ring))
	if copied := copy(ring[at:], data); copied < len(data) {
		copy(ring, data[copied:])
	}
	return end + uint64(len(data))
}

// end writes down that the input has run.
func (n *notebook) end() {
	n.running.Store(false)
	binary.LittleEndian.PutUint64(n.mapped, 0)
}

// observe runs one input that is written down while it runs.
func (n *notebook) observe(run func([]byte) error, input []byte) (*Verdict, error) {
	if err := n.begin(input); err != nil {
		return nil, err
	}
	v := observe(run, input)
	n.end()
	return v, nil
}

// before returns the inputs that ran before the last one, the first first.
func (n *notebook) before() [][]byte {
	page, _ := parseNotebook(n.mapped)
	if len(page.inputs) == 0 {
		return nil
	}
	return page.inputs[:len(page.inputs)-1]
}
