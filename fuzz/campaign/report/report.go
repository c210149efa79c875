package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"sealab/fuzz/campaign"
	"sealab/internal/atomicfile"
)

// A Stamp identifies the code and the machine of a campaign.
type Stamp struct {
	Commit    string   `json:"commit"`
	Dirty     bool     `json:"dirty"`
	Host      string   `json:"host"`
	Toolchain string   `json:"toolchain"`
	Processor string   `json:"processor"`
	Cores     int      `json:"cores"`
	Modules   []string `json:"modules"` // other modules of the build, as path@version
}

// A Report is the part of a campaign to keep in the repository.
type Report struct {
	Stamp   Stamp  `json:"stamp"`
	Status  Status `json:"status"`
	covered string // the table of Cover, or "" if Cover did not run
}

// Read returns the report of the campaign in dir. If Cover ran there, the report includes
// coverage.
func Read(dir string, stamp Stamp) (Report, error) {
	s, err := ReadStatus(dir)
	if err != nil {
		return Report{}, err
	}
	if s.Executions() == 0 {
		return Report{}, fmt.Errorf("the campaign in %s has no executions: want at least one", dir)
	}
	for i, t := range s.Targets {
		if len(t.Curve) > 0 {
			s.Targets[i].Curve = thin(t.Curve)
		}
	}
	table, err := os.ReadFile(filepath.Join(dir, campaign.CoverTable))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Report{}, err
	}
	return Report{Stamp: stamp, Status: s, covered: string(table)}, nil
}

// Write creates the folder dir with report.md, report.json and pictures/, completely or not at
// all. dir must not exist.
func (r Report) Write(dir string) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	files := map[string][]byte{"report.md": r.markdown(), "report.json": append(data, '\n')}
	for _, t := range r.Status.Targets {
		files[path.Join(pictures, t.Name+".svg")] = t.picture()
	}
	return atomicfile.WriteFolder(dir, files)
}

const pictures = "pictures"

func (r Report) markdown() []byte {
	var b bytes.Buffer
	s := r.Status
	fmt.Fprintf(&b, "# Fuzz campaign on %s\n\n", s.Package)
	fmt.Fprintf(&b, "Commit %s, dirty %v, host %s, %s, %s, %d cores.\nFrom %s to %s.\n\n", r.Stamp.Commit, r.Stamp.Dirty, r.Stamp.Host,
		r.Stamp.Toolchain, r.Stamp.Processor, r.Stamp.Cores, s.Started.UTC().Format(time.RFC3339), s.Last.UTC().Format(time.RFC3339))
	b.WriteString("| target | executions | a second and core | core time | coverage, bits | inputs | new | last new | crashers |\n" +
		"|---|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	crashers := 0
	for _, t := range s.Targets {
		executions, lastNew := "not run", "never"
		if t.Executions > 0 {
			executions = fmt.Sprint(t.Executions)
		}
		if !t.LastNew.IsZero() {
			lastNew = age(s.Started, t.LastNew)
		}
		fmt.Fprintf(&b, "| [%s](%s/%s.svg) | %s | %.0f | %s | %d | %d | %d | %s | %d |\n", t.Name, pictures, t.Name, executions, t.mean(),
			duration(t.Seconds), t.Coverage, t.Corpus, t.New, lastNew, len(t.Crashers))
		crashers += len(t.Crashers)
	}
	fmt.Fprintf(&b, "| all | %d | %.0f | %s | | | | | %d |\n", s.Executions(), float64(s.Executions())/max(s.Seconds, 1), duration(s.Seconds), crashers)
	b.WriteString("\nThe names link to the curves of coverage. The time of the last new input counts from the first start.\n\n## Crash buckets\n\n")
	for _, bucket := range s.Buckets() {
		fmt.Fprintf(&b, "- `%s`: `%s`\n", bucket.Name, strings.ReplaceAll(bucket.Text, "`", "'"))
		for _, k := range bucket.Crashers {
			fmt.Fprintf(&b, "  - %s: %d bytes, minimized to %d%s\n", k.Target, k.Size, k.Minimized, k.Condition())
		}
	}
	if crashers == 0 {
		b.WriteString("None.\n")
	}
	if r.covered != "" {
		fmt.Fprintf(&b, "\n## Statements covered by the corpora\n\n```\n%s```\n", r.covered)
	}
	if len(s.Notices) > 0 {
		b.WriteString("\n## Notices\n\n")
		for _, n := range s.Notices {
			fmt.Fprintf(&b, "- %s\n", campaign.OneLine(n))
		}
	}
	return b.Bytes()
}
