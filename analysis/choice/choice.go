// Package choice finds the designs that fit a use: the properties that it needs, the size of its payloads,
// the rate of its tokens and the lifetime of its keys.
//
// The rules are listed in [Rules], in order. The first rule that a design breaks is the reason why it does
// not fit.
//
// Designs that fit are ordered by the measured time to seal and unseal one token. Those whose difference
// from the fastest is within the noise come first, the shortest token first. Designs without measurements
// are ordered by the length of the token. If no property is needed, they are ordered first by
// the number of properties that they claim.
//
// The package names no design: all answers come from the rows of the catalog.
package choice

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"sealab/analysis/stats"
	"sealab/codecs"
	"sealab/internal/lab"
)

// Rules are the rules in plain words, in the order of their application.
var Rules = []string{
	"A need for a property of claims (expiry, a binding, unlinkability) asks for a scheme. Without one, a codec is asked for.",
	"The design's row states its limits. The format of an SDK or of a library states none: it is here to be compared.",
	"The design claims every property that is needed.",
	"FIPS: NIST publications approve every algorithm of the design.",
	"Post-quantum: no attack by a quantum computer breaks a guarantee.",
	"Interoperation: a program in the language reads the design's vectors.",
	"The token is short enough.",
	"One key seals rate × lifetime tokens at a risk of 2^-32 at most.",
}

// A Query describes a use. Every codec fits the zero Query.
type Query struct {
	Needs       []codecs.Property
	Payload     int           // bytes
	Rate        float64       // tokens a second that one key seals
	Lifetime    time.Duration // of a key
	MaxToken    int           // bytes; 0: any
	PostQuantum bool
	FIPS        bool
	Interop     string // language in lower case; "": any
}

// A Cost is the measured time of one token.
type Cost struct {
	SealNs   float64 `json:"seal_ns"`
	UnsealNs float64 `json:"unseal_ns"`
	// Rounds holds the time to seal and unseal in each round of the run, and Noise the share by which the
	// same design differs from itself in it.
	Rounds []float64 `json:"-"`
	Noise  float64   `json:"-"`
}

// Costs returns the cost of a design for payloads of about the given size. It reports false if the design
// was not measured.
type Costs func(design string, payload int) (Cost, bool)

// A Fit is a design that fits.
type Fit struct {
	Design string `json:"design"`
	Doc    string `json:"doc"`
	Token  int    `json:"token_bytes"`
	Cost   *Cost  `json:"cost,omitempty"` // nil: not measured
	// Log2Tokens is the base-2 logarithm of the number of tokens per key; nil means no limit.
	Log2Tokens *float64 `json:"log2_tokens_per_key,omitempty"`
	// Days is the time after which a key is used up at the query's rate. It is nil if that never happens,
	// or if the query has no rate.
	Days   *float64 `json:"days_per_key,omitempty"`
	Source string   `json:"limits_source,omitempty"`
	Use    []string `json:"go,omitempty"` // lines of Go

	claims int // number of claimed properties, if the query needs none
}

// An Other is a design that does not fit.
type Other struct {
	Design string `json:"design"`
	Reason string `json:"reason"`
	// Kind says that the design is a scheme and a codec is needed, or the reverse.
	Kind bool `json:"other_kind,omitempty"`
	// Compared says that the design's row states no limits.
	Compared bool `json:"-"`
}

// An Answer lists the designs that fit, the best first, and the reasons why the others do not.
type Answer struct {
	Fits []Fit `json:"fits"`
	// Equal is the number of designs, the first of Fits, that are equally fast within the noise of the run.
	Equal  int     `json:"-"`
	Others []Other `json:"others"`
}

// Choose applies the query to every design. costs may be nil.
func Choose(designs []codecs.Design, q Query, costs Costs) (_ *Answer, err error) {
	a := &Answer{Fits: []Fit{}, Others: []Other{}}
	for _, d := range designs {
		fit, reason, err := q.ask(d)
		if err != nil {
			return nil, err
		}
		if reason != "" {
			a.Others = append(a.Others, Other{d.Name, reason, d.IsScheme() != q.scheme(), lab.HooksOf(d).Facts == nil})
			continue
		}
		if costs != nil {
			if c, ok := costs(d.Name, q.Payload); ok {
				fit.Cost = &c
			}
		}
		a.Fits = append(a.Fits, fit)
	}
	slices.SortStableFunc(a.Fits, func(x, y Fit) int {
		return cmp.Or(cmp.Compare(x.total(), y.total()), cmp.Compare(y.claims, x.claims), cmp.Compare(x.Token, y.Token))
	})
	a.Equal, err = equalFirst(a.Fits)
	return a, err
}

// confidence is the joint confidence of the intervals by which designs are told from the fastest.
const confidence = 0.99

// equalFirst moves the designs that are as fast as the first within the noise to the front, the shortest
// token first, and returns their number.
func equalFirst(fits []Fit) (int, error) {
	if len(fits) == 0 || fits[0].Cost == nil || fits[0].Cost.Rounds == nil {
		return 0, nil
	}
	fastest := fits[0].Cost
	var equal, slower []Fit
	for _, f := range fits {
		if f.Cost == nil {
			slower = append(slower, f)
			continue
		}
		ratio, err := stats.Ratio(f.Cost.Rounds, fastest.Rounds, stats.Joint(confidence, len(fits)))
		if err != nil {
			return 0, err
		}
		if ratio.Lo <= 1+fastest.Noise {
			equal = append(equal, f)
		} else {
			slower = append(slower, f)
		}
	}
	slices.SortStableFunc(equal, func(x, y Fit) int { return cmp.Compare(x.Token, y.Token) })
	copy(fits, append(equal, slower...))
	return len(equal), nil
}

// total returns the cost by which designs are ordered.
func (f *Fit) total() float64 {
	if f.Cost == nil {
		return math.Inf(1)
	}
	return f.Cost.SealNs + f.Cost.UnsealNs
}

// ask returns the fit of a design, or the reason why it does not fit.
func (q *Query) ask(d codecs.Design) (fit Fit, reason string, err error) {
	facts := lab.HooksOf(d).Facts
	for _, rule := range []func(codecs.Design, *lab.Facts) string{q.kind, q.properties, q.restrictions} {
		if reason := rule(d, facts); reason != "" {
			return fit, reason, nil
		}
	}
	fit = Fit{Design: d.Name, Doc: d.Doc, Source: facts.Source, Use: Use(d)}
	if len(q.Needs) == 0 {
		for _, g := range d.GuaranteesFor(nil) {
			if g.Holds {
				fit.claims++
			}
		}
	}
	if fit.Token, err = lab.TokenLength(d, q.Payload); err != nil {
		return fit, "", err
	}
	if q.MaxToken > 0 && fit.Token > q.MaxToken {
		return fit, fmt.Sprintf("its token has %d bytes, more than %d", fit.Token, q.MaxToken), nil
	}
	sealed := q.Payload
	if d.IsScheme() {
		sealed = fit.Token * 3 / 4 // the payload and its claims have fewer bytes than the decoded token
	}
	return fit, fit.limit(q, facts.TokensPerKey(sealed)), nil
}

// scheme reports whether the query needs a property that only schemes have.
func (q *Query) scheme() bool {
	return slices.ContainsFunc(codecs.Properties(), func(p codecs.PropertyInfo) bool {
		return p.SchemeOnly && slices.Contains(q.Needs, p.Property)
	})
}

func (q *Query) kind(d codecs.Design, facts *lab.Facts) string {
	switch {
	case q.scheme() && !d.IsScheme():
		return "a codec has no claims; ask for " + d.Name + "-claims"
	case !q.scheme() && d.IsScheme():
		return "a scheme also stamps claims, and no property of claims is needed"
	case facts == nil:
		return "its row states no limits: it is here to be compared"
	}
	return ""
}

func (q *Query) properties(d codecs.Design, _ *lab.Facts) string {
	for _, p := range q.Needs {
		g, ok := d.Guarantee(p, nil)
		switch {
		case !ok:
			return fmt.Sprintf("it does not answer %s", p)
		case !g.Holds:
			return fmt.Sprintf("it disclaims %s: %s", p, g.Reason)
		}
	}
	return ""
}

func (q *Query) restrictions(_ codecs.Design, facts *lab.Facts) string {
	switch {
	case q.FIPS && facts.Approved == "":
		return "NIST does not approve every algorithm of it"
	case q.PostQuantum && facts.Quantum != "":
		return "not post-quantum: " + facts.Quantum
	case q.Interop != "" && !slices.Contains(facts.Languages, q.Interop):
		return fmt.Sprintf("no program in %s reads its vectors; there are programs in: %s", q.Interop, listed(facts.Languages))
	}
	return ""
}

// Languages returns the sorted languages in which a program reads the vectors of a design.
func Languages(designs []codecs.Design) []string {
	var all []string
	for _, d := range designs {
		if facts := lab.HooksOf(d).Facts; facts != nil {
			all = append(all, facts.Languages...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func listed(names []string) string {
	if len(names) == 0 {
		return "Go only"
	}
	return strings.Join(names, ", ")
}

// limit sets how long a key lasts. It returns a reason if that is too short.
func (f *Fit) limit(q *Query, log2 float64) string {
	if math.IsInf(log2, 1) {
		return ""
	}
	f.Log2Tokens = &log2
	if q.Rate <= 0 {
		return ""
	}
	days := math.Exp2(log2) / q.Rate / (24 * time.Hour).Seconds()
	f.Days = &days
	if wanted := q.Lifetime.Hours() / 24; days < wanted {
		return fmt.Sprintf("a key lasts %s and not %s: it seals 2^%.4g tokens (%s)", Days(days), Days(wanted), log2, f.Source)
	}
	return ""
}

// Days formats a number of days for people.
func Days(days float64) string {
	switch {
	case days < 1.0/24:
		return fmt.Sprintf("%.3g minutes", days*24*60)
	case days < 2:
		return fmt.Sprintf("%.3g hours", days*24)
	case days < 1000:
		return fmt.Sprintf("%.3g days", days)
	case days < 1000*365.25:
		return fmt.Sprintf("%.3g years", days/365.25)
	default:
		return "over 1000 years"
	}
}

// Use returns lines of Go that open a design and seal, imports first. For a scheme they bind the token to
// parts of the request.
func Use(d codecs.Design) []string {
	var imports, lines []string
	if facts := lab.HooksOf(d).Facts; facts != nil && facts.Use != "" {
		name, _, _ := strings.Cut(facts.Use, ".")
		imports, lines = []string{"sealab/codecs/" + name}, []string{"codec, err := " + facts.Use}
		if d.IsScheme() {
			imports = append(imports, "time", "sealab/codecs", "sealab/codecs/claims")
			lines = append(lines, "scheme, err := claims.New(codec, 10*time.Minute)")
		}
	} else {
		imports = []string{"sealab/codecs", "sealab/codecs/catalog"}
		lines = []string{fmt.Sprintf("d, err := catalog.Find(%q)", d.Name), "codec, err := d.OpenCodec(codecs.Config{Secrets: secrets})"}
		if d.IsScheme() {
			imports = append(imports, "time")
			lines[1] = "scheme, err := d.OpenScheme(codecs.Config{Secrets: secrets})"
		}
	}
	slices.SortFunc(imports, func(a, b string) int { // the standard library first
		return cmp.Or(cmp.Compare(strings.Count(a, "/"), strings.Count(b, "/")), cmp.Compare(a, b))
	})
	for i, path := range imports {
		imports[i] = fmt.Sprintf("import %q", path)
	}
	if d.IsScheme() {
		return slices.Concat(imports, lines, []string{
			"request := codecs.Context{Now: time.Now(), Method: method, Target: target, Arguments: arguments, Principal: &principal}",
			"token, err := scheme.Mint(nil, state, &request)",
		})
	}
	return slices.Concat(imports, lines, []string{"token, err := codec.Seal(nil, payload)"})
}

const day = 24 * time.Hour

// A Scenario is a named use.
type Scenario struct {
	Name string
	Query
}

// Scenarios were written before the rules of this package. A test compares each with the answer of an
// expert.
var Scenarios = []Scenario{
	{"session cookie of 200 bytes, at most 400 bytes of token", Query{Needs: []codecs.Property{codecs.Confidentiality, codecs.Expiry}, Payload: 200, MaxToken: 400, Rate: 100, Lifetime: 30 * day}},
	{"state of 64 KiB, ten a second", Query{Needs: []codecs.Property{codecs.Confidentiality, codecs.FreshNonces}, Payload: 64 << 10, Rate: 10, Lifetime: 90 * day}},
	{"10^9 tokens a day for 90 days", Query{Needs: []codecs.Property{codecs.Confidentiality}, Payload: 1 << 10, Rate: 1e9 / 86400, Lifetime: 90 * day}},
	{"verifiers in the browser", Query{Needs: []codecs.Property{codecs.SenderAuthenticated}, Payload: 200, Rate: 100, Lifetime: 365 * day}},
	{"verifiers in the browser, in a cookie of 4 KiB, post-quantum", Query{Needs: []codecs.Property{codecs.SenderAuthenticated}, Payload: 200, MaxToken: 4096, PostQuantum: true}},
	{"fleet with VM snapshots: a nonce may repeat", Query{Needs: []codecs.Property{codecs.Confidentiality, codecs.NonceMisuseResistant}, Payload: 1 << 10, Rate: 100, Lifetime: 90 * day}},
	{"FIPS only", Query{Needs: []codecs.Property{codecs.Confidentiality}, Payload: 1 << 10, FIPS: true, Rate: 100, Lifetime: 90 * day}},
	{"FIPS only, 10^9 tokens a day", Query{Needs: []codecs.Property{codecs.Confidentiality}, Payload: 1 << 10, FIPS: true, Rate: 1e9 / 86400, Lifetime: 90 * day}},
	{"keys of many tenants, opened by key ID: commitment, 10,000 a second",
		Query{Needs: []codecs.Property{codecs.Confidentiality, codecs.KeyCommitting}, Payload: 1 << 10, Rate: 10_000, Lifetime: 90 * day}},
	{"pagination cursor that a developer can read, in a link", Query{Needs: []codecs.Property{codecs.Integrity, codecs.KeyCommitting}, Payload: 48, MaxToken: 130, Rate: 1000, Lifetime: 365 * day}},
	{"unlinkable and committing: claims", Query{Needs: []codecs.Property{codecs.KeyCommitting, codecs.Unlinkable}, Payload: 1 << 10, Rate: 10_000, Lifetime: 90 * day}},
	{"a program in Python opens the tokens", Query{Needs: []codecs.Property{codecs.Confidentiality}, Payload: 1 << 10, Rate: 100, Lifetime: 30 * day, Interop: "python"}},
	{"post-quantum session for a gateway", Query{Needs: []codecs.Property{codecs.Confidentiality, codecs.FreshNonces}, Payload: 1 << 10, Rate: 10_000, Lifetime: 365 * day, PostQuantum: true}},
	{"hidden from verifiers that cannot mint: no design", Query{Needs: []codecs.Property{codecs.SenderAuthenticated, codecs.Confidentiality}, Payload: 200}},
}
