package main

import (
	"time"

	"github.com/spf13/cobra"

	"sealab/codecs/catalog"
	"sealab/codecs/worker"
	"sealab/internal/cli"
)

func newWorkerCommand() *cobra.Command {
	var options []string
	cmd := &cobra.Command{
		Use:   "worker DESIGN",
		Short: "Serve a design to another program on standard input and output",
		Long: `Serve a design of the catalog as a worker: read JSON Lines from standard input
and write one answer per line to standard output, until the input ends. Package
codecs/worker documents the protocol.`,
		Example: `  sealab worker aes-256-gcm
  echo '{"op":"hello","protocol":1}' | sealab worker hmac-sha256`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := catalog.Find(args[0])
			if err != nil {
				return err
			}
			chosen, err := cli.ParseOptions(options)
			if err != nil {
				return err
			}
			s := worker.Server{Design: d, Version: cli.Version(), Options: chosen, Clock: time.Now}
			return s.Serve(cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringArrayVar(&options, "option", nil, "option of the design, as `name=value` (may be repeated)")
	return cmd
}
