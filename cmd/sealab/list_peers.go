package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"sealab/codecs/sdk"
	"sealab/codecs/worker"
	"sealab/internal/cli"
)

// listPeers writes one line for each implementation in another language.
func listPeers(out io.Writer) error {
	peers, err := sdk.Peers(".")
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, p := range peers {
		fmt.Fprintf(w, "%s\tmirrors %s\t%s\n", p.Name, p.Mirrors, stateOf(p))
	}
	return w.Flush()
}

// stateOf returns which version of a peer answers, or why none does.
func stateOf(p sdk.Peer) string {
	if why := p.Unavailable(); why != "" {
		return "skipped: " + why
	}
	client, err := p.Dial(worker.Limits{})
	if err != nil {
		return "broken: " + cli.Line(err)
	}
	defer client.Close()
	return "version " + client.Hello().Version
}

// installed returns those of the peers that can be dialled, and says of the
// others that they are skipped.
func installed(peers []sdk.Peer, notes io.Writer) []sdk.Peer {
	var there []sdk.Peer
	for _, p := range peers {
		if why := p.Unavailable(); why != "" {
			fmt.Fprintf(notes, "skipped: %s: %s\n", p.Name, why)
			continue
		}
		there = append(there, p)
	}
	return there
}
