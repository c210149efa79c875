package codectest_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/aesgcm"
	"sealab/codecs/codectest"
	"sealab/codecs/hmacsha256"
	"sealab/internal/lab"
	"sealab/internal/testenv"
)

// flawEnv is the environment variable that names the flaw to put into a design
// in a copy of the test binary.
const flawEnv = "SEALAB_TEST_FLAW"

// A flaw breaks a sound design in one way. The named part of the suite must
// detect it.
type flaw struct {
	name, part string
	plant      func(*codecs.Design)
}

var flaws = []flaw{
	{"guarantee unanswered", "Row", func(d *codecs.Design) { d.Guarantees = codecs.Always(d.GuaranteesFor(nil)[1:]) }},
	{"disclaimer without reason", "Row", func(d *codecs.Design) {
		gs := d.GuaranteesFor(nil)
		gs[0] = codecs.Guarantee{Property: gs[0].Property}
		d.Guarantees = codecs.Always(gs)
	}},
	{"size misstated", "RoundTrip", func(d *codecs.Design) {
		h := lab.HooksOf(*d)
		h.TokenSize = func(n int) int { return n }
		d.Hooks = &h
	}},
	{"empty payload lost", "RoundTrip", sealing(func(c codecs.Codec, dst, payload []byte) ([]byte, error) {
		if len(payload) == 0 {
			payload = []byte{0}
		}
		return c.Seal(dst, payload)
	})},
	{"dst ignored", "Append", unsealing(func(c codecs.Codec, dst, token []byte) ([]byte, error) { return c.Unseal(nil, token) })},
	{"token changed", "Arguments", unsealing(func(c codecs.Codec, dst, token []byte) ([]byte, error) {
		defer func() { clear(token) }()
		return c.Unseal(dst, token)
	})},
	{"odd address refused", "Slices", sealing(func(c codecs.Codec, dst, payload []byte) ([]byte, error) {
		if len(payload) > 0 && uintptr(unsafe.Pointer(&payload[0]))%16 == 5 {
			return dst, errors.New("unaligned payload")
		}
		return c.Seal(dst, payload)
	})},
	{"token overwritten while it is read", "Slices", unsealing(func(c codecs.Codec, dst, token []byte) ([]byte, error) {
		copy(dst[len(dst):cap(dst)], "x")
		return c.Unseal(dst, token)
	})},
	{"secrets kept", "Arguments", opening(func(build build, secrets [][]byte) (codecs.Codec, error) {
		first, err := build(secrets)
		return kept{first, build, secrets}, err
	})},
	{"trailing data accepted", "Changes", unsealing(func(c codecs.Codec, dst, token []byte) ([]byte, error) {
		return c.Unseal(dst, bytes.TrimRight(token, "!"))
	})},
	{"dst dropped on refusal", "Changes", unsealing(func(c codecs.Codec, dst, token []byte) ([]byte, error) {
		out, err := c.Unseal(dst, token)
		if err != nil {
			return nil, err
		}
		return out, nil
	})},
	{"padding accepted", "Spellings", unsealing(func(c codecs.Codec, dst, token []byte) ([]byte, error) {
		return c.Unseal(dst, bytes.TrimRight(token, "="))
	})},
	{"line feed accepted", "Spellings", unsealing(func(c codecs.Codec, dst, token []byte) ([]byte, error) {
		return c.Unseal(dst, bytes.ReplaceAll(token, []byte("\n"), nil))
	})},
	{"failure without refusal", "Total", unsealing(func(c codecs.Codec, dst, token []byte) ([]byte, error) {
		if len(token) == 0 {
			return dst, errors.New("empty token")
		}
		return c.Unseal(dst, token)
	})},
	{"cause in the text", "Total", unsealing(func(c codecs.Codec, dst, token []byte) ([]byte, error) {
		out, err := c.Unseal(dst, token)
		if err != nil {
			return out, fmt.Errorf("%w: bad tag", err)
		}
		return out, nil
	})},
	{"plaintext left behind", "Refusals", unsealing(func(c codecs.Codec, dst, token []byte) ([]byte, error) {
		out, err := c.Unseal(dst, token)
		if err != nil {
			copy(dst[len(dst):cap(dst)], "ssssssss")
		}
		return out, err
	})},
	{"short secret stretched", "Keys", opening(func(build build, secrets [][]byte) (codecs.Codec, error) {
		if len(secrets) == 1 && len(secrets[0]) < codecs.MinSecret {
			secrets = [][]byte{bytes.Repeat([]byte("0123456789"), 4)}
		}
		return build(secrets)
	})},
	{"last bit of a secret dropped", "Keys", opening(func(build build, secrets [][]byte) (codecs.Codec, error) {
		for i := range secrets {
			secrets[i] = bytes.Clone(secrets[i])
			if n := len(secrets[i]); n > 0 {
				secrets[i][n-1] |= 1
			}
		}
		return build(secrets)
	})},
	{"last key seals", "Rotation", opening(func(build build, secrets [][]byte) (codecs.Codec, error) {
		if len(secrets) == 3 {
			secrets = [][]byte{secrets[2], secrets[1], secrets[0]}
		}
		return build(secrets)
	})},
	{"one key opens", "Rotation", opening(func(build build, secrets [][]byte) (codecs.Codec, error) { return build(secrets[:1]) })},
	{"no seeded twin", "Seeded", opening(func(build build, secrets [][]byte) (codecs.Codec, error) {
		c, err := build(secrets)
		return struct{ codecs.Codec }{c}, err
	})},
	{"nonce repeated", "Seeded", sealing(func(c codecs.Codec, dst, payload []byte) ([]byte, error) {
		return c.(lab.Seeded).SealSeeded(dst, make([]byte, 12), payload)
	})},
	{"buffer shared", "Concurrency", func(d *codecs.Design) {
		shared := make([]byte, 0, 4096)
		sealing(func(c codecs.Codec, dst, payload []byte) ([]byte, error) {
			out, err := c.Seal(shared[:0], payload)
			return out, err
		})(d)
	}},
	{"garbage made", "Allocations", unsealing(func(c codecs.Codec, dst, token []byte) ([]byte, error) {
		return c.Unseal(dst, []byte(string(token)))
	})},
}

type build func([][]byte) (codecs.Codec, error)

// opening returns a flaw in the opening of a design.
func opening(open func(build, [][]byte) (codecs.Codec, error)) func(*codecs.Design) {
	return func(d *codecs.Design) {
		sound := d.NewCodec
		d.NewCodec = func(c codecs.Config) (codecs.Codec, error) {
			return open(func(secrets [][]byte) (codecs.Codec, error) {
				return sound(codecs.Config{Secrets: secrets})
			}, c.Secrets)
		}
	}
}

// altered is a codec with one operation replaced.
type altered struct {
	lab.Assembler
	seal, unseal func(c codecs.Codec, dst, in []byte) ([]byte, error)
}

func (a altered) Seal(dst, payload []byte) ([]byte, error) { return a.seal(a.Assembler, dst, payload) }
func (a altered) Unseal(dst, token []byte) ([]byte, error) { return a.unseal(a.Assembler, dst, token) }

func sealing(seal func(c codecs.Codec, dst, payload []byte) ([]byte, error)) func(*codecs.Design) {
	return opening(func(build build, secrets [][]byte) (codecs.Codec, error) {
		c, err := build(secrets)
		if err != nil {
			return nil, err
		}
		return altered{c.(lab.Assembler), seal, codecs.Codec.Unseal}, nil
	})
}

func unsealing(unseal func(c codecs.Codec, dst, token []byte) ([]byte, error)) func(*codecs.Design) {
	return opening(func(build build, secrets [][]byte) (codecs.Codec, error) {
		c, err := build(secrets)
		if err != nil {
			return nil, err
		}
		return altered{c.(lab.Assembler), codecs.Codec.Seal, unseal}, nil
	})
}

// kept opens its codec again for each token, from the secrets that it kept.
type kept struct {
	codecs.Codec
	build   build
	secrets [][]byte
}

func (k kept) Seal(dst, payload []byte) ([]byte, error) {
	c, err := k.build(k.secrets)
	if err != nil {
		return dst, err
	}
	return c.Seal(dst, payload)
}

// design returns a copy of the design that the flaws modify.
func design() codecs.Design {
	d := aesgcm.Design
	return d
}

// TestSuite runs the suite on a sound design. In a copy of the test binary that
// TestSuiteRings starts, it runs the suite on a design with a flaw.
func TestSuite(t *testing.T) {
	d := design()
	for _, f := range flaws {
		if f.name == os.Getenv(flawEnv) {
			f.plant(&d)
		}
	}
	codectest.Run(t, d)
}

// TestSuiteRings checks that each part of the suite fails on a design with the
// flaw that the part is meant to detect.
func TestSuiteRings(t *testing.T) {
	for _, f := range flaws {
		t.Run(f.name, func(t *testing.T) {
			if f.part == "Allocations" && testenv.Race() {
				testenv.Skip(t, "that part does not run under the race detector")
			}
			cmd := exec.Command(os.Args[0], "-test.run", "^TestSuite$/^"+f.part+"$")
			cmd.Env = append(os.Environ(), flawEnv+"="+f.name)
			out, err := cmd.CombinedOutput()
			require.Error(t, err, "the flaw was not seen:\n%s", out)
			require.Contains(t, string(out), "--- FAIL: TestSuite/"+f.part)
			require.False(t, strings.Contains(string(out), "panic:"), "the suite died of the flaw:\n%s", out)
		})
	}
}

// TestSeparateLeavesSoundDesignsAlone checks that Separate passes two sound
// designs.
func TestSeparateLeavesSoundDesignsAlone(t *testing.T) {
	codectest.Separate(t, []codecs.Design{aesgcm.Design, hmacsha256.Design})
}
