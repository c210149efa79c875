package client

import (
	"testing"

	"github.com/stretchr/testify/require"
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
