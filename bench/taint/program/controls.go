package main

import (
	"crypto/subtle"

	"sealab/internal/runfile"
)

// A control leaks in exactly one line, or not at all.
type control struct {
	runfile.Log
	op func(secret []byte) int
}

// controls are the controls. Line is a text of the leaking line, which memcheck
// must name.
var controls = []control{
	leaking("control-table-look-up", "table[secret[0]]", tableLookUp),
	leaking("control-early-exit", "secret[i] != guess[i]", earlyExit),
	leaking("control-loop-bound", "i < int(secret[0])", loopBound),
	leaking("control-base64-look-up", "alphabet[secret[0]>>2]", base64LookUp),
	leaking("control-division", "modulus % int(secret[0])", division),
	leaking("control-wrapped-early-exit", "secret[i] != guess[i]", wrappedEarlyExit),
	leaking("control-changed-verdict", "ok = ok || secret[0] == guess[0]", changedVerdict),
	leaking("control-two-verdicts", "equal(secret, guess) || secret[0] == guess[0]", twoVerdicts),
	leaking("control-division-of-secret", "int(secret[0]) / modulus", divisionOfSecret),
	clean("control-constant-time-compare", constantTimeCompare),
	clean("control-constant-time-select", constantTimeSelect),
	clean("control-whole-table", wholeTable),
	clean("control-public-verdict", publicVerdict),
	clean("control-kept-verdict", keptVerdict),
}

func leaking(name, line string, op func([]byte) int) control {
	return control{runfile.Log{Subject: name, Expect: runfile.Leaks, Line: line}, op}
}

func clean(name string, op func([]byte) int) control {
	return control{runfile.Log{Subject: name, Expect: runfile.Clean}, op}
}

func (c control) run(secret runfile.Secret) {
	bytes := []byte("a secret of thirty-two bytes....")
	if secret == runfile.Key {
		markSecret(bytes)
	}
	work(c, bytes)
}

//go:noinline
func work(c control, secret []byte) int { return c.op(secret) }

// The inputs of controls, which the compiler must not know.
var (
	table    [256]byte
	guess    = []byte("a guess of thirty-two bytes.....")
	modulus  = 1000
	alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
)

func tableLookUp(secret []byte) int { return int(table[secret[0]]) }

func earlyExit(secret []byte) int {
	for i := range secret {
		if secret[i] != guess[i] {
			return 0
		}
	}
	return 1
}

func loopBound(secret []byte) int {
	sum := 0
	for i := 0; i < int(secret[0]); i++ {
		sum += modulus
	}
	return sum
}

func base64LookUp(secret []byte) int { return int(alphabet[secret[0]>>2]) }

// division divides by the secret: the check for zero is a branch on it.
func division(secret []byte) int { return modulus % int(secret[0]) }

// divisionOfSecret divides the secret by something public. How long that takes
// may depend on the secret, and no branch and no address does.
func divisionOfSecret(secret []byte) int { return int(secret[0]) / modulus }

func constantTimeCompare(secret []byte) int { return subtle.ConstantTimeCompare(secret, guess) }

func constantTimeSelect(secret []byte) int {
	return subtle.ConstantTimeSelect(subtle.ConstantTimeByteEq(secret[0], guess[0]), modulus, 1)
}

// equal passes the verdict of a comparison in constant time on.
//
//go:noinline
func equal(a, b []byte) bool { return subtle.ConstantTimeCompare(a, b) == 1 }

// publicVerdict branches on the verdict of a comparison in constant time, which
// goes to the presenter next, through a function that passes it on.
func publicVerdict(secret []byte) int {
	if equal(secret, guess) {
		return modulus
	}
	return 0
}

// keptVerdict branches on a verdict that a variable holds.
func keptVerdict(secret []byte) int {
	ok := equal(secret, guess)
	if !ok {
		return 0
	}
	return modulus
}

// changedVerdict branches on a variable that held a verdict first.
func changedVerdict(secret []byte) int {
	ok := equal(secret, guess)
	ok = ok || secret[0] == guess[0]
	if !ok {
		return 0
	}
	return modulus
}

// twoVerdicts branches on a public verdict and, in the same line, on a secret.
func twoVerdicts(secret []byte) int {
	if equal(secret, guess) || secret[0] == guess[0] {
		return modulus
	}
	return 0
}

// wrappedEarlyExit branches on a verdict, and the function that makes it does not
// take constant time.
func wrappedEarlyExit(secret []byte) int {
	if earlyExit(secret) == 1 {
		return modulus
	}
	return 0
}

// wholeTable reads every entry of the table and keeps the one that is asked for.
func wholeTable(secret []byte) int {
	found := 0
	for i := range table {
		found |= int(table[i]) & -subtle.ConstantTimeEq(int32(i), int32(secret[0]))
	}
	return found
}
