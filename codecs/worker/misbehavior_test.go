package worker_test

import (
	"bufio"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/worker"
	"sealab/internal/lab"
)

// bad holds workers that misbehave when asked to unseal "trigger".
var bad = map[string]func(){
	"dying":       misbehave(func() { fmt.Fprintln(os.Stderr, "last words"); os.Exit(3) }),
	"dying-plain": func() { abilities = ""; misbehave(func() { os.Exit(3) })() },
	"hanging":     misbehave(func() { select {} }),
	"orphaning":   misbehave(func() { orphan(); os.Exit(0) }),
	"orphan":      func() { select {} },
	"flooding":    misbehave(flood),
	"chattering": misbehave(func() {
		fmt.Println(`{"ok":true,"payload_b64":""}` + "\n" + `{"ok":true,"payload_b64":""}`)
	}),
	"babbling":     answering(`what?`),
	"listing":      answering(`[{"ok":true}]`),
	"not-utf8":     answering("{\"ok\":false,\"fault\":\"\xff\"}"),
	"okless":       answering(`{"payload_b64":""}`),
	"empty-handed": answering(`{"ok":true}`),
	"misspelling":  answering(`{"ok":true,"payload_b64":"AB"}`),
	"misstaging":   answering(`{"ok":false,"rejected":"nonsense"}`),
	"speechless":   answering(`{"ok":false}`),
	"faulting":     answering(`{"ok":false,"fault":"I broke"}`),
	"short-batch":  answering(`{"ok":true,"verdicts":[]}`),
	"no-batch":     answering(`{"ok":false,"unsupported":true}`),
	"bad-batch":    answering(`{"ok":true,"verdicts":[{"ok":true}]}`),
	"strange":      func() { respond(`{"ok":true}`, func() {}) },
	"touchy":       func() { respond("", func() {}) },
	"silent":       func() { select {} },
	"verdicts":     answering(`{"ok":true,"verdicts":[` + strings.Repeat("{},", 300_000) + `{}]}`),
	"long-answer":  answering(`{"ok":true,"payload_b64":"` + strings.Repeat("A", 4<<20) + `"}`),

	"quoting-fault":   answerQuotingKeys(func(s string) { fmt.Printf(`{"ok":false,"fault":%s}`+"\n", quotedJSON(s)) }),
	"quoting-reasons": quotingReasons,
	"quoting-refusal": answerQuotingKeys(func(s string) { fmt.Printf(`{"ok":false,"refused":%s}`+"\n", quotedJSON(s)) }),
	"quoting-garbage": answerQuotingKeys(func(s string) { fmt.Println("Traceback: " + s) }),
	"quoting-lines":   answerQuotingKeys(func(s string) { fmt.Println(s + "\n" + s) }),
	"quoting-stderr":  answerQuotingKeys(func(s string) { fmt.Fprintln(os.Stderr, s); os.Exit(3) }),
	"quoting-long-stderr": answerQuotingKeys(func(s string) {
		fmt.Fprintln(os.Stderr, s+s+s+s+s+s+s+s+s+s+strings.Repeat(".", 4000))
		os.Exit(3)
	}),
	"old":      func() { fmt.Println(`{"ok":true,"protocol":0,"name":"old","kind":"codec"}`); select {} },
	"nameless": func() { fmt.Println(`{"ok":true,"protocol":1,"kind":"codec"}`); select {} },
	"unkind":   func() { fmt.Println(`{"ok":true,"protocol":1,"name":"x","kind":"kind"}`); select {} },
	"unlisted": func() {
		fmt.Println(`{"ok":true,"protocol":1,"name":"x","kind":"codec","guarantees":["integrity"]}`)
		select {}
	},
	"unsure":        greeting(`{"ok":true,"protocol":1,"name":"x","kind":"codec","guarantees":{"integrity":"yes"}}` + "\n"),
	"unversioned":   greeting(`{"ok":true,"name":"x","kind":"codec"}` + "\n"),
	"ok-text":       greeting(`{"ok":"true","protocol":1,"name":"x","kind":"codec"}` + "\n"),
	"handle-text":   greeting(`{"handle":"0","ok":true,"protocol":1}` + "\n"),
	"marked":        greeting("\ufeff" + `{"ok":true,"protocol":1,"name":"x","kind":"codec"}` + "\n"),
	"ended-halfway": func() { fmt.Print(`{"ok":tr`) },
	"changing-name": func() { name = "bad-" + strconv.Itoa(os.Getpid()); misbehave(func() { os.Exit(0) })() },
}

// name and abilities are in the hello of every worker in this file.
var name, abilities = "bad", `"batch"`

func answering(text string) func() {
	return misbehave(func() { fmt.Println(text) })
}

// greeting returns a worker that answers hello with a text and then hangs.
func greeting(text string) func() {
	return func() { fmt.Print(text); select {} }
}

func misbehave(how func()) func() {
	return func() { respond(`{"ok":false,"unsupported":true}`, how) }
}

// respond is a codec that answers every token with its process ID, except
// "trigger". unknown is its answer to unknown operations; if it is empty, the
// worker exits.
func respond(unknown string, trigger func()) {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 4<<20)
	for in.Scan() {
		var r struct{ Op, Token string }
		if err := json.Unmarshal(in.Bytes(), &r); err != nil {
			os.Exit(4)
		}
		switch {
		case r.Op == "hello":
			fmt.Printf(`{"ok":true,"protocol":1,"name":%q,"version":"1","kind":"codec","abilities":[%s]}`+"\n", name, abilities)
		case strings.Contains(in.Text(), "trigger"):
			trigger()
		case r.Op == "open":
			fmt.Println(`{"ok":true,"handle":1}`)
		case r.Op == "unseal":
			fmt.Printf(`{"ok":true,"payload_b64":%q}`+"\n", b64(strconv.Itoa(os.Getpid())))
		case unknown == "":
			os.Exit(5)
		default:
			fmt.Println(unknown)
		}
	}
}

func b64(s string) string {
	text, _ := json.Marshal([]byte(s))
	return strings.NewReplacer(`"`, "", "=", "", "+", "-", "/", "_").Replace(string(text))
}

func flood() {
	for {
		fmt.Print(strings.Repeat("x", 4096))
	}
}

// orphan leaves a process behind that keeps standard output open.
func orphan() {
	self, err := os.Executable()
	if err != nil {
		os.Exit(6)
	}
	child := exec.Command(self)
	child.Env = append(os.Environ(), roleVariable+"=orphan")
	child.Stdout, child.Stderr = os.Stdout, os.Stderr
	if err := child.Start(); err != nil {
		os.Exit(6)
	}
}

// impatience makes deadlines pass at once while it is armed, so that tests need
// not wait.
type impatience struct{ armed atomic.Bool }

func (i *impatience) afterFunc(d time.Duration, f func()) worker.Timer {
	if i.armed.Load() {
		d = 0
	}
	return time.AfterFunc(d, f)
}

func TestMisbehavior(t *testing.T) {
	for _, c := range []struct {
		role string
		kind worker.EventKind
		slow bool // whether the deadline must pass
	}{
		{"dying", worker.Died, false},
		{"hanging", worker.Hung, true},
		{"flooding", worker.Flooded, false},
		{"chattering", worker.OutOfTurn, false},
		{"babbling", worker.Garbage, false},
		{"listing", worker.Garbage, false},
		{"not-utf8", worker.Garbage, false},
		{"okless", worker.Garbage, false},
		{"empty-handed", worker.Garbage, false},
		{"misspelling", worker.Garbage, false},
		{"misstaging", worker.Garbage, false},
		{"speechless", worker.Garbage, false},
		{"faulting", worker.Faulted, false},
	} {
		t.Run(c.role, func(t *testing.T) {
			var deadline impatience
			client, remote := dialCodec(t, c.role, worker.Limits{Line: 1 << 16, AfterFunc: deadline.afterFunc})
			first := pid(t, remote)

			deadline.armed.Store(c.slow)
			out, err := remote.Unseal([]byte("kept"), []byte("trigger"))
			deadline.armed.Store(false)
			require.Equal(t, "kept", string(out))
			event := requireFault(t, client, err)
			require.Equal(t, c.kind, event.Kind, event.Detail)
			require.Contains(t, string(event.Input), `"token":"trigger"`)

			replaced := c.kind != worker.Faulted
			require.Equal(t, replaced, first != pid(t, remote), "the next request is answered by another process")
			if replaced {
				requireGone(t, first)
			}
		})
	}
}

// requireFault checks that err is a fault. It returns the fault's event, which
// must be the only one of the client.
func requireFault(t *testing.T, c *worker.Client, err error) worker.Event {
	t.Helper()
	var f *worker.FaultError
	require.ErrorAs(t, err, &f)
	require.ErrorIs(t, err, codecs.ErrFault)
	require.NotErrorIs(t, err, codecs.ErrUnsupported)
	require.Nil(t, codecs.Rejected(err))
	require.Equal(t, []worker.Event{f.Event}, c.Events())
	return f.Event
}

func pid(t *testing.T, c codecs.Codec) int {
	t.Helper()
	out, err := c.Unseal(nil, []byte("who"))
	require.NoError(t, err)
	n, err := strconv.Atoi(string(out))
	require.NoError(t, err)
	return n
}

func TestBatchMisbehavior(t *testing.T) {
	for role, kind := range map[string]worker.EventKind{
		"short-batch": worker.Garbage, "bad-batch": worker.Garbage, "no-batch": worker.Lied,
	} {
		t.Run(role, func(t *testing.T) {
			client, remote := dialCodec(t, role, worker.Limits{})
			_, err := remote.(lab.BatchCodec).UnsealAll([][]byte{[]byte("trigger")})
			require.Equal(t, kind, requireFault(t, client, err).Kind)
		})
	}
}

func TestLastWordsAreKept(t *testing.T) {
	client, remote := dialCodec(t, "dying", worker.Limits{})
	_, err := remote.Unseal(nil, []byte("trigger"))
	require.ErrorContains(t, err, "exit status 3")
	require.Equal(t, "last words\n", client.Events()[0].Stderr)
}

func TestOrphansAreReaped(t *testing.T) {
	var deadline impatience
	client, remote := dialCodec(t, "orphaning", worker.Limits{AfterFunc: deadline.afterFunc})
	deadline.armed.Store(true)
	_, err := remote.Unseal(nil, []byte("trigger"))
	require.Equal(t, worker.Hung, requireFault(t, client, err).Kind, "somebody holds its output open")
}

func TestRestartsAreBounded(t *testing.T) {
	client, remote := dialCodec(t, "dying", worker.Limits{Restarts: 2})
	for range 3 {
		_, err := remote.Unseal(nil, []byte("trigger"))
		require.ErrorIs(t, err, codecs.ErrFault)
	}
	require.Len(t, client.Events(), 3)
	_, err := remote.Unseal(nil, []byte("who"))
	require.ErrorIs(t, err, codecs.ErrFault)
	require.ErrorContains(t, err, "started 3 times")
	require.Len(t, client.Events(), 3)
}

func TestAnotherIdentityAfterTheRestart(t *testing.T) {
	client, remote := dialCodec(t, "changing-name", worker.Limits{})
	_, err := remote.Unseal(nil, []byte("trigger"))
	require.ErrorIs(t, err, codecs.ErrFault)
	_, err = remote.Unseal(nil, []byte("who"))
	require.ErrorIs(t, err, codecs.ErrFault)
	events := client.Events()
	require.Equal(t, worker.Lied, events[1].Kind)
}

func TestUnknownOperation(t *testing.T) {
	for role, kind := range map[string]worker.EventKind{"strange": worker.Lied, "touchy": worker.Died} {
		client := dial(t, role, worker.Limits{})
		require.Len(t, client.Events(), 1, role)
		require.Equal(t, kind, client.Events()[0].Kind, role)
		remote, err := client.Design().NewCodec(codecs.Config{Secrets: secrets()})
		require.NoError(t, err, role)
		pid(t, remote)
	}
}

func TestDialFails(t *testing.T) {
	var deadline impatience
	deadline.armed.Store(true)
	for role, kind := range map[string]worker.EventKind{"old": worker.Garbage, "nameless": worker.Garbage, "unkind": worker.Garbage} {
		_, err := worker.Dial(command(t, role), worker.Limits{})
		var f *worker.FaultError
		require.ErrorAs(t, err, &f, role)
		require.Equal(t, kind, f.Event.Kind, role)
	}
	for role, part := range map[string]string{
		"unlisted":      "member guarantees is a JSON array, want an object",
		"unsure":        "member guarantees is a JSON string, want true or false",
		"unversioned":   "its hello has no member protocol, want 1",
		"ok-text":       "member ok: byte 6: want true or false",
		"handle-text":   "member handle: byte 10: want an integer",
		"marked":        "the answer begins with a byte order mark",
		"ended-halfway": `its output ended within a line: "{\"ok\":tr"`,
	} {
		_, err := worker.Dial(command(t, role), worker.Limits{})
		require.ErrorContains(t, err, part, role)
	}
	var err error
	_, err = worker.Dial(command(t, "silent"), worker.Limits{AfterFunc: deadline.afterFunc})
	var f *worker.FaultError
	require.ErrorAs(t, err, &f)
	require.Equal(t, worker.Hung, f.Event.Kind)
	require.ErrorContains(t, err, "flushed at once")
	once := &rush{first: 8}
	once.armed.Store(true)
	_, err = worker.Dial(command(t, "silent"), worker.Limits{Patience: 4, AfterFunc: once.afterFunc})
	require.ErrorAs(t, err, &f)
	require.EqualValues(t, 1, once.passed.Load(), "patience is for requests")
	for _, args := range [][]string{nil, {filepath.Join(t.TempDir(), "absent")}} {
		_, err := worker.Dial(worker.Command{Args: args}, worker.Limits{})
		require.ErrorIs(t, err, codecs.ErrFault)
		require.NotContains(t, err.Error(), codecs.ErrFault.Error())
	}
}

func TestKeysAreNotRecorded(t *testing.T) {
	client := dial(t, "dying", worker.Limits{})
	// The option makes the worker exit at the open request.
	_, err := client.Design().NewCodec(codecs.Config{Secrets: secrets(), Options: map[string]string{"x": "trigger"}})
	input := string(requireFault(t, client, err).Input)
	require.Contains(t, input, `"op":"open"`)
	require.NotContains(t, input, b64(string(secrets()[0])))
}

// TestKeysAreNotQuoted dials workers that quote the open request in every text
// that a client records or returns. The key must not appear in any encoding.
func TestKeysAreNotQuoted(t *testing.T) {
	key := "\x00\xff'\"\\0123456789abcdefgh\n\u00e9xyz!?~"
	require.GreaterOrEqual(t, len(key), 32)
	for _, role := range []string{"quoting-fault", "quoting-refusal", "quoting-garbage", "quoting-lines", "quoting-stderr", "quoting-long-stderr"} {
		t.Run(role, func(t *testing.T) {
			client := dial(t, role, worker.Limits{})
			_, err := client.Design().NewCodec(codecs.Config{Secrets: [][]byte{[]byte(key)}, Options: map[string]string{"x": "trigger"}})
			require.Error(t, err)
			texts := []string{err.Error()}
			for _, e := range client.Events() {
				texts = append(texts, e.Detail, e.Stderr, string(e.Input))
			}
			all := strings.Join(texts, "\n")
			require.Contains(t, all, "[secret]")
			for _, form := range []string{key, b64(key), hex.EncodeToString([]byte(key)), strconv.Quote(key), pythonRepr, fmt.Sprint([]byte(key))} {
				for _, part := range []string{form, form[:len(form)/2], form[len(form)/2:]} {
					require.NotContains(t, all, part)
				}
			}
		})
	}
}

// TestKeysAreNotQuotedByRefusals presents tokens to a worker that quotes its
// key in the reasons of refusals.
func TestKeysAreNotQuotedByRefusals(t *testing.T) {
	key := "0123456789abcdefghijklmnopqrstuv"
	client := dial(t, "quoting-reasons", worker.Limits{})
	codec, err := client.Design().NewCodec(codecs.Config{Secrets: [][]byte{[]byte(key)}})
	require.NoError(t, err)
	_, alone := codec.Unseal(nil, []byte("token"))
	errs := []error{alone}
	answers, err := codec.(lab.BatchCodec).UnsealAll([][]byte{[]byte("one"), []byte("two"), []byte("three")})
	require.NoError(t, err)
	for _, a := range answers {
		errs = append(errs, a.Err)
	}
	for _, err := range errs {
		require.NotNil(t, codecs.Rejected(err), "%v", err)
		require.NotContains(t, codecs.Rejected(err).Reason, b64(key))
		require.Contains(t, codecs.Rejected(err).Reason, "[secret]")
	}
}

// pythonRepr is the key of TestKeysAreNotQuoted in Python's repr of bytes.
const pythonRepr = `\x00\xff'"\\0123456789abcdefgh\n\xc3\xa9xyz!?~`

// quoteKeys returns the keys of an open request in the encodings that programs
// print.
func quoteKeys(line string) string {
	var r struct {
		Keys []string `json:"keys_b64"`
	}
	if err := json.Unmarshal([]byte(line), &r); err != nil || len(r.Keys) == 0 {
		return ""
	}
	key, err := base64.RawURLEncoding.DecodeString(r.Keys[0])
	if err != nil {
		os.Exit(7)
	}
	return fmt.Sprintf("%s %s %x %q %s %v", line, base64.StdEncoding.EncodeToString(key), key, key, pythonRepr, key)
}

// answerQuotingKeys answers the open request with a text that quotes its keys.
func answerQuotingKeys(how func(quoted string)) func() {
	return func() {
		in := bufio.NewScanner(os.Stdin)
		for in.Scan() {
			switch {
			case strings.Contains(in.Text(), `"op":"hello"`):
				fmt.Println(`{"ok":true,"protocol":1,"name":"bad","version":"1","kind":"codec","abilities":[]}`)
			case strings.Contains(in.Text(), `"op":"open"`):
				how(quoteKeys(in.Text()))
			default:
				fmt.Println(`{"ok":false,"unsupported":true}`)
			}
		}
	}
}

// quotingReasons refuses every token with a reason that quotes the open
// request.
func quotingReasons() {
	in, keys := bufio.NewScanner(os.Stdin), ""
	for in.Scan() {
		switch {
		case strings.Contains(in.Text(), `"op":"hello"`):
			fmt.Println(`{"ok":true,"protocol":1,"name":"bad","version":"1","kind":"codec","abilities":[]}`)
		case strings.Contains(in.Text(), `"op":"open"`):
			keys = quoteKeys(in.Text())
			fmt.Println(`{"ok":true,"handle":1}`)
		default:
			fmt.Printf(`{"ok":false,"rejected":"unauthentic","reason":%s}`+"\n", quotedJSON(keys))
		}
	}
}

func quotedJSON(s string) string {
	text, _ := json.Marshal(strings.ToValidUTF8(s, "?"))
	return string(text)
}

// TestTooManyVerdicts bounds the memory that a client allocates, beyond the
// line itself, for an answer with millions of verdicts for one token.
func TestTooManyVerdicts(t *testing.T) {
	client, remote := dialCodec(t, "verdicts", worker.Limits{})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := remote.(lab.BatchCodec).UnsealAll([][]byte{[]byte("trigger")})
	runtime.ReadMemStats(&after)
	event := requireFault(t, client, err)
	require.Equal(t, worker.Garbage, event.Kind)
	require.Contains(t, event.Detail, "more verdicts than tokens for 1 tokens")
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(16<<20))
}

// TestLongAnswer checks that an answer may not be much longer than its request,
// even if the caller sets no limit.
func TestLongAnswer(t *testing.T) {
	client, remote := dialCodec(t, "long-answer", worker.Limits{})
	_, err := remote.Unseal(nil, []byte("trigger"))
	event := requireFault(t, client, err)
	require.Equal(t, worker.Flooded, event.Kind)
	require.Regexp(t, "longer than 10[0-9]{5} bytes", event.Detail)

	// The same answer to a long request is accepted.
	out, err := remote.Unseal(nil, []byte("trigger"+strings.Repeat("x", 2<<20)))
	require.NoError(t, err)
	require.Len(t, out, 3<<20)
}

// TestLongAnswerToALongRequest checks that an answer which is too long for the
// client is no fault of a worker that was asked about a long token.
func TestLongAnswerToALongRequest(t *testing.T) {
	client, remote := dialCodec(t, "long-answer", worker.Limits{Line: 2 << 20})
	_, err := remote.Unseal(nil, []byte("trigger"+strings.Repeat("x", 1<<20)))
	require.ErrorIs(t, err, codecs.ErrUnsupported)
	require.ErrorContains(t, err, "a line is longer than 2097152 bytes")
	require.Empty(t, client.Events())
}

func TestClosedClient(t *testing.T) {
	client, err := worker.Dial(command(t, "dying"), worker.Limits{})
	require.NoError(t, err)
	remote, err := client.Design().NewCodec(codecs.Config{Secrets: secrets()})
	require.NoError(t, err)
	process := pid(t, remote)
	require.NoError(t, client.Close())
	require.NoError(t, client.Close())
	_, err = remote.Unseal(nil, []byte("who"))
	require.ErrorIs(t, err, codecs.ErrFault)
	requireGone(t, process)
	requireNoReaders(t)
}

// requireNoReaders checks that no goroutine of the package is running.
func requireNoReaders(t *testing.T) {
	t.Helper()
	var stacks strings.Builder
	for range 1000 {
		stacks.Reset()
		require.NoError(t, pprof.Lookup("goroutine").WriteTo(&stacks, 1))
		if !strings.Contains(stacks.String(), "(*process).read") {
			return
		}
		runtime.Gosched()
	}
	require.NotContains(t, stacks.String(), "(*process).read")
}
