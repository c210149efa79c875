// Package wycheproof reads the test vectors of Project Wycheproof and holds a
// primitive to their verdicts. It is for tests.
//
// The vectors are those of the module github.com/c2sp/wycheproof at Version,
// whose checksum is compared. They are fetched with "go mod download" and are
// no dependency of this module; where they cannot be fetched, the test is
// skipped.
package wycheproof

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
)

// A File is one file of vectors.
type File struct {
	Algorithm     string
	NumberOfTests int
	TestGroups    []Group
}

// A Group is the cases that share parameters. Sizes are in bits; those that the
// file does not state are 0.
type Group struct {
	Type                     string
	IVSize, KeySize, TagSize int
	PublicKey                PublicKey // EddsaVerify, MlDsaSign and MlDsaVerify
	PrivateSeed              Hex       // MlDsaSign
	Tests                    []Case
}

// A PublicKey is the encoded key of a group, which files write as a string or
// as the member pk of an object.
type PublicKey Hex

// UnmarshalJSON implements json.Unmarshaler.
func (k *PublicKey) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '{' {
		var object struct{ PK Hex }
		err := json.Unmarshal(text, &object)
		*k = PublicKey(object.PK)
		return err
	}
	return json.Unmarshal(text, (*Hex)(k))
}

// A Case is one vector. Which fields are set depends on the group's type.
type Case struct {
	ID      int `json:"tcId"`
	Comment string
	Result  Verdict
	Flags   []string

	Key, IV, AAD, Msg, CT, Tag Hex // AeadTest; MacTest has Key, Msg and Tag
	IKM, Salt, Info, OKM       Hex // HkdfTest
	Size                       int // HkdfTest: length of OKM in bytes
	Public, Private, Shared    Hex // XdhComp
	Ctx, Mu, Sig               Hex // EddsaVerify, MlDsaSign and MlDsaVerify
}

// Has reports whether the case carries a flag.
func (c *Case) Has(flag string) bool { return slices.Contains(c.Flags, flag) }

// A Verdict says what an implementation must do with a case.
type Verdict string

// The verdicts.
const (
	Valid      Verdict = "valid"      // accept, with the stated result
	Invalid    Verdict = "invalid"    // refuse
	Acceptable Verdict = "acceptable" // refuse, or accept with the stated result
)

// Hex is a byte string that JSON writes in hexadecimal.
type Hex []byte

// UnmarshalText implements encoding.TextUnmarshaler.
func (h *Hex) UnmarshalText(text []byte) (err error) {
	*h, err = hex.DecodeString(string(text))
	return err
}

// Parse reads one file of vectors and checks that it is whole.
func Parse(data []byte) (*File, error) {
	var f File
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("wycheproof: %w", err)
	}
	n := 0
	for _, g := range f.TestGroups {
		n += len(g.Tests)
	}
	if n == 0 || n != f.NumberOfTests {
		return nil, fmt.Errorf("wycheproof: %s has %d cases and announces %d", f.Algorithm, n, f.NumberOfTests)
	}
	return &f, nil
}

// An Outcome is what a primitive did with a case.
type Outcome uint8

// The outcomes.
const (
	Refused   Outcome = iota // no result
	Accepted                 // the stated result
	Differs                  // another result, which no verdict allows
	NotTested                // the primitive has no keys or nonces of this length
)

// A Tally counts cases by verdict and outcome.
type Tally struct {
	Accepted, Refused                     int // that had to be
	AcceptableAccepted, AcceptableRefused int
	NotTested                             int
}

// Judge holds a primitive to every case and returns what does not stand.
func (f *File) Judge(try func(*Group, *Case) Outcome) (Tally, []error) {
	var tally Tally
	var wrong []error
	for i := range f.TestGroups {
		g := &f.TestGroups[i]
		for j := range g.Tests {
			c := &g.Tests[j]
			if got := try(g, c); !tally.count(c.Result, got) {
				wrong = append(wrong, fmt.Errorf("wycheproof: %s case %d (%s, flags %v): want %s, got %s",
					f.Algorithm, c.ID, c.Comment, c.Flags, c.Result, got))
			}
		}
	}
	return tally, wrong
}

// count counts a case and reports whether the verdict allows the outcome.
func (t *Tally) count(want Verdict, got Outcome) bool {
	switch {
	case got == NotTested:
		t.NotTested++
	case want == Valid && got == Accepted:
		t.Accepted++
	case want == Invalid && got == Refused:
		t.Refused++
	case want == Acceptable && got == Accepted:
		t.AcceptableAccepted++
	case want == Acceptable && got == Refused:
		t.AcceptableRefused++
	default:
		return false
	}
	return true
}

// String returns the outcome as reports write it.
func (o Outcome) String() string {
	return [...]string{Refused: "refused", Accepted: "accepted", Differs: "another result", NotTested: "not tested"}[o]
}

// String returns the counts in one line.
func (t Tally) String() string {
	return fmt.Sprintf("%d valid accepted, %d invalid refused, %d acceptable accepted, %d acceptable refused, %d not tested",
		t.Accepted, t.Refused, t.AcceptableAccepted, t.AcceptableRefused, t.NotTested)
}
