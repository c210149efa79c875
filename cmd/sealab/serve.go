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
	"sealab/codecs"
	"sealab/codecs/boundary"
	"sealab/codecs/catalog"
)

// serveOptions are the flags of serve.
type serveOptions struct {
	http        string
	hosts       []string
	keys        []string
	design      string
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

Keys are files of at least 32 random bytes: the first seals, every one unseals.
Without keys the server makes one, and its tokens die with it.`,
		Example: `  sealab serve
  sealab serve --http localhost:8080
  head -c 32 /dev/urandom > secret.key
  sealab serve --http localhost:8080 --key secret.key
  sealab serve --http 0.0.0.0:8080 --allow-host mcp.example.com --key new.key --key old.key`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return serve(cmd, o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.http, "http", "", "serve streamable HTTP at this `address` instead of standard input and output")
	f.StringArrayVar(&o.hosts, "allow-host", nil, "answer requests to and from pages of this `host` too, beside localhost (repeat for more)")
	f.StringArrayVar(&o.keys, "key", nil, "read a key from this `file` (repeat to rotate)")
	f.StringVar(&o.design, "design", "", "seal with this `design` of the catalog (default: the Python SDK's format)")
	f.DurationVar(&o.ttl, "ttl", boundary.DefaultTTL, "refuse tokens after this `time`")
	f.StringVar(&o.audience, "audience", "", "`name` of the service in its tokens (default: the server's name)")
	f.IntVar(&o.singleUse, "single-use", 0, "take every token once, and remember this `number` of used ones in memory (0: off)")
	f.BoolVar(&o.conformance, "conformance", false, "add the fixtures of the official conformance suite")
	return cmd
}

func serve(cmd *cobra.Command, o serveOptions) error {
	log := slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil))
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
	log.Info("serving", "url", "http://"+l.Addr().String()+example.Path)
	return example.Serve(ctx, l, example.Handler(server, o.hosts, log))
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
	if err == nil && o.conformance {
		fixtures.Add(server)
	}
	return server, err
}

func (o serveOptions) policy(log *slog.Logger) (boundary.Policy, error) {
	p := boundary.Policy{Audience: o.audience, TTL: o.ttl, Logger: log, Now: time.Now}
	var err error
	if o.singleUse != 0 {
		if p.Store, err = boundary.NewMemory(o.singleUse); err != nil {
			return p, err
		}
	}
	if p.Secrets, err = readKeys(o.keys); err != nil || o.design == "" {
		return p, err
	}
	if p.Secrets == nil {
		return p, fmt.Errorf("sealab: serve: --design %s needs at least one --key", o.design)
	}
	return o.useDesign(p)
}

// useDesign replaces the ring of the policy by the design under that ring.
func (o serveOptions) useDesign(p boundary.Policy) (boundary.Policy, error) {
	d, err := catalog.Find(o.design)
	if err != nil {
		return p, err
	}
	c := codecs.Config{Secrets: p.Secrets, TTL: &o.ttl, Clock: time.Now}
	p.Secrets = nil
	if !d.IsScheme() {
		p.Codec, err = d.OpenCodec(c)
		return p, err
	}
	if p.Store == nil {
		p.TTL = 0 // the scheme has it
	}
	p.Scheme, err = d.OpenScheme(c)
	return p, err
}

// readKeys returns the contents of the key files, nil where there are none. Its
// errors name files, never what is in them.
func readKeys(files []string) ([][]byte, error) {
	var keys [][]byte
	for _, name := range files {
		key, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("sealab: key file: %w", err)
		}
		if len(key) < codecs.MinSecret {
			return nil, fmt.Errorf("sealab: key file %s: has %d bytes and must have at least %d: make one with: head -c 32 /dev/urandom > %s",
				name, len(key), codecs.MinSecret, name)
		}
		keys = append(keys, key)
	}
	return keys, nil
}
