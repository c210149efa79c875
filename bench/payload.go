package bench

import (
	"fmt"
	"math/rand/v2"
)

// The sizes that Payload takes, in bytes.
const (
	MinPayload = 64
	MaxPayload = 16 << 20
)

// Payload returns a request state of exactly n bytes, the same at every call: the
// JSON that a server of the Model Context Protocol keeps between two rounds of a
// tool call (revision 2026-07-28, basic/patterns/mrtr). It has the step, the
// answers of the user so far, and a cursor of random letters that makes the size
// exact.
func Payload(n int) ([]byte, error) {
	if n < MinPayload || n > MaxPayload {
		return nil, fmt.Errorf("no payload of %d bytes; sizes go from %d to %d", n, MinPayload, MaxPayload)
	}
	const tail = `},"cursor":"`
	const end = `"}`
	random := rand.New(rand.NewPCG(uint64(n), 0x5ea1ab))
	state := append(make([]byte, 0, n), `{"tool":"deploy_release","step":3,"answers":{`...)
	for i := 0; ; i++ {
		next := answer(i, random)
		if len(state)+len(next)+len(tail)+len(end) > n {
			break
		}
		state = append(state, next...)
	}
	state = append(state, tail...)
	for len(state)+len(end) < n {
		state = append(state, letters[random.IntN(len(letters))])
	}
	return append(state, end...), nil
}

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

// answer returns the i-th member of the answers, as a client sends it back.
func answer(i int, random *rand.Rand) string {
	questions := []string{"confirm_rollout", "pick_environment", "release_notes", "notify_channel"}
	actions := []string{"accept", "accept", "accept", "decline"}
	comma := ","
	if i == 0 {
		comma = ""
	}
	return fmt.Sprintf(`%s"%s_%d":{"action":"%s","content":{"environment":"eu-west-%d","approver":"user-%04d","approved":%t,"comment":"Canary at %d %%, no errors seen — go on."}}`,
		comma, questions[i%len(questions)], i, actions[random.IntN(len(actions))],
		1+random.IntN(3), random.IntN(10000), random.IntN(2) == 0, random.IntN(100))
}
