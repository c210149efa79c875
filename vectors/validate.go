package vectors

import (
	_ "embed"
	"fmt"

	"sealab/internal/schema"
)

// Schema is the JSON Schema (2020-12) of the format.
//
//go:embed schema.json
var Schema []byte

var form = schema.New("urn:sealab:vectors:1", Schema)

// Validate checks the text of a file against the schema and for consistency.
func Validate(data []byte) error {
	if err := form.Validate(data); err != nil {
		return err
	}
	f, err := Decode(data)
	if err != nil {
		return err
	}
	return f.consistent()
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
