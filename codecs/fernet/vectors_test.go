package fernet_test

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/fernet"
	"sealab/internal/lab"
)

// A vector is a case in one of the specification's files.
type vector struct {
	Desc, Token, Src, Secret string
	Now                      time.Time
	TTL                      int `json:"ttl_sec"`
	IV                       []int
}

func (v *vector) open(t *testing.T) *lab.Instance {
	secret, err := base64.URLEncoding.DecodeString(v.Secret)
	require.NoError(t, err)
	ttl := time.Duration(v.TTL) * time.Second
	if v.TTL <= 0 {
		ttl = time.Hour // so long that the vector's time does not matter
	}
	in, err := lab.Open(fernet.Design, codecs.Config{Secrets: [][]byte{secret}, TTL: &ttl})
	require.NoError(t, err)
	return in
}

func vectors(t *testing.T, name string) []vector {
	data, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	var vs []vector
	require.NoError(t, json.Unmarshal(data, &vs))
	require.NotEmpty(t, vs)
	return vs
}

func TestVectors(t *testing.T) {
	for _, v := range vectors(t, "generate.json") {
		seed := make([]byte, len(v.IV))
		for i, b := range v.IV {
			seed[i] = byte(b)
		}
		token, err := v.open(t).SealSeeded(nil, seed, []byte(v.Src), &codecs.Context{Now: v.Now})
		require.NoError(t, err)
		require.Equal(t, v.Token, string(token))
	}
	for _, v := range vectors(t, "verify.json") {
		state, err := v.open(t).Unseal(nil, []byte(v.Token), &codecs.Context{Now: v.Now})
		require.NoError(t, err)
		require.Equal(t, v.Src, string(state))
	}
	for _, v := range vectors(t, "invalid.json") {
		_, err := v.open(t).Unseal(nil, []byte(v.Token), &codecs.Context{Now: v.Now})
		require.NotNil(t, codecs.Rejected(err), v.Desc)
	}
}
