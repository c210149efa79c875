package storetest

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/internal/testenv"
)

// patience is the maximum time that a server may take to start.
const patience = 30 * time.Second

// A Server is a server process that a test started. It listens on a Unix socket
// in a folder of its own, and is killed at the end of the test.
type Server struct {
	Socket string // path of its Unix socket
	start  func() *exec.Cmd
	cmd    *exec.Cmd
	output bytes.Buffer
}

// Start starts the server, or restarts it after Kill, and waits until it
// accepts connections.
func (s *Server) Start(t *testing.T) {
	t.Helper()
	s.cmd = s.start()
	s.output.Reset()
	s.cmd.Stdout, s.cmd.Stderr = &s.output, &s.output
	require.NoError(t, s.cmd.Start())
	ready := func() bool {
		c, err := net.Dial("unix", s.Socket)
		if err == nil {
			c.Close()
		}
		return err == nil
	}
	require.Eventually(t, ready, patience, 10*time.Millisecond, "%s does not start: %s", s.cmd.Path, &s.output)
}

// Kill kills the server process as a crash would.
func (s *Server) Kill(t *testing.T) {
	t.Helper()
	if s.cmd == nil {
		return
	}
	require.NoError(t, s.cmd.Process.Kill())
	_ = s.cmd.Wait() // a killed process always has an error
	s.cmd = nil
}

// folder creates a folder with a short path. The path of a Unix socket has at
// most 108 bytes.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "store")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}

// Redis starts redis-server or valkey-server with persistence of every write.
// It skips the test if neither is installed.
func Redis(t *testing.T) *Server {
	t.Helper()
	var binary string
	for _, name := range []string{"redis-server", "valkey-server"} {
		if path, err := exec.LookPath(name); err == nil {
			binary = path
		}
	}
	if binary == "" {
		testenv.Skip(t, "redis-server and valkey-server are not installed")
	}
	dir := folder(t)
	s := &Server{Socket: filepath.Join(dir, "socket")}
	s.start = func() *exec.Cmd {
		return exec.Command(binary, "--port", "0", "--unixsocket", s.Socket, "--dir", dir, "--save", "", "--appendonly", "yes", "--appendfsync", "always",
			"--maxmemory", "64mb", "--maxmemory-policy", "noeviction")
	}
	s.Start(t)
	t.Cleanup(func() { s.Kill(t) })
	return s
}

// Postgres starts a PostgreSQL server with an empty database of the user
// "postgres". It skips the test if PostgreSQL is not installed. If the test
// runs as root, the server runs as the user postgres, because it refuses root.
func Postgres(t *testing.T) *Server {
	t.Helper()
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	require.NoError(t, err)
	if path, err := exec.LookPath("initdb"); err == nil {
		found = append(found, path)
	}
	if len(found) == 0 {
		testenv.Skip(t, "postgresql is not installed")
	}
	bin := filepath.Dir(found[len(found)-1])
	dir := folder(t)
	var as *syscall.SysProcAttr
	if os.Getuid() == 0 {
		as = own(t, dir, "postgres")
	}
	data := filepath.Join(dir, "data")
	initdb := exec.Command(filepath.Join(bin, "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale", "C")
	initdb.Dir, initdb.SysProcAttr = dir, as
	out, err := initdb.CombinedOutput()
	require.NoError(t, err, "%s", out)
	s := &Server{Socket: filepath.Join(dir, ".s.PGSQL.5432")}
	s.start = func() *exec.Cmd {
		cmd := exec.Command(filepath.Join(bin, "postgres"), "-D", data, "-k", dir, "-c", "listen_addresses=", "-c", "shared_buffers=16MB", "-c", "max_connections=60")
		cmd.Dir, cmd.SysProcAttr = dir, as
		return cmd
	}
	s.Start(t)
	t.Cleanup(func() { s.Kill(t) })
	return s
}
