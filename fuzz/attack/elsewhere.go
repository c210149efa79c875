package attack

import (
	"bytes"
	"encoding/json"
	"fmt"

	"sealab/codecs"
	"sealab/codecs/worker"
	"sealab/internal/verdict"
)

// The bounds of memory in another process, whose runtime also grows for reasons of
// its own: heaps come in blocks, garbage stays for a while, a thread maps its stack.
const (
	ownReasons   = 64 << 20  // growth by one short text that says nothing, in bytes
	ownAddresses = 512 << 20 // the same in addresses: with glibc each new thread takes 128 MiB of them at once
	ownLonger    = 32 << 20  // growth beside what an honest state of that length costs
	longestHeld  = 16 << 20  // the longest text whose memory is read, in bytes
	shows        = 2         // how often a growth must show, each time in a new process
	warming      = 8         // how often harmless texts are presented before
	mostDoubts   = 3         // after as many growths that did not show again none is told from the subject's own
)

// A gauge reads how much a subject's processes grow.
type gauge struct {
	read func() (worker.Memory, error)
	last worker.Memory
	err  error // why it reads nothing
}

// A growth is in memory, and in addresses, which a buffer takes before anything is
// written to it; in bytes.
type growth struct{ resident, mapped uint64 }

func (g growth) most() uint64 { return max(g.resident, g.mapped) }

// strange reports a growth that no runtime has reasons of its own for.
func (g growth) strange() bool { return g.resident > ownReasons || g.mapped > ownAddresses }

// grown returns by how much the processes grew since the last reading. What cannot
// be read has not grown.
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

// anew is base in a new process, so that no earlier peak hides a growth.
func (t *Trial) anew() (*Party, *Token, *gauge, bool) {
	if err := t.Subject.Restart(); err != nil {
		t.skip("the subject does not start again: %s", err)
		return nil, nil, nil, false
	}
	p, tok, ok := t.base()
	if !ok {
		return nil, nil, nil, false
	}
	g := &gauge{read: t.Subject.Memory}
	if g.grown(); g.err != nil {
		t.skip("the memory of the process is not read: %s", g.err)
	}
	return p, tok, g, true
}

// liesElsewhere presents tokens whose lengths lie, and reads the memory of the
// subject's processes after each.
func (t *Trial) liesElsewhere() {
	p, tok, g, ok := t.anew()
	if !ok {
		return
	}
	doubts := 0
	all := t.liesIn(p, tok)
	for n := 0; n < len(all); n++ {
		lie := all[n]
		t.change(p, tok, lie.text, lie.how)
		if g.err != nil || doubts == mostDoubts {
			continue
		}
		t.try(codecs.Total)
		if !g.grown().strange() || t.broken() {
			continue
		}
		if grown := t.lieAgain(n); grown > 0 {
			t.refute(codecs.Total, fmt.Sprintf("%s makes the reader allocate %d MiB for %d bytes", lie.how, grown>>20, len(lie.text)))
			return
		}
		doubts++
		if p, tok, g, ok = t.anew(); !ok {
			return
		}
		all = t.liesIn(p, tok) // of the new token, and no longer of one that is honest as well
	}
}

// lieAgain returns the least growth that lie number n causes in new processes,
// which have met a zero in the same place, or 0 where it is once not strange.
func (t *Trial) lieAgain(n int) uint64 {
	least := ^uint64(0)
	for range shows {
		p, tok, g, ok := t.anew()
		if !ok {
			return 0
		}
		all := t.liesIn(p, tok)
		if n >= len(all) {
			return 0 // the tokens of the new process are of another shape
		}
		for _, other := range all {
			harmless := other.piece == all[n].piece && other.at == all[n].at && bytes.Equal(other.number, []byte{0})
			for i := 0; harmless && other.how != all[n].how && i < warming; i++ {
				p.unseal(other.text, tok.Under)
			}
		}
		g.grown()
		p.unseal(all[n].text, tok.Under)
		grown := g.grown()
		if !grown.strange() {
			return 0
		}
		least = min(least, grown.most())
	}
	return least
}

// memoryElsewhere presents texts of growing length and reads the memory of the
// subject's processes after each.
func (t *Trial) memoryElsewhere() {
	to := min(longestHeld, t.Budget.Bytes)
	t.note("up to %s", size(to))
	for _, n := range lengths(to>>4, to) {
		p, tok, g, ok := t.anew()
		if !ok || g.err != nil {
			return
		}
		if !t.holdsEach(p, tok, g, n) {
			return
		}
	}
}

// holdsEach presents texts of n bytes of each kind, and reports whether longer ones
// are worth while. A growth that did not show again is the subject's own way.
func (t *Trial) holdsEach(p *Party, tok *Token, g *gauge, n int) bool {
	own := t.honestly(p, tok, g, n)
	for kind, b := range bombs(tok, t.prefixOf(tok)) {
		if t.spent() {
			t.note("until the time was over, at %s of %s", size(n), b.name)
			return false
		}
		said, text := len(t.Subject.said()), b.text(n)
		g.grown()
		call := p.ask([]byte(text), tok.Under)
		if call.Answer.Outcome == verdict.Fault {
			t.note("every text below %s", size(n))
			(&climb{t: t, party: p, token: tok}).unread(call, n, said)
			return false
		}
		t.try(codecs.Total)
		grown := g.grown().resident
		if grown <= own+bound(text) {
			continue
		}
		if again := t.holdsAgain(kind, n); again > 0 {
			t.refute(codecs.Total, fmt.Sprintf("%d bytes of %s make the reader hold %d MiB", len(text), b.name, again>>20), call)
			return false
		}
		own = grown
		var ok bool
		if p, tok, g, ok = t.anew(); !ok {
			return false
		}
	}
	return true
}

// honestly returns how much sealing a state whose request is as long as that of a
// text of n bytes makes the processes hold: the worker's lines cost as much.
func (t *Trial) honestly(p *Party, tok *Token, g *gauge, n int) uint64 {
	g.grown()
	p.sealQuietly(t.state(n), tok.Under)
	return g.grown().resident
}

// holdsAgain returns the least growth that a text of n bytes of a kind causes in
// new processes, or 0 where it is once no more than it may be.
func (t *Trial) holdsAgain(kind, n int) uint64 {
	least := ^uint64(0)
	for range shows {
		p, tok, g, ok := t.anew()
		if !ok {
			return 0
		}
		own := t.honestly(p, tok, g, n)
		if p, tok, g, ok = t.anew(); !ok {
			return 0
		}
		text := bombs(tok, t.prefixOf(tok))[kind].text(n)
		p.ask([]byte(text), tok.Under)
		grown := g.grown().resident
		if grown <= own+bound(text) {
			return 0
		}
		least = min(least, grown)
	}
	return least
}

// bound is what a text may cost beyond an honest state: so much for each byte of
// it as it is spelled in a request.
func bound(text string) uint64 {
	spelled, err := json.Marshal(text)
	if err != nil {
		return 0 // every text has a spelling
	}
	return ownLonger + perByte*uint64(len(spelled))
}
