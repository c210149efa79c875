package gosdk_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/codecs/boundary"
	"sealab/codecs/boundary/storetest"
	"sealab/internal/testenv"
)

var (
	fleetFor   = flag.Duration("fleet", 5*time.Second, "time of the load on the fleet")
	fleetTable = flag.String("fleet-table", "", "file for the table of TestFleetUnderLoad")
)

const fleetUsers = 6

// flowInterval returns the interval at which each user starts flows. Under -short the load is light.
func flowInterval() time.Duration {
	if testing.Short() {
		return 200 * time.Millisecond
	}
	return time.Nanosecond
}

// A balancer distributes requests over the servers of a fleet in turn. It skips
// a server that refuses the connection, as a balancer with health checks does.
type balancer struct {
	mu      sync.Mutex
	servers []*fleetServer
	next    int
	client  http.Client
}

func newBalancer(servers ...*fleetServer) *balancer {
	return &balancer{servers: servers, client: http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: fleetUsers}}}
}

func (b *balancer) pick() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.next++
	return b.servers[b.next%len(b.servers)].address
}

func (b *balancer) replace(i int, s *fleetServer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.servers[i] = s
}

// call sends one tools/call and returns the body of the answer.
func (b *balancer) call(user, token string) (body string, err error) {
	params := `"name":"work","arguments":{},`
	if token != "" {
		params += `"requestState":"` + token + `",`
	}
	message := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{` + params + `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	for range len(b.servers) {
		if body, err = b.send(user, message); !errors.Is(err, syscall.ECONNREFUSED) {
			break
		}
	}
	return body, err
}

func (b *balancer) send(user, message string) (string, error) {
	req, err := http.NewRequest(http.MethodPost, "http://"+b.pick(), strings.NewReader(message))
	if err != nil {
		return "", err
	}
	req.GetBody = nil // do not resend a request that may have arrived
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Authorization": "Bearer " + user,
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "work",
	} {
		req.Header.Set(name, value)
	}
	res, err := b.client.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return string(body), err
}

// tally counts the answers of a fleet.
type tally struct {
	requests, unanswered, tokens, accepted, late, doubly, lost, spent, replays atomic.Int64

	mu    sync.Mutex
	times []time.Duration
}

func (c *tally) timed(f func() (string, error)) (string, error) {
	c.requests.Add(1)
	start := time.Now()
	body, err := f()
	took := time.Since(start)
	if err != nil {
		c.unanswered.Add(1)
		return body, err
	}
	c.mu.Lock()
	c.times = append(c.times, took)
	c.mu.Unlock()
	return body, nil
}

func (c *tally) percentile(p float64) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.times) == 0 {
		return 0
	}
	slices.Sort(c.times)
	return c.times[int(p*float64(len(c.times)-1))]
}

// flow mints a token and presents it until it is accepted, at most four times.
// It then presents the token once more. faults counts the faults injected so
// far.
func (c *tally) flow(b *balancer, user string, sealed bool, faults *atomic.Int64) {
	asked, err := c.timed(func() (string, error) { return b.call(user, "") })
	_, token, found := strings.Cut(asked, `"requestState":"`)
	if err != nil || !found {
		return // the fleet returned no token
	}
	token, _, _ = strings.Cut(token, `"`)
	c.tokens.Add(1)
	before := faults.Load()
	accepted := false
	for try := range 4 {
		body, err := c.timed(func() (string, error) { return b.call(user, token) })
		if err == nil && strings.Contains(body, `"done"`) {
			accepted = true
			if c.accepted.Add(1); try > 0 {
				c.late.Add(1)
			}
			break
		}
	}
	switch {
	case !accepted && faults.Load() == before && before%2 == 0:
		c.lost.Add(1) // refused without a fault
	case !accepted:
		c.spent.Add(1)
	}
	if !sealed {
		return
	}
	if body, err := c.timed(func() (string, error) { return b.call(user, token) }); err == nil {
		c.replays.Add(1)
		if strings.Contains(body, `"done"`) {
			if accepted {
				c.doubly.Add(1)
			} else {
				c.accepted.Add(1)
				c.late.Add(1)
				c.spent.Add(-1)
			}
		}
	}
}

// waitUntilAccepting returns when every server has accepted three tokens in a
// row. The Redis client reconnects once a second.
func waitUntilAccepting(b *balancer) {
	var none atomic.Int64
	next := time.NewTicker(10 * time.Millisecond)
	defer next.Stop()
	for accepted := 0; accepted < 3*len(b.servers); accepted++ {
		<-next.C
		var probe tally
		probe.flow(b, "probe", false, &none)
		if probe.accepted.Load() == 0 || probe.late.Load() > 0 {
			accepted = -1
		}
	}
}

// writeRing replaces a key file.
func writeRing(t *testing.T, path string, secrets ...byte) {
	var ring bytes.Buffer
	for _, s := range secrets {
		fmt.Fprintln(&ring, hex.EncodeToString(secret(s)))
	}
	require.NoError(t, os.WriteFile(path+".new", ring.Bytes(), 0o600))
	require.NoError(t, os.Rename(path+".new", path))
}

// startFleet starts three servers. If keys is empty, they have no boundary.
func startFleet(t *testing.T, keys, socket string) []*fleetServer {
	servers := make([]*fleetServer, 3)
	for i := range servers {
		servers[i] = startFleetServer(t, keys, socket)
		t.Cleanup(servers[i].kill)
	}
	return servers
}

// putLoad starts flow at the interval for every user until end is called.
func putLoad(interval time.Duration, flow func(user string)) (end func()) {
	stop := make(chan struct{})
	var users sync.WaitGroup
	for i := range fleetUsers {
		users.Go(func() {
			next := time.NewTicker(interval)
			defer next.Stop()
			for {
				select {
				case <-stop:
					return
				case <-next.C:
					flow(fmt.Sprint("user", i))
				}
			}
		})
	}
	return func() {
		close(stop)
		users.Wait()
	}
}

// TestFleetUnderLoad puts load on three servers behind a balancer that keep
// used tokens on Redis, and on three servers without a boundary. Meanwhile the
// keys rotate twice, and one server and then Redis are killed and restarted. No
// token may be accepted twice, and a token may be lost only during a fault.
func TestFleetUnderLoad(t *testing.T) {
	testenv.SkipShort(t) // TestRotationUnderLoad rotates keys
	store := storetest.Redis(t)
	keys := filepath.Join(t.TempDir(), "ring.txt")
	writeRing(t, keys, 1)
	servers := startFleet(t, keys, store.Socket)
	sealed, plain := newBalancer(slices.Clone(servers)...), newBalancer(startFleet(t, "", store.Socket)...)
	rotate := func(secrets ...byte) {
		writeRing(t, keys, secrets...)
		for _, s := range servers {
			require.NoError(t, s.cmd.Process.Signal(syscall.SIGHUP))
		}
	}

	var with, without tally
	outcomes := map[boundary.Outcome]int{}
	var faults atomic.Int64 // odd during a fault; a removed key counts as two
	end := putLoad(flowInterval(), func(user string) {
		with.flow(sealed, user, true, &faults)
		without.flow(plain, user, false, &faults)
	})
	begun := time.Now()
	for _, event := range []struct {
		at float64 // fraction of the time
		do func()
	}{
		{0.10, func() { rotate(1, 2) }},
		{0.20, func() { rotate(2, 1) }},
		{0.30, func() { faults.Add(2); rotate(2) }}, // a token may wait longer than its key exists
		{0.40, func() { faults.Add(1); servers[1].outcomes(t, outcomes); servers[1].kill() }},
		{0.50, func() {
			servers[1] = startFleetServer(t, keys, store.Socket)
			t.Cleanup(servers[1].kill)
			sealed.replace(1, servers[1])
			waitUntilAccepting(sealed)
			faults.Add(1)
		}},
		{0.60, func() { faults.Add(1); store.Kill(t) }},
		{0.65, func() { store.Start(t) }},
		{0.75, func() { waitUntilAccepting(sealed); faults.Add(1) }},
		{0.80, func() { rotate(2, 3) }},
		{0.85, func() { rotate(3, 2) }},
		{0.95, func() { faults.Add(2); rotate(3) }},
		{1, func() {}},
	} {
		<-time.After(time.Until(begun.Add(time.Duration(event.at * float64(*fleetFor)))))
		event.do()
	}
	end()

	for _, server := range servers {
		server.outcomes(t, outcomes)
	}
	table := fleetReport(&with, &without, outcomes)
	t.Log("\n" + table)
	if *fleetTable != "" {
		require.NoError(t, os.WriteFile(*fleetTable, []byte(table), 0o644))
	}
	require.Zero(t, with.doubly.Load(), "accepted twice")
	require.Zero(t, with.lost.Load(), "lost without a fault")
	require.NotZero(t, with.accepted.Load())
	require.NotZero(t, with.replays.Load())
	require.NotZero(t, outcomes[boundary.Used], "tokens that were presented again")
	require.NotZero(t, without.accepted.Load())
}

// fleetReport formats the table of a run.
func fleetReport(with, without *tally, outcomes map[boundary.Outcome]int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "three servers, %d users, %v; key rotations, kill -9 of one server and of Redis\n\n", fleetUsers, *fleetFor)
	fmt.Fprintf(&b, "| | with the boundary | without |\n|---|---:|---:|\n")
	for _, row := range []struct {
		name string
		of   func(*tally) any
	}{
		{"requests", func(c *tally) any { return c.requests.Load() }},
		{"not answered (server killed)", func(c *tally) any { return c.unanswered.Load() }},
		{"tokens minted", func(c *tally) any { return c.tokens.Load() }},
		{"tokens accepted", func(c *tally) any { return c.accepted.Load() }},
		{"of these at a later try", func(c *tally) any { return c.late.Load() }},
		{"never accepted, in a fault", func(c *tally) any { return c.spent.Load() }},
		{"never accepted, without a fault", func(c *tally) any { return c.lost.Load() }},
		{"presented again", func(c *tally) any { return c.replays.Load() }},
		{"accepted twice", func(c *tally) any { return c.doubly.Load() }},
		{"p50 of a request", func(c *tally) any { return c.percentile(.5).Round(10 * time.Microsecond) }},
		{"p99 of a request", func(c *tally) any { return c.percentile(.99).Round(10 * time.Microsecond) }},
	} {
		fmt.Fprintf(&b, "| %s | %v | %v |\n", row.name, row.of(with), row.of(without))
	}
	fmt.Fprintf(&b, "\nTokens that the servers verified, by outcome (a killed server is asked before):\n\n| outcome | tokens |\n|---|---:|\n")
	for _, outcome := range slices.Sorted(maps.Keys(outcomes)) {
		fmt.Fprintf(&b, "| %s | %d |\n", outcome, outcomes[outcome])
	}
	return b.String()
}
