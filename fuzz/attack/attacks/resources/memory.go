package resources

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sealab/codecs"
	"sealab/codecs/worker"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/tokenfmt"
	"sealab/internal/verdict"
)

// The bounds of memory in another process. Its runtime also grows for its own reasons: heaps
// grow in blocks, garbage stays for a while, and a thread maps its stack.
const (
	ownReasons      = 64 << 20  // growth for one short text that is ignored, in bytes
	ownAddresses    = 512 << 20 // the same in address space: with glibc each new thread reserves 128 MiB
	ownLonger       = 32 << 20  // growth in excess of that for an honest state of the same length, in bytes
	longestHeld     = 8 << 20   // length of the longest text whose memory is measured, in bytes
	growthRepeats   = 2         // number of times that a growth must occur, each in a new process
	warmupCalls     = 8         // number of times that a harmless text is presented first
	mostDoubts      = 3         // number of growths that did not occur again, after which growth is ignored
	maxGrowthFactor = 6         // most memory relative to a quarter of a text: 4 if linear, 16 if quadratic
	mostPerByte     = 256       // most bytes per byte of a text: interpreted languages need up to a hundred
)

// A gauge measures the growth of the processes of a design.
type gauge struct {
	read func() (worker.Memory, error)
	last worker.Memory
	err  error // of the last reading
}

// A growth is an increase in bytes, of resident memory and of mapped addresses. A buffer takes
// addresses before it is written to.
type growth struct{ resident, mapped uint64 }

func (g growth) most() uint64 { return max(g.resident, g.mapped) }

// strange reports whether the growth exceeds that of any runtime.
func (g growth) strange() bool { return g.resident > ownReasons || g.mapped > ownAddresses }

// grown returns the growth of the processes since the last reading, or zero if it cannot
// be read.
func (g *gauge) grown() growth {
	m, err := g.read()
	if err != nil {
		g.err = err
		return growth{}
	}
	by := growth{max(m.Peak, g.last.Resident) - g.last.Resident, max(m.Mapped, g.last.Mapped) - g.last.Mapped}
	g.last = m
	return by
}

// anew is Base in a new process, so that no earlier peak hides a growth.
func (t trial) anew() (*attack.Instance, *attack.Token, *gauge, bool) {
	if err := t.Design.Restart(); err != nil {
		t.Skip("the design does not start again: %s", err)
		return nil, nil, nil, false
	}
	in, tok, ok := t.Base()
	if !ok {
		return nil, nil, nil, false
	}
	g := &gauge{read: t.Design.Memory}
	if g.grown(); g.err != nil {
		t.Skip("the memory of the process is not read: %s", g.err)
	}
	return in, tok, g, true
}

// Lengths presents tokens with extreme lengths and numbers, and measures the memory that each
// makes the reader allocate.
func Lengths(run *attack.T) {
	t := trial{run}
	if in, tok, ok := t.Base(); ok {
		t.Changes(in, tok, func(yield func(tokenfmt.Alteration)) { tokenfmt.OtherTypes(tok.Format(), t.Source, yield) })
	}
	if t.Design.Memory != nil {
		t.lengthsElsewhere()
		return
	}
	in, tok, ok := t.Base()
	if !ok {
		return
	}
	for lie := range tokenfmt.Each(tokenfmt.Lengths, tok.Format(), t.Source) {
		t.Try(codecs.Total)
		before := allocatedAbout()
		t.Change(in, tok, lie.Text, lie.How)
		if allocatedAbout()-before < 8<<20 || t.Fell(codecs.Total) {
			continue
		}
		var call = in.Ask(lie.Text, tok.Under)
		if grown := allocatedBytes(16<<20, func() { call = in.Ask(lie.Text, tok.Under) }); grown > 16<<20 {
			t.Refute(codecs.Total, fmt.Sprintf("%s makes the reader allocate %d MiB for %d bytes", lie.How, grown>>20, len(tok.Text)), call)
		}
	}
}

// lengthsElsewhere presents tokens with extreme numbers and measures the memory of the design's
// processes after each.
func (t trial) lengthsElsewhere() {
	in, tok, g, ok := t.anew()
	if !ok {
		return
	}
	doubts := 0
	all := liesIn(tok)
	for n := 0; n < len(all); n++ {
		lie := all[n]
		t.Change(in, tok, lie.Text, lie.How)
		if g.err != nil || doubts == mostDoubts {
			continue
		}
		t.Try(codecs.Total)
		if !g.grown().strange() || t.Broken() {
			continue
		}
		if grown := t.lieAgain(n); grown > 0 {
			t.Refute(codecs.Total, fmt.Sprintf("%s makes the reader allocate %d MiB for %d bytes", lie.How, grown>>20, len(lie.Text)))
			return
		}
		doubts++
		if in, tok, g, ok = t.anew(); !ok {
			return
		}
		all = liesIn(tok) // of the new token
	}
}

// lieAgain returns the least growth that lie number n causes in new processes, or 0 if the
// growth is ordinary once. Each process is first warmed up with a zero at the same place.
func (t trial) lieAgain(n int) uint64 {
	least := ^uint64(0)
	for range growthRepeats {
		in, tok, g, ok := t.anew()
		if !ok {
			return 0
		}
		all := liesIn(tok)
		if n >= len(all) {
			return 0 // the tokens of the new process have another format
		}
		_, place, _ := strings.Cut(all[n].How, " ")
		for _, other := range all {
			for i := 0; other.How == "00 "+place && other.How != all[n].How && i < warmupCalls; i++ {
				in.Unseal(other.Text, tok.Under)
			}
		}
		g.grown()
		in.Unseal(all[n].Text, tok.Under)
		grown := g.grown()
		if !grown.strange() {
			return 0
		}
		least = min(least, grown.most())
	}
	return least
}

// memoryElsewhere presents texts of growing length and measures the memory of the design's
// processes after each.
func (t trial) memoryElsewhere() {
	to := min(longestHeld, t.Budget.Bytes)
	t.Note("up to %s", formatSize(to))
	for _, n := range lengthsUp(to>>2, to) {
		in, tok, g, ok := t.anew()
		if !ok || g.err != nil || !t.holdsEach(in, tok, g, n) {
			return
		}
	}
}

// holdsEach presents texts of n bytes of each kind. It reports whether to continue with longer
// ones. A growth that does not occur again is attributed to the runtime.
func (t trial) holdsEach(in *attack.Instance, tok *attack.Token, g *gauge, n int) bool {
	own := t.honestly(in, tok, g, n)
	for kind, b := range bombKinds(tok, t.PrefixOf(tok)) {
		if t.Spent() {
			t.Note("until the time was over, at %s of %s", formatSize(n), b.name)
			return false
		}
		said, text := len(t.Design.Breaches()), b.text(n)
		g.grown()
		call := in.Ask([]byte(text), tok.Under)
		if call.Answer.Outcome == verdict.Fault {
			t.Note("every text below %s", formatSize(n))
			(&climber{t: t, in: in, token: tok}).unread(call, n, said)
			return false
		}
		t.Try(codecs.Total)
		grown := g.grown().resident
		if !costsMemory(text, grown, own) {
			continue
		}
		if again := t.holdsAgain(kind, n); again > 0 {
			t.heldTooMuch(kind, n, again, call)
			return false
		}
		own = grown
		var ok bool
		if in, tok, g, ok = t.anew(); !ok {
			return false
		}
	}
	return true
}

// heldTooMuch reports a text of n bytes for which the reader holds more than perByte bytes per
// byte. The promise is memory linear in the length. So it is an observation if a quarter of the
// text takes about a quarter of the memory.
func (t trial) heldTooMuch(kind, n int, held uint64, call verdict.Call) {
	in, tok, g, ok := t.anew()
	if !ok {
		return
	}
	b := bombKinds(tok, t.PrefixOf(tok))[kind]
	in.Ask([]byte(b.text(n/4)), tok.Under)
	fewer := g.grown().resident
	record, issue := t.Observe, fmt.Sprintf("%d bytes of %s make the reader hold %d MiB, and a quarter of them %d MiB", n, b.name, held>>20, fewer>>20)
	if held > maxGrowthFactor*max(fewer, ownLonger) || held > mostPerByte*uint64(n) {
		record = t.Refute
	} else {
		t.Note("%s: linear", issue)
	}
	record(codecs.Total, issue, call)
}

// honestly returns the growth for sealing a state whose request is as long as that for a text
// of n bytes. Reading such a line costs the worker as much memory.
func (t trial) honestly(in *attack.Instance, tok *attack.Token, g *gauge, n int) uint64 {
	g.grown()
	in.SealQuietly(t.State(n), tok.Under)
	return g.grown().resident
}

// holdsAgain returns the least growth that a text of n bytes of a kind causes in new processes,
// or 0 if it is within the bound once.
func (t trial) holdsAgain(kind, n int) uint64 {
	least := ^uint64(0)
	for range growthRepeats {
		in, tok, g, ok := t.anew()
		if !ok {
			return 0
		}
		own := t.honestly(in, tok, g, n)
		if in, tok, g, ok = t.anew(); !ok {
			return 0
		}
		text := bombKinds(tok, t.PrefixOf(tok))[kind].text(n)
		in.Ask([]byte(text), tok.Under)
		grown := g.grown().resident
		if !costsMemory(text, grown, own) {
			return 0
		}
		least = min(least, grown)
	}
	return least
}

// perSeparator is the number of bytes that a reader may hold for each separator, in addition to
// those for a letter.
const perSeparator = 10

// separators compares the memory of refusing a text of full stops with that of refusing
// letters. Excess is an observation: the work is linear, and a design may split a text.
func (t trial) separators() {
	n := min(longestHeld/2, t.Budget.Bytes)
	if _, _, ok := t.Base(); !ok {
		return
	}
	for _, part := range []string{".", "a."} {
		t.Try(codecs.Inert)
		text := strings.Repeat(part, n/len(part))
		most, least := perSeparator*uint64(strings.Count(text, ".")), ^uint64(0)
		var call verdict.Call
		for shown := 0; shown < growthRepeats && least > most; shown++ {
			var stops, letters uint64
			if stops, call = t.holds(text); stops > most { // otherwise it is within the bound even without comparison
				letters, _ = t.holds(strings.Repeat("a", n))
			}
			if t.Skipped() {
				return
			}
			least = min(least, max(stops, letters)-letters)
		}
		if call.Answer.Outcome == verdict.Refused && least > most {
			t.Observe(codecs.Inert, fmt.Sprintf("refusing %d %q takes %d MiB more than refusing as many letters", n/len(part), part, least>>20), call)
			return
		}
	}
}

// holds returns the memory of refusing a text: the growth of a new process, or the bytes
// allocated in this process.
func (t trial) holds(text string) (grown uint64, call verdict.Call) {
	if t.Design.Memory == nil {
		in, tok, ok := t.Base()
		if ok {
			grown = allocatedBytes(0, func() { call = in.Ask([]byte(text), tok.Under) })
		}
		return grown, call
	}
	in, tok, g, ok := t.anew()
	if ok && g.err == nil {
		call = in.Ask([]byte(text), tok.Under)
		grown = g.grown().resident
	}
	return grown, call
}

// costsMemory reports whether a text costs more memory than an honest state, relative to the length
// of its JSON form, which is at least as long as the text.
func costsMemory(text string, grown, honest uint64) bool {
	if grown <= honest+ownLonger+perByte*uint64(len(text)) {
		return false
	}
	spelled, err := json.Marshal(text)
	return err != nil || grown > honest+ownLonger+perByte*uint64(len(spelled))
}

// liesIn returns the variants of tok with extreme numbers.
func liesIn(tok *attack.Token) []tokenfmt.Alteration {
	return slices.Collect(tokenfmt.Each(tokenfmt.Lengths, tok.Format(), tokenfmt.NewSource(0)))
}
