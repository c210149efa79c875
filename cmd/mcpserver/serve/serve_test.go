package serve

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/catalog"
)

// TestServeUnderEveryDesign runs the example of the specification through its rounds under every
// design of the catalog.
func TestServeUnderEveryDesign(t *testing.T) {
	keys := filepath.Join(t.TempDir(), "secret.key")
	require.NoError(t, os.WriteFile(keys, []byte("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n"), 0o600))
	for _, d := range catalog.All() {
		for name, singleUse := range map[string]int{"": 0, "/single-use": 10} {
			t.Run(d.Name+name, func(t *testing.T) {
				var log bytes.Buffer
				server, _, err := serveOptions{keys: keys, design: d.Name, ttl: time.Minute, singleUse: singleUse}.server(slog.New(slog.NewTextHandler(&log, nil)))
				require.NoError(t, err)
				if g, _ := d.Guarantee(codecs.BindsPrincipal, nil); d.IsScheme() && !g.Holds {
					require.Contains(t, log.String(), "binds-principal")
				}
				around, err := catalog.Find(d.Name + "-claims")
				if d.IsScheme() {
					around, err = d, nil
				}
				require.NoError(t, err)
				if g, _ := around.Guarantee(codecs.Confidentiality, nil); !g.Holds {
					require.Contains(t, log.String(), "clients can read the state")
				}
				require.Equal(t, "Bug #1 resolved as Duplicate of Bug #2.", resolveDuplicate(t, server))
			})
		}
	}
}

// resolveDuplicate calls the tool update_work_item and answers its questions.
func resolveDuplicate(t *testing.T, server *mcp.Server) string {
	t.Helper()
	ctx := context.Background()
	there, here := mcp.NewInMemoryTransports()
	_, err := server.Connect(ctx, there, nil)
	require.NoError(t, err)
	client := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"resolution": "Duplicate", "duplicateOfId": 2.0}}, nil
		},
	})
	session, err := client.Connect(ctx, here, nil)
	require.NoError(t, err)
	defer session.Close()
	res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "update_work_item", Arguments: map[string]any{
		"workItemId": 1, "fields": map[string]any{"System.State": "Resolved"},
	}})
	require.NoError(t, err)
	return res.Content[0].(*mcp.TextContent).Text
}
