package vectors

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"sealab/codecs"
)

// A Form is an output format for vectors.
type Form struct {
	Name, Doc string
	Extension string
	Write     func(*File) ([]byte, error)
}

// Forms returns all output formats.
func Forms() []Form {
	return []Form{
		{"json", "the format itself", ".json", (*File).Encode},
		{"jsonl", "JSON Lines: one self-contained test per line", ".jsonl", Lines},
		{"wycheproof", "test groups by ring, in the manner of Wycheproof", ".wycheproof.json", Groups},
	}
}

// FindForm returns the form called name, or an error if there is no such form.
func FindForm(name string) (Form, error) {
	var known []string
	for _, f := range Forms() {
		if f.Name == name {
			return f, nil
		}
		known = append(known, f.Name)
	}
	return Form{}, fmt.Errorf("no form %q; there are %q", name, known)
}

// line is one test with the values that it needs from its file.
type line struct {
	Design  string      `json:"design"`
	Kind    codecs.Kind `json:"kind"`
	Secrets []Hex       `json:"secrets"` // of the ring, in order
	Test
}

// Lines returns the tests of f as JSON Lines.
func Lines(f *File) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	for _, t := range f.Tests {
		if err := e.Encode(line{f.Design, f.Kind, f.Ring(&t), t}); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

// The types below use the member names of Wycheproof.
type (
	wycheproof struct {
		Algorithm     string           `json:"algorithm"`
		Schema        string           `json:"schema"`
		NumberOfTests int              `json:"numberOfTests"`
		Header        []string         `json:"header"`
		Notes         map[string]*note `json:"notes"`
		TestGroups    []*group         `json:"testGroups"`
	}
	note struct {
		BugType     string   `json:"bugType"`
		Description string   `json:"description"`
		Effect      string   `json:"effect"`
		Links       []string `json:"links,omitempty"`
		CVEs        []string `json:"cves,omitempty"`
	}
	group struct {
		Type    string            `json:"type"`
		Secrets []Hex             `json:"secrets"`
		Options map[string]string `json:"options,omitempty"`
		Tests   []groupTest       `json:"tests"`
	}
	groupTest struct {
		TcID    int      `json:"tcId"`
		ID      string   `json:"id"`
		Comment string   `json:"comment"`
		Flags   []string `json:"flags"`
		Binding *Binding `json:"binding,omitempty"`
		Now     *Seconds `json:"now,omitempty"`
		TTL     *Seconds `json:"ttl,omitempty"`
		Token   string   `json:"token"`
		Msg     *Hex     `json:"msg,omitempty"` // the released bytes
		Stage   string   `json:"stage,omitempty"`
		Result  string   `json:"result"`
	}
)

// Groups returns the tests of f grouped by ring and options.
func Groups(f *File) ([]byte, error) {
	w := wycheproof{
		Algorithm: f.Design, Schema: f.Format, NumberOfTests: f.NumberTests,
		Header: []string{f.Doc, f.Spec, "license: " + f.License}, Notes: map[string]*note{},
	}
	for flag, n := range f.Notes {
		w.Notes[flag] = &note{BugType: flag, Description: n.BugClass, Effect: n.Gain, Links: n.Links, CVEs: n.CVEs}
	}
	byRing := map[string]*group{}
	for i, t := range f.Tests {
		key := fmt.Sprintf("%q", t.Keys)
		for _, name := range slices.Sorted(maps.Keys(t.Options)) {
			key += fmt.Sprintf(" %q=%q", name, t.Options[name])
		}
		g := byRing[key]
		if g == nil {
			g = &group{Type: "SealedTokenOpen", Secrets: f.Ring(&t), Options: t.Options}
			byRing[key] = g
			w.TestGroups = append(w.TestGroups, g)
		}
		result := "valid"
		if t.Expect == Refuse {
			result = "invalid"
		}
		g.Tests = append(g.Tests, groupTest{i + 1, t.ID, t.Comment, t.Flags, t.Binding, t.Now, t.TTL, t.Token, t.Released, t.Stage, result})
	}
	data, err := json.MarshalIndent(w, "", " ")
	if err != nil {
		return nil, err
	}
	return append(data, '\n'), nil
}
