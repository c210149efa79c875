package vectors

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/internal/atomicfile"
	"sealab/internal/cli"
	"sealab/vectors"
	"sealab/vectors/generate"
)

func newGenerate() *cobra.Command {
	var g generator
	cmd := &cobra.Command{
		Use:   "generate [DESIGN...]",
		Short: "Write the vectors of the given designs, or of all",
		Long: `Write the vectors of the given designs, or of every design of the catalog, and
their accumulated digests. Everything is derived from fixed labels: the same
designs give the same bytes on every machine. A design that breaks a guarantee
that it claims gets no vectors.

Digests over more inputs than --accumulate are kept, unless those over fewer
inputs change.`,
		Example: `  sealab vectors generate
  sealab vectors generate aes-256-gcm --accumulate 1000000`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := requireCount(g.limit); err != nil {
				return err
			}
			designs, err := cli.NamedOrAll(catalog.Formats(), args, catalog.Find)
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
	cmd.Flags().StringVar(&g.digests, "digests", generate.DigestsPath, "`file` of the accumulated digests")
	cmd.Flags().IntVar(&g.limit, "accumulate", 10_000, "accumulate at most this `number` of inputs: 100, 10000 or 1000000")
	return cmd
}

type generator struct {
	dir, digests string
	limit        int
}

func (g *generator) run(cmd *cobra.Command, designs []codecs.Design) error {
	digests, err := generate.ReadDigests(g.digests)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(g.dir, 0o755); err != nil {
		return err
	}
	for _, d := range designs {
		f, err := generate.File(d, catalog.Formats())
		if err != nil {
			return err
		}
		if err := g.write(f); err != nil {
			return err
		}
		secret, err := firstSecret(f)
		if err != nil {
			return err
		}
		fresh, err := generate.Accumulate(d, secret, g.limit)
		if err != nil {
			return err
		}
		digests.Renew(d.Name, fresh)
		fmt.Fprintf(cmd.OutOrStdout(), "%s: %d tests\n", d.Name, f.NumberTests)
	}
	return digests.Write(g.digests)
}

func (g *generator) write(f *vectors.File) error {
	data, err := f.Encode()
	if err != nil {
		return err
	}
	if err := vectors.Validate(data); err != nil {
		return fmt.Errorf("the vectors of %s: %w", f.Design, err)
	}
	return atomicfile.Write(vectors.Path(g.dir, f.Design), data)
}

// removeStale removes the files and digests of designs that no longer exist.
func (g *generator) removeStale() error {
	var names []string
	for _, d := range catalog.Formats() {
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
			return err
		}
	}
	digests, err := generate.ReadDigests(g.digests)
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

func newExport() *cobra.Command {
	var forms []string
	for _, f := range vectors.Forms() {
		forms = append(forms, fmt.Sprintf("%s (%s)", f.Name, f.Doc))
	}
	var name, out string
	cmd := &cobra.Command{
		Use:   "export FILE",
		Short: "Write a file of vectors in another form",
		Long:  "Write a file of vectors in another form:\n\n  " + strings.Join(forms, "\n  "),
		Example: `  sealab vectors export --form jsonl vectors/files/aes-256-gcm.json
  sealab vectors export --form wycheproof --out gcm.json vectors/files/aes-256-gcm.json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			form, err := vectors.FindForm(name)
			if err != nil {
				return err
			}
			f, err := vectors.Read(args[0])
			if err != nil {
				return err
			}
			data, err := form.Write(f)
			if err != nil {
				return err
			}
			if out != "" {
				return atomicfile.Write(out, data)
			}
			_, err = cmd.OutOrStdout().Write(data)
			return err
		},
	}
	cmd.Flags().StringVar(&name, "form", "jsonl", "`form` to write")
	cmd.Flags().StringVar(&out, "out", "", "`file` to write (default: standard output)")
	return cmd
}

func newDist() *cobra.Command {
	var dir, out, version string
	cmd := &cobra.Command{
		Use:   "dist",
		Short: "Write one archive for consumers: vectors, schemas, programs",
		Long: `Write one archive for consumers of vectors: the files in every form, the schema,
the page, the accumulated digests, the consumers, the license, and an index with
SHA-256 sums. The same files give the same archive.`,
		Example: `  sealab vectors dist
  sealab vectors dist --out vectors-2.tar.gz --version 2`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			data, err := vectors.Dist(dir, version)
			if err != nil {
				return err
			}
			if err := atomicfile.Write(out, data); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%x  %s\n", sha256.Sum256(data), out)
			return nil
		},
	}
	cmd.Flags().StringVar(&dir, "vectors", "vectors", "`folder` of the vectors of the module")
	cmd.Flags().StringVar(&out, "out", "sealab-vectors.tar.gz", "`file` of the archive")
	cmd.Flags().StringVar(&version, "version", fmt.Sprint(generate.Version), "`version` that the archive states")
	return cmd
}
