package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"sealab/cmd/sealab/example"
	"sealab/cmd/sealab/example/fixtures"
	"sealab/codecs/boundary"
)

// shutdownGrace is the time that requests under way get when the server ends.
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

func newServeCommand() *cobra.Command {
	var o serveOptions
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the example server of the Model Context Protocol",
		Long: `Serve runs a Model Context Protocol server (revision 2026-07-28 and older ones)
with tools, a prompt and a resource that need several rounds. Its requestState
is protected by the boundary, so that clients see sealed tokens alone.

It talks over standard input and output, or with --http over streamable HTTP at
the path ` + example.Path + `. Standard output carries JSON-RPC and nothing else; reasons
of refusals go to standard error. SIGINT and SIGTERM end it after the requests
under way.

The key file is that of sealab seal. Without one the server makes a key, and its
tokens die with it.`,
		Example: `  sealab serve
  sealab serve --http localhost:8080
  head -c 32 /dev/urandom > secret.key
  sealab serve --http localhost:8080 --keys secret.key
  sealab serve --http 0.0.0.0:8080 --allow-host mcp.example.com --keys ring.txt --single-use 100000`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return serve(cmd, o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.http, "http", "", "serve streamable HTTP at this `address` instead of standard input and output")
	f.StringArrayVar(&o.hosts, "allow-host", nil, "answer requests to and from pages of this `host` too, beside localhost (repeat for more)")
	f.StringVar(&o.keys, "keys", "", "`file` with the ring: one secret per line in hexadecimal or base64, the first seals; or one raw secret")
	f.StringVar(&o.design, "design", "", "seal with this `design` of the catalog (default: the Python SDK's format)")
	f.StringArrayVar(&o.options, "option", nil, "an option of the design, as `name=value`; may be repeated")
	f.DurationVar(&o.ttl, "ttl", boundary.DefaultTTL, "refuse tokens after this `time`")
	f.StringVar(&o.audience, "audience", "", "`name` of the service in its tokens (default: the server's name)")
	f.IntVar(&o.singleUse, "single-use", 0, "take every token once, and remember this `number` of used ones in memory (0: off)")
	f.BoolVar(&o.conformance, "conformance", false, "add the fixtures of the official conformance suite")
	return cmd
}

func serve(cmd *cobra.Command, o serveOptions) error {
	// The SDK tells of every connection, which is one for each request, at the
	// level below.
	log := slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	server, err := o.server(log)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	if o.http == "" {
		return serveStdio(ctx, server, cmd.InOrStdin(), cmd.OutOrStdout())
	}
	l, err := net.Listen("tcp", o.http)
	if err != nil {
		return fmt.Errorf("sealab: serve: %w", err)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "sealab: serving http://%s%s\n", l.Addr(), example.Path)
	return example.Serve(ctx, l, example.Handler(server, o.hosts, log), shutdownGrace)
}

// serveStdio serves one client over in and out until either ends or ctx does.
func serveStdio(ctx context.Context, server *mcp.Server, in io.Reader, out io.Writer) error {
	err := server.Run(ctx, &mcp.IOTransport{Reader: io.NopCloser(in), Writer: nopCloser{out}})
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// server makes the server that the flags ask for.
func (o serveOptions) server(log *slog.Logger) (*mcp.Server, error) {
	policy, err := o.policy(log)
	if err != nil {
		return nil, err
	}
	options := &mcp.ServerOptions{Logger: log}
	if o.conformance {
		options.CompletionHandler = fixtures.Complete
	}
	server, err := example.New(policy, options)
	if err != nil && o.keys != "" {
		return nil, fmt.Errorf("sealab: serve with %s: %w", o.keys, err)
	}
	if err == nil && o.conformance {
		fixtures.Add(server)
	}
	return server, err
}
