package attack

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sealab/codecs"
	"sealab/codecs/worker"
	"sealab/internal/verdict"
)

// A busy machine delays answers, and a machine without memory kills processes. Faults of these
// kinds count only if they occur each time. Either they follow an honest answer of a new
// process, or they occur at the same call in each run of the attack.
const (
	shownAgain = 2 // repetitions of a call, each in a new process; one if another call hung before
	cleanRuns  = 3 // further runs of an attack, one of which must have no late answer
)

// suspect reports whether load can cause a breach of the worker protocol.
func suspect(breach string) bool {
	return strings.HasPrefix(breach, string(worker.Hung)) || strings.HasPrefix(breach, string(worker.Died)) && strings.Contains(breach, "signal: killed")
}

// settle decides whether a call that ended in a fault counts. The breaches from number said on
// belong to the call. It returns the answer that counts, which is that of a repetition if that
// was answered.
func (t *T) settle(call verdict.Call, said int, again, honest func() verdict.Answer) verdict.Answer {
	a, shows := t.Design.showsAgain(call.Answer, said, again, honest)
	if shows {
		t.Design.noteHang(call, said)
		t.fault(call)
		return call.Answer
	}
	t.late = append(t.late, lateCall{t.calls, call})
	return a
}

// showsAgain reports whether a fault occurs each time and thus counts. If it does not,
// showsAgain returns the last answer.
func (d *Design) showsAgain(fault verdict.Answer, said int, again, honest func() verdict.Answer) (verdict.Answer, bool) {
	if !d.Suspect(said) {
		return fault, true
	}
	repeats := shownAgain
	if d.hasCertain() {
		repeats = 1
	}
	for range repeats {
		asked, a := honest(), fault
		if asked.Outcome != verdict.Fault {
			a = again()
		}
		if asked.Outcome == verdict.Fault || a.Outcome != verdict.Fault {
			d.Excuse(said)
			return a, false
		}
	}
	d.ascertain(said)
	d.hangs.Add(1)
	return fault, true
}

// A callID identifies a call under any ring. It is a digest of the operation, input and
// context.
type callID [sha256.Size]byte

func idOf(c verdict.Call) callID {
	h := sha256.New()
	fmt.Fprintf(h, "%s %d %s %d %s ", c.Op, len(c.Token), c.Token, len(c.State), c.State)
	json.NewEncoder(h).Encode(c.Context) //nolint:errcheck // a hash takes every write
	return callID(h.Sum(nil))
}

// noteHang records that a call gets no answer, if one of the breaches from number said on is a
// hang.
func (d *Design) noteHang(call verdict.Call, said int) {
	if !slices.ContainsFunc(d.Breaches()[said:], func(breach string) bool { return strings.HasPrefix(breach, string(worker.Hung)) }) {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.hung == nil {
		d.hung = map[callID]verdict.Answer{}
	}
	d.hung[idOf(call)] = call.Answer
}

// hungBefore returns the recorded answer of a call that is known to hang. To repeat the call
// would cost another deadline.
func (d *Design) hungBefore(call verdict.Call) (verdict.Answer, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.hung) == 0 {
		return verdict.Answer{}, false
	}
	a, known := d.hung[idOf(call)]
	return a, known
}

// A lateCall is a call that was late once, with the number of calls before it in the attack.
type lateCall struct {
	place int
	call  verdict.Call
}

// rerun runs the attack again if an answer was late: the process was restarted in the middle of
// the attack and may have lost state. The first run without a late answer counts. A call that
// is late in every run hangs, which refutes total. Otherwise the attack is not tested.
func (t *T) rerun() {
	var late []lateCall // calls that were late in each further run
	for n := range cleanRuns {
		if len(t.late) == 0 || t.incomplete != nil {
			return
		}
		if t.Design.Restart != nil {
			if err := t.Design.Restart(); err != nil {
				break
			}
		}
		again := t.Of(t.Design)
		again.runOnce()
		again.calls += t.calls
		*t = *again
		if n == 0 {
			late = slices.Clone(again.late)
		}
		late = slices.DeleteFunc(late, func(l lateCall) bool {
			return !slices.ContainsFunc(again.late, func(other lateCall) bool { return other.place == l.place })
		})
	}
	switch {
	case len(t.late) == 0 || t.incomplete != nil:
	case len(late) > 0:
		t.Refute(codecs.Total, fmt.Sprintf("call %d of the attack has no answer, each time in a new process: %s", late[0].place, late[0].call.Answer.Text), late[0].call)
	default:
		t.refuted, t.firstFault = map[codecs.Property]finding{}, nil
		t.incomplete = fmt.Errorf("an answer was late in each of %d runs, never the same one: the machine may be busy", cleanRuns+1)
	}
}

// Doubt records the reason why a measurement does not count. Properties that were not refuted
// are then not tested.
func (t *T) Doubt(format string, args ...any) { t.incomplete = fmt.Errorf(format, args...) }

// Suspect reports whether load can cause one of the breaches from number said on.
func (d *Design) Suspect(said int) bool { return slices.ContainsFunc(d.Breaches()[said:], suspect) }

func (d *Design) hasCertain() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.certain) > 0
}

// ascertain records that the breaches from number said on occurred each time.
func (d *Design) ascertain(said int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.certain = append(d.certain, d.Breaches()[said:]...)
}

// Charges returns the breaches of the worker protocol that count against the design. It also
// counts those that load can cause and that did not occur again.
func (d *Design) Charges() (charges []string, late int) {
	all := d.Breaches()
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, said := range all {
		switch {
		case slices.Contains(d.certain, said):
			charges = append(charges, said)
		case suspect(said):
			late++
		case !slices.Contains(d.excused, said):
			charges = append(charges, said)
		}
	}
	return charges, late
}
