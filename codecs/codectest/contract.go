package codectest

import (
	"bytes"
	"errors"
	"regexp"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/internal/lab"
)

// carried is a length in bytes of payloads that every scheme must support.
const carried = 32 << 10

func testRoundTrip(t *testing.T, s subject) {
	c := s.codec(t)
	for _, payload := range s.payloads() {
		token, err := c.Seal(nil, payload)
		if s.IsScheme() && len(payload) > carried && errors.Is(err, codecs.ErrUnsupported) {
			continue // the format limits the length of tokens
		}
		require.NoError(t, err)
		require.True(t, bytes.HasPrefix(token, []byte(s.Prefix)), "token %.40q", token)
		require.Equal(t, -1, bytes.IndexFunc(token, lab.HooksOf(s.Design).Foreign), "token %.40q", token)
		if lab.HooksOf(s.Design).TokenSize != nil {
			require.Equal(t, lab.HooksOf(s.Design).TokenSize(len(payload)), len(token), "token of %d bytes", len(payload))
		}
		got, err := c.Unseal(nil, token)
		require.NoError(t, err, "%d bytes", len(payload))
		s.requirePayload(t, payload, got)
	}
	testOddPayloads(t, s, c)
}

// testOddPayloads checks payloads that a format for text or JSON may not
// support. Sealing must then fail, and unsealing must never return another
// payload.
func testOddPayloads(t *testing.T, s subject, c codecs.Codec) {
	odd := [][]byte{nil, {}, {0}, []byte("\xff\xfe"), []byte("\xed\xa0\x80"), []byte("é"), []byte("a\x00b"), []byte("{\"a\":1,"), []byte("\r\n")}
	for _, payload := range odd {
		token, err := c.Seal([]byte("dst"), payload)
		if s.IsScheme() && errors.Is(err, codecs.ErrUnsupported) {
			require.Equal(t, "dst", string(token), "payload %q", payload)
			continue
		}
		require.NoError(t, err, "payload %q", payload)
		got, err := c.Unseal(nil, token[len("dst"):])
		require.NoError(t, err, "payload %q", payload)
		s.requirePayload(t, payload, got)
	}
}

// testAppend checks that results are appended to dst, in place if it has room,
// and that the bytes of dst stay unchanged.
func testAppend(t *testing.T, s subject) {
	c := s.codec(t)
	payload := s.sample()
	token := mustSeal(t, c, payload)
	for _, op := range []struct {
		name string
		call func(dst, src []byte) ([]byte, error)
		src  []byte
	}{{"seal", c.Seal, payload}, {"unseal", c.Unseal, token}} {
		for _, room := range []int{0, 1, 7, 4096} {
			dst := append(make([]byte, 0, len("before")+room), "before"...)
			got, err := op.call(dst, op.src)
			require.NoError(t, err, op.name)
			require.Equal(t, "before", string(got[:len("before")]), op.name)
			require.Equal(t, "before", string(dst), op.name)
			if room == 4096 {
				require.Same(t, &dst[0], &got[0], "%s left its room unused", op.name)
			}
			if op.name == "unseal" {
				s.requirePayload(t, payload, got[len("before"):])
			}
		}
	}
}

// testSlices checks that answers do not depend on where the arguments are in
// memory: at every offset of a word, with a page before and after. For codecs
// dst may also overlap the payload or token.
func testSlices(t *testing.T, s subject) {
	c := s.codec(t)
	for _, size := range []int{0, 1, 15, 16, 17, 33, 64, 257, 4099} {
		payload := jsonText(size)
		for offset := range 17 {
			token, err := c.Seal(shifted(nil, offset), shifted(payload, offset))
			require.NoError(t, err, "%d bytes at offset %d", size, offset)
			got, err := c.Unseal(shifted(nil, 16-offset), shifted(token, offset))
			require.NoError(t, err, "%d bytes at offset %d", size, offset)
			s.requirePayload(t, payload, got)
		}
		if s.IsScheme() {
			continue
		}
		room := append(make([]byte, 0, 3*size+4096), payload...)
		token, err := c.Seal(room[:0], room)
		require.NoError(t, err)
		got, err := c.Unseal(token[:0], token)
		require.NoError(t, err, "dst over the token, or over the payload before")
		s.requirePayload(t, payload, got)
	}
}

// shifted returns a copy of b at the given offset from the start of a page.
func shifted(b []byte, offset int) []byte {
	const page = 4096
	room := make([]byte, page+offset, 3*page+2*len(b))
	return append(room, b...)[page+offset:]
}

// testArguments checks that arguments are neither changed nor kept.
func testArguments(t *testing.T, s subject) {
	secrets := s.ring(0)
	c, err := s.try(secrets)
	require.NoError(t, err)
	require.Equal(t, s.ring(0), secrets, "the secrets were changed")
	clear(secrets[0])

	payload := s.sample()
	token := mustSeal(t, c, payload)
	require.Equal(t, s.sample(), payload, "the payload was changed")
	clear(payload)

	given := bytes.Clone(token)
	got, err := s.codec(t).Unseal(nil, given)
	require.NoError(t, err, "the secrets were kept and not copied")
	require.Equal(t, token, given, "the token was changed")
	clear(given)
	s.requirePayload(t, s.sample(), got)
}

// testRefusals checks that a refused token leaves dst unchanged, without bytes
// of its payload in the spare capacity.
func testRefusals(t *testing.T, s subject) {
	c := s.codec(t)
	payload := jsonText(100)
	token := mustSeal(t, c, payload)
	var bad [][]byte
	for i := 0; i < len(token); i += testedEvery(token) {
		changed := bytes.Clone(token)
		changed[i] ^= 0x01
		bad = append(bad, changed, token[:i])
	}
	for _, presented := range bad {
		dst := append(make([]byte, 0, 2*len(token)), "before"...)
		got, err := c.Unseal(dst, presented)
		if err == nil {
			continue // another encoding, or readable: see testChanges
		}
		requireRefusal(t, err, string(presented))
		require.Equal(t, "before", string(got))
		require.NotContains(t, string(got[:cap(got)]), "ssss", "plaintext was left in dst for %q", presented)
	}
}

// testedEvery returns the distance between the positions of a token that a test
// changes. Under -short it takes at least 128 positions of a long token.
func testedEvery(token []byte) int {
	if testing.Short() {
		return max(1, len(token)/128)
	}
	return 1
}

// testConcurrency seals in many goroutines and then unseals in all of them,
// under the race detector if it is enabled.
func testConcurrency(t *testing.T, s subject) {
	const goroutines, tokens = 8, 20
	c := s.codec(t)
	var sealed [goroutines][tokens][]byte
	var failed [goroutines]error
	inParallel(goroutines, func(g int) {
		for i := range tokens {
			sealed[g][i], failed[g] = c.Seal(nil, jsonText(g*tokens+i))
			if failed[g] != nil {
				return
			}
		}
	})
	inParallel(goroutines, func(g int) {
		for i, token := range sealed[g] {
			got, err := c.Unseal(nil, token)
			if err == nil && len(got) != len(jsonText(g*tokens+i)) {
				err = errors.New("a token of one goroutine did not come back to it")
			}
			failed[g] = errors.Join(failed[g], err)
		}
	})
	require.NoError(t, errors.Join(failed[:]...))
}

// inParallel calls f with 0 to n-1 concurrently and waits.
func inParallel(n int, f func(g int)) {
	var running sync.WaitGroup
	for g := range n {
		running.Go(func() { f(g) })
	}
	running.Wait()
}

var nameForm = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// testRow checks that the design's row is complete and consistent.
func testRow(t *testing.T, d codecs.Design) {
	require.Regexp(t, nameForm, d.Name)
	require.NotEmpty(t, d.Doc)
	require.NotEmpty(t, d.Spec)
	require.True(t, (d.NewCodec == nil) != (d.NewScheme == nil), "want one constructor, of a codec or of a scheme")
	require.NotNil(t, lab.HooksOf(d).Inspect)
	if !d.IsScheme() {
		require.NotNil(t, lab.HooksOf(d).TokenSize)
	}
	testGuarantees(t, d)
	testOptions(t, d)
}

// testGuarantees checks that the design claims or disclaims every applicable
// property exactly once, and gives a reason for each that it disclaims.
func testGuarantees(t *testing.T, d codecs.Design) {
	answers := map[codecs.Property]int{}
	for _, g := range d.GuaranteesFor(nil) {
		answers[g.Property]++
		require.True(t, g.Holds || g.Reason != "", "%s is disclaimed without a reason", g.Property)
	}
	for _, p := range codecs.Properties() {
		want := 1
		if p.SchemeOnly && !d.IsScheme() {
			g, answered := d.Guarantee(p.Property, nil)
			require.False(t, g.Holds, "a codec cannot have %s", p.Property)
			if want = 0; answered {
				want = 1 // also disclaimed for the scheme over it
			}
		}
		require.Equal(t, want, answers[p.Property], "answers on %s", p.Property)
		delete(answers, p.Property)
	}
	require.Empty(t, answers, "answers on what is not a property")
}

func testOptions(t *testing.T, d codecs.Design) {
	for _, o := range d.Options {
		require.NotEmpty(t, o.Doc, o.Name)
		require.NotEmpty(t, o.Values, o.Name)
		for _, v := range o.Values {
			requireConstructor(t, d, map[string]string{o.Name: v}, true)
		}
		requireConstructor(t, d, map[string]string{o.Name: "no such value"}, false)
	}
	requireConstructor(t, d, map[string]string{"no-such-option": "x"}, false)
}

func requireConstructor(t *testing.T, d codecs.Design, options map[string]string, want bool) {
	t.Helper()
	config := codecs.Config{Secrets: subject{d}.ring(0), Options: options}
	_, err := lab.Open(d, config)
	require.Equal(t, want, err == nil, "options %v: %v", options, err)
}
