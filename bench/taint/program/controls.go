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

// controls lists the controls. Line is part of the leaking line, which memcheck must report.
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

// The inputs of controls. They are variables so that the compiler does not know them.
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

// division divides by the secret. The check for zero branches on it.
func division(secret []byte) int { return modulus % int(secret[0]) }

// divisionOfSecret divides the secret by a public value. The time of the division may depend on the
// secret, although no branch or address does.
func divisionOfSecret(secret []byte) int { return int(secret[0]) / modulus }

func constantTimeCompare(secret []byte) int { return subtle.ConstantTimeCompare(secret, guess) }

func constantTimeSelect(secret []byte) int {
	return subtle.ConstantTimeSelect(subtle.ConstantTimeByteEq(secret[0], guess[0]), modulus, 1)
}

// equal returns the result of a constant-time comparison.
//
//go:noinline
func equal(a, b []byte) bool { return subtle.ConstantTimeCompare(a, b) == 1 }

// publicVerdict branches on the result of a constant-time comparison, which the presenter learns anyway.
// Another function returns the result.
func publicVerdict(secret []byte) int {
	if equal(secret, guess) {
		return modulus
	}
	return 0
}

// keptVerdict branches on a result stored in a variable.
func keptVerdict(secret []byte) int {
	ok := equal(secret, guess)
	if !ok {
		return 0
	}
	return modulus
}

// changedVerdict branches on a variable that first holds a result and is then changed.
func changedVerdict(secret []byte) int {
	ok := equal(secret, guess)
	ok = ok || secret[0] == guess[0]
	if !ok {
		return 0
	}
	return modulus
}

// twoVerdicts branches on a public result and, in the same line, on a secret.
func twoVerdicts(secret []byte) int {
	if equal(secret, guess) || secret[0] == guess[0] {
		return modulus
	}
	return 0
}

// wrappedEarlyExit branches on the result of a function that does not run in constant time.
func wrappedEarlyExit(secret []byte) int {
	if earlyExit(secret) == 1 {
		return modulus
	}
	return 0
}

// wholeTable reads every entry of the table and keeps the requested one.
func wholeTable(secret []byte) int {
	found := 0
	for i := range table {
		found |= int(table[i]) & -subtle.ConstantTimeEq(int32(i), int32(secret[0]))
	}
	return found
}
