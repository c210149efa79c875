package client

import (
	"bytes"
	"cmp"
	"regexp"
	"strings"
)

// settingText matches a name that suggests a secret, with a value that may be one.
var settingText = regexp.MustCompile(`(?i)([\w.-]*(?:secret|passw|hmac|(?:api|private|state|signing|session|encryption)[_.-]?key|access[_.-]?token)[\w.-]*)` +
	`["']?\s*[:=]\s*(?:\{\s*"value"\s*:\s*)?["']?([A-Za-z0-9+/_=-]{16,})`)

// secretJWK matches the secret member of a JSON Web Key (RFC 7517, RFC 7518).
var secretJWK = regexp.MustCompile(`"(k|d)"\s*:\s*"([A-Za-z0-9_-]{16,})"`)

// namingSuffix matches the end of a name whose value describes a secret but does not reveal it.
var namingSuffix = regexp.MustCompile(`(?i)(ids?|names?|fingerprints?|hash|digest|sha256|version|url|uri|path|file)$`)

// Digits matches three digits, which random values contain but names and words rarely do.
var Digits = regexp.MustCompile(`[0-9](?:\D*[0-9]){2}`)

// SecretSetting returns the first setting of a page that looks like a secret.
func SecretSetting(page []byte) (name, value string) {
	if found := secretJWK.FindSubmatch(page); found != nil && bytes.Contains(page, []byte(`"kty"`)) {
		return "the member " + string(found[1]) + " of a key", string(found[2])
	}
	if found := PasswordInError.Find(page); found != nil {
		return "a URL with a password", string(found)
	}
	for _, found := range settingText.FindAllSubmatch(page, -1) {
		if !namingSuffix.Match(found[1]) && Digits.Match(found[2]) {
			return string(found[1]), string(found[2])
		}
	}
	return "", ""
}

// stackTrace matches a part of a stack trace: of Go and Rust; of Python; of JavaScript, Java and .NET, whose
// lines begin alike; of Ruby, PHP, Perl and Elixir.
var stackTrace = regexp.MustCompile(`goroutine \d+ \[|panicked at |stack backtrace:|Traceback \(most recent|File "[^"]+", line \d+|` +
	`\n\s+at (?:[^\s"]+ \([^"\n]*:\d+:\d+\)|(?:async )?(?:file://|node:|/)[^\s"()]*:\d+:\d+|[\w.$/<>]+\((?:\w+\.(?:java|kt|scala|groovy):\d+|Native Method|Unknown Source)\)|[^"\n]* in [^"\n]+:line \d+)|` +
	`\.rb:\d+:in ['\x60]|#\d+ [^\s"]+\.php\(\d+\): | in [^\s"]+\.php on line \d+| at [^\s"]+\.p[lm] line \d+|\([\w.-]+ \d[\w.-]*\) lib/[^\s":]+\.exs?:\d+: `)

// plainText replaces the escapes of JSON that stack traces need.
var plainText = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\/`, "/", `\n`, "\n", `\r`, "", `\t`, "\t",
	`\u000a`, "\n", `\u000A`, "\n", `\u000d`, "", `\u000D`, "", `\u0009`, "\t", `\u0022`, `"`, `\u0027`, "'", `\u003c`, "<", `\u003C`, "<", `\u003e`, ">", `\u003E`, ">")

// StackTrace returns the first part of a stack trace in a text, also in one with the escapes of JSON.
// It returns "" without one.
func StackTrace(text string) string { return stackTrace.FindString(plainText.Replace(text)) }

// pathInError matches the path of a file in an error of the operating system.
var pathInError = regexp.MustCompile(`(?:ENOENT|EACCES|EISDIR|\[Errno \d+\]|FileNotFoundException)[^"]*?(/[\w.+-]+/[\w.+/-]+)|\bopen (/[\w.+-]+/[\w.+/-]+): no such file`)

// sourceInError matches the path of a source file.
var sourceInError = regexp.MustCompile(`(?:^|[\s"'(\[=])(?:[A-Za-z]:)?(?:[/\\]{1,2}[\w.@+-]+){2,}\.(?:py|js|mjs|cjs|ts|go|rb|rs|php|java|kt|cs|ex|exs)\b`)

// PasswordInError matches a URL with a name and a password.
var PasswordInError = regexp.MustCompile(`\b[a-z][a-z0-9+.-]+://[^\s:@/"<>]+:[^\s:@/"<>*]{3,}@[\w.-]+`)

// urlPassword matches a URL with a name, a password and a host.
var urlPassword = regexp.MustCompile(`\b[a-z][a-z0-9+.-]+://([^\s:@/"<>]+):([^\s:@/"<>*]{5,})@([\w.-]+)`)

var (
	// placeholderText matches names and passwords of examples, and masks.
	placeholderText = regexp.MustCompile(`(?i)pass|pwd|pw\b|secret|token|key|user|example|change|redact|mask|hidden|your|xxx|dummy|test|sample|demo|foo|admin|root|[$%{}\[\]•…]|\.\.\.|^v?[\d.]+$|123`)
	// placeholderHost matches hosts of examples and of this machine, and the name of a digest.
	placeholderHost = regexp.MustCompile(`(?i)\bexample\b|^(?:localhost|127\..*|0\.0\.0\.0|host(?:name)?|server|sha\d+)$`)
	anyLetter       = regexp.MustCompile(`\pL`)
	anyDigit        = regexp.MustCompile(`\d`)
)

// ShownPassword returns the first URL of a text with a password that is not a placeholder, without the
// password, or "". A password of an example seldom has digits.
func ShownPassword(text string) string {
	for _, m := range urlPassword.FindAllStringSubmatch(text, -1) {
		url, name, password, host := m[0], m[1], m[2], m[3]
		if anyLetter.MatchString(password) && anyDigit.MatchString(password) && !strings.EqualFold(name, password) && !placeholderText.MatchString(password) && !placeholderHost.MatchString(host) {
			return strings.Replace(url, ":"+password+"@", ":...@", 1)
		}
	}
	return ""
}

// insides returns the part of an error that reveals a stack trace, a secret or a path that the
// request does not name, or nil. Source files count only in protocol errors, because the text of a
// tool may name them. A tool over standard streams may name files, since it works on the files of
// its user.
func (a Answer) insides() []byte {
	e := a.Exchange
	if found := StackTrace(string(e.Body)); found != "" {
		return []byte(found)
	}
	if found := PasswordInError.Find(e.Body); found != nil && !bytes.Contains(e.Sent, found) {
		return found
	}
	text := a.Message + "\n" + string(a.Data)
	_, value := SecretSetting([]byte(text))
	if found := cmp.Or(KnownKeys.FindString(text), value); found != "" && !bytes.Contains(e.Sent, []byte(found)) {
		return []byte(found)
	}
	if found := sourceInError.FindString(text); a.Kind == Failed && found != "" && !bytes.Contains(e.Sent, []byte(strings.Trim(found, ` "'([=`))) {
		return []byte(found)
	}
	found := pathInError.FindSubmatch(e.Body)
	if ofItsUser := a.Kind == ToolError && e.Status == 0; ofItsUser || found == nil || bytes.Contains(e.Sent, append(found[1], found[2]...)) {
		return nil
	}
	return found[0]
}

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

// variableSetting matches a variable and its value in a list of them: of a shell, in JSON, also in
// JSON as a text, or of a print function.
var variableSetting = regexp.MustCompile(`\b([A-Z][A-Z0-9_]+)\\?["']?\s*(?::|=>?)\s*\\?["']?([^\s"',\\\]]+)`)

// usualVariables are variables of most environments. usualVariableCount is the number of them that
// shows a whole environment.
var usualVariables = regexp.MustCompile(`^(?:PATH|HOME|LANG|LC_ALL|USER|LOGNAME|SHELL|PWD|OLDPWD|SHLVL|TERM|HOSTNAME|TMPDIR|PORT|TZ|NODE_(?:ENV|VERSION)|PYTHON_VERSION|GOPATH|JAVA_HOME)$`)

const usualVariableCount = 3

// secretName matches names of variables whose values are secrets.
var secretName = regexp.MustCompile(`(?:KEY|SECRET|TOKEN|PASSWD|PASSWORD|CREDENTIALS?|DSN|DATABASE_URL)$`)

// environmentIn returns the name of a secret in the environment that a text shows, or "". A value
// without digits may be a mask.
func environmentIn(text []byte) (secret string) {
	usual := map[string]bool{}
	text = bytes.ReplaceAll(text, []byte(`\n`), []byte("\n")) // in the texts of JSON
	for _, found := range variableSetting.FindAllSubmatch(text, -1) {
		name, value := string(found[1]), found[2]
		switch {
		case usualVariables.MatchString(name):
			usual[name] = true
		case secret == "" && secretName.MatchString(name) && len(value) >= minVariable && Digits.Match(value) && !bytes.Contains(value, []byte("**")):
			secret = name
		}
	}
	if len(usual) < usualVariableCount {
		return ""
	}
	return secret
}

// noteEnvironment records the first answer that shows the environment of the server. A tool over
// standard streams may be meant to show that of its user.
func (c *Client) noteEnvironment(call Call, a Answer) {
	if c.Environment != "" || a.Exchange == nil || a.Exchange.Status == 0 && strings.Contains(strings.ToLower(call.Target), "env") {
		return
	}
	if secret := environmentIn(a.Exchange.Body); secret != "" && !bytes.Contains(a.Exchange.Sent, []byte(secret)) {
		c.Environment = strings.TrimSpace(call.Method+" "+call.Target+" "+string(call.Arguments)) + " -> " + secret + " among the variables of the environment"
	}
}
