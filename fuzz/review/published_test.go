package review_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/review"
	"sealab/fuzz/review/checks"
	"sealab/fuzz/review/client"
	"sealab/internal/testenv"
)

// published are servers that others have published. A command without a port speaks over standard
// streams. Exactly the checks in refuted must record a finding of at least a warning: each was seen by
// hand to be true.
var published = []foreign{
	{name: "server-everything", command: []string{"node", "published/node_modules/@modelcontextprotocol/server-everything/dist/index.js", "stdio"}, effects: true},
	{name: "server-everything, HTTP", command: []string{"node", "published/node_modules/@modelcontextprotocol/server-everything/dist/index.js", "streamableHttp"},
		env: "PORT=PORT", effects: true, refuted: []string{"H-HOST", "H-ORIGIN", "S-BATCH"}},
	{name: "server-filesystem", command: []string{"node", "published/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js", "FOLDER"}, effects: true},
	{name: "server-memory", command: []string{"node", "published/node_modules/@modelcontextprotocol/server-memory/dist/index.js"}, env: "MEMORY_FILE_PATH=FOLDER/memory.json", effects: true},
	{name: "server-sequential-thinking", command: []string{"node", "published/node_modules/@modelcontextprotocol/server-sequential-thinking/dist/index.js"}, effects: true},
	{name: "mcp-server-time", command: []string{"published/.venv/bin/python", "-m", "mcp_server_time", "--local-timezone", "UTC"}, effects: true},
	{name: "Go SDK, everything", command: []string{"go/bin/everything", "-http", "127.0.0.1:PORT"}, effects: true, refuted: []string{"H-ORIGIN"}},
	{name: "Go SDK, memory", command: []string{"go/bin/memory", "-http", "127.0.0.1:PORT"}, effects: true, refuted: []string{"H-ORIGIN"}},
	{name: "Go SDK, memory, stdio", command: []string{"go/bin/memory"}, effects: true, refuted: []string{"IO-LINE", "IO-NOTE", "IO-VER"}},
	{name: "Go SDK, sequentialthinking", command: []string{"go/bin/sequentialthinking", "-http", "127.0.0.1:PORT"}, effects: true, refuted: []string{"H-ORIGIN"}},
}

// TestPublished reviews the installed published servers with every check and with effects. It prints a
// table. A sample has two servers; with -args -all it has all.
func TestPublished(t *testing.T) {
	testenv.SkipSample(t) // each server takes seconds
	sample := []string{"server-memory", "Go SDK, memory"}
	fmt.Fprintf(os.Stderr, "%-28s %-9s %-12s %9s %8s  %s\n", "server", "version", "revisions", "exchanges", "seconds", "warnings")
	for _, f := range published {
		if !slices.Contains(sample, f.name) && !*all {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			report, err := review.Run(context.Background(), checks.All(), review.Options{Target: f.target(t), Seed: 1, Effects: f.effects, Budget: 8000})
			require.NoError(t, err)
			found := slices.Sorted(maps.Keys(refutedBy(report, review.Critical, review.Warning)))
			fmt.Fprintf(os.Stderr, "%-28s %-9s %-12s %9d %8.1f  %s\n", f.name, report.Server.Version, report.Server.Revisions[0], report.Exchanges, report.Seconds, strings.Join(found, " "))
			require.Equal(t, f.refuted, found, describe(report))
		})
	}
}

// target starts a server that has a port and returns its URL, or returns the command of one that has
// none.
func (f foreign) target(t *testing.T) client.Target {
	folder := t.TempDir()
	f.env = strings.ReplaceAll(f.env, "FOLDER", folder)
	f.command = slices.Clone(f.command)
	for i, a := range f.command {
		f.command[i] = strings.ReplaceAll(a, "FOLDER", folder)
	}
	if strings.Contains(strings.Join(append(f.command, f.env), " "), "PORT") {
		return client.Target{URL: f.start(t)}
	}
	root, program := f.installed(t)
	f.command[0] = program
	for i, a := range f.command[1:] {
		if strings.Contains(a, "/") && !filepath.IsAbs(a) {
			f.command[i+1] = filepath.Join(root, a)
		}
	}
	if f.env != "" {
		f.command = append([]string{"/usr/bin/env", f.env}, f.command...)
	}
	return client.Target{Command: f.command}
}
