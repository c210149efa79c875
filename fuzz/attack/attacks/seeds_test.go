package attacks_test

import (
	"flag"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/fuzz/attack"
	"sealab/fuzz/attack/attacks"
	"sealab/internal/broken"
	"sealab/internal/lab"
	"sealab/internal/testenv"
	"sealab/internal/verdict"
)

// Flags that choose the seeds, attacks and designs.
var (
	seeds = flag.Uint64("seeds", 1, "seeds under which sound designs are attacked")
	from  = flag.Uint64("from", seed, "the first of them")
	only  = flag.String("only", "", "attack or family to carry out under them; empty: all")
	names = flag.String("designs", "", "designs to attack under them, separated by commas; empty: all")
)

// TestSoundDesignsStand attacks every design of the catalog under every seed. No claimed
// property may be refuted. Attacks that measure this process run alone.
func TestSoundDesignsStand(t *testing.T) {
	beside, alone := ids(t)
	designs := slices.DeleteFunc(catalog.Variants(), func(d codecs.Design) bool {
		return *names != "" && !slices.Contains(strings.Split(*names, ","), d.Name)
	})
	tally := &tally{t: t, designs: len(designs), fell: map[string]map[codecs.Property]bool{}}
	tally.attack(designs, beside, runtime.GOMAXPROCS(0))
	tally.attack(designs, alone, 1)
	t.Logf("%d designs x %d seeds from %d, %d calls: %d accusations", len(designs), *seeds, *from, tally.calls, tally.accusations)
	require.NotZero(t, tally.calls, "nothing was attacked")
	if !testenv.Sample() && *only == "" {
		for _, d := range designs {
			tally.disclaimed(d)
		}
	}
}

// unshown holds, with the reason, the disclaimed properties that attacks on tokens do not
// refute. A name may stand for all schemes.
var unshown = map[codecs.Property]map[string]string{
	codecs.KeyCommitting: {
		"-claims": "the plaintext under a second key is not valid claims",
		// TestCommitmentIsTried refutes the first three.
		"aes-256-gcm": searched, "xaes-256-gcm": searched, "aes-256-gcm-siv": searched,
		"hpke-psk": searched, "hpke-session": searched, "hpke-xwing-session": searched,
		"xchacha20-poly1305": "TestTwoKeys of tokenfmt shows it for a given key; keys of tokens are derived",
		"aes-siv":            work, "aegis-256": work, "ascon-aead128": work,
		"ed25519": "the public keys of low order are those of no secret",
	},
	codecs.FreshNonces: {
		"hmac-sha256": noNonce, "aes-siv": noNonce, "ed25519": noNonce, "ml-dsa-44": noNonce,
		"hmac-sha256-claims": noNonce, "aes-siv-claims": noNonce, "ed25519-claims": noNonce, "ml-dsa-44-claims": noNonce,
	},
	codecs.Unlinkable: {
		"hmac-sha256-claims": guessed, "ed25519-claims": guessed, "ml-dsa-44-claims": guessed,
		"hpke-session-claims": oneSealer, "hpke-xwing-session-claims": oneSealer,
	},
}

// The reasons of unshown.
const (
	searched  = "two keys with one key ID take a search of 2^17 keys"
	work      = "a tag of 128 bits: 2^64 work"
	noNonce   = "there is no nonce"
	guessed   = "a reader has to know how the principal is digested: TestReadableClaimsShowPrincipals of codecs/claims"
	oneSealer = "tokens show their sealer, and those of two principals have the same"
)

// TestUnshownAreDisclaimed checks that every exception still applies: the design is in the
// catalog, has stated facts, and disclaims the property.
func TestUnshownAreDisclaimed(t *testing.T) {
	for property, designs := range unshown {
		for name := range designs {
			if name == "-claims" {
				continue // stands for any scheme
			}
			d, err := catalog.Find(name)
			require.NoError(t, err)
			g, ok := d.Guarantee(property, nil)
			require.True(t, ok && !g.Holds, "%s does not disclaim %s", name, property)
			require.NotNil(t, lab.HooksOf(d).Facts, name)
		}
	}
}

// disclaimed checks that each property that d disclaims was refuted, unless it is in unshown.
func (y *tally) disclaimed(d codecs.Design) {
	if lab.HooksOf(d).Facts == nil {
		return // d implements a format of others
	}
	for _, info := range codecs.Properties() {
		g, ok := d.Guarantee(info.Property, nil)
		if !ok || info.SchemeOnly && !d.IsScheme() {
			continue
		}
		why := unshown[g.Property][d.Name]
		if why == "" && d.IsScheme() {
			why = unshown[g.Property]["-claims"]
		}
		if g.Holds || why != "" {
			continue
		}
		if !y.fell[d.Name][g.Property] {
			y.t.Errorf("%s disclaims %s, which did not fall: %s", d.Name, g.Property, g.Reason)
		}
		y.shown++
	}
	y.t.Logf("%s: %d disclaimed properties fell so far", d.Name, y.shown)
}

// TestControlsFallByNoChance attacks every control with the attacks that it names, under seeds
// that TestControlsFall does not use. No attack may miss its control by chance.
func TestControlsFallByNoChance(t *testing.T) {
	testenv.SkipSample(t)
	meetings := &meetings{t: t}
	for n := range *seeds {
		for _, control := range broken.Controls() {
			meetings.meet(control.Design, control.Attacks, control.Bytes, *from+n+1)
		}
	}
	meetings.tell()
}

// meetings counts the runs of attacks on controls, and the runs that missed the flaw.
type meetings struct {
	t          *testing.T
	met, blind int
}

// meet runs each of the attacks on d under a seed. The flaw of d shows at tokens of up to
// length bytes.
func (m *meetings) meet(d codecs.Design, ids []string, length int, seed uint64) {
	budget := small()
	budget.Bytes = max(budget.Bytes, length)
	for _, id := range ids {
		if !strings.HasPrefix(id, *only) {
			continue
		}
		m.met++
		got := runAttacks(m.t, &attack.Design{Design: d}, seed, budget, id)
		if !slices.ContainsFunc(got.Results, func(cell verdict.Result) bool { return cell.Outcome == verdict.Refuted }) {
			m.blind++
			m.t.Errorf("seed %d: %s is blind to %s", seed, id, d.Name)
		}
	}
}

func (m *meetings) tell() {
	m.t.Logf("attacks met their controls %d times: %d were blind", m.met, m.blind)
	require.NotZero(m.t, m.met, "nothing was attacked")
}

// ids returns the attacks of the given families, or those chosen by flags: first those that may
// run beside others, then those that run alone.
func ids(t *testing.T, families ...string) (beside, alone []string) {
	if len(families) == 0 && *only != "" {
		families = []string{*only}
	}
	chosen, err := attack.Select(attacks.All(), families)
	require.NoError(t, err)
	for _, r := range chosen {
		if r.Measures {
			alone = append(alone, r.ID)
		} else {
			beside = append(beside, r.ID)
		}
	}
	return beside, alone
}

// brief returns the budget for all seeds but the first. A search that fails under one seed may
// succeed under another.
func brief() attack.Budget {
	if testenv.Sample() {
		return attack.Budget{Seals: 1 << 7, Unseals: 1 << 7, Bytes: 1 << 12, Sweep: 24, Stopwatch: allocation}
	}
	return attack.Budget{Seals: 1 << 5, Unseals: 1 << 6, Bytes: 1 << 12, Sweep: 16, Stopwatch: allocation}
}

// A tally collects the results of runs on sound designs.
type tally struct {
	t       *testing.T
	designs int

	mu                       sync.Mutex
	done, calls, accusations int
	fell                     map[string]map[codecs.Property]bool // by design
	shown                    int                                 // disclaimed properties that were refuted
}

// number returns the index of a design in the catalog.
func (y *tally) number(name string) int {
	return slices.IndexFunc(catalog.Variants(), func(d codecs.Design) bool { return d.Name == strings.TrimSuffix(name, " bare") })
}

// share returns every n-th of the attacks. The offset depends on number.
func share(ids []string, number, n int) []string {
	var some []string
	for i, id := range ids {
		if (i+number+n)%n == 0 {
			some = append(some, id)
		}
	}
	return some
}

// A job is one design under one seed.
type job struct {
	codecs.Design
	seed uint64
}

// attack runs the attacks on every design under every seed, with atOnce runs at a time.
func (y *tally) attack(designs []codecs.Design, ids []string, atOnce int) {
	if len(ids) == 0 {
		return
	}
	y.done = 0
	jobs := make(chan job)
	var wg sync.WaitGroup
	for range atOnce {
		wg.Go(func() {
			for j := range jobs {
				y.campaign(j, ids)
			}
		})
	}
	for n := range *seeds {
		for _, d := range designs {
			jobs <- job{d, *from + n}
		}
	}
	close(jobs)
	wg.Wait()
}

// campaign attacks one design under one seed and adds the results.
func (y *tally) campaign(j job, ids []string) {
	budget := brief()
	if testenv.Sample() { // some of the attacks on each design, and some of the designs for each attack
		ids = share(ids, y.number(j.Name), 96)
	}
	if j.seed == seed && !testenv.Sample() {
		budget = small()
	}
	if len(ids) == 0 {
		return
	}
	got := runAttacks(y.t, &attack.Design{Design: j.Design}, j.seed, budget, ids...)
	y.mu.Lock()
	defer y.mu.Unlock()
	for _, cell := range got.Results {
		if cell.Outcome == verdict.Refuted && y.fell != nil {
			if y.fell[j.Name] == nil {
				y.fell[j.Name] = map[codecs.Property]bool{}
			}
			y.fell[j.Name][cell.Property] = true
		}
		if cell.Accuses() {
			y.accusations++
			y.t.Errorf("%s, seed %d: %s refutes %s: %s", j.Name, j.seed, cell.Attack, cell.Property, cell.Issue)
		}
	}
	y.calls += got.Calls
	if y.done++; y.done%(20*y.designs) == 0 {
		y.t.Logf("%d of %d seeds, %d calls, %d accusations", y.done/y.designs, *seeds, y.calls, y.accusations)
	}
}
