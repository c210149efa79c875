package vectors

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"reflect"

	"sealab/internal/schema"
)

// Encode returns f as JSON: an indented head, then one test per line.
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

// without returns a copy of t that omits the parts of its setting that equal
// those of near. near may be nil.
func (t Test) without(near *Test) *Test {
	if near == nil {
		return &t
	}
	omitEqual(&t.Fields, near.Fields)
	if t.Binding == nil {
		return &t // a codec's setting is its keys
	}
	omitEqual(&t.Keys, near.Keys)
	omitEqual(&t.Options, near.Options)
	omitEqual(&t.Binding, near.Binding)
	omitEqual(&t.Now, near.Now)
	omitEqual(&t.TTL, near.TTL)
	return &t
}

// omitEqual sets *member to its zero value if it equals near.
func omitEqual[T any](member *T, near T) {
	if reflect.DeepEqual(*member, near) {
		*member = *new(T)
	}
}

// inherit copies omitted parts of the setting from near.
func (t *Test) inherit(near *Test) {
	if t.Keys == nil {
		t.Keys = near.Keys
	}
	if t.Options == nil {
		t.Options = near.Options
	}
	t.Binding = cmp.Or(t.Binding, near.Binding)
	t.Now, t.TTL = cmp.Or(t.Now, near.Now), cmp.Or(t.TTL, near.TTL)
}

// marshal is json.Marshal without HTML escaping.
func marshal(v any, indent string) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// Decode parses a file of vectors without validating it. Use Validate for that.
func Decode(data []byte) (*File, error) {
	var in struct {
		File
		Tests []Test `json:"tests"`
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return nil, err
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
		return nil, err
	}
	f, err := decodeValid(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// Schema is the JSON Schema (2020-12) of the format.
//
//go:embed schema.json
var Schema []byte

var form = schema.New("urn:sealab:vectors:1", Schema)

// Validate checks the text of a file against the schema and for consistency.
func Validate(data []byte) error {
	_, err := decodeValid(data)
	return err
}

// decodeValid decodes the text of a file and validates it.
func decodeValid(data []byte) (*File, error) {
	if err := form.Validate(data); err != nil {
		return nil, err
	}
	f, err := Decode(data)
	if err != nil {
		return nil, err
	}
	return f, f.consistent()
}

// consistent checks relations between the members of a file.
func (f *File) consistent() error {
	if f.NumberTests != len(f.Tests) {
		return fmt.Errorf("number_of_tests is %d, want %d", f.NumberTests, len(f.Tests))
	}
	seen := map[string]Verdict{}
	for _, t := range f.Tests {
		if _, twice := seen[t.ID]; twice {
			return fmt.Errorf("duplicate test id %s", t.ID)
		}
		seen[t.ID] = t.Expect
		if err := f.testConsistent(&t); err != nil {
			return fmt.Errorf("test %s: %w", t.ID, err)
		}
	}
	for _, t := range f.Tests {
		if t.Expect == Refuse && seen[t.Near] != Accept {
			return fmt.Errorf("test %s: near is %q, want the id of an accepted test", t.ID, t.Near)
		}
	}
	return nil
}

func (f *File) testConsistent(t *Test) error {
	for _, k := range t.Keys {
		if _, ok := f.Keys[k]; !ok {
			return fmt.Errorf("there is no key %q", k)
		}
	}
	for _, flag := range t.Flags {
		if _, ok := f.Notes[flag]; !ok {
			return fmt.Errorf("flag %q has no note", flag)
		}
	}
	if refused := t.Expect == Refuse; refused != (t.Stage != "") || refused != (t.Released == nil) {
		return fmt.Errorf("want a stage and no released bytes if refused, released bytes and no stage if accepted")
	}
	return nil
}
