package catalog_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/catalog"
)

// TestOptionsTakeGuaranteesAway checks that an option that weakens a guarantee
// removes it, and that the default keeps it.
func TestOptionsTakeGuaranteesAway(t *testing.T) {
	for _, c := range []struct {
		design, option, value string
		property              codecs.Property
		byDefault, under      bool
	}{
		{"mcp-rb", "digest", "given", codecs.BindsArguments, true, false},
		{"mcp-rb", "reading", "sdk", codecs.Canonical, true, false},
		{"mcp-ts", "payload", "json", codecs.ByteExact, true, false},
		{"mcp-ts", "bind", "request", codecs.BindsTarget, false, true},
		{"mcp-ts", "bind", "principal", codecs.Unlinkable, true, false},
		{"mcp-ts-bound", "bind", "none", codecs.BindsTarget, true, false},
		{"mcp-ts-bound", "bind", "principal", codecs.BindsTarget, true, false},
		{"mcp-py", "reading", "sdk", codecs.Expiry, true, false},
		{"rmcp-rs1", "bind", "docs", codecs.BindsTarget, false, true},
		{"rmcp-rs2", "kid", "numbered", codecs.Rotation, true, false},
		{"tower-mcp-v2", "payload", "json", codecs.ByteExact, true, false},
		{"mcp-d", "mode", "encrypted", codecs.Confidentiality, false, true},
		{"mcp-d-encrypted", "mode", "signed", codecs.Confidentiality, true, false},
		{"aes-256-gcm", "no such option", "x", codecs.Integrity, true, true},
	} {
		d, err := catalog.Find(c.design)
		require.NoError(t, err)
		g, ok := d.Guarantee(c.property, nil)
		require.True(t, ok)
		require.Equal(t, c.byDefault, g.Holds, "%s: %s", c.design, c.property)
		g, ok = d.Guarantee(c.property, map[string]string{c.option: c.value})
		require.True(t, ok)
		require.Equal(t, c.under, g.Holds, "%s with %s=%s: %s", c.design, c.option, c.value, c.property)
	}
}
