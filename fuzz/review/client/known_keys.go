package client

import "regexp"

// KnownKeys matches private keys and keys with the prefix of a well-known issuer.
var KnownKeys = regexp.MustCompile(`\bsk-(?:live|proj|ant)-[A-Za-z0-9_-]{16,}|\b[sr]k_live_[A-Za-z0-9]{16,}|\b(?:ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9]{36}\b|\bgithub_pat_[A-Za-z0-9_]{22,}|` +
	`\bglpat-[A-Za-z0-9_-]{16,}|\bnpm_[A-Za-z0-9]{36}\b|\bAIza[0-9A-Za-z_-]{35}|\bSG\.[A-Za-z0-9_-]{16,}(?:\.[A-Za-z0-9_-]{16,})?|` +
	`\bAKIA[0-9A-Z]{16}\b|\bxox[abprs]-[0-9A-Za-z-]{20,}|-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----`)

var (
	// keyBody matches the part of a private key behind its first line.
	keyBody = regexp.MustCompile(`^(?:\s|\\[nr])+(?:[A-Za-z0-9+/=]|\s|\\[nr]){40}`)
	// exampleKey matches keys of examples, and masked ones.
	exampleKey = regexp.MustCompile(`(?i)example|sample|dummy|fake|placeholder|redact|your|change.?me|not.?real|test|demo|x{4}|0{5}|1{5}|a{5}|\*{3}|\.{3}|123456|abcdef|987654`)
	// exampleBody matches the bodies of private keys that are masked.
	exampleBody = regexp.MustCompile(`(?i)example|x{4}|\*{3}|\.{3}`)
	// exampleMark matches texts beside a key that say that it is an example, or of no use any
	// more. A domain of examples is none.
	exampleMark = regexp.MustCompile(`(?i)(?:^|[^.@\w-])(?:examples?|samples?)\b(?:[^.\w]|\.\s|$)|\b(?:dummy|fake|placeholder|e\.g\.|such as|looks? like|of the form|format|pattern|revoked|expired|rotated|invalidated|not real|documentation|masked|redacted)\b`)
	// mixedLetters matches random text: small letters, capital letters and digits in turn.
	mixedLetters = regexp.MustCompile(`[a-z].*[A-Z].*[a-z]|[A-Z].*[a-z].*[A-Z]`)
)

// The number of bytes before and after a key in which a mark says that it is an example.
const (
	bytesBefore = 80
	bytesAfter  = 40
)

// UsedKey returns the first key in a text that has a well-known form and is not marked as an example or
// masked, or "".
func UsedKey(text string) string {
	for _, at := range KnownKeys.FindAllStringIndex(text, -1) {
		found, after := text[at[0]:at[1]], text[at[1]:]
		beside := text[max(0, at[0]-bytesBefore):at[0]] + " " + after[:min(len(after), bytesAfter)]
		switch {
		case exampleMark.MatchString(beside):
		case found[0] == '-':
			if body := keyBody.FindString(after); body != "" && !exampleBody.MatchString(body) {
				return found
			}
		case !exampleKey.MatchString(found) && (Digits.MatchString(found) || mixedLetters.MatchString(found[4:])):
			return found
		}
	}
	return ""
}

// headerCredential matches the credential of a header in a text.
var headerCredential = regexp.MustCompile(`(?i)authorization["'\\]*\s*[:=]\s*["'\\]*(?:bearer|basic|token)\s+([\w.~+/-]{16,}=*)`)

// HeaderCredential returns the first credential of a header in a text that looks random and is not an example,
// or "".
func HeaderCredential(text string) string {
	for _, found := range headerCredential.FindAllStringSubmatch(text, -1) {
		if c := found[1]; !exampleKey.MatchString(c) && (Digits.MatchString(c) || mixedLetters.MatchString(c)) {
			return c
		}
	}
	return ""
}
