package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"sealab/fuzz/campaign"
	"sealab/fuzz/target"
)

func newFuzzCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fuzz",
		Short: "Fuzz the designs, for minutes or days",
		Long: `Fuzz campaigns over every design of the catalog: many targets at once, each
failure filed once and with all that is needed to reproduce it, everything in
one folder from which the same command goes on after any end.

The go command and the source of the module are needed: the commands build what
they run, from the folder they are called in.`,
	}
	cmd.AddCommand(
		newFuzzCorpusCommand(),
		newFuzzCoverCommand(),
		newFuzzFleetCommand(),
		newFuzzMinimizeCommand(),
		newFuzzProofCommand(),
		newFuzzReportCommand(),
		newFuzzRunCommand(),
		newFuzzStatusCommand(),
	)
	return cmd
}

// A campaignFolder is the flag that names the folder of a campaign.
type campaignFolder struct{ dir string }

func (f *campaignFolder) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.dir, "dir", "fuzz-campaign", "folder of the campaign")
}

// What the campaigns of this command are on.
const (
	fuzzPackage  = "sealab/fuzz/target"
	fuzzReplay   = "sealab/fuzz/replay"
	fuzzCoverage = "sealab/codecs/...,github.com/cloudflare/circl/...,golang.org/x/crypto/..." // with the libraries that designs stand on
)

// fuzzTargets returns the targets called names or, where there are none, all
// that can run on this machine. What cannot is said on stderr.
func fuzzTargets(names []string, stderr io.Writer) ([]campaign.Target, error) {
	var all []campaign.Target
	if len(names) == 0 {
		for _, t := range target.All() {
			if why := t.Unavailable(); why != "" {
				fmt.Fprintf(stderr, "skipped: target %s: %s\n", t.Name, why)
				continue
			}
			all = append(all, campaign.Target{Name: t.Name, Native: t.NativeName()})
		}
		return all, nil
	}
	seen := map[string]bool{}
	for _, name := range names {
		t, err := target.Find(name)
		if err != nil {
			return nil, err
		}
		if seen[name] {
			return nil, fmt.Errorf("sealab: target %q is named twice; want each once", name)
		}
		if why := t.Unavailable(); why != "" {
			return nil, fmt.Errorf("sealab: target %s cannot run here: %s", name, why)
		}
		seen[name] = true
		all = append(all, campaign.Target{Name: t.Name, Native: t.NativeName()})
	}
	return all, nil
}
