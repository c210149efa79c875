package attacks_test

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/codecs/worker"
	"sealab/fuzz/attack"
	"sealab/internal/testenv"
	"sealab/internal/verdict"
)

var (
	corpus     = flag.String("corpus", "", "workers of the corpus to attack with every attack, separated by commas; \"all\": every one")
	corpusOwn  = flag.Bool("corpus-own", false, "attack each broken worker with the attack alone that the manifest names, and each sound one, after them, with all")
	corpusJobs = flag.Int("corpus-jobs", 2, "workers of the corpus to attack at the same time")
)

// corpusFolder holds workers in three languages and their manifest. The workers were written
// from classes of bugs, by authors who had not read the attacks.
const corpusFolder = "../testdata/corpus"

// A specimen is one worker of the corpus.
type specimen struct {
	language, name string
	breaks         []string // properties, at least one of which must be refuted; nil for a sound worker
	class          string
	attack         string // an attack that finds the bug
	missed         string // the reason why no attack finds the bug
}

// specimens reads the manifest.
func specimens(t *testing.T) []specimen {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(corpusFolder, "manifest.tsv"))
	require.NoError(t, err)
	var all []specimen
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		require.Len(t, f, 5, line)
		s := specimen{language: f[0], name: f[1], class: f[3]}
		if f[2] != "-" {
			s.breaks = strings.Split(f[2], "|")
		}
		s.missed, _ = strings.CutPrefix(f[4], "missed: ")
		if s.missed == f[4] {
			s.attack, s.missed = f[4], ""
		}
		all = append(all, s)
	}
	return all
}

// corpusCommands returns the worker command for each language that is installed.
func corpusCommands(t *testing.T) map[string][]string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "goworker")
	out, err := exec.Command("go", "build", "-o", binary, "./"+filepath.Join(corpusFolder, "goworker")).CombinedOutput()
	require.NoError(t, err, "%s", out)
	commands := map[string][]string{"go": {binary}}
	for language, command := range map[string][]string{"py": {"python3", "worker.py"}, "branches": {"python3", "branches.py"}, "further": {"python3", "further.py"}, "js": {"node", "worker.mjs"}} {
		if _, err := exec.LookPath(command[0]); err == nil {
			commands[language] = []string{command[0], filepath.Join(corpusFolder, command[1])}
		}
	}
	return commands
}

// meet attacks a specimen. It returns one result for each claimed property that was refuted,
// and the time taken.
func (s specimen) meet(t *testing.T, command []string, budget attack.Budget, only ...string) (map[string]verdict.Result, time.Duration) {
	args := append(slices.Clone(command), s.name)
	began := time.Now()
	budget.Stopwatch = func() time.Duration { return time.Since(began) }
	fell := map[string]verdict.Result{}
	d, end, err := attack.Dial(args, func(l worker.Limits) (*worker.Client, error) { return worker.Dial(worker.Command{Args: args}, l) })
	if err != nil {
		t.Errorf("%s: %v", s.name, err)
		return fell, 0
	}
	defer end() //nolint:errcheck // every answer has been read
	for _, result := range runAttacks(t, d, seed, budget, only...).Results {
		if result.Accuses() {
			fell[string(result.Property)] = result
		}
	}
	return fell, time.Since(began)
}

// judge compares the refuted properties with the manifest and returns an error for a
// difference.
func (s specimen) judge(fell map[string]verdict.Result) (found bool, err error) {
	found = slices.ContainsFunc(s.breaks, func(p string) bool { _, ok := fell[p]; return ok })
	switch {
	case s.breaks == nil && len(fell) > 0:
		p := slices.Sorted(maps.Keys(fell))[0]
		return false, fmt.Errorf("%s is sound, and %s refutes %s: %s", s.name, fell[p].Attack, p, fell[p].Issue)
	case s.breaks == nil || found == (s.missed == ""):
		return found, nil
	case found:
		return true, fmt.Errorf("%s is found, and the manifest expects that it is missed", s.name)
	default:
		return false, fmt.Errorf("%s (%s) is missed, and the manifest expects that %s finds it", s.name, s.class, s.attack)
	}
}

// TestCorpusSample attacks every 16th broken worker with the attack that finds it, and every
// 32nd sound one with a share of all attacks. A sample takes half as many, and -short a
// quarter.
func TestCorpusSample(t *testing.T) {
	commands := corpusCommands(t)
	beside, _ := ids(t)
	skipped, met, step := map[string]bool{}, 0, 16
	if testenv.Sample() {
		step = 32
	}
	if testing.Short() {
		step = 64
	}
	for i, s := range specimens(t) {
		if i%step != 0 || s.missed != "" || s.breaks == nil && i%(2*step) != 0 {
			continue
		}
		command, installed := commands[s.language]
		if !installed {
			skipped[s.language] = true
			continue
		}
		chosen, budget := []string{s.attack}, small()
		if s.breaks == nil {
			chosen, budget = share(beside, i, 12), brief()
		}
		fell, _ := s.meet(t, command, budget, chosen...)
		_, err := s.judge(fell)
		require.NoError(t, err)
		met++
	}
	require.NotZero(t, met)
	if len(skipped) > 0 {
		testenv.Skip(t, "workers of the corpus in %v: the language is not installed", slices.Sorted(maps.Keys(skipped)))
	}
}

// TestCorpus attacks the whole corpus and prints how many workers are found and accused.
func TestCorpus(t *testing.T) {
	if *corpus == "" {
		testenv.Skip(t, "the whole corpus takes an hour: make attack-corpus")
	}
	chosen := slices.DeleteFunc(specimens(t), func(s specimen) bool {
		return *corpusOwn && s.missed != "" || *corpus != "all" && !slices.Contains(strings.Split(*corpus, ","), s.name)
	})
	slices.SortStableFunc(chosen, func(a, b specimen) int { return cmp.Compare(min(1, len(b.breaks)), min(1, len(a.breaks))) })
	commands := corpusCommands(t)
	var mu sync.Mutex
	count := map[string]int{}
	jobs := make(chan specimen)
	var wg sync.WaitGroup
	for range *corpusJobs {
		wg.Go(func() {
			for s := range jobs {
				var chosen []string
				if *corpusOwn && s.breaks != nil && s.attack != "RES-07" { // judges the other attacks
					chosen = []string{s.attack}
				}
				fell, spent := s.meet(t, commands[s.language], attack.DefaultBudget(), chosen...)
				found, err := s.judge(fell)
				mu.Lock()
				if err != nil {
					t.Error(err)
				}
				count[s.result(found, fell)]++
				fmt.Printf("%-8s %s %-26s %4.0f s  %s\n", s.result(found, fell), s.language, s.name, spent.Seconds(), s.how(found, fell))
				mu.Unlock()
			}
		})
	}
	for _, s := range chosen {
		if commands[s.language] == nil {
			count["skipped"]++
			continue
		}
		jobs <- s
	}
	close(jobs)
	wg.Wait()
	fmt.Printf("found %d of %d broken workers, accused %d of %d sound ones, skipped %d\n",
		count["found"], count["found"]+count["missed"], count["accused"], count["accused"]+count["stands"], count["skipped"])
	require.NotEqual(t, count["skipped"], len(chosen), "no worker was attacked")
}

// result returns the word for the outcome of one worker.
func (s specimen) result(found bool, fell map[string]verdict.Result) string {
	switch {
	case s.breaks == nil && len(fell) > 0:
		return "accused"
	case s.breaks == nil:
		return "stands"
	case found:
		return "found"
	default:
		return "missed"
	}
}

// how returns the attacks that refuted a property, or the reason for a miss.
func (s specimen) how(found bool, fell map[string]verdict.Result) string {
	var all []string
	for _, p := range slices.Sorted(maps.Keys(fell)) {
		all = append(all, p+" by "+fell[p].Attack)
	}
	if !found && s.missed != "" {
		all = append(all, s.missed)
	}
	return strings.Join(all, ", ")
}
