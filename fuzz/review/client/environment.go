package client

import (
	"bytes"
	"regexp"
	"strings"
)

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
