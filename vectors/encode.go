package vectors

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
)

// Encode returns f as JSON: the head indented, then one test per line.
func (f *File) Encode() ([]byte, error) {
	head, err := marshal(f, " ")
	if err != nil {
		return nil, err
	}
	out := bytes.NewBuffer(bytes.TrimSuffix(head, []byte("\n}")))
	out.WriteString(",\n \"tests\": [")
	byID := make(map[string]*Test, len(f.Tests))
	for i := range f.Tests {
		t := &f.Tests[i]
		byID[t.ID] = t
		line, err := marshal(t.without(byID[t.Near]), "")
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

// without returns a copy of t without the parts of its setting that are those of
// near, which may be nil.
func (t Test) without(near *Test) *Test {
	if near == nil {
		return &t
	}
	if maps.Equal(t.Fields, near.Fields) {
		t.Fields = nil
	}
	if t.Binding == nil {
		return &t // a codec, whose setting is its keys
	}
	if slices.Equal(t.Keys, near.Keys) {
		t.Keys = nil
	}
	if maps.Equal(t.Options, near.Options) {
		t.Options = nil
	}
	if reflect.DeepEqual(t.Binding, near.Binding) {
		t.Binding = nil
	}
	if reflect.DeepEqual(t.Now, near.Now) {
		t.Now = nil
	}
	if reflect.DeepEqual(t.TTL, near.TTL) {
		t.TTL = nil
	}
	return &t
}

// inherit fills in the parts of the setting that are left out, from near.
func (t *Test) inherit(near *Test) {
	if t.Keys == nil {
		t.Keys = near.Keys
	}
	if t.Options == nil {
		t.Options = near.Options
	}
	if t.Binding == nil {
		t.Binding = near.Binding
	}
	if t.Now == nil {
		t.Now = near.Now
	}
	if t.TTL == nil {
		t.TTL = near.TTL
	}
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
	byID := make(map[string]*Test, len(f.Tests))
	for i := range f.Tests {
		t := &f.Tests[i]
		byID[t.ID] = t
		if near := byID[t.Near]; near != nil {
			t.inherit(near)
		}
	}
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
