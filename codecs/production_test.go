package codecs_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/aesgcm"
	"sealab/codecs/claims"
	"sealab/codecs/hmacsha256"
	"sealab/codecs/hpkepsk"
	"sealab/codecs/hpkesession"
	"sealab/codecs/xchacha"
)

// TestProductionTypesDoNotForge checks that the types that servers use have
// only the two methods of their interface.
func TestProductionTypesDoNotForge(t *testing.T) {
	for _, codec := range []any{aesgcm.Ephemeral(), hmacsha256.Ephemeral(), hpkepsk.Ephemeral(), hpkesession.Ephemeral(), xchacha.Ephemeral()} {
		require.ElementsMatch(t, []string{"Seal", "Unseal"}, methods(codec), "%T", codec)
	}
	scheme, err := claims.New(aesgcm.Ephemeral(), claims.DefaultTTL)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"Mint", "Verify"}, methods(scheme), "%T", scheme)
	design, err := aesgcm.Design.OpenCodec(codecs.Config{Secrets: [][]byte{[]byte("a secret of 32 random bytes: new")}})
	require.NoError(t, err)
	require.Greater(t, len(methods(design)), 2, "the test sees methods that are there")
}

func methods(v any) []string {
	var names []string
	for method := range reflect.TypeOf(v).Methods() {
		names = append(names, method.Name)
	}
	return names
}
