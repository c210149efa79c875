package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"sealab/codecs/catalog"
	"sealab/codecs/foreign"
	"sealab/codecs/worker"
)

func newListCommand() *cobra.Command {
	var peers bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the designs",
		Long: `List the designs of the catalog. With --peers, list instead the implementations
in other languages that run as workers, and what is there of them.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if peers {
				return listPeers(cmd.OutOrStdout())
			}
			return listDesigns(cmd.OutOrStdout())
		},
	}
	cmd.Flags().BoolVar(&peers, "peers", false, "list the peers")
	return cmd
}

func listDesigns(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, d := range catalog.All() {
		fmt.Fprintf(w, "%s\t%s\n", d.Name, d.Doc)
	}
	return w.Flush()
}

func listPeers(out io.Writer) error {
	peers, err := foreign.Peers(".")
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, p := range peers {
		fmt.Fprintf(w, "%s\tmirrors %s\t%s\n", p.Name, p.Mirrors, stateOf(p))
	}
	return w.Flush()
}

// stateOf says of a peer which version answers, or why none does.
func stateOf(p foreign.Peer) string {
	if missing := p.Missing(); missing != "" {
		return fmt.Sprintf("unexercised: there is no %s; install with: %s", missing, p.Install)
	}
	client, err := p.Dial(worker.Limits{})
	if err != nil {
		return "broken: " + oneLine(err)
	}
	defer client.Close()
	return "version " + client.Hello().Version
}
