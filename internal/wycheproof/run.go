package wycheproof

import (
	"bytes"
	"crypto/cipher"
	"crypto/sha3"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/testenv"
)

// The module that has the vectors.
const (
	Version  = "v0.0.0-20260902155932-3fa63dd0344a"
	module   = "github.com/c2sp/wycheproof"
	checksum = "h1:pNbL2nztRsWfW/ispAwsvcDFxs9Id38uIsR2/Up5G2c="
)

// Run holds a primitive to every case of a file, such as "aes_gcm_test.json",
// and prints the counts.
func Run(t *testing.T, name string, try func(*Group, *Case) Outcome) Tally {
	t.Helper()
	dir, err := folder()
	if err != nil {
		testenv.Skip(t, "%s: %v", name, err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "testvectors_v1", name))
	require.NoError(t, err)
	f, err := Parse(data)
	require.NoError(t, err)
	tally, wrong := f.Judge(try)
	require.Empty(t, wrong)
	fmt.Printf("wycheproof %s: %d cases: %s\n", name, f.NumberOfTests, tally)
	return tally
}

// RunAEAD holds AEADs to every case of a file. open returns the AEAD of a key, or
// nil for a length of key that it does not take, whose cases are not tested. Cases
// with a nonce of another length than the AEAD's count as refused. RunAEAD returns
// the number of tested cases and fails if there is none.
func RunAEAD(t *testing.T, name string, open func(key []byte) cipher.AEAD) int {
	t.Helper()
	tested := 0
	tally := Run(t, name, func(_ *Group, c *Case) Outcome {
		a := open(c.Key)
		if a == nil {
			return NotTested
		}
		tested++
		if len(c.IV) != a.NonceSize() {
			return Refused
		}
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
	})
	require.NotZero(t, tally.Accepted, "%s: no case was accepted", name)
	return tested
}

// anywhere reports whether the AEAD seals and opens a case in place and with every
// argument at every offset of a word.
func anywhere(a cipher.AEAD, c *Case, sealed []byte) bool {
	for offset := range 17 {
		at := func(b []byte) []byte { return append(make([]byte, offset, offset+len(b)+64), b...)[offset:] }
		text := at(c.Msg)
		text = a.Seal(text[:0], at(c.IV), text, at(c.AAD))
		if !bytes.Equal(text, sealed) {
			return false
		}
		text, err := a.Open(text[:0], at(c.IV), text, at(c.AAD))
		if err != nil || !bytes.Equal(text, c.Msg) {
			return false
		}
	}
	return true
}

// Accumulate seals n pseudo-random cases and returns the hexadecimal digest of the
// results, in the way of C2SP's accumulated tests: one SHAKE-128 without input
// gives key, nonce, plaintext and associated data of each case, the latter two
// behind one byte with their length; another one digests the results to 32 bytes.
// Every result must open again.
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

// folder fetches the module into the module cache, once, and returns its place.
var folder = sync.OnceValues(func() (string, error) {
	// Outside of any module, so that this one's go.mod and go.sum do not change.
	cmd := exec.Command("go", "mod", "download", "-json", module+"@"+Version)
	cmd.Dir = os.TempDir()
	out, err := cmd.Output()
	var m struct{ Dir, Sum, Error string }
	if jsonErr := json.Unmarshal(out, &m); jsonErr != nil {
		return "", fmt.Errorf("go mod download gave no answer: %w", err)
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
