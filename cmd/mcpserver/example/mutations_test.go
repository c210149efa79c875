package example_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/testenv"
)

var (
	mutations = flag.Int("mutations", 1000, "how many mutated requestState values TestMutations sends")
	seed      = flag.Uint64("seed", 1, "the seed of TestMutations")
)

// A subject is a request in its last round, which its token completes.
type subject struct {
	method, name, arguments, responses string
	first                              string // the answers that give the token
	complete                           string // the text of the last round
	again                              string // the question of the first round
	token                              string
}

var subjects = []*subject{
	{
		method: "tools/call", name: "update_work_item",
		arguments: `"arguments":{"workItemId":4522,"fields":{"System.State":"Resolved"}},`,
		first:     `{"resolution":{"action":"accept","content":{"resolution":"Duplicate"}}}`,
		responses: `{"duplicate_of":{"action":"accept","content":{"duplicateOfId":4301}}}`,
		complete:  "resolved as Duplicate", again: "requires a resolution",
	}, {
		method: "prompts/get", name: "incident_report",
		arguments: `"arguments":{"service":"mail"},`,
		first:     `{"severity":{"action":"accept","content":{"severity":"high"}}}`,
		responses: `{"summary":{"action":"accept","content":{"summary":"x"}}}`,
		complete:  "high severity incident", again: "How severe",
	}, {
		method: "resources/read", name: "example://audit-log",
		first:     `{"reason":{"action":"accept","content":{"reason":"an audit"}}}`,
		responses: `{"confirm":{"action":"accept","content":{"ok":true}}}`,
		complete:  "The log was read", again: "Why do you read",
	},
}

// call sends the request with a requestState, given as JSON, and returns the message that answers
// it.
func (s *subject) call(t *testing.T, url, responses, state string) (status int, answer string) {
	t.Helper()
	key := "name"
	if s.method == "resources/read" {
		key = "uri"
	}
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%q:%q,%s"inputResponses":%s,"requestState":%s,"_meta":{%s}}}`,
		s.method, key, s.name, s.arguments, responses, state, meta)
	status, answer = post(t, url, s.method, s.name, body, nil)
	if _, data, stream := strings.Cut(answer, "data: "); stream {
		answer = strings.TrimSpace(data)
	}
	return status, answer
}

// TestMutations sends mutated tokens over HTTP. Each must be refused with the same message. A
// client may also send the token in another JSON spelling, or no token; then the answer must be
// right.
func TestMutations(t *testing.T) {
	n := *mutations
	if testenv.Sample() {
		n = min(n, 200)
	}
	t.Logf("seed %d, %d mutations", *seed, n)
	rng := rand.New(rand.NewPCG(*seed, 0))
	url := serve(t, newServer(t))
	for _, s := range subjects {
		var asked struct{ Result struct{ RequestState string } }
		_, answer := s.call(t, url, s.first, "null")
		require.NoError(t, json.Unmarshal([]byte(answer), &asked))
		s.token = asked.Result.RequestState
		require.NotEmpty(t, s.token, answer)
		_, answer = s.call(t, url, s.responses, quote(s.token))
		require.Contains(t, answer, s.complete)
	}

	counts := map[string]int{}
	send := func(n int) {
		for range n {
			s := subjects[rng.IntN(len(subjects))]
			state := mutate(rng, s)
			status, answer := s.call(t, url, s.responses, quote(state))
			outcome, err := s.judge(state, status, answer)
			require.NoError(t, err, "state %q", state)
			counts[outcome]++
		}
	}
	send(n / 10)
	before := heap()
	send(n - n/10)
	after := heap()
	t.Logf("%v; heap %d KiB, then %d KiB", counts, before>>10, after>>10)
	require.Greater(t, counts["refused"], n/2)
	require.NotZero(t, counts["accepted"])
	require.NotZero(t, counts["begun again"])
	require.Less(t, after, before+1<<20, "the server grows")
}

// frozen is the answer to every refused token.
const frozen = `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid or expired requestState","data":{"reason":"invalid_request_state"}}}`

// judge returns how a requestState was answered. It returns an error for any answer other than the
// right one.
func (s *subject) judge(state string, status int, answer string) (outcome string, err error) {
	var right bool
	switch state {
	case s.token:
		outcome, right = "accepted", strings.Contains(answer, s.complete)
	case "":
		outcome, right = "begun again", strings.Contains(answer, s.again) && strings.Contains(answer, `"input_required"`)
	default:
		outcome, right = "refused", answer == frozen && status == http.StatusBadRequest
	}
	if !right {
		return "", fmt.Errorf("want it %s, got %d %s", outcome, status, answer)
	}
	return outcome, nil
}

// TestJudgeSees checks that judge accepts right answers and rejects wrong ones.
func TestJudgeSees(t *testing.T) {
	s := &subject{complete: "done", again: "asked", token: "v1.token"}
	for _, c := range []struct {
		state  string
		status int
		answer string
		right  bool
	}{
		{"v1.token", 200, "done", true},
		{"v1.token", 400, frozen, false},
		{"v1.forged", 200, "done", false},
		{"v1.forged", 200, `asked "input_required"`, false},
		{"v1.forged", 400, strings.Replace(frozen, "expired", "unauthentic", 1), false},
		{"v1.forged", 400, strings.Replace(frozen, `,"data":{"reason":"invalid_request_state"}`, "", 1), false},
		{"v1.forged", 500, frozen, false},
		{"v1.forged", 400, frozen, true},
		{"", 200, `asked "input_required"`, true},
		{"", 200, "done", false},
	} {
		_, err := s.judge(c.state, c.status, c.answer)
		require.Equal(t, c.right, err == nil, "%+v", c)
	}
}

// heap returns the size of the heap in use after garbage collection.
func heap() uint64 {
	http.DefaultClient.CloseIdleConnections()
	var m runtime.MemStats
	for range 3 { // the second collection empties pools
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// quote writes text as a JSON string.
func quote(text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string always encodes
	}
	return string(raw)
}

// mutate returns a mutation of the subject's token.
func mutate(rng *rand.Rand, s *subject) string {
	token := s.token
	i, j := rng.IntN(len(token)), rng.IntN(len(token))
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/=. \n\x00"
	letter := string(alphabet[rng.IntN(len(alphabet))])
	switch rng.IntN(14) {
	case 0:
		return token
	case 1:
		return ""
	case 2:
		return token[:i]
	case 3:
		return token[i:]
	case 4:
		return token[:i] + token[min(i+1, len(token)):]
	case 5, 6:
		return token[:i] + letter + token[i+1:]
	case 7:
		return token[:i] + letter + token[i:]
	case 8:
		return token[:min(i, j)] + strings.ToUpper(token[min(i, j):max(i, j)]) + token[max(i, j):]
	case 9:
		return token + token[i:]
	case 10: // the head of one token and the tail of another
		other := subjects[rng.IntN(len(subjects))].token
		return token[:i] + other[min(i, len(other)):]
	case 11: // a token of another request
		for _, other := range subjects {
			if other != s {
				return other.token
			}
		}
	case 12:
		return strings.Repeat(letter, rng.IntN(100_000)) + token
	}
	garbage := make([]rune, rng.IntN(400))
	for k := range garbage {
		garbage[k] = rune(rng.IntN(0x11000))
	}
	return string(garbage)
}
