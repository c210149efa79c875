package timing

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sealab/internal/atomicfile"
	"sealab/internal/samples"
)

// pictures is the folder of pictures in a run's folder.
const pictures = "pictures"

// WritePictures draws the first pass of every probe into the run's folder.
// progress is called after each with the number drawn.
func (j *Judgement) WritePictures(dir string, progress func(done int)) error {
	if err := os.MkdirAll(filepath.Join(dir, pictures), 0o755); err != nil {
		return fmt.Errorf("sealab: %w", err)
	}
	for i, v := range j.Verdicts {
		f, err := samples.Read(filepath.Join(dir, v.First.FileName()))
		if err != nil {
			return err
		}
		if err := atomicfile.Write(filepath.Join(dir, v.picture()), draw(f, v)); err != nil {
			return err
		}
		progress(i + 1)
	}
	return nil
}

// picture returns the path of the verdict's picture below the run's folder.
func (v *Verdict) picture() string { return filepath.Join(pictures, v.Name()+".svg") }

// Markdown returns the judgement as a page whose pictures lie in the run's
// folder.
func (j *Judgement) Markdown() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Timing\n\nlimit %g ns; %s\n\n", j.Limit, stampLine(j.Stamp))
	b.WriteString("| subject | pair | ns/op | effect ns [95 %] | largest decile ns | findable ns | blocks | p sign | p rank | p decile | max t | verdict |\n")
	b.WriteString("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|\n")
	for _, v := range j.Verdicts {
		cells := v.row()
		cells[1] = fmt.Sprintf("[%s](%s)", cells[1], v.picture())
		fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
	}
	b.WriteString("\n```\n")
	j.Controls.write(&b)
	j.summary(&b)
	b.WriteString("```\n")
	return b.Bytes()
}

// stampLine writes the stamp in a fixed order.
func stampLine(stamp map[string]string) string {
	var parts []string
	for _, key := range []string{"commit", "dirty", "host", "toolchain", "goarch", "cpus", "blocks", "budget", "seed"} {
		if value, ok := stamp[key]; ok {
			parts = append(parts, key+" "+value)
		}
	}
	return strings.Join(parts, ", ")
}
