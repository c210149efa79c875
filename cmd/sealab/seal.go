package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"sealab/codecs"
)

func newSealCommand() *cobra.Command {
	var flags tokenFlags
	cmd := &cobra.Command{
		Use:   "seal DESIGN --keys FILE",
		Short: "Seal one payload into a token",
		Long: `Seal the payload on standard input, to its last byte, and print the token and a
line end. For a scheme the payload is the state, and the token is good for the
request that the flags describe.

A key file that is text holds one secret per line, in hexadecimal or base64; the
first seals. Blank lines and lines that begin with # do not count. Any other key
file is raw: all of it is one secret.`,
		Example: `  head -c 32 /dev/urandom > secret.key
  printf '{"step":1}' | sealab seal aes-256-gcm --keys secret.key
  printf '{"step":1}' | sealab seal mcp-py --keys secret.key --method tools/call --target deploy --principal alice`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := flags.open(cmd, args[0])
			if err != nil {
				return err
			}
			payload, err := io.ReadAll(cmd.InOrStdin())
			if err != nil {
				return fmt.Errorf("sealab: the payload on standard input: %w", err)
			}
			token, err := c.Seal(nil, payload)
			if errors.Is(err, codecs.ErrUnsupported) {
				return fmt.Errorf("sealab: %s cannot carry this payload for this request: %w", args[0], err)
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
