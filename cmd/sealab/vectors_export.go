package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"sealab/internal/atomicfile"
	"sealab/vectors"
	"sealab/vectors/export"
)

func newVectorsExportCommand() *cobra.Command {
	var forms []string
	for _, f := range export.Forms() {
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
			form, err := export.Find(name)
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
	cmd.Flags().StringVar(&name, "form", "jsonl", "the form")
	cmd.Flags().StringVar(&out, "out", "", "the file to write; without it, standard output")
	return cmd
}
