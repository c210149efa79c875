package tokens

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/attack/tokenfmt"
	"sealab/internal/testenv"
)

func TestFlipsOfALongTokenAreBounded(t *testing.T) {
	for _, n := range []int{40, 500, 1_000, 12_000, 100_000} {
		token := strings.Repeat("Ab-_", n/4)
		all := Flips(token)
		require.LessOrEqual(t, len(all), min(n, 600))
		for i := range min(n/2, 100) {
			require.Equal(t, fmt.Sprintf("character %d", i), all[i].Name)
			require.Equal(t, fmt.Sprintf("character %d from the end", i+1), all[len(all)-1-i].Name)
		}
	}
}

// TestFlipsOfNumbers checks that a number in a plain text stays one, so that a server that does not verify it reads
// another number.
func TestFlipsOfNumbers(t *testing.T) {
	token := "total=19800&step=2"
	changed := 0
	for _, v := range Flips(token) {
		if m := regexp.MustCompile(`^total=(\d+)&step=(\d)$`).FindStringSubmatch(v.Text); m != nil && v.Text != token {
			changed++
		}
	}
	require.Equal(t, len("198002"), changed)
}

// TestGeneratedOfALongToken counts the alterations of a token of 12 KB. No generator may make one
// per byte, and a document gets none.
func TestGeneratedOfALongToken(t *testing.T) {
	testenv.SkipSample(t)
	r := rand.New(rand.NewPCG(1, 1))
	body := make([]byte, 9<<10)
	for i := range body {
		body[i] = byte(r.Uint32())
	}
	token := "v1." + base64.RawURLEncoding.EncodeToString(body) + "." + base64.RawURLEncoding.EncodeToString(body[:32])
	format := tokenfmt.Infer([]byte(token))
	for _, g := range tokenfmt.Generators {
		n := 0
		for range alteredTexts(g, format, token, 1) {
			n++
		}
		require.Less(t, n, 8000, g.Name)
	}
	require.NotEmpty(t, Generated(token[:1024], false, 6, 1))
	document := `[` + strings.Repeat(`{"step":"one","by":["alice"]},`, 400) + `0]`
	require.Empty(t, Generated(document, false, 6, 1))
}

// TestOrder checks that variants have the same order in every run, because a check may take only some.
func TestOrder(t *testing.T) {
	state := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256","kid":"one","step":1,"user":"alice"}`))
	token := state + "." + state + "." + base64.RawURLEncoding.EncodeToString(make([]byte, 32))
	for name, variants := range map[string]func(string) []Variant{"forgeries": Forgeries, "spellings": Spellings} {
		names := func() (all []string) {
			for _, v := range variants(token) {
				all = append(all, v.Name) // keys of its own make the texts of a forgery random
			}
			return all
		}
		want := names()
		require.NotEmpty(t, want, name)
		for range 4 {
			require.True(t, slices.Equal(want, names()), name)
		}
	}
}
