package catalog_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs/catalog"
)

func TestUnknownSuggests(t *testing.T) {
	many := fmt.Sprintf("there are %d, such as hmac-sha256, ", len(catalog.Variants()))
	for name, want := range map[string]string{
		"aes-265-gcm": `no design "aes-265-gcm"; did you mean aes-256-gcm, `,
		"aes-gcm":     `no design "aes-gcm"; did you mean aes-`,
		"AES-256-GCM": `did you mean aes-256-gcm, `,
		"aes265":      `did you mean aes-`,
		"xchacha20":   `did you mean xchacha20-poly1305, xchacha20-poly1305-claims`,
		"qqqqqqqq":    `no design "qqqqqqqq"; ` + many,
		"a":           many,
		"":            many,
	} {
		_, err := catalog.Find(name)
		require.ErrorContains(t, err, want)
	}
	for _, d := range catalog.Variants() {
		_, err := catalog.Find(d.Name + "x")
		require.ErrorContains(t, err, "did you mean "+d.Name, "the nearest stands first")
	}
}
