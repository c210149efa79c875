package codectest

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/internal/lab"
)

// A libraryCase is the answer of a library to a token: one line of
// testdata/library.jsonl in a design's folder.
type libraryCase struct {
	Design  string            `json:"design"`
	Library string            `json:"library"` // name and version
	Options map[string]string `json:"options"`
	Key     []byte            `json:"key"`
	TTL     int               `json:"ttl"` // seconds
	Target  string            `json:"target"`
	Minted  string            `json:"minted"` // "library" or "here"
	Now     int64             `json:"now"`    // milliseconds
	Token   []byte            `json:"token"`
	State   *string           `json:"state"` // nil: refused
}

// Library holds a design to the answers that a library gave to its own tokens and to
// altered ones, in testdata/library.jsonl. There are accepted and refused ones.
func Library(t *testing.T, designs ...codecs.Design) {
	file, err := os.Open("testdata/library.jsonl")
	require.NoError(t, err)
	defer file.Close()
	counts := map[bool]int{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var c libraryCase
		require.NoError(t, json.Unmarshal(lines.Bytes(), &c))
		for _, d := range designs {
			if d.Name == c.Design {
				counts[c.State != nil]++
				c.judge(t, d)
			}
		}
	}
	require.NotZero(t, counts[true])
	require.NotZero(t, counts[false])
}

func (c *libraryCase) judge(t *testing.T, d codecs.Design) {
	ttl := time.Duration(c.TTL) * time.Second
	in, err := lab.Open(d, codecs.Config{Secrets: [][]byte{c.Key}, TTL: &ttl, Options: c.Options})
	require.NoError(t, err)
	got, err := in.Unseal(nil, c.Token, &codecs.Context{Now: time.UnixMilli(c.Now), Target: c.Target})
	if c.State == nil {
		require.NotNil(t, codecs.Rejected(err), "%s refused %q; here: %v", c.Library, c.Token, err)
		return
	}
	require.NoError(t, err, "%s accepted %q", c.Library, c.Token)
	require.Equal(t, *c.State, string(got), "%q", c.Token)
}
