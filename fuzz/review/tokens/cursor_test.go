package tokens

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAltered(t *testing.T) {
	short := base64.StdEncoding.EncodeToString([]byte(`{"o":2}`))
	require.Less(t, len(short), MinCoded)
	for name, c := range map[string]struct{ cursor, want string }{
		"short base64":      {short, base64.StdEncoding.EncodeToString([]byte(`{"o":3}`))},
		"a word of another": {base64.RawURLEncoding.EncodeToString([]byte(`alice:10`)), base64.RawURLEncoding.EncodeToString([]byte(`bob:10`))},
		"JSON":              {`{"of":"alice","at":1.5}`, `{"at":1.5,"of":"bob"}`},
		"a flag":            {`{"hidden":false}`, `{"hidden":true}`},
		"a member less":     {`{"only":["a"],"at":1}`, `{"at":1}`},
		"beside a tag":      {base64.RawURLEncoding.EncodeToString([]byte(`{"user":"alice"}`)) + ".AAAAAAAAAAAAAAAA", base64.RawURLEncoding.EncodeToString([]byte(`{"user":"bob"}`)) + ".AAAAAAAAAAAAAAAA"},
		"open words":        {"user=alice&page=2", "user=bob&page=2"},
		"a number":          {"20", "0"},
		"a coded number":    {base64.RawURLEncoding.EncodeToString([]byte("4")), base64.RawURLEncoding.EncodeToString([]byte("-2"))},
		"hexadecimal":       {"3230", "2d32"},
		"a number in JSON":  {`{"at":4}`, `{"at":-2}`},
		"a word's number":   {"after-4", "after--2"},
	} {
		t.Run(name, func(t *testing.T) {
			var texts []string
			for _, v := range Altered(c.cursor, []string{"bob"}) {
				require.NotEqual(t, c.cursor, v.Text)
				texts = append(texts, v.Text)
			}
			require.Contains(t, texts, c.want)
		})
	}
	require.Equal(t, []string{"alice", "10"}, Words(base64.StdEncoding.EncodeToString([]byte(`alice:10`)))[:2])
	sealed := strings.Repeat("QUJD_yt9Zk3-", 4)
	require.Equal(t, []string{"v2"}, Words("v2."+sealed))
	require.Equal(t, []string{"of-bob"}, Words("of-bob"))
}
