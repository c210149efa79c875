// Package wycheproof reads the test vectors of Project Wycheproof and checks primitives against them. It
// is for tests.
//
// The vectors are those of the module github.com/c2sp/wycheproof at Version, whose checksum is verified.
// "go mod download" fetches them; they are not a dependency of this module. If they cannot be fetched, the
// test is skipped.
package wycheproof

import (
	"bytes"
	"cmp"
	"crypto/cipher"
	"crypto/sha3"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/testenv"
)

// A File is one file of vectors.
type File struct {
	Algorithm     string
	NumberOfTests int
	TestGroups    []Group
}

// A Group is the cases that share parameters. Sizes are in bits; a size that the file omits is 0.
type Group struct {
	IVSize, KeySize, TagSize int
	PublicKey                PublicKey // EddsaVerify, MlDsaSign and MlDsaVerify
	PrivateSeed              Hex       // MlDsaSign
	Tests                    []Case
}

// A PublicKey is the encoded key of a group. Files write it as a string or as the member pk of an object.
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
	Ctx, Sig                   Hex // EddsaVerify, MlDsaSign and MlDsaVerify
}

// Has reports whether the case carries a flag.
func (c *Case) Has(flag string) bool { return slices.Contains(c.Flags, flag) }

// A Verdict is the required behavior in a case.
type Verdict string

// The verdicts.
const (
	Valid      Verdict = "valid"      // accept, with the stated result
	Invalid    Verdict = "invalid"    // refuse
	Acceptable Verdict = "acceptable" // refuse, or accept with the stated result
)

// Hex is a byte string written in hexadecimal in JSON.
type Hex []byte

// UnmarshalText implements encoding.TextUnmarshaler.
func (h *Hex) UnmarshalText(text []byte) (err error) {
	*h, err = hex.DecodeString(string(text))
	return err
}

// parse parses one file of vectors and checks that it is complete.
func parse(data []byte) (*File, error) {
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

// An Outcome is the result of a primitive in a case.
type Outcome uint8

// The outcomes.
const (
	Refused   Outcome = iota // no result
	Accepted                 // the stated result
	Differs                  // another result, always wrong
	NotTested                // the primitive does not support keys or nonces of this length
)

// A Tally counts cases by verdict and outcome.
type Tally struct {
	Accepted, Refused                     int // as required
	AcceptableAccepted, AcceptableRefused int
	NotTested                             int
}

// Judge runs every case and returns an error for each wrong outcome.
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

// The module that contains the vectors.
const (
	Version  = "v0.0.0-20260902155932-3fa63dd0344a"
	module   = "github.com/c2sp/wycheproof"
	checksum = "h1:pNbL2nztRsWfW/ispAwsvcDFxs9Id38uIsR2/Up5G2c="
)

// Run judges a primitive by every case of a file, such as "aes_gcm_test.json", and prints the counts.
func Run(t *testing.T, name string, try func(*Group, *Case) Outcome) Tally {
	t.Helper()
	dir, err := folder()
	if err != nil {
		testenv.Skip(t, "%s: %v", name, err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "testvectors_v1", name))
	require.NoError(t, err)
	f, err := parse(data)
	require.NoError(t, err)
	tally, wrong := f.Judge(try)
	require.Empty(t, wrong)
	fmt.Printf("wycheproof %s: %d cases: %s\n", name, f.NumberOfTests, tally)
	return tally
}

// RunAEAD judges AEADs by every case of a file. open returns the AEAD for a key. A case with a nonce of a
// length that the AEAD does not support counts as refused. RunAEAD returns the number of cases and fails
// if none was accepted.
func RunAEAD(t *testing.T, name string, open func(key []byte) (cipher.AEAD, error)) int {
	t.Helper()
	cases := 0
	tally := Run(t, name, func(_ *Group, c *Case) Outcome {
		cases++
		a, err := open(c.Key)
		require.NoError(t, err)
		if len(c.IV) != a.NonceSize() {
			return Refused
		}
		return TryAEAD(a, c)
	})
	require.NotZero(t, tally.Accepted, "%s: no case was accepted", name)
	return cases
}

// TryAEAD opens a case and seals it again. The nonce must have the AEAD's length.
func TryAEAD(a cipher.AEAD, c *Case) Outcome {
	sealed := append(bytes.Clone(c.CT), c.Tag...)
	payload, err := a.Open(nil, c.IV, sealed, c.AAD)
	switch {
	case err != nil:
		return Refused
	case !bytes.Equal(payload, c.Msg), !bytes.Equal(a.Seal(nil, c.IV, c.Msg, c.AAD), sealed), !anywhere(a, c, sealed):
		return Differs
	default:
		return Accepted
	}
}

// anywhere reports whether the AEAD seals and opens a case in place, with its arguments at every offset
// within a word.
func anywhere(a cipher.AEAD, c *Case, sealed []byte) bool {
	for offset := range 17 {
		at := func(b []byte) []byte { return append(make([]byte, offset, offset+len(b)+64), b...)[offset:] }
		text := at(c.Msg)
		text = a.Seal(text[:0], at(c.IV), text, at(c.AAD))
		if !bytes.Equal(text, sealed) {
			return false
		}
		if text, err := a.Open(text[:0], at(c.IV), text, at(c.AAD)); err != nil || !bytes.Equal(text, c.Msg) {
			return false
		}
	}
	return true
}

// Accumulate seals n pseudo-random cases and returns the hexadecimal digest of the results, like C2SP's
// accumulated tests. One SHAKE-128 with empty input generates the key, nonce, plaintext and associated
// data of each case. One byte with their length precedes the latter two. Another SHAKE-128 digests the
// results to 32 bytes. Every result must open again.
func Accumulate(t *testing.T, keySize, n int, open func(key []byte) (cipher.AEAD, error)) string {
	t.Helper()
	source, digest := sha3.NewSHAKE128(), sha3.NewSHAKE128()
	take := func(n int) []byte {
		b := make([]byte, n)
		source.Read(b) //nolint:errcheck // never fails
		return b
	}
	for range n {
		a, err := open(take(keySize))
		require.NoError(t, err)
		nonce := take(a.NonceSize())
		plaintext := take(int(take(1)[0]))
		data := take(int(take(1)[0]))
		sealed := a.Seal(nil, nonce, plaintext, data)
		digest.Write(sealed) //nolint:errcheck // never fails
		opened, err := a.Open(nil, nonce, sealed, data)
		require.NoError(t, err)
		require.True(t, bytes.Equal(plaintext, opened))
	}
	sum := make([]byte, 32)
	digest.Read(sum) //nolint:errcheck // never fails
	return hex.EncodeToString(sum)
}

// folder fetches the module into the module cache once, and returns its path.
var folder = sync.OnceValues(func() (string, error) {
	// The command runs outside of any module, so that this module's go.mod and go.sum do not change.
	cmd := exec.Command("go", "mod", "download", "-json", module+"@"+Version)
	cmd.Dir = os.TempDir()
	out, err := cmd.Output()
	var m struct{ Dir, Sum, Error string }
	if jsonErr := json.Unmarshal(out, &m); jsonErr != nil {
		return "", fmt.Errorf("go mod download gave no answer: %w", cmp.Or(err, jsonErr))
	}
	switch {
	case m.Error != "":
		return "", fmt.Errorf("go mod download: %s", m.Error)
	case err != nil:
		return "", fmt.Errorf("go mod download: %w", err)
	case m.Sum != checksum:
		panic("wycheproof: the module's checksum is " + m.Sum + ", want " + checksum)
	}
	return m.Dir, nil
})
