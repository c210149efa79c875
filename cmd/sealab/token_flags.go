package main

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/codecs/keyfile"
	"sealab/internal/cli"
	"sealab/internal/lab"
)

// tokenFlags are the flags with which one token is sealed or unsealed by hand.
type tokenFlags struct {
	keys    string
	options []string

	// For schemes only.
	method, target, arguments, principal, audience, now string

	ttl time.Duration
}

// schemeFlags are those that say nothing to a codec.
var schemeFlags = []string{"method", "target", "arguments", "principal", "audience", "now", "ttl"}

func (f *tokenFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.keys, "keys", "", "file with the ring: one secret per line in hexadecimal or base64, the first seals; or one raw secret")
	flags.StringArrayVar(&f.options, "option", nil, "an option of the design, as name=value; may be repeated")
	flags.StringVar(&f.method, "method", "", "scheme: method of the request, as tools/call")
	flags.StringVar(&f.target, "target", "", "scheme: name of the tool or prompt, or URI of the resource")
	flags.StringVar(&f.arguments, "arguments", "", "scheme: arguments of the request, as JSON; left out: there are none")
	flags.StringVar(&f.principal, "principal", "", "scheme: who asks; left out: nobody has authenticated")
	flags.StringVar(&f.audience, "audience", "", "scheme: whom the token is for; left out: no one in particular")
	flags.StringVar(&f.now, "now", "", "scheme: time, as 2026-07-28T12:00:00Z or in seconds since 1970; left out: now")
	flags.DurationVar(&f.ttl, "ttl", 0, "scheme: how long tokens are good, as 10m; left out: the design's default")
	cobra.CheckErr(cmd.MarkFlagRequired("keys"))
}

// open sets the design called name up: a codec, or a scheme as one, under the
// binding and at the time that the flags give.
func (f *tokenFlags) open(cmd *cobra.Command, name string) (codecs.Codec, error) {
	d, err := catalog.Find(name)
	if err != nil {
		return nil, err
	}
	options, err := cli.ParseOptions(f.options)
	if err != nil {
		return nil, err
	}
	secrets, err := keyfile.Read(f.keys)
	if err != nil {
		return nil, err
	}
	config := codecs.Config{Secrets: secrets, Options: options, Clock: time.Now}
	if d.IsScheme() {
		return f.openScheme(cmd, d, config)
	}
	for _, flag := range schemeFlags {
		if cmd.Flags().Changed(flag) {
			return nil, fmt.Errorf("sealab: %s is a codec and knows no --%s; schemes do, see sealab list", d.Name, flag)
		}
	}
	return f.openIn(d, config, nil)
}

func (f *tokenFlags) openIn(d codecs.Design, config codecs.Config, c *codecs.Context) (codecs.Codec, error) {
	in, err := lab.Open(d, config)
	if err != nil {
		return nil, fmt.Errorf("sealab: %s with %s: %w", d.Name, f.keys, err)
	}
	return in.At(c), nil
}

func (f *tokenFlags) openScheme(cmd *cobra.Command, d codecs.Design, config codecs.Config) (codecs.Codec, error) {
	context, err := f.context(cmd)
	if err != nil {
		return nil, err
	}
	if context.Now, err = parseTime(f.now); err != nil {
		return nil, err
	}
	if cmd.Flags().Changed("ttl") {
		config.TTL = &f.ttl
	}
	return f.openIn(d, config, context)
}

// context returns the context that the flags give, without its time. A flag that
// is not given is absent, which differs from empty.
func (f *tokenFlags) context(cmd *cobra.Command) (*codecs.Context, error) {
	b := &codecs.Context{Method: f.method, Target: f.target}
	if cmd.Flags().Changed("arguments") {
		if !json.Valid([]byte(f.arguments)) {
			return nil, fmt.Errorf("sealab: --arguments %q: want JSON", f.arguments)
		}
		b.Arguments = json.RawMessage(f.arguments)
	}
	if cmd.Flags().Changed("principal") {
		b.Principal = &f.principal
	}
	if cmd.Flags().Changed("audience") {
		b.Audience = &f.audience
	}
	return b, nil
}

// parseTime reads a time as RFC 3339 or as seconds since 1970; none is now.
func parseTime(text string) (time.Time, error) {
	if text == "" {
		return time.Now(), nil
	}
	if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return at, nil
	}
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(seconds) || math.Abs(seconds) > 1<<40 {
		return time.Time{}, fmt.Errorf("sealab: --now %q: want a time as 2026-07-28T12:00:00Z or in seconds since 1970", text)
	}
	whole, fraction := math.Modf(seconds)
	return time.Unix(int64(whole), int64(math.Round(fraction*1e9))), nil
}
