package attacks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strings"
	"time"

	"sealab/codecs"
	"sealab/fuzz/attack"
	"sealab/internal/lab"
)

// A resealer makes an authenticated token with an edited inside.
type resealer func(edit func(inside []byte) []byte) ([]byte, error)

// resealer returns a way to seal edited claims: by the design's own steps, or by a recognized
// construction under the known key.
func (t trial) resealer(in *attack.Instance, tok *attack.Token) (resealer, bool) {
	if t.Design.IsScheme() && in.CanEdit() {
		return func(edit func([]byte) []byte) ([]byte, error) {
			return in.Edited(nil, tok.State, tok.Under, func(s lab.Step, value []byte) []byte {
				if s == lab.StepClaims {
					return edit(value)
				}
				return value
			})
		}, true
	}
	c, ok := tok.Format().Recognize(in.Keys[0])
	if !ok {
		return nil, false
	}
	return func(edit func([]byte) []byte) ([]byte, error) { return c.Seal(edit(bytes.Clone(c.Body))), nil }, true
}

// A claimed is a token of a scheme with JSON claims, and a way to seal them edited.
type claimed struct {
	trial
	in     *attack.Instance
	tok    *attack.Token
	inside []byte
	reseal resealer
}

// claims mints a token of a scheme with JSON claims. If there is none, it records the reason.
func (t trial) claims() (c claimed, ok bool) {
	in, tok, ok := t.timed()
	if !ok {
		return c, false
	}
	reseal, ok := t.resealer(in, tok)
	if !ok {
		t.Skip("the design cannot be sealed step by step, and its construction was not recognized")
		return c, false
	}
	c = claimed{trial: t, in: in, tok: tok, reseal: reseal}
	if _, err := reseal(func(b []byte) []byte { c.inside = bytes.Clone(b); return b }); err != nil || !json.Valid(c.inside) {
		t.Skip("the inside of the token is not JSON")
		return c, false
	}
	return c, true
}

// expiring is claims for those with a time of expiry. It returns the member, and its value.
func (t trial) expiring() (c claimed, member, value string, ok bool) {
	if c, ok = t.claims(); !ok {
		return c, "", "", false
	}
	if member, value, ok = expiryIn(c.inside, c.tok.Under.Now); !ok {
		t.Skip("the claims have no member that is a time of expiry")
	}
	return c, member, value, ok
}

// numberMember matches a member of a JSON object whose value is a number.
var numberMember = regexp.MustCompile(`"([A-Za-z_]+)":\s*(-?[0-9]+(?:\.[0-9]+)?)`)

// expiryIn returns the member of the claims that holds the expiry: the latest time after now,
// in seconds or milliseconds.
func expiryIn(inside []byte, now time.Time) (member, value string, ok bool) {
	latest := float64(now.Unix()) + 1
	for _, m := range numberMember.FindAllSubmatch(inside, -1) {
		var v float64
		if json.Unmarshal(m[2], &v) != nil || math.Abs(v) > 1e15 {
			continue
		}
		if v > 1e11 {
			v /= 1000
		}
		if v > latest {
			latest, member, value, ok = v, string(m[1]), string(m[2]), true
		}
	}
	return member, value, ok
}

// oddExpiries replaces the expiry by other values and presents the token long after it.
func (t trial) oddExpiries() {
	c, member, value, ok := t.expiring()
	if !ok {
		return
	}
	for _, odd := range []string{`null`, `"9999999999"`, `"never"`, `""`, `true`, `false`, `[]`, `{}`, `[9999999999]`, `NaN`, `-Infinity`, `-1e400`, `-1`, `0`, `0.0`, `-0`,
		`"` + value + `"`, `1e`, `0x7fffffff`, `-9223372036854775808`} {
		c.presentLate(`"`+member+`":`+value, `"`+member+`":`+odd)
	}
	for _, huge := range []string{`1e400`, `Infinity`, `9223372036854775808`, `18446744073709551616`, `9007199254740993`, `1e300`, `123456789012345678901234567890`} {
		t.Try(codecs.Total)
		if text, err := c.edited(`"`+member+`":`+value, `"`+member+`":`+huge); err == nil {
			c.in.Unseal(text, c.tok.Under)
		}
	}
}

// noExpiry removes the expiry, or renames its member, and presents the token long after it.
func (t trial) noExpiry() {
	c, member, value, ok := t.expiring()
	if !ok {
		return
	}
	whole := `"` + member + `":` + value
	for _, from := range []string{whole + ",", "," + whole} {
		c.presentLate(from, "")
	}
	c.presentLate(whole, `"`+strings.ToUpper(member)+`":`+value)
	c.presentLate(whole, `"x`+member+`":`+value)
}

// edited seals the claims with a text replaced.
func (c claimed) edited(from, to string) ([]byte, error) {
	return c.reseal(func(inside []byte) []byte { return bytes.Replace(inside, []byte(from), []byte(to), 1) })
}

// presentLate seals the claims with a text replaced, and presents the token long after the expiry
// of the honest one.
func (c claimed) presentLate(from, to string) {
	text, err := c.edited(from, to)
	if err != nil || bytes.Equal(text, c.tok.Text) {
		return
	}
	c.Try(codecs.Expiry, codecs.Total)
	for _, d := range []time.Duration{400 * 24 * time.Hour, 20 * 365 * 24 * time.Hour} {
		if call, ok := c.in.Accepts(text, attack.Later(c.tok.Under, d)); ok {
			c.Refute(codecs.Expiry, fmt.Sprintf("a token whose claims say %q in the place of %q is accepted %s after it was minted", to, from, d), call)
		}
	}
}

// duplicateClaims seals claims with a duplicate member and expects an answer. A reader may use
// either member, because only the server can seal such claims.
func (t trial) duplicateClaims() {
	c, ok := t.claims()
	if !ok {
		return
	}
	for _, m := range plainMember.FindAllSubmatch(c.inside, 16) {
		whole := string(m[0])
		for _, twice := range []string{whole + "," + whole, whole + "," + strings.ToUpper(string(m[1])) + string(m[2]) + `:null`} {
			if text, err := c.edited(whole, twice); err == nil {
				t.Try(codecs.Total)
				c.in.Unseal(text, c.tok.Under)
			}
		}
	}
}

// plainMember matches a member of a JSON object whose value is a text or a number.
var plainMember = regexp.MustCompile(`("[A-Za-z_]+)("):(?:"(?:[^"\\]|\\.)*"|-?[0-9.]+)`)
