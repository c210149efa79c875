package designs

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sealab/analysis/choice"
	"sealab/analysis/throughput"
	"sealab/codecs"
	"sealab/codecs/catalog"
	"sealab/internal/cli"
	"sealab/internal/runfile"
	"sealab/internal/table"
)

// NewChoose returns the command "choose".
func NewChoose() *cobra.Command {
	var words queryWords
	var run string
	var asJSON bool
	var q choice.Query
	cmd := &cobra.Command{
		Use:   "choose",
		Short: "Choose a design by properties, sizes, rate and key lifetime",
		Long: `List the designs that fit a use, the cheapest first, the reasons against the
others, and the Go code that uses the first. The cost is from a run of
"sealab bench"; of designs within its noise, the shortest token comes first.
A key is used up if the probability of a repeated nonce, or of another failure
that grows with use, reaches 2^-32. The exit status is 1 if no design fits.`,
		Example: `  sealab choose --need confidentiality --payload 200 --max-token 400
  sealab choose --need key-committing,unlinkable --payload 1KiB --rate 10000/s --lifetime 90d
  sealab choose --need sender-authenticated --post-quantum --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := words.read(&q); err != nil {
				return err
			}
			costs, source, err := loadCosts(run, q.Payload)
			if err != nil {
				return err
			}
			answer, err := choice.Choose(catalog.All(), q, costs)
			if err != nil {
				return err
			}
			err = cli.WriteAs(cmd.OutOrStdout(), asJSON, answer, func(w io.Writer) error { return writeChoice(w, answer, q.Needs, source) })
			if err == nil && len(answer.Fits) == 0 {
				return cli.ErrRefuted
			}
			return err
		},
	}
	cmd.Flags().StringSliceVar(&words.needs, "need", nil, "properties that the design must claim")
	cmd.Flags().StringVar(&words.payload, "payload", "1KiB", "size of a payload, for example 200 or 64KiB")
	cmd.Flags().StringVar(&words.rate, "rate", "", "tokens that one key seals, for example 10000/s or 1e9/d")
	cmd.Flags().StringVar(&words.lifetime, "lifetime", "", "lifetime of a key, for example 12h or 90d")
	cmd.Flags().StringVar(&words.longest, "max-token", "", "longest token, for example 400 or 4KiB (default any)")
	cmd.Flags().BoolVar(&q.PostQuantum, "post-quantum", false, "withstand quantum computers")
	cmd.Flags().BoolVar(&q.FIPS, "fips", false, "use algorithms that NIST approves")
	cmd.Flags().StringVar(&q.Interop, "interop", "", "language of a second implementation: java, python, ruby or rust")
	cmd.Flags().StringVar(&run, "run", "", "folder of the run with the costs (default the newest of every design in results/bench)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	return cmd
}

// queryWords holds the flags of a query before they are parsed: numbers with
// units, and names.
type queryWords struct {
	needs                            []string
	payload, longest, rate, lifetime string
}

func (w *queryWords) read(q *choice.Query) (err error) {
	if q.Needs, err = cli.NamedOrAll(nil, w.needs, codecs.ParseProperty); err != nil {
		return err
	}
	if q.Payload, err = parseSize("--payload", w.payload); err != nil {
		return err
	}
	if w.longest != "" {
		if q.MaxToken, err = parseSize("--max-token", w.longest); err != nil {
			return err
		}
		if q.MaxToken == 0 {
			return fmt.Errorf("--max-token %s: want at least one byte", w.longest)
		}
	}
	if q.Rate, err = parseRate(w.rate); err != nil {
		return err
	}
	if q.Lifetime, err = parseLifetime(w.lifetime); err != nil {
		return err
	}
	return checkQuery(q)
}

// checkQuery returns an error for a query of which a part would be ignored.
func checkQuery(q *choice.Query) error {
	if q.Lifetime > 0 && q.Rate == 0 {
		return fmt.Errorf("--lifetime: want --rate too: the number of tokens limits a key")
	}
	if known := choice.Languages(catalog.All()); q.Interop != "" && !slices.Contains(known, q.Interop) {
		return fmt.Errorf("--interop %q: want %s", q.Interop, strings.Join(known, ", "))
	}
	return nil
}

var sizePattern = regexp.MustCompile(`^([0-9]+)(B|KiB|MiB)?$`)

// parseSize parses the value of a flag as a number of bytes.
func parseSize(flag, text string) (int, error) {
	m := sizePattern.FindStringSubmatch(text)
	if m == nil {
		return 0, fmt.Errorf("%s %q: want bytes, for example 200 or 64KiB", flag, text)
	}
	const most = 64 << 20
	unit := map[string]int{"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20}[m[2]]
	n, err := strconv.Atoi(m[1])
	if err != nil || n > most/unit {
		return 0, fmt.Errorf("%s %q: want at most 64MiB", flag, text)
	}
	return n * unit, nil
}

var ratePattern = regexp.MustCompile(`^([0-9.e+]+)/(s|m|h|d)$`)

// parseRate parses a number of tokens per second.
func parseRate(text string) (float64, error) {
	if text == "" {
		return 0, nil
	}
	m := ratePattern.FindStringSubmatch(text)
	if m == nil {
		return 0, fmt.Errorf("--rate %q: want tokens a second, minute, hour or day, for example 10000/s or 1e9/d", text)
	}
	n, err := strconv.ParseFloat(m[1], 64)
	if err != nil || n <= 0 || math.IsInf(n, 0) {
		return 0, fmt.Errorf("--rate %q: want a positive number", text)
	}
	return n / map[string]float64{"s": 1, "m": 60, "h": 3600, "d": 86400}[m[2]], nil
}

var daysPattern = regexp.MustCompile(`^([0-9]{1,5})d$`)

// parseLifetime parses a Go duration, or a number of days.
func parseLifetime(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	if m := daysPattern.FindStringSubmatch(text); m != nil {
		days, err := strconv.Atoi(m[1])
		return time.Duration(days) * 24 * time.Hour, err
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("--lifetime %q: want for example 12h or 90d", text)
	}
	return d, nil
}

// loadCosts returns the costs that a run measured, for the measured size
// nearest to that of the payload, and the name of the run. Without a run it
// returns no costs.
func loadCosts(dir string, payload int) (choice.Costs, string, error) {
	run, err := loadRun(dir)
	if err != nil {
		return nil, "", err
	}
	if run == nil {
		return nil, "not measured: there is no run of every design in " + filepath.Join(runfile.Results, runfile.Bench), nil
	}
	ratios, err := run.Ratios()
	if err != nil {
		return nil, "", err
	}
	noise, _ := throughput.Noise(ratios)
	size := run.NearestSize(payload)
	costs := func(design string, _ int) (choice.Cost, bool) {
		seal, sealed := run.Median(throughput.Place{Subject: design, Op: runfile.Seal, Size: size})
		unseal, unsealed := run.Median(throughput.Place{Subject: design, Op: runfile.Unseal, Size: size})
		return choice.Cost{SealNs: seal, UnsealNs: unseal, Rounds: run.Total(design, size), Noise: noise}, sealed && unsealed
	}
	return costs, fmt.Sprintf("%s, measured with payloads of %d bytes", run.Path, size), nil
}

// loadRun returns the run in dir. If dir is empty, it returns the newest run of every design, or nil.
func loadRun(dir string) (*throughput.Run, error) {
	if dir != "" {
		return throughput.Load(dir)
	}
	whole, err := throughput.Whole(runfile.Results)
	if err != nil || len(whole) == 0 {
		return nil, err
	}
	return whole[len(whole)-1], nil
}

// orderOf returns a sentence that explains the order of the designs if not all were
// measured.
func orderOf(fits []choice.Fit, needs bool) string {
	unmeasured := 0
	for _, f := range fits {
		if f.Cost == nil {
			unmeasured++
		}
	}
	switch {
	case unmeasured == 0:
		return ""
	case unmeasured < len(fits):
		return fmt.Sprintf("The run did not measure %d of them: they have no times and come last.", unmeasured)
	case needs:
		return "Without costs, the shortest tokens come first."
	default:
		return "Without costs, the designs that claim most come first."
	}
}

func writeChoice(out io.Writer, a *choice.Answer, needs []codecs.Property, source string) error {
	fit := "designs fit"
	if len(a.Fits) == 1 {
		fit = "design fits"
	}
	fmt.Fprintf(out, "%d %s. Costs: %s.\n", len(a.Fits), fit, source)
	if order := orderOf(a.Fits, len(needs) > 0); order != "" {
		fmt.Fprintln(out, order, "--run names another run.")
	}
	if len(a.Fits) > 0 {
		if len(needs) == 0 {
			fmt.Fprintln(out, "No property was asked for with --need: \"sealab list DESIGN\" prints those that a design claims.")
		}
		writeFits(out, a)
	}
	return writeOthers(out, a.Others, slices.Contains(needs, codecs.SingleUse))
}

// writeFits writes the designs that fit, and Go code that uses the first.
func writeFits(out io.Writer, a *choice.Answer) {
	all := a.Fits
	fits := table.New("lrrrrl")
	fits.Row("DESIGN", "TOKEN", "SEAL", "UNSEAL", "A KEY LASTS", "LIMIT")
	for _, f := range all {
		seal, unseal, lasts, limit := "-", "-", "-", "none"
		if f.Cost != nil {
			seal, unseal = fmt.Sprintf("%.0f ns", f.Cost.SealNs), fmt.Sprintf("%.0f ns", f.Cost.UnsealNs)
		}
		if f.Days != nil {
			lasts = choice.Days(*f.Days)
		}
		if f.Log2Tokens != nil {
			limit = fmt.Sprintf("2^%.4g; %s", *f.Log2Tokens, f.Source)
		}
		fits.Row(f.Design, strconv.Itoa(f.Token)+" B", seal, unseal, lasts, limit)
	}
	fmt.Fprintf(out, "\n%s\n", fits.Text(table.Width(out)))
	if a.Equal > 1 {
		fmt.Fprintf(out, "The first %d are equally fast within the noise of the run; of these, the shortest token comes first.\n", a.Equal)
	}
	fmt.Fprintf(out, "Use %s:\n\n", all[0].Design)
	for _, line := range all[0].Use {
		fmt.Fprintln(out, "\t"+line)
	}
}

// writeOthers writes the designs that do not fit, with reasons.
func writeOthers(out io.Writer, all []choice.Other, singleUse bool) error {
	others, kinds, refused, compared := table.New("ll"), 0, 0, []string{}
	others.Row("OTHERS", "REASON")
	for _, o := range all {
		switch {
		case o.Kind:
			kinds++
		case o.Compared:
			compared = append(compared, o.Design)
		default:
			others.Row(o.Design, o.Reason)
			refused++
		}
	}
	if refused > 0 {
		fmt.Fprintf(out, "\n%s", others.Text(table.Width(out)))
	}
	if singleUse {
		fmt.Fprintln(out, "\nA token alone cannot be single-use: a server has to remember it. \"go doc sealab/codecs/boundary\"\nhas stores for that; choose without single-use.")
	}
	_, err := fmt.Fprintf(out, "\n%d designs of the other kind were not asked: schemes are asked if a need is one of theirs, such as expiry.\n%d are not for use, but to be compared: %s.\n",
		kinds, len(compared), strings.Join(compared, ", "))
	return err
}
