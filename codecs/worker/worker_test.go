package worker_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/worker"
	"sealab/internal/lab"
)

// roleVariable is the environment variable that makes the test binary a worker.
const roleVariable = "SEALAB_TEST_WORKER"

func TestMain(m *testing.M) {
	role := os.Getenv(roleVariable)
	if role == "" {
		os.Exit(m.Run())
	}
	play := roles[role]
	if play == nil {
		play = bad[role]
	}
	if play == nil {
		fmt.Fprintln(os.Stderr, "no role", role)
		os.Exit(2)
	}
	play()
}

// roles are the workers that the test binary can run as.
var roles = map[string]func(){
	"codec":     func() { serve(reverser) },
	"scheme":    func() { serve(ticket) },
	"impatient": impatient,
	"late":      late,
	"witness":   witness,
	"plain": func() {
		abilities = ""
		respond(`{"ok":false,"unsupported":true}`, func() { fmt.Println(`{"ok":false,"rejected":"malformed"}`) })
	},
}

func serve(d codecs.Design) {
	clock := &ticking{}
	s := worker.Server{Design: d, Version: "7", Clock: clock.now}
	if err := s.Serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// ticking is a clock that advances by a millisecond per reading.
type ticking struct{ t time.Time }

func (c *ticking) now() time.Time {
	c.t = c.t.Add(time.Millisecond)
	return c.t
}

func dial(t *testing.T, role string, limits worker.Limits) *worker.Client {
	t.Helper()
	c, err := worker.Dial(command(t, role), limits)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

// dialCodec dials a worker and opens its codec.
func dialCodec(t *testing.T, role string, limits worker.Limits) (*worker.Client, codecs.Codec) {
	t.Helper()
	c := dial(t, role, limits)
	codec, err := c.Design().NewCodec(codecs.Config{Secrets: secrets()})
	require.NoError(t, err)
	return c, codec
}

func command(t *testing.T, role string) worker.Command {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	// Without this option a program with the race detector takes a second to
	// exit.
	return worker.Command{Args: []string{self}, Env: []string{roleVariable + "=" + role, "GORACE=atexit_sleep_ms=0"}}
}

func secrets() [][]byte {
	s := make([]byte, codecs.MinSecret)
	for i := range s {
		s[i] = byte(i)
	}
	return [][]byte{s}
}

func TestCodec(t *testing.T) {
	c := dial(t, "codec", worker.Limits{})
	require.Equal(t, "reverser", c.Hello().Name)
	require.Equal(t, "7", c.Hello().Version)
	d := c.Design()
	require.False(t, d.IsScheme())
	g, ok := d.Guarantee(codecs.Integrity, nil)
	require.True(t, ok)
	require.False(t, g.Holds)

	remote, err := d.NewCodec(codecs.Config{Secrets: secrets()})
	require.NoError(t, err)
	token, err := remote.Seal([]byte("before "), []byte("payload"))
	require.NoError(t, err)
	require.Equal(t, "before r.daolyap", string(token))
	payload, err := remote.Unseal([]byte("x"), []byte("r.daolyap"))
	require.NoError(t, err)
	require.Equal(t, "xpayload", string(payload))

	out, err := remote.Unseal([]byte("kept"), []byte("q.daolyap"))
	require.Equal(t, &codecs.RejectError{Stage: codecs.Malformed, Reason: "prefix"}, codecs.Rejected(err))
	require.Equal(t, "kept", string(out))
	_, err = remote.Unseal(nil, []byte{'r', '.', 0xFF})
	require.ErrorIs(t, err, codecs.ErrUnsupported, "a token that is not text cannot cross")
	require.Empty(t, c.Events())
}

func TestBatch(t *testing.T) {
	_, remote := dialCodec(t, "codec", worker.Limits{})
	verdicts, err := remote.(lab.BatchCodec).UnsealAll([][]byte{[]byte("r.cba"), {0xFF}, []byte("bad"), []byte("r.")})
	require.NoError(t, err)
	require.Len(t, verdicts, 4)
	require.Equal(t, lab.Answer{Payload: []byte("abc")}, verdicts[0])
	require.ErrorIs(t, verdicts[1].Err, codecs.ErrUnsupported)
	require.Equal(t, codecs.Malformed, codecs.Rejected(verdicts[2].Err).Stage)
	require.Equal(t, lab.Answer{Payload: []byte{}}, verdicts[3])
}

// TestJudgingOneByOne uses a worker without the ability batch, which one of its
// tokens kills.
func TestJudgingOneByOne(t *testing.T) {
	c, remote := dialCodec(t, "plain", worker.Limits{})
	require.False(t, c.Has(worker.AbilityBatch))
	verdicts, err := remote.(lab.BatchCodec).UnsealAll([][]byte{[]byte("trigger"), {0xFF}, []byte("who")})
	require.NoError(t, err)
	require.Equal(t, codecs.Malformed, codecs.Rejected(verdicts[0].Err).Stage)
	require.ErrorIs(t, verdicts[1].Err, codecs.ErrUnsupported)
	require.NoError(t, verdicts[2].Err)

	_, remote = dialCodec(t, "dying-plain", worker.Limits{})
	_, err = remote.(lab.BatchCodec).UnsealAll([][]byte{[]byte("who"), []byte("trigger")})
	require.ErrorIs(t, err, codecs.ErrFault)
}

func TestClosedHandle(t *testing.T) {
	_, remote := dialCodec(t, "codec", worker.Limits{})
	require.NoError(t, remote.(io.Closer).Close())
	_, err := remote.Seal(nil, nil)
	require.ErrorContains(t, err, "there is no handle 1")
	require.ErrorIs(t, remote.(io.Closer).Close(), codecs.ErrFault)
}

func TestScheme(t *testing.T) {
	c := dial(t, "scheme", worker.Limits{})
	d := c.Design()
	require.Equal(t, []codecs.Option{{Name: "style", Doc: "how it looks", Values: []string{"plain", "fancy"}}}, d.Options)
	ttl := -1500 * time.Millisecond
	remote, err := d.NewScheme(codecs.Config{Secrets: secrets(), TTL: &ttl, Options: map[string]string{"style": "fancy"}})
	require.NoError(t, err)

	nobody, alice := "", "ali\"ce\n\xed\xa0\x80\u2028é"
	now := time.Unix(1795132800, 250_001_000)
	b := &codecs.Context{
		Now:    now,
		Method: "tools/call", Target: "de\x00ploy",
		Arguments: json.RawMessage("{\"big\":12345678901234567890.0,\n\t\"a\": \"\\ud800\", \"a\":1}"),
		Principal: &alice, Audience: &nobody,
	}
	token, err := remote.Mint(nil, []byte("state\xff"), b)
	require.NoError(t, err)
	var seen ticketContents
	require.NoError(t, json.Unmarshal(token, &seen))
	require.Equal(t, ticketContents{
		Style: "fancy", TTL: ttl, Now: now.UTC(), State: []byte("state\xff"),
		Method: b.Method, Target: b.Target, Principal: []byte(alice), Audience: []byte{},
		Arguments: "{\"big\":12345678901234567890.0, \t\"a\": \"\\ud800\", \"a\":1}",
	}, seen)

	_, err = remote.Verify(nil, []byte("expired"), &codecs.Context{Now: time.Unix(-1, 5e8)})
	require.Equal(t, codecs.Expired, codecs.Rejected(err).Stage)
	verdicts, err := remote.(lab.BatchScheme).VerifyAll([][]byte{[]byte("expired"), []byte("odd")}, &codecs.Context{Now: time.Unix(-1, 5e8)})
	require.NoError(t, err)
	require.Equal(t, codecs.Expired, codecs.Rejected(verdicts[0].Err).Stage)
	require.ErrorIs(t, verdicts[1].Err, codecs.ErrUnsupported)

	_, err = remote.Mint(nil, nil, &codecs.Context{Now: now, Arguments: json.RawMessage("{")})
	require.ErrorIs(t, err, codecs.ErrUnsupported, "arguments that are not JSON cannot cross")
	_, err = remote.(lab.BatchScheme).VerifyAll(nil, &codecs.Context{Now: now, Method: "\xff"})
	require.ErrorIs(t, err, codecs.ErrUnsupported)
	require.Empty(t, c.Events())
}

func TestRefusedConfiguration(t *testing.T) {
	c := dial(t, "codec", worker.Limits{})
	_, err := c.Design().NewCodec(codecs.Config{Secrets: [][]byte{{1}}})
	var refused *worker.RefusedError
	require.ErrorAs(t, err, &refused)
	require.NotErrorIs(t, err, codecs.ErrFault)
	require.Empty(t, c.Events())
}

func TestBench(t *testing.T) {
	_, remote := dialCodec(t, "codec", worker.Limits{})
	b := remote.(worker.Benchmark)
	elapsed, err := b.BenchMake(100, []byte("payload"), nil)
	require.NoError(t, err)
	require.Equal(t, time.Millisecond, elapsed, "the test's clock moves once")
	_, err = b.BenchJudge(100, []byte("wrong"), nil)
	require.NotNil(t, codecs.Rejected(err))
}
