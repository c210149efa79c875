package harness

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
)

// An inputLog is a memory-mapped file that holds the running input and as many inputs before it
// as fit. Its contents survive the process, and a write costs one copy.
//
// The file begins with two 8-byte little-endian numbers, followed by a ring of records. The
// first number is 1 while the last input runs. The second is the total number of bytes written
// to the ring. A record is an input followed by its length in 4 bytes, so that a reader can go
// from the last record to the first.
type inputLog struct {
	path    string
	mapped  []byte
	runs    atomic.Uint64 // number of inputs begun
	running atomic.Bool
}

// LogSize is the minimum size in bytes of the input log of a process in a campaign.
const LogSize = logHeader + roomForHistory

const (
	logHeader     = 16
	recordTrailer = 4

	// In a campaign a failure may depend on an input that ran long before. Inputs of the engine
	// have a few hundred bytes, so this holds about the last hundred thousand of them.
	roomForHistory = 16 << 20
	roomForInput   = 1 << 20
)

// Prefixes of the files of a process in the scratch folder, before its process ID.
const (
	logPrefix   = "input-"
	crashPrefix = "crash-"
)

func logPath(scratch string, pid int) string {
	return filepath.Join(scratch, logPrefix+strconv.Itoa(pid))
}

func crashPath(scratch string, pid int) string {
	return filepath.Join(scratch, crashPrefix+strconv.Itoa(pid))
}

func newInputLog(path string, room int) (*inputLog, error) {
	l := &inputLog{path: path}
	return l, l.grow(logHeader + room)
}

// grow maps the file again with the given size in bytes and drops all records.
func (l *inputLog) grow(size int) error {
	mapped, err := mapFile(l.path, l.mapped, size)
	if err != nil {
		return fmt.Errorf("mapping %s: %w", l.path, err)
	}
	l.mapped = mapped
	clear(l.mapped[:logHeader])
	return nil
}

// begin records that input starts to run.
func (l *inputLog) begin(input []byte) error {
	if need := len(input) + recordTrailer; logHeader+need > len(l.mapped) {
		if err := l.grow(logHeader + 2*need); err != nil {
			return err
		}
	}
	ring := l.mapped[logHeader:]
	end := binary.LittleEndian.Uint64(l.mapped[8:])
	end = ringWrite(ring, end, input)
	var trailer [recordTrailer]byte
	binary.LittleEndian.PutUint32(trailer[:], uint32(len(input)))
	end = ringWrite(ring, end, trailer[:])
	binary.LittleEndian.PutUint64(l.mapped[8:], end)
	binary.LittleEndian.PutUint64(l.mapped, 1)
	l.runs.Add(1)
	l.running.Store(true)
	return nil
}

// end records that the input has ended.
func (l *inputLog) end() {
	l.running.Store(false)
	binary.LittleEndian.PutUint64(l.mapped, 0)
}

// observe runs one input and records it while it runs.
func (l *inputLog) observe(run func([]byte) error, input []byte) (*Failure, error) {
	if err := l.begin(input); err != nil {
		return nil, err
	}
	failed := observe(run, input)
	l.end()
	return failed, nil
}

// before returns the recorded inputs before the last one, oldest first.
func (l *inputLog) before() [][]byte {
	inputs, _, _ := parseLog(l.mapped)
	if len(inputs) == 0 {
		return nil
	}
	return inputs[:len(inputs)-1]
}

// ringWrite copies data to the ring at offset end and returns the new end.
func ringWrite(ring []byte, end uint64, data []byte) uint64 {
	at := end % uint64(len(ring))
	if copied := copy(ring[at:], data); copied < len(data) {
		copy(ring, data[copied:])
	}
	return end + uint64(len(data))
}

// ringRead returns a copy of the size bytes of the ring before offset end.
func ringRead(ring []byte, end, size uint64) []byte {
	data := make([]byte, size)
	at := (end - size) % uint64(len(ring))
	if copied := copy(data, ring[at:]); copied < len(data) {
		copy(data[copied:], ring)
	}
	return data
}

// parseLog returns the recorded inputs in the order in which they ran, and whether the last one
// is running. It reads backwards from the last record until one is partly overwritten.
func parseLog(file []byte) (inputs [][]byte, running, ok bool) {
	if len(file) <= logHeader {
		return nil, false, false
	}
	ring := file[logHeader:]
	end := binary.LittleEndian.Uint64(file[8:])
	left := min(end, uint64(len(ring)))
	for left >= recordTrailer {
		length := uint64(binary.LittleEndian.Uint32(ringRead(ring, end, recordTrailer)))
		if length > left-recordTrailer {
			break
		}
		inputs = append(inputs, ringRead(ring, end-recordTrailer, length))
		end, left = end-recordTrailer-length, left-recordTrailer-length
	}
	slices.Reverse(inputs)
	running = binary.LittleEndian.Uint64(file) == 1
	if running && len(inputs) == 0 {
		return nil, false, false
	}
	return inputs, running, true
}

// An Interrupted input was running when its process ended.
type Interrupted struct {
	Input  []byte
	Before [][]byte // recorded inputs that the process ran before, oldest first
	Crash  string   // output of the runtime at the end; empty if the process was killed
}

// ReadInterrupted returns the inputs that were running when the processes with this scratch
// folder ended. The error names unreadable logs; the result still includes the others.
func ReadInterrupted(scratch string) (all []Interrupted, err error) {
	files, err := os.ReadDir(scratch)
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	var broken []string
	for _, file := range files {
		pid, err := strconv.Atoi(strings.TrimPrefix(file.Name(), logPrefix))
		if err != nil || !strings.HasPrefix(file.Name(), logPrefix) {
			continue
		}
		path := filepath.Join(scratch, file.Name())
		data, err := os.ReadFile(path)
		if err == nil && len(data) == 0 {
			continue // created but not yet mapped
		}
		inputs, running, ok := parseLog(data)
		if err != nil || !ok {
			broken = append(broken, path)
		}
		if !running {
			continue
		}
		crash, _ := os.ReadFile(crashPath(scratch, pid)) // absent if the process was killed early
		last := len(inputs) - 1
		all = append(all, Interrupted{Input: inputs[last], Before: inputs[:last], Crash: string(crash)})
	}
	if len(broken) > 0 {
		return all, fmt.Errorf("%s: want an input log", strings.Join(broken, ", "))
	}
	return all, nil
}
