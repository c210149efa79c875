package main

import (
	"bytes"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"sealab/codecs"
	"sealab/internal/cli"
)

func newUnsealCommand() *cobra.Command {
	var flags tokenFlags
	cmd := &cobra.Command{
		Use:   "unseal DESIGN --keys FILE",
		Short: "Unseal one token",
		Long: `Unseal the token on standard input and print its payload, byte for byte. One
line end after the token does not count.

A token that is refused ends with status 1. Whoever runs this command holds the
keys, so it says at which stage and why; no server should tell its clients.
Key files are as for sealab seal.`,
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
				fmt.Fprintf(cmd.ErrOrStderr(), "%v: %s (%s)\n", refused, refused.Stage, refused.Reason)
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

// readToken reads a token and drops one line end behind it.
func readToken(r io.Reader) ([]byte, error) {
	token, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("sealab: the token on standard input: %w", err)
	}
	token = bytes.TrimSuffix(token, []byte("\n"))
	return bytes.TrimSuffix(token, []byte("\r")), nil
}
