package client

import (
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/internal/rawmcp"
)

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
