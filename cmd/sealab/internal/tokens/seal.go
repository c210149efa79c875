// Package tokens holds the commands that make and read one token: seal, unseal, inspect and identify.
package tokens

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/codecs/keyfile"
	"sealab/internal/cli"
	"sealab/internal/lab"
)

// makeKey makes a key file.
const makeKey = "(umask 077; head -c 32 /dev/urandom > secret.key)"

// NewSeal returns the command "seal".
func NewSeal() *cobra.Command {
	var flags tokenFlags
	cmd := &cobra.Command{
		Use:   "seal DESIGN --keys FILE [flags] < PAYLOAD",
		Short: "Seal one payload into a token",
		Long: `Seal the bytes on standard input, and print the token and a line end. For a
scheme the payload is the state, and the token is valid for the request that the
flags describe.

A key file that is text holds one secret per line, in hexadecimal or base64; the
first seals. Blank lines and lines that begin with # are ignored. Any other key
file is raw: all of it is one secret. Only its owner may read or write it.`,
		Example: "  " + makeKey + `
  printf '{"step":1}' | sealab seal aes-256-gcm --keys secret.key
  printf '{"step":1}' | sealab seal mcp-py --keys secret.key --method tools/call --target deploy --principal alice`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := flags.open(cmd, args[0])
			if err != nil {
				return err
			}
			payload, err := readBounded(cmd.InOrStdin(), "payload")
			if err != nil {
				return err
			}
			token, err := c.Seal(nil, payload)
			if errors.Is(err, codecs.ErrUnsupported) {
				return fmt.Errorf("%s cannot carry this payload for this request: %w", args[0], err)
			}
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(append(token, '\n'))
			return err
		},
	}
	flags.register(cmd)
	return cmd
}

// NewUnseal returns the command "unseal".
func NewUnseal() *cobra.Command {
	var flags tokenFlags
	cmd := &cobra.Command{
		Use:   "unseal DESIGN --keys FILE [flags] < TOKEN",
		Short: "Unseal one token",
		Long: `Unseal the token on standard input and print the bytes of its payload. One line
end after the token is ignored. Key files have the form of sealab seal.

If the token is refused, the exit status is 1 and the stage and the reason are
printed. A server must not send them to its clients.`,
		Example: `  sealab unseal aes-256-gcm --keys secret.key < token.txt
  sealab unseal mcp-py --keys secret.key --method tools/call --target deploy --principal alice < token.txt`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := flags.open(cmd, args[0])
			if err != nil {
				return err
			}
			token, err := readToken(cmd.InOrStdin())
			if err != nil {
				return err
			}
			payload, err := c.Unseal(nil, token)
			if refused := codecs.Rejected(err); refused != nil {
				fmt.Fprintf(cmd.ErrOrStderr(), "%v: %s\n", refused, refusalCause(refused))
				return cli.ErrRefuted
			}
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(payload)
			return err
		},
	}
	flags.register(cmd)
	return cmd
}

// refusalCause returns the stage of a refusal, and its reason if that adds
// information.
func refusalCause(r *codecs.RejectError) string {
	stage := r.Stage.String()
	if r.Reason == "" || strings.ReplaceAll(r.Reason, " ", "-") == stage {
		return stage
	}
	return fmt.Sprintf("%s (%s)", stage, r.Reason)
}

// maxInput is the maximum length of standard input in bytes.
const maxInput = 64 << 20

// readBounded reads standard input, of at most maxInput bytes.
func readBounded(r io.Reader, name string) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxInput+1))
	if err != nil {
		return nil, fmt.Errorf("reading the %s: %w", name, err)
	}
	if len(data) > maxInput {
		return nil, fmt.Errorf("the %s on standard input has more than %d MiB", name, maxInput>>20)
	}
	return data, nil
}

// readToken reads a token and removes one line end at its end.
func readToken(r io.Reader) ([]byte, error) {
	token, err := readBounded(r, "token")
	if err != nil {
		return nil, err
	}
	token = bytes.TrimSuffix(token, []byte("\n"))
	return bytes.TrimSuffix(token, []byte("\r")), nil
}

// tokenFlags are the flags of the commands that seal or unseal a token.
type tokenFlags struct {
	keys    string
	options []string

	// For schemes only.
	method, target, arguments, principal, audience, now string

	ttl time.Duration
}

// schemeFlags are the flags that apply only to schemes.
var schemeFlags = []string{"method", "target", "arguments", "principal", "audience", "now", "ttl"}

func (f *tokenFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.keys, "keys", "", "key `file`: one secret per line in hexadecimal or base64, or one raw secret")
	flags.StringArrayVar(&f.options, "option", nil, "option of the design, as `name=value` (may be repeated)")
	flags.StringVar(&f.method, "method", "", "method of the request, for example tools/call (schemes only)")
	flags.StringVar(&f.target, "target", "", "name of the tool or prompt, or URI of the resource (schemes only)")
	flags.StringVar(&f.arguments, "arguments", "", "arguments of the request, as `JSON` (schemes only; omit if none)")
	flags.StringVar(&f.principal, "principal", "", "authenticated principal (schemes only; omit if none)")
	flags.StringVar(&f.audience, "audience", "", "service that the token is for (schemes only; omit if none)")
	flags.StringVar(&f.now, "now", "", "`time` of the request, for example 2026-07-28T12:00:00Z or Unix seconds (schemes only; default: now)")
	flags.DurationVar(&f.ttl, "ttl", 0, "lifetime of tokens, for example 10m (schemes only; default: the design's)")
	cobra.CheckErr(cmd.MarkFlagRequired("keys"))
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if f.keys == "" {
			return fmt.Errorf("want --keys FILE; make one with: %s", makeKey)
		}
		return nil
	}
}

// open opens the named design: a codec, or a scheme in the context that the
// flags give.
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
			return nil, fmt.Errorf("%s is a codec and has no --%s; want a scheme: see sealab list", d.Name, flag)
		}
	}
	return f.openIn(d, config, nil)
}

func (f *tokenFlags) openIn(d codecs.Design, config codecs.Config, c *codecs.Context) (codecs.Codec, error) {
	in, err := lab.Open(d, config)
	if err != nil {
		return nil, fmt.Errorf("%s with %s: %w", d.Name, f.keys, err)
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

// context returns the context that the flags give, without its time. A missing
// flag means absent, which differs from empty.
func (f *tokenFlags) context(cmd *cobra.Command) (*codecs.Context, error) {
	c := &codecs.Context{Method: f.method, Target: f.target}
	if cmd.Flags().Changed("arguments") {
		if !json.Valid([]byte(f.arguments)) {
			return nil, fmt.Errorf("--arguments %q: want JSON", f.arguments)
		}
		c.Arguments = json.RawMessage(f.arguments)
	}
	if cmd.Flags().Changed("principal") {
		c.Principal = &f.principal
	}
	if cmd.Flags().Changed("audience") {
		c.Audience = &f.audience
	}
	return c, nil
}

// parseTime parses a time in RFC 3339 or in Unix seconds. The empty text means
// now.
func parseTime(text string) (time.Time, error) {
	if text == "" {
		return time.Now(), nil
	}
	if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return at, nil
	}
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(seconds) || math.Abs(seconds) > 1<<40 {
		return time.Time{}, fmt.Errorf("--now %q: want a time as 2026-07-28T12:00:00Z or in Unix seconds", text)
	}
	whole, fraction := math.Modf(seconds)
	return time.Unix(int64(whole), int64(math.Round(fraction*1e9))), nil
}
