package rawmcp

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// errEvents and errTooLarge end a response that is larger than its limits.
var (
	errEvents   = errors.New("the stream has more events than the limit")
	errTooLarge = errors.New("the response is larger than the limit")
)

// readEvents reads server-sent events and calls each with the data of those that
// have any, until it returns true. Comments, ids, names, retry times and events
// without data are skipped. Lines end with LF, CRLF or CR.
func readEvents(r *bufio.Reader, most int, each func(data []byte) bool) error {
	var data []byte
	has := false
	for n := 0; ; {
		line, err := readEventLine(r)
		if err != nil {
			return err
		}
		if len(line) > 0 {
			if value, ok := dataField(line); ok {
				if has {
					data = append(data, '\n')
				}
				data, has = append(data, value...), true
			}
			continue
		}
		if n++; n > most {
			return errEvents
		}
		if len(data) > 0 && each(data) {
			return nil
		}
		data, has = nil, false
	}
}

// dataField returns the value of a line that is a data field.
func dataField(line []byte) ([]byte, bool) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	return bytes.TrimPrefix(value, []byte(" ")), string(name) == "data"
}

// readEventLine returns the next line without its end.
func readEventLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		c, err := r.ReadByte()
		switch {
		case err != nil:
			return nil, err
		case c == '\n':
			return line, nil
		case c == '\r':
			next, err := r.Peek(1)
			if err == nil && next[0] == '\n' {
				_, err = r.Discard(1)
			}
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return line, err
		}
		line = append(line, c)
	}
}
