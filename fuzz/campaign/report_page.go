package campaign

import (
	"bytes"
	"fmt"
	"strconv"
	"time"
)

// Markdown is the report as a page.
func (r Report) Markdown() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Fuzz campaign on %s\n\n", r.Package)
	fmt.Fprintf(&b, "Commit %s, dirty %v, host %s, %s, %s, %d cores.\nFrom %s to %s.\n\n", r.Stamp.Commit, r.Stamp.Dirty, r.Stamp.Host,
		r.Stamp.Toolchain, r.Stamp.Processor, r.Stamp.Cores, r.Started.UTC().Format(time.RFC3339), r.Last.UTC().Format(time.RFC3339))
	b.WriteString("| target | executions | a second and core | core time | coverage, bits | inputs | new | last new | crashers |\n" +
		"|---|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	var executions, core float64
	var crashers int
	for _, t := range r.Targets {
		fmt.Fprintf(&b, "| [%s](%s/%s.svg) | %s | %.0f | %s | %d | %d | %d | %s | %d |\n", t.Name, picturesFolder, t.Name, t.executions(), t.Rate,
			seconds(t.Seconds), t.Coverage, t.Corpus, t.New, t.lastNew(r.Started), len(t.Crashers))
		executions, core, crashers = executions+float64(t.Executions), core+t.Seconds, crashers+len(t.Crashers)
	}
	fmt.Fprintf(&b, "| all | %.0f | %.0f | %s | | | | | %d |\n", executions, executions/max(core, 1), seconds(core), crashers)
	b.WriteString("\nThe names lead to the curves of coverage. The last new input is counted from the first start.\n")
	r.writeCrashers(&b)
	r.writeRest(&b)
	return b.Bytes()
}

func (r Report) writeCrashers(b *bytes.Buffer) {
	b.WriteString("\n## Crashers\n\n")
	none := true
	for _, t := range r.Targets {
		for _, k := range t.Crashers {
			none = false
			fmt.Fprintf(b, "- %s `%s`: `%s` (%d bytes, minimized to %d%s)\n", t.Name, k.Bucket, oneLine(k.Text), k.Size, k.Minimized, k.Condition())
		}
	}
	if none {
		b.WriteString("None.\n")
	}
}

func (r Report) writeRest(b *bytes.Buffer) {
	if r.Covered != "" {
		fmt.Fprintf(b, "\n## Statements that the corpora run\n\n```\n%s```\n", r.Covered)
	}
	if len(r.Notices) > 0 {
		b.WriteString("\n## Notices\n\n")
		for _, n := range r.Notices {
			fmt.Fprintf(b, "- %s\n", oneLine(n))
		}
	}
}

// executions counts them; a target without any is skipped.
func (t TargetReport) executions() string {
	if t.Executions == 0 {
		return "skipped"
	}
	return strconv.FormatInt(t.Executions, 10)
}

// lastNew is when the last new input was found, since a time.
func (t TargetReport) lastNew(since time.Time) string {
	if t.LastNew == nil {
		return "never"
	}
	return age(since, *t.LastNew)
}
