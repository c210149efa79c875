package main

import (
	"bytes"
	"encoding/json"
	"net"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/analysis/findings"
	"sealab/fuzz/review/client"
	"sealab/internal/broken/mcp"
	"sealab/internal/cli"
	"sealab/internal/command"
	"sealab/internal/runfile"
	"sealab/internal/testenv"
)

// sealab runs the command and returns its exit status and its output.
func sealab(args ...string) (status int, out string) {
	var stdout, stderr bytes.Buffer
	status = run(args, strings.NewReader(""), &stdout, &stderr)
	return status, stdout.String() + stderr.String()
}

// TestReviewReplay reviews a broken server and reproduces every finding. After
// the server is fixed, no finding is reproduced.
func TestReviewReplay(t *testing.T) {
	clock := client.SystemClock()
	s := mcp.New(mcp.Clock{Now: clock.Now, Sleep: clock.Sleep}, "unbound arguments", "unbound tool", "published key", "any origin", "any session")
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	dir := t.TempDir()
	checks := "RS-ARGS,RS-TOOL,RS-KEY,H-ORIGIN,S-MISSING,H-VER,RS-TYPE"
	status, out := sealab("review", h.URL+"/mcp", "--checks", checks, "--out", dir)
	require.Equal(t, cli.Refuted, status, out)
	files, err := filepath.Glob(filepath.Join(dir, "*", "*", "findings.json"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	runs, err := runfile.Runs(dir, runfile.Review)
	require.NoError(t, err)
	require.Equal(t, []string{filepath.Dir(files[0])}, runs, "sealab site finds the review there")
	data, err := os.ReadFile(files[0])
	require.NoError(t, err)
	all, err := findings.Read(data)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(all), 5)

	status, out = sealab("replay", files[0])
	require.Equal(t, cli.Refuted, status, out)
	require.Equal(t, len(all), strings.Count(out, "shows again"), out)
	s.Repair()
	status, out = sealab("replay", files[0])
	require.NotContains(t, out, "shows again")
	require.Contains(t, []int{cli.OK, cli.Fault}, status, out)
	h.Close()
	status, out = sealab("replay", files[0], "--start", "200ms")
	require.Equal(t, cli.Fault, status, "a server that does not answer is no repair: %s", out)
}

// TestReviewUnseen reviews two sound servers. Destructive tools that ask are
// not called, so their states are not tested. If a prompt returns states, the
// uncalled tools must be listed.
func TestReviewUnseen(t *testing.T) {
	const silent, destructive = "tools that do not say that they ask", "tools that ask are destructive, and no prompts"
	clock := client.SystemClock()
	for _, x := range []struct {
		server string
		args   []string
		want   int
		unseen string
	}{
		{destructive, []string{"--checks", "RS-TYPE,H-ORIGIN"}, cli.Fault, "not called, so that their states are not tested: 2 tools that may ask: "},
		{destructive, []string{"--checks", "RS-TYPE,H-ORIGIN", "--tool", "deploy", "--tool", "remove"}, cli.OK, ""},
		{destructive, []string{"--checks", "RS-TYPE,H-ORIGIN", "--effects"}, cli.OK, ""},
		{destructive, []string{"--checks", "RS-TYPE,H-ORIGIN", "--safe=false"}, cli.OK, ""},
		{destructive, []string{"--checks", "H-ORIGIN"}, cli.OK, ""},
		{silent, []string{"--checks", "RS-TYPE"}, cli.OK, "not called    deploy, grow, remove, runs"},
	} {
		h := httptest.NewServer(mcp.New(mcp.Clock{Now: clock.Now, Sleep: clock.Sleep}, x.server))
		status, out := sealab(append([]string{"review", h.URL + "/mcp"}, x.args...)...)
		h.Close()
		require.Equal(t, x.want, status, "%v: %s", x, out)
		require.Equal(t, x.unseen != "", strings.Contains(out, "not called"), out)
		require.Contains(t, out, x.unseen)
	}
}

// TestCommittedReview reproduces the findings of the committed review on their
// fixture. None may be reproduced on a sound server with the same tools.
func TestCommittedReview(t *testing.T) {
	files, err := filepath.Glob("../../results/review/*/findings.json")
	require.NoError(t, err)
	require.Len(t, files, 1)
	data, err := os.ReadFile(files[0])
	require.NoError(t, err)
	all, err := findings.Read(data)
	require.NoError(t, err)
	require.NotEmpty(t, all)
	var recipe struct{ URL string }
	require.NoError(t, json.Unmarshal(all[0].Recipe, &recipe))
	server, err := url.Parse(recipe.URL)
	require.NoError(t, err)
	address, port := server.Host, server.Port()
	fixture, err := filepath.Abs("../../fuzz/review/testdata/servers/go/bin/plain")
	require.NoError(t, err)
	if _, err := os.Stat(fixture); err != nil {
		testenv.Skip(t, "the server of the committed review is not installed: make review-servers")
	}
	if l, err := net.Listen("tcp", address); err != nil {
		testenv.Skip(t, "port %s of the committed review is in use", port)
	} else {
		require.NoError(t, l.Close())
	}
	cmd := exec.Command(fixture, port)
	cmd.SysProcAttr = command.TiedChild()
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	ticks := time.NewTicker(20 * time.Millisecond)
	defer ticks.Stop()
	for range 500 {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
			break
		}
		<-ticks.C
	}
	status, out := sealab("replay", files[0])
	require.Equal(t, cli.Refuted, status, out)
	require.Equal(t, len(all), strings.Count(out, "shows again"), out)

	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	l, err := net.Listen("tcp", address)
	require.NoError(t, err)
	clock := client.SystemClock()
	repaired := httptest.NewUnstartedServer(mcp.New(mcp.Clock{Now: clock.Now, Sleep: clock.Sleep}))
	repaired.Listener.Close()
	repaired.Listener = l
	repaired.Start()
	t.Cleanup(repaired.Close)
	_, out = sealab("replay", files[0])
	require.NotContains(t, out, "shows again", "a sound server with the same tools")
	require.Contains(t, out, "does not show", out)
}
