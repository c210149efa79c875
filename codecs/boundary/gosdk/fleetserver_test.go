package gosdk_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"sealab/codecs/boundary"
	"sealab/codecs/boundary/gosdk"
	"sealab/codecs/boundary/redisstore"
	"sealab/codecs/keyfile"
)

// Environment variables that configure a server of the fleet.
const (
	keysVariable  = "BOUNDARY_TEST_KEYS"  // path of the key file; "": a server without a boundary
	redisVariable = "BOUNDARY_TEST_REDIS" // path of the socket of Redis
)

// runFleetServer serves one tool with two rounds until the process is killed.
// It prints its address, and rereads its keys on SIGHUP.
func runFleetServer() error {
	impl := &mcp.Implementation{Name: service, Version: "1"}
	server := mcp.NewServer(impl, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "work"}, func(_ context.Context, req *mcp.CallToolRequest, _ any) (*mcp.CallToolResult, any, error) {
		if req.Params.RequestState == "" {
			return &mcp.CallToolResult{RequestState: "half done", InputRequests: mcp.InputRequestMap{}}, nil, nil
		}
		return &mcp.CallToolResult{Content: said("done")}, nil, nil
	})
	outcomes := &outcomeCounts{counts: map[boundary.Outcome]int{}}
	if path := os.Getenv(keysVariable); path != "" {
		if err := protectFleetServer(server, impl, path, outcomes); err != nil {
			return err
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
	mux := http.NewServeMux()
	mux.Handle("/", authenticated(h))
	mux.Handle("GET "+outcomesPath, outcomes)
	return http.Serve(l, mux)
}

// outcomesPath is the URL path that returns the outcomes of verified tokens.
const outcomesPath = "/outcomes"

// outcomeCounts counts the outcomes of tokens, and serves the counts as JSON.
type outcomeCounts struct {
	mu     sync.Mutex
	counts map[boundary.Outcome]int
}

func (o *outcomeCounts) Start(ctx context.Context, op boundary.Operation, _ string) (context.Context, func(boundary.Event)) {
	return ctx, func(e boundary.Event) {
		if op == boundary.Verify {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.counts[e.Outcome]++
		}
	}
}

func (o *outcomeCounts) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	_ = json.NewEncoder(w).Encode(o.counts) // the test notices a missing answer
}

func protectFleetServer(server *mcp.Server, impl *mcp.Implementation, path string, observer boundary.Observer) error {
	secrets, err := keyfile.Read(path)
	if err != nil {
		return err
	}
	redis.SetLogger(quiet{}) // it logs every refused connection
	client := redis.NewClient(&redis.Options{Network: "unix", Addr: os.Getenv(redisVariable), MaxRetries: -1, DialerRetries: 1})
	store, err := redisstore.New(client, redisstore.Options{})
	if err != nil {
		return err
	}
	b, err := gosdk.Protect(server, impl, boundary.Policy{
		Secrets: secrets, Store: store, StoreTimeout: 5 * time.Second,
		RequirePrincipal: true, Logger: slog.New(slog.DiscardHandler), Observer: observer,
	})
	if err != nil {
		return err
	}
	hangups := make(chan os.Signal, 10)
	signal.Notify(hangups, syscall.SIGHUP)
	go func() {
		for range hangups {
			secrets, err := keyfile.Read(path)
			if err == nil {
				err = b.Rotate(secrets)
			}
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
	}()
	return nil
}

type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}

// A fleetServer is one process of a fleet.
type fleetServer struct {
	cmd     *exec.Cmd
	address string
}

// startFleetServer starts this test binary as a server.
func startFleetServer(t *testing.T, keys, redis string) *fleetServer {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serverVariable+"=fleet", keysVariable+"="+keys, redisVariable+"="+redis)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	return &fleetServer{cmd, strings.TrimSpace(line)}
}

// outcomes adds the outcomes of the tokens that the server verified to all.
func (s *fleetServer) outcomes(t *testing.T, all map[boundary.Outcome]int) {
	t.Helper()
	res, err := http.Get("http://" + s.address + outcomesPath)
	require.NoError(t, err)
	defer res.Body.Close()
	counts := map[boundary.Outcome]int{}
	require.NoError(t, json.NewDecoder(res.Body).Decode(&counts))
	for outcome, n := range counts {
		all[outcome] += n
	}
}

func (s *fleetServer) kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait() // a killed process always has an error
}
