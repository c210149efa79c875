package main

import (
	"fmt"
	"io"
	"slices"

	"sealab/bench"
	"sealab/codecs/foreign"
	"sealab/codecs/worker"
)

// startForeign starts the installed peers that the given names ask for, all of
// them where there are no names, and returns them as subjects. What is not
// installed is said to be unexercised.
func startForeign(out io.Writer, names []string) (subjects []bench.Subject, stop func(), err error) {
	var clients []*worker.Client
	stop = func() {
		for _, c := range clients {
			c.Close() //nolint:errcheck // the measurements are over
		}
	}
	peers, err := foreign.Peers(".")
	if err != nil {
		fmt.Fprintln(out, "unexercised: SDKs in other languages:", oneLine(err))
		return nil, stop, nil
	}
	for _, p := range peers {
		if len(names) > 0 && !slices.Contains(names, p.Name) {
			continue
		}
		if missing := p.Missing(); missing != "" {
			fmt.Fprintf(out, "unexercised: %s: there is no %s; install with: %s\n", p.Name, missing, p.Install)
			continue
		}
		c, err := p.Dial(worker.Limits{})
		if err != nil {
			stop()
			return nil, stop, err
		}
		clients = append(clients, c)
		subjects = append(subjects, bench.FromWorker(c, p.Mirrors))
	}
	return subjects, stop, nil
}
