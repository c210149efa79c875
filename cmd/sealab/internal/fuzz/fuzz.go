// Package fuzz holds the command "fuzz": campaigns and their corpora, and comparisons with SDKs.
package fuzz

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"sealab/fuzz/campaign"
	"sealab/fuzz/targets"
	"sealab/internal/cli"
)

// New returns the command "fuzz" and its subcommands.
func New() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fuzz",
		Short: "Fuzz the designs, for minutes or days",
		Long: `Run fuzz campaigns on every design of the catalog. A campaign runs many targets
in turn and files each failure once, with the files that reproduce it. It keeps
everything in one folder, from which the same command resumes.

Call the commands inside the module. They build the programs that they run, and
need the go command and the source of the module.`,
	}
	cmd.AddCommand(
		newCorpus(),
		newCover(),
		NewDifferential(),
		newFleet(),
		newImport(),
		newMinimize(),
		newReport(),
		newRun(),
		newStatus(),
		newVersions(),
	)
	return cmd
}

// A campaignFolder holds the flag for the folder of a campaign.
type campaignFolder struct{ dir string }

func (f *campaignFolder) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.dir, "dir", "fuzz-campaign", "folder of the campaign")
}

// config returns the configuration of a campaign on the targets.
func (f *campaignFolder) config() campaign.Config {
	return campaign.Config{
		Dir: f.dir, Package: "sealab/fuzz/targets", Replay: "sealab/fuzz/targets/replay", Now: time.Now,
		Cover: "sealab/codecs/...,github.com/cloudflare/circl/...,golang.org/x/crypto/...", // includes the libraries of the designs
	}
}

// targetsOf returns the named targets or, without names, all that can run on
// this machine. It prints the others as skipped.
func targetsOf(names []string, stderr io.Writer) ([]campaign.Target, error) {
	asked, err := cli.NamedOrAll(targets.All(), names, targets.Find)
	if err != nil {
		return nil, err
	}
	var all []campaign.Target
	for _, t := range asked {
		target, reason := campaign.Target{Name: t.Name, Native: t.NativeName()}, t.Unavailable()
		switch {
		case slices.Contains(all, target):
			return nil, fmt.Errorf("duplicate target %q", t.Name)
		case reason == "":
			all = append(all, target)
		case len(names) > 0:
			return nil, fmt.Errorf("target %s cannot run here: %s", t.Name, reason)
		default:
			fmt.Fprintf(stderr, "skipped: target %s: %s\n", t.Name, reason)
		}
	}
	return all, nil
}
