package campaign

import (
	"context"
	"fmt"

	"sealab/fuzz/campaign/harness"
)

// A Foreign is an input that failed under another engine.
type Foreign struct {
	Input  []byte
	Output string // what it wrote
}

// An Imported says what was new of what another engine found.
type Imported struct {
	Inputs   int // new in the corpus
	Crashers int // new buckets
}

// Import adds what another engine found of a target: inputs to the corpus, and
// crashers, which are run again, to their buckets. A crasher that holds here is
// kept as lost.
func (c *Campaign) Import(ctx context.Context, t Target, inputs [][]byte, crashers []Foreign) (Imported, error) {
	var n Imported
	for _, input := range inputs {
		added, err := addToCorpus(c.folder.corpus(t), input)
		if err != nil {
			return n, err
		}
		if added {
			n.Inputs++
		}
	}
	before, err := c.folder.readCrashers(t)
	if err != nil {
		return n, err
	}
	failed := make([][]byte, len(crashers))
	for i, f := range crashers {
		failed[i] = f.Input
	}
	verdicts, err := c.verdicts(ctx, t, failed)
	if err != nil {
		return n, err
	}
	for i, v := range verdicts {
		if v == nil {
			v = harness.LostVerdict(crashers[i].Input, crashers[i].Output)
		}
		if err := c.folder.fileSuspect(t, sequence{input: crashers[i].Input}, v); err != nil {
			return n, err
		}
	}
	if err := c.complete(ctx, t); err != nil {
		return n, err
	}
	after, err := c.folder.readCrashers(t)
	n.Crashers = len(after) - len(before)
	return n, err
}

// String is the line that a command prints.
func (n Imported) String() string {
	return fmt.Sprintf("%d new inputs, %d new crashers", n.Inputs, n.Crashers)
}
