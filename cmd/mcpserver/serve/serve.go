// Package serve is the command that runs the example server. With --conformance it adds the tools,
// prompts and resources that the official conformance suite of the Model Context Protocol (npm
// @modelcontextprotocol/conformance 0.2.0-alpha.12) calls. They are for revision 2026-07-28. The
// suite defines the names, messages and results.
package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"sealab/cmd/mcpserver/example"
	"sealab/codecs/boundary"
	"sealab/codecs/keyfile"
	"sealab/internal/cli"
	"sealab/internal/loopback"
)

// shutdownGrace is the time that requests in flight have to end when the server stops.
const shutdownGrace = 3 * time.Second

// serveOptions are the flags of serve.
type serveOptions struct {
	http        string
	hosts       []string
	keys        string
	design      string
	options     []string
	ttl         time.Duration
	audience    string
	singleUse   int
	conformance bool
}

// New returns the command. The examples in its help use path as its name.
func New(path string) *cobra.Command {
	var o serveOptions
	cmd := &cobra.Command{
		Use:   path[strings.LastIndex(path, " ")+1:],
		Short: "Run the example server of the Model Context Protocol",
		Long: `Run a Model Context Protocol server (revision 2026-07-28 and older) with tools,
a prompt and a resource that need several rounds. The boundary seals its
requestState, so that clients see only tokens.

The server uses standard input and output, or with --http streamable HTTP at the
path ` + example.Path + `. Standard output carries only JSON-RPC; reasons of refusals go to
standard error. SIGINT and SIGTERM end the server after the requests under way,
and it writes the number of tool calls that ran to their end.
HTTP is neither encrypted nor authenticated: put a proxy in front of it.

The key file is that of sealab seal, and is read again on SIGHUP. The server
derives keys of its own from the secrets. Without a file it makes a key, and its
tokens end with it.`,
		Example: strings.ReplaceAll(`  sealab serve
  sealab serve --http localhost:8080
  (umask 077; head -c 32 /dev/urandom > secret.key)
  sealab serve --http localhost:8080 --keys secret.key
  sealab serve --http 0.0.0.0:8080 --allow-host mcp.example.com --keys ring.txt --single-use 100000`, "sealab serve", path),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return serve(cmd, o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.http, "http", "", "serve streamable HTTP at this `address`, not standard input and output")
	f.StringArrayVar(&o.hosts, "allow-host", nil, "also answer requests to, and from pages of, this `host` (may be repeated)")
	f.StringVar(&o.keys, "keys", "", "key `file`: one secret per line in hexadecimal or base64, or one raw secret")
	f.StringVar(&o.design, "design", "", "seal with this `design` of the catalog (default: AES-256-GCM with claims)")
	f.StringArrayVar(&o.options, "option", nil, "option of the design, as `name=value` (may be repeated)")
	f.DurationVar(&o.ttl, "ttl", boundary.DefaultTTL, "refuse tokens that are older than this `duration`")
	f.StringVar(&o.audience, "audience", "", "audience of the tokens, a `name` of the service (default: the server's name)")
	f.IntVar(&o.singleUse, "single-use", 0, "accept each token once: keep this `number` of used tokens in memory (0: off)")
	f.BoolVar(&o.conformance, "conformance", false, "add the features that the official conformance suite asks for")
	return cmd
}

func serve(cmd *cobra.Command, o serveOptions) error {
	// At lower levels the SDK logs every connection, which means every request.
	log := slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	server, protection, err := o.server(log)
	if err != nil {
		return err
	}
	defer o.rotateOnSignal(protection, log)()
	ran := countCalls(server)
	defer func() { fmt.Fprintf(cmd.ErrOrStderr(), "tool calls that ran to their end: %d\n", ran.Load()) }()
	ctx, stop := cli.Interruptible(cmd)
	defer stop()
	if o.http == "" {
		return serveStdio(ctx, server, cmd.InOrStdin(), cmd.OutOrStdout())
	}
	l, err := net.Listen("tcp", o.http)
	if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	if loopback.Check(l.Addr().String()) != nil {
		log.Warn("clients of other machines can connect, without encryption and without authentication: all of them are one unauthenticated principal", "address", l.Addr().String())
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "serving http://%s%s\n", l.Addr(), example.Path)
	return example.Serve(ctx, l, example.Handler(server, o.hosts, log), example.BodyTimeout, shutdownGrace)
}

// countCalls counts the tool calls that ran to their end. Their result is not an error and asks for
// nothing.
func countCalls(server *mcp.Server) *atomic.Int64 {
	var ran atomic.Int64
	server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			res, err := next(ctx, method, req)
			if r, ok := res.(*mcp.CallToolResult); ok && err == nil && r != nil && !r.IsError && len(r.InputRequests) == 0 && r.RequestState == "" {
				ran.Add(1)
			}
			return res, err
		}
	})
	return &ran
}

// serveStdio serves one client over in and out until ctx or the input ends.
func serveStdio(ctx context.Context, server *mcp.Server, in io.Reader, out io.Writer) error {
	err := server.Run(ctx, example.Stdio(in, out))
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// server returns the server that the flags select.
func (o serveOptions) server(log *slog.Logger) (*mcp.Server, *boundary.Boundary, error) {
	policy, err := o.policy(log)
	if err != nil {
		return nil, nil, err
	}
	options := &mcp.ServerOptions{Logger: log}
	if o.conformance {
		options.CompletionHandler = completeFixtures
	}
	server, protection, err := example.New(policy, options)
	if err != nil && o.keys != "" {
		return nil, nil, fmt.Errorf("serve with %s: %w", o.keys, err)
	}
	if err == nil && o.conformance {
		addFixtures(server)
	}
	return server, protection, err
}

// rotateOnSignal reads the key file again on SIGHUP, so that keys rotate without a restart. If the
// file is bad, it logs the error and keeps the ring. The returned function stops it.
func (o serveOptions) rotateOnSignal(protection *boundary.Boundary, log *slog.Logger) (stop func()) {
	if o.keys == "" {
		return func() {}
	}
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	go func() {
		for range hangups {
			secrets, err := keyfile.Read(o.keys)
			if err == nil {
				err = protection.Rotate(secrets)
			}
			if err != nil {
				log.Error("the key ring stays as it was", "error", err)
				continue
			}
			log.Warn("the key ring was read again", "file", o.keys, "secrets", len(secrets))
		}
	}()
	return func() {
		signal.Stop(hangups)
		close(hangups)
	}
}
