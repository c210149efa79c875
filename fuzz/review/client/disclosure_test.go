package client

import (
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/rawmcp"
)

func TestSecretSetting(t *testing.T) {
	for page, want := range map[string]string{
		"SECRET_KEY=c2VjcmV0MTIzNDU2Nzg5MA\n":                                "SECRET_KEY",
		`{"env":{"STATE_KEY":{"value":"00112233445566778899aabbccddeeff"}}}`: "STATE_KEY",
		`{"stateKeyId":"0011223344556677","hmac_secret":"8899aabbccddeeff"}`: "hmac_secret",
		`{"signing_key_id":"0011223344556677"}`:                              "",
		`{"session_key_fingerprint":"00112233445566778899aabbccddeeff"}`:     "",
		`{"encryption_key":"configured-from-vault"}`:                         "",
		`{"status":"ok","uptime":"1234567890123456"}`:                        "",
	} {
		name, _ := SecretSetting([]byte(page))
		require.Equal(t, want, name, page)
	}
}

func TestShownPassword(t *testing.T) {
	for text, want := range map[string]string{
		"database = postgres://app:Kr7me!2719@db.internal:5432/orders": "postgres://app:...@db.internal",
		"[mongodb+srv://app:hunter2@cluster0.mongodb.net]":             "mongodb+srv://app:...@cluster0.mongodb.net",
		"postgres://user:password1@db/orders":                          "",
		"postgres://app:****@db/orders":                                "",
		"postgres://app:${DB_PW_9}@db/orders":                          "",
		"postgres://app2024:app2024@db/orders":                         "",
		"amqp://guest:guest@queue":                                     "",
		"redis://app:hunter2@localhost":                                "",
		"https://joe:s3cret9@www.example.com":                          "",
		"docker://nginx:1.25-alpine@sha256":                            "",
	} {
		require.Equal(t, want, ShownPassword(text), text)
	}
}

func TestStackTrace(t *testing.T) {
	for text, found := range map[string]bool{
		`panic: x\n\ngoroutine 7 [running]:`:                                               true,
		`thread 'main' panicked at src/main.rs:4:5:`:                                       true,
		`{"text":"  File \"/srv/a.py\", line 7, in run"}`:                                  true,
		`{"text":"Error: x\n    at open (/srv/a.js:3:14)"}`:                                true,
		`{"text":"Error: x\n    at async file:///srv/a.mjs:3:14"}`:                         true,
		`{"text":"java.time.X: y\u000a\u0009at java.base/java.time.Z.parse(Z.java:430)"}`:  true,
		`{"text":"x\n\tat jdk.internal.reflect.M.invoke0(Native Method)"}`:                 true,
		`{"text":"System.Exception: x\r\n   at App.Run(String a) in /src/App.cs:line 12"}`: true,
		`{"text":"/srv/a.rb:12:in 'Object#run': x (KeyError)"}`:                            true,
		"/srv/a.rb:12:in `run'":                                                            true,
		`{"text":"#0 \/srv\/a.php(12): run()"}`:                                            true,
		`Uncaught Error in /srv/a.php on line 12`:                                          true,
		`x at /srv/a.pl line 3.`:                                                           true,
		`{"text":"(app 0.1.0) lib/app/a.ex:12: App.run/1"}`:                                true,
		`{"text":"Meet us\n   at Main Street (house 4:30:00 pm)"}`:                         false,
		`{"text":"see a.java:12 and b.rb, line 3"}`:                                        false,
		`{"text":"one of #1 red, #2 blue"}`:                                                false,
		`{"text":"C:\\new\\at x"}`:                                                         false,
		`{"text":"the value is in line 7 of the form"}`:                                    false,
	} {
		require.Equal(t, found, StackTrace(text) != "", text)
	}
}

func TestInsides(t *testing.T) {
	for text, want := range map[string]string{
		"Traceback (most recent call last)":              "Traceback (most recent",
		"parse error in /srv/app/server.py":              " /srv/app/server.py",
		`C:\app\server.js: no such key`:                  `C:\app\server.js`,
		"connecting to redis://default:hunter2@10.0.0.7": "redis://default:hunter2@10.0.0.7",
		"see https://example.com/docs/errors/app.js":     "",
		"/srv/notes/asked.py is not listed":              "", // the request names the file
		"connecting to postgres://app:***@db":            "",
		"use application/json, not a.b.go/c.rs":          "",
	} {
		a := Answer{Kind: Failed, Message: text, Exchange: &rawmcp.Exchange{Sent: []byte("read /srv/notes/asked.py"), Body: []byte(text)}}
		require.Equal(t, want, string(a.insides()), text)
	}
	missing := "ENOENT: no such file or directory, open '/home/alice/notes/none'"
	for status, want := range map[int]string{0: "", 200: missing[:len(missing)-1]} {
		a := Answer{Kind: ToolError, Message: missing, Exchange: &rawmcp.Exchange{Status: status, Body: []byte(missing)}}
		require.Equal(t, want, string(a.insides()))
	}
	for kind, text := range map[Kind]string{ToolError: "lint: /src/lib/a.go:3: unused", HTTPError: `<script src="/static/js/app.js">`} {
		a := Answer{Kind: kind, Message: text, Exchange: &rawmcp.Exchange{Body: []byte(text)}}
		require.Empty(t, a.insides(), text)
	}
}

// TestUsedKey finds keys that may be used, and leaves out examples and masked ones.
func TestUsedKey(t *testing.T) {
	for text, want := range map[string]string{
		"key: SG.q4Tz9vKe2mWd7LpB of a@corp.example.":  "SG.q4Tz9vKe2mWd7LpB",
		"for example SG.q4Tz9vKe2mWd7LpB":              "",
		"key: SG.q4Tzxxxxxxxxxxxx":                     "",
		"AKIA" + "IOSFODNN7EXAMPLE":                    "",
		"https://ci:glpat-4kZq81mTw0cYb2Rd7f@git.corp": "glpat-4kZq81mTw0cYb2Rd7f",
		"-----BEGIN PRIVATE KEY-----\n...":             "",
		"-----BEGIN PRIVATE KEY-----\\nMIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgVq5mTzP8uKd3": "-----BEGIN PRIVATE KEY-----",
		"a token sk_live_abcdefghijklmnopqrst":                                                       "",
	} {
		require.Equal(t, want, UsedKey(text), text)
	}
}

func TestHeaderCredential(t *testing.T) {
	for text, want := range map[string]string{
		`{"headers":{"Authorization":"Bearer q4Tz9vKe2mWd7LpB-Xa"}}`:          "q4Tz9vKe2mWd7LpB-Xa",
		`{"data":"{\"proxy-authorization\":\"Basic dXNlcjpwYXNzd29yZA==\"}"}`: "dXNlcjpwYXNzd29yZA==",
		"Authorization: Bearer <redacted>":                                    "",
		"Authorization: Bearer ****************":                              "",
		"Authorization: Bearer YOUR_ACCESS_TOKEN_HERE":                        "",
		"Authorization: Bearer xxxxxxxxxxxxxxxxxxxxx":                         "",
		"authorization: required, bearer tokens of the portal":                "",
	} {
		require.Equal(t, want, HeaderCredential(text), text)
	}
}

func TestEnvironmentIn(t *testing.T) {
	for text, want := range map[string]string{
		`{"text":"PATH=/usr/bin\nHOME=/root\nLANG=C\nAPI_TOKEN=tok-8841-f2"}`:                                        "API_TOKEN",
		`{"text":"{\"PATH\": \"/usr/bin\", \"HOME\": \"/root\", \"PWD\": \"/srv\", \"DATABASE_URL\": \"pg:4451\"}"}`: "", // short

		`{"text":"{\"PATH\": \"/usr/bin\", \"HOME\": \"/root\", \"PWD\": \"/\", \"DSN\": \"pg://db:k4R1p0@db\"}"}`: "DSN",
		`{"env":{"PATH":"/usr/bin","HOME":"/root","TERM":"xterm","SIGNING_KEY":"7b1f0c9a52de"}}`:                   "SIGNING_KEY",
		`{"env":{"PATH":"/usr/bin","HOME":"/root","TERM":"xterm","SIGNING_KEY":"****3321****"}}`:                   "",
		`{"env":{"PATH":"/usr/bin","HOME":"/root","TERM":"xterm","SIGNING_KEY":"configured"}}`:                     "",
		`{"env":{"HOME":"/root","SIGNING_KEY":"7b1f0c9a52de"}}`:                                                    "",
		`{"text":"PATH, HOME and LANG are set; STATE_KEY=7b1f0c9a52de"}`:                                           "",
	} {
		require.Equal(t, want, environmentIn([]byte(text)), text)
	}
}

func TestRepeatedIn(t *testing.T) {
	target := Target{Headers: []rawmcp.Header{{Name: "X-Empty"}, {Name: "authorization", Value: "Bearer q4Tz9vKe2mWd"}}}
	for text, want := range map[string]bool{
		"denied: Bearer q4Tz9vKe2mWd": true, "q4Tz9vKe2mWd": true, "cTRUejl2S2UybVdk": true, "71345 denied": false, "": false,
	} {
		require.Equal(t, want, target.RepeatedIn(text), text)
	}
	require.False(t, Target{Headers: []rawmcp.Header{{Name: "X-Empty"}}}.RepeatedIn("denied"), "no credential")
}
