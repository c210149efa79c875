// Package identify reports which format a token has and which library may have made it. It uses the
// designs of the catalog, each of which parses its own tokens, and recognizers for formats that no design
// implements.
//
// A format is identified by its structure alone. The token is not verified: a forged token looks like a
// valid one. Formats with the same structure are reported together, and then the token counts as not
// identified.
package identify

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/internal/lab"
)

// An Answer holds what is known about one token.
type Answer struct {
	Token      string      `json:"token"`
	From       string      `json:"from,omitempty"` // cookie or header that contained it
	Candidates []Candidate `json:"candidates"`     // most likely first
}

// Named returns the only candidate with the highest score, or nil if the token is not identified.
func (a *Answer) Named() *Candidate {
	if len(a.Candidates) == 0 || len(a.Candidates) > 1 && a.Candidates[0].Score == a.Candidates[1].Score {
		return nil
	}
	return &a.Candidates[0]
}

// A Candidate is a format that the token may have.
type Candidate struct {
	Format  string   `json:"format"`
	Library string   `json:"library"`
	Score   int      `json:"score"` // how specific the match is
	Fields  []Field  `json:"fields"`
	Holds   []string `json:"holds"`
	Lacks   []string `json:"lacks"`
	Attack  string   `json:"attack"`
	Key     string   `json:"key,omitempty"` // name of the key that opens it
	design  *codecs.Design
	opens   func(key []byte) bool
}

// A Field is a part of a token that anyone can read, or only its length if it is unreadable.
type Field struct {
	Name  string `json:"name"`
	Bytes int    `json:"bytes"`
	Text  string `json:"text,omitempty"`
	Time  string `json:"time,omitempty"` // RFC 3339
}

// An Identifier knows the designs of the catalog. It is safe for concurrent use.
type Identifier struct{ designs []sampledDesign }

// A sampledDesign is a design with the names of the readable JSON members in its own tokens.
type sampledDesign struct {
	codecs.Design
	members []string
	// variable says that the prefix is a header that the parser also accepts in other forms.
	variable bool
}

// New returns an identifier for the designs of the catalog. It omits claims over a codec, because they
// look like the codec's tokens.
func New() *Identifier {
	id := new(Identifier)
	for _, d := range catalog.Formats() {
		if d.Over == "" && lab.HooksOf(d).Inspect != nil {
			id.designs = append(id.designs, sampledDesign{d, membersOf(d), strings.HasPrefix(d.Prefix, "eyJ") && strings.HasSuffix(d.Prefix, "..")})
		}
	}
	return id
}

// membersOf mints a token of a design and returns the names of its JSON members.
func membersOf(d codecs.Design) []string {
	secret := make([]byte, max(d.KeySize, codecs.MinSecret))
	for i := range secret {
		secret[i] = byte('a' + i%26)
	}
	in, err := lab.Open(d, codecs.Config{Secrets: [][]byte{secret}})
	if err != nil {
		return nil
	}
	defer in.Close()
	at := &codecs.Context{Now: time.Unix(1_795_132_800, 0)}
	token, err := in.Seal(nil, []byte(`"x"`), at)
	if err != nil {
		token, err = in.Seal(nil, []byte(`{"x":1}`), at) // for formats that carry only objects
	}
	if err != nil {
		return nil
	}
	fields, err := lab.HooksOf(d).Inspect(token)
	if err != nil {
		return nil
	}
	return readableMembers(fields)
}

// readableMembers returns the sorted member names of the first readable JSON object among the fields.
func readableMembers(fields []lab.Field) []string {
	for _, f := range fields {
		var object map[string]json.RawMessage
		if f.Readable && json.Unmarshal(f.Bytes, &object) == nil && len(object) > 0 {
			return slices.Sorted(maps.Keys(object))
		}
	}
	return nil
}

// Identify returns the formats that a token may have.
func (id *Identifier) Identify(token string) Answer {
	a := Answer{Token: token}
	for _, d := range id.designs {
		if c, ok := d.candidate([]byte(token)); ok {
			a.Candidates = append(a.Candidates, c)
		}
	}
	for _, r := range recognizers {
		if c, ok := r.candidate(token); ok {
			a.Candidates = append(a.Candidates, c)
		}
	}
	slices.SortStableFunc(a.Candidates, func(x, y Candidate) int { return y.Score - x.Score })
	if n := len(a.Candidates); n > 1 {
		best := a.Candidates[0].Score
		a.Candidates = slices.DeleteFunc(a.Candidates, func(c Candidate) bool { return c.Score < best })
	}
	return a
}

// The scores. A format without a distinctive prefix matches any text of its structure.
const (
	scoreStructure = 10 // segments and lengths match
	scorePrefix    = 20 // and a prefix matches
	scoreSpecific  = 40 // and no other known format has such a text
)

// minParts is the minimum number of fields, including separators, that identifies a format without a
// prefix and without readable JSON.
const minParts = 5

// nameOverlap returns the number of names in both lists, minus the number of names in only one.
func nameOverlap(sample, names []string) int {
	score := 0
	for _, name := range names {
		if slices.Contains(sample, name) {
			score += 2 // it is missed below
		} else {
			score--
		}
	}
	return score - len(sample)
}

// candidate parses a token as a token of the design.
func (d *sampledDesign) candidate(token []byte) (Candidate, bool) {
	parts, err := lab.HooksOf(d.Design).Inspect(token)
	begins := bytes.HasPrefix(token, []byte(d.Prefix))
	if err != nil || !begins && !d.variable {
		return Candidate{}, false
	}
	score := scoreStructure
	switch {
	case d.Prefix != "" && begins:
		score = scorePrefix + max(0, len(d.Prefix)-len("v1."))
	case d.Prefix != "":
		score = scorePrefix + 1 // the design's parser accepts another header
	}
	names := readableMembers(parts)
	if d.Prefix == "" && len(parts) < minParts && len(names) == 0 {
		return Candidate{}, false // any two segments match
	}
	if len(d.members) > 0 {
		if !slices.ContainsFunc(names, func(name string) bool { return slices.Contains(d.members, name) }) {
			return Candidate{}, false // these are the claims of another format
		}
		score += nameOverlap(d.members, names)
	}
	c := Candidate{Format: d.Name, Library: d.Spec, Score: score, Attack: "sealab attack " + d.Name, design: &d.Design}
	for _, f := range parts {
		if name := string(f.Name); name != string(lab.WireSep) && len(f.Bytes) > 0 {
			c.Fields = append(c.Fields, fieldOf(name, f))
		}
	}
	for _, g := range d.GuaranteesFor(nil) {
		if g.Holds {
			c.Holds = append(c.Holds, string(g.Property))
		} else {
			c.Lacks = append(c.Lacks, string(g.Property)+": "+g.Reason)
		}
	}
	return c, true
}

func fieldOf(name string, f lab.Field) Field {
	out := Field{Name: strings.TrimPrefix(name, "wire-"), Bytes: len(f.Bytes)}
	if f.Readable && f.Name != lab.WireKeyID && utf8.Valid(f.Bytes) {
		out.Text = string(f.Bytes)
	} else if f.Readable {
		out.Text = hex.EncodeToString(f.Bytes)
	}
	switch {
	case !f.Time.IsZero():
		out.Time = f.Time.UTC().Format(time.RFC3339)
	case f.Readable:
		out.Time = timeIn(f.Bytes)
	}
	return out
}

// timeIn returns the expiry or the time of issue in JSON claims, or "" if there is neither.
func timeIn(text []byte) string {
	var claims struct {
		Exp, Iat *json.Number
	}
	if json.Unmarshal(text, &claims) != nil {
		return ""
	}
	for _, n := range []*json.Number{claims.Exp, claims.Iat} {
		if n == nil {
			continue
		}
		if seconds, err := n.Float64(); err == nil && seconds > 0 && seconds < 1<<36 {
			return time.Unix(int64(seconds), 0).UTC().Format(time.RFC3339)
		}
	}
	return ""
}
