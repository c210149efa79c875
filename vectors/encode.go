package vectors

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
)

// Encode returns f as JSON: the head indented, then one test per line.
func (f *File) Encode() ([]byte, error) {
	head, err := marshal(f, " ")
	if err != nil {
		return nil, err
	}
	out := bytes.NewBuffer(bytes.TrimSuffix(head, []byte("\n}")))
	out.WriteString(",\n \"tests\": [")
	for i, t := range f.Tests {
		line, err := marshal(t, "")
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString("\n")
		out.Write(line)
	}
	out.WriteString("\n]}\n")
	return out.Bytes(), nil
}

// marshal is json.Marshal without the escapes that are meant for HTML.
func marshal(v any, indent string) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("sealab: %w", err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// Decode reads a file of vectors. It does not validate it: see Validate.
func Decode(data []byte) (*File, error) {
	var in struct {
		File
		Tests []Test `json:"tests"`
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return nil, fmt.Errorf("sealab: %w", err)
	}
	f := in.File
	f.Tests = in.Tests
	return &f, nil
}

// Read reads and validates the file at path.
func Read(path string) (*File, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("sealab: %w", err)
	}
	if err := Validate(data); err != nil {
		return nil, fmt.Errorf("sealab: %s: %w", path, err)
	}
	f, err := Decode(data)
	if err != nil {
		return nil, fmt.Errorf("sealab: %s: %w", path, err)
	}
	return f, nil
}
