package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/internal/atomicfile"
	"sealab/vectors"
	"sealab/vectors/accumulate"
	"sealab/vectors/generate"
)

func newVectorsGenerateCommand() *cobra.Command {
	var g vectorsGenerator
	cmd := &cobra.Command{
		Use:   "generate [DESIGN...]",
		Short: "Write the vectors of the given designs, or of every one",
		Long: `Write the vectors of the given designs, or of every design of the catalog, and
their accumulated digests. Everything is derived from fixed labels: the same
designs give the same bytes on every machine. Nothing is written for a design
that does not keep a promise that it states.

Digests over more inputs than --accumulate stay as they are while those over
fewer do not change.`,
		Example: `  sealab vectors generate
  sealab vectors generate aes-256-gcm --accumulate 1000000`,
		RunE: func(cmd *cobra.Command, args []string) error {
			designs, err := designsNamed(args)
			if err != nil {
				return err
			}
			if err := g.run(cmd, designs); err != nil {
				return err
			}
			if len(args) > 0 {
				return nil
			}
			return g.removeStale()
		},
	}
	addDirFlag(cmd, &g.dir)
	cmd.Flags().StringVar(&g.digests, "digests", accumulate.Path, "the file of the accumulated digests")
	cmd.Flags().IntVar(&g.limit, "accumulate", 10_000, "the most inputs to accumulate: 100, 10000 or 1000000")
	return cmd
}

type vectorsGenerator struct {
	dir, digests string
	limit        int
}

func (g *vectorsGenerator) run(cmd *cobra.Command, designs []codecs.Design) error {
	digests, err := accumulate.Read(g.digests)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(g.dir, 0o755); err != nil {
		return fmt.Errorf("sealab: %w", err)
	}
	for _, d := range designs {
		f, err := generate.File(d, catalog.Variants())
		if err != nil {
			return err
		}
		if err := g.write(f); err != nil {
			return err
		}
		secret, err := secretOf(f, "k1")
		if err != nil {
			return err
		}
		fresh, err := accumulate.Run(d, secret, g.limit)
		if err != nil {
			return err
		}
		digests.Renew(d.Name, fresh)
		fmt.Fprintf(cmd.OutOrStdout(), "%s: %d tests\n", d.Name, f.NumberTests)
	}
	return digests.Write(g.digests)
}

func (g *vectorsGenerator) write(f *vectors.File) error {
	data, err := f.Encode()
	if err != nil {
		return err
	}
	if err := vectors.Validate(data); err != nil {
		return fmt.Errorf("sealab: the vectors of %s: %w", f.Design, err)
	}
	return atomicfile.Write(vectors.Path(g.dir, f.Design), data)
}

// removeStale removes what was generated for designs that are gone.
func (g *vectorsGenerator) removeStale() error {
	var names []string
	for _, d := range catalog.Variants() {
		names = append(names, d.Name)
	}
	paths, err := vectors.Paths(g.dir)
	if err != nil {
		return err
	}
	for _, path := range paths {
		if slices.Contains(names, strings.TrimSuffix(filepath.Base(path), ".json")) {
			continue
		}
		if err := os.Remove(path); err != nil {
			return fmt.Errorf("sealab: %w", err)
		}
	}
	digests, err := accumulate.Read(g.digests)
	if err != nil {
		return err
	}
	for name := range digests {
		if !slices.Contains(names, name) {
			delete(digests, name)
		}
	}
	return digests.Write(g.digests)
}
