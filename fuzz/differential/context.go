package differential

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"sealab/codecs"
)

// drawConfig returns a ring of up to three secrets, a TTL, and options that both sides support.
func (r *round) drawConfig() codecs.Config {
	c := codecs.Config{Options: make(map[string]string)}
	keys := 1 + r.IntN(3)
	for _, limit := range []int{r.Here.MaxKeys, r.There.MaxKeys} {
		if limit > 0 {
			keys = min(keys, limit)
		}
	}
	for range keys {
		c.Secrets = append(c.Secrets, r.secret())
	}
	if ttl := pickOne(r, ttlChoices); ttl != nil {
		c.TTL = ttl
	}
	for _, o := range r.Here.Options {
		if values := sharedValues(o, r.There.Options); len(values) > 0 && !r.readsDifferently(o) {
			c.Options[o.Name] = pickOne(r, values)
		}
	}
	return c
}

// readsDifferently reports whether o selects the reading of a format and the sides have
// different defaults. Each side then keeps its own.
func (r *round) readsDifferently(o codecs.Option) bool {
	return o.Name == "reading" && slices.ContainsFunc(r.There.Options, func(other codecs.Option) bool {
		return other.Name == o.Name && other.Values[0] != o.Values[0]
	})
}

func (r *round) secret() []byte {
	size := max(r.Here.KeySize, r.There.KeySize)
	if size == 0 {
		size = codecs.MinSecret + r.IntN(33)
	}
	secret := r.octets(size)
	if r.TextKeys {
		for i, b := range secret {
			secret[i] = '!' + b%('~'-'!'+1)
		}
	}
	return secret
}

// ttlChoices are TTLs; nil is the default of each side.
var ttlChoices = []*time.Duration{
	nil, nil, new(10 * time.Minute), new(time.Second), new(500 * time.Millisecond),
	new(24 * time.Hour), new(1e6 * time.Second), new(time.Duration(0)), new(-time.Second),
}

// sharedValues returns the values of o that the option of the same name in others has too.
func sharedValues(o codecs.Option, others []codecs.Option) []string {
	var values []string
	for _, other := range others {
		if other.Name != o.Name {
			continue
		}
		for _, v := range o.Values {
			if slices.Contains(other.Values, v) {
				values = append(values, v)
			}
		}
	}
	return values
}

// An otherRing is a different ring to present tokens to, with a description.
type otherRing struct {
	note    string
	secrets [][]byte
}

// otherRings returns rings that differ from the ring of the round.
func (r *round) otherRings() []otherRing {
	secrets := r.config.Secrets
	rings := []otherRing{{"another key", [][]byte{r.secret()}}}
	if len(secrets) > 1 {
		rotated := append(slices.Clone(secrets[1:]), secrets[0])
		rings = append(rings, otherRing{"rotated ring", rotated}, otherRing{"first key removed", secrets[1:]})
	}
	return rings
}

var methodChoices = []string{"tools/call", "prompts/get", "resources/read"}

func (r *round) drawContext() codecs.Context {
	return codecs.Context{
		Method: pickOne(r, methodChoices), Target: r.text(), Arguments: r.arguments(),
		Principal: r.optional(), Audience: r.optional(),
		Now: time.Unix(1_795_132_800+r.Int64N(1e6), r.Int64N(8)*125_000_000+r.Int64N(2)*r.Int64N(1000)*1000),
	}
}

// arguments returns raw JSON, or nil.
func (r *round) arguments() json.RawMessage {
	if r.IntN(6) == 0 {
		return nil
	}
	return r.document()
}

func (r *round) optional() *string {
	if r.IntN(3) == 0 {
		return nil
	}
	return new(r.text())
}

// drawState returns JSON, which every format can carry, or any text. Some states are long, to
// test implementations that work in blocks.
func (r *round) drawState() []byte {
	switch r.IntN(12) {
	case 0:
		return []byte(`"` + strings.Repeat(pickOne(r, []string{"x", "é", "😀"}), r.IntN(10_000)) + `"`)
	case 1, 2, 3:
		return []byte(r.text())
	default:
		return r.document()
	}
}

// change returns c with one change, and a description of the change.
func (r *round) change(c codecs.Context) (note string, changed codecs.Context) {
	b := &c
	switch r.IntN(7) {
	case 0:
		b.Method = pickOne(r, methodChoices)
		return "another method", c
	case 1:
		b.Target = r.near(b.Target)
		return "another target", c
	case 2:
		b.Arguments = r.arguments()
		return "other arguments", c
	case 3:
		b.Arguments = r.respell(b.Arguments)
		return "arguments spelled otherwise", c
	case 4:
		b.Principal = r.nearOptional(b.Principal)
		return "another principal", c
	case 5:
		b.Audience = r.nearOptional(b.Audience)
		return "another audience", c
	default:
		c.Now = c.Now.Add(pickOne(r, r.moments()))
		return "another time", c
	}
}

// moments returns differences in time near those at which answers change.
func (r *round) moments() []time.Duration {
	ttl := 10 * time.Minute
	if r.config.TTL != nil {
		ttl = *r.config.TTL
	}
	const quarter = 250 * time.Millisecond
	return []time.Duration{
		-time.Hour, -61 * time.Second, -60*time.Second - quarter, -60*time.Second - time.Microsecond, -60 * time.Second,
		-60*time.Second + quarter, -time.Second, quarter, ttl - time.Second, ttl - quarter, ttl - time.Microsecond, ttl,
		ttl + time.Microsecond, ttl + quarter, ttl + time.Second, ttl + 2*time.Second, ttl + time.Hour,
	}
}

// near returns a text that is easily confused with s, or an unrelated one.
func (r *round) near(s string) string {
	switch r.IntN(5) {
	case 0:
		return s + " "
	case 1:
		return s + "\x00"
	case 2:
		return s + pickOne(r, oddTexts)
	case 3:
		return ""
	default:
		return r.text()
	}
}

func (r *round) nearOptional(s *string) *string {
	if s == nil {
		return new(r.text())
	}
	if r.IntN(4) == 0 {
		return nil
	}
	return new(r.near(*s))
}
