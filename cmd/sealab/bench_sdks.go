package main

import (
	"fmt"
	"io"
	"slices"

	"sealab/bench"
	"sealab/codecs/catalog"
	"sealab/codecs/sdk"
	"sealab/codecs/worker"
	"sealab/internal/cli"
)

// startSDKs starts the installed SDKs with the given names, or all of them if
// there are no names, and returns them as subjects. It prints the SDKs that are
// not installed as skipped. Each comes with the design that it mirrors.
func startSDKs(out io.Writer, names []string) (subjects []bench.Subject, stop func(), err error) {
	var clients []*worker.Client
	stop = func() {
		for _, c := range clients {
			c.Close() //nolint:errcheck // the measurements are over
		}
	}
	sdks, err := sdk.Mirrors(".")
	if err != nil {
		fmt.Fprintln(out, "skipped: SDKs in other languages:", cli.Line(err))
		return nil, stop, nil
	}
	if len(names) > 0 {
		sdks = slices.DeleteFunc(sdks, func(s sdk.SDK) bool { return !slices.Contains(names, s.Name) })
	}
	for _, s := range installed(sdks, out) {
		c, err := s.Dial(worker.Limits{})
		if err != nil {
			stop()
			return nil, stop, err
		}
		clients = append(clients, c)
		subjects = append(subjects, bench.FromWorker(c, s.Mirrors, s.Slower))
		d, err := catalog.Find(s.Mirrors)
		if err != nil {
			stop()
			return nil, stop, err
		}
		subjects = append(subjects, bench.FromDesign(d))
	}
	return subjects, stop, nil
}
