package broken

import (
	"time"

	"sealab/codecs"
)

// dated are the mistakes of schemes with time.
func dated() []Control {
	timed := func(name, doc, attack string, mistake func(*schemeParts)) Control {
		return aScheme(name, doc, breaks(codecs.Expiry), by(attack), mistake)
	}
	check := func(name, doc, attack string, timely func(c *claims, now time.Time) bool) Control {
		return timed(name, doc, attack, func(p *schemeParts) { p.timely = timely })
	}
	return []Control{
		check("never-expires", "the expiry is written and not read", "EXP-01", func(c *claims, now time.Time) bool {
			return c.Issued != nil && *c.Issued <= seconds(now.Add(skew))
		}),
		timed("milliseconds", "the expiry is written in milliseconds and read as seconds", "EXP-01", func(p *schemeParts) {
			p.issue = func(now time.Time, ttl time.Duration) (iat, exp float64) {
				return seconds(now), float64(now.Add(ttl).UnixMilli())
			}
		}),
		check("a-minute-late", "a minute of grace is given that nobody stated", "EXP-01", func(c *claims, now time.Time) bool {
			return c.Issued != nil && c.Expires != nil && *c.Issued <= seconds(now.Add(skew)) && seconds(now.Add(-time.Minute)) < *c.Expires
		}),
		check("inclusive", "a token is taken at its expiry", "EXP-08", func(c *claims, now time.Time) bool {
			return c.Issued != nil && c.Expires != nil && *c.Issued <= seconds(now.Add(skew)) && seconds(now) <= *c.Expires
		}),
		check("from-the-future", "the time of issue is not read", "EXP-03", func(c *claims, now time.Time) bool {
			return c.Expires != nil && seconds(now) < *c.Expires
		}),
		timed("zero-is-ever", "a time to live of zero is no limit", "EXP-06", func(p *schemeParts) {
			p.lifetime = func(time.Duration) error { return nil }
			dated, timely := p.issue, p.timely
			p.issue = func(now time.Time, ttl time.Duration) (iat, exp float64) {
				if ttl == 0 {
					return 0, 0
				}
				return dated(now, ttl)
			}
			p.timely = func(c *claims, now time.Time) bool { return c.Expires == nil || timely(c, now) }
		}),
		aScheme("expired-first", "the time is checked before the tag", breaks(codecs.UniformRefusal), by("ORA-02"), func(p *schemeParts) {
			p.order = func(checks []func() error) []func() error { return []func() error{checks[1], checks[0], checks[2]} }
		}),
		stating(aScheme("stateless", "said to be for a single use, and nothing is stored", breaks(codecs.SingleUse), by("EXP-05"), func(*schemeParts) {}), codecs.SingleUse),
		aScheme("absent-claims", "claims are read without asking whether they are there", breaks(codecs.Total), by("EXP-02", "PAY-01"), func(p *schemeParts) {
			p.timely = func(c *claims, now time.Time) bool {
				return *c.Issued <= seconds(now.Add(skew)) && seconds(now) < *c.Expires
			}
			p.derive = rawKey
		}),
		aScheme("optional-expiry", "the expiry is checked where it is present", breaks(codecs.Expiry), by("EXP-04", "EXP-02"), func(p *schemeParts) {
			timely := p.timely
			p.timely = func(c *claims, now time.Time) bool { return c.Expires == nil || timely(c, now) }
			p.derive = rawKey
		}),
	}
}

// rawKey uses the secret as the key, as it stands.
func rawKey(secret []byte) (key, id []byte) {
	_, id = deriveKey(secret)
	return secret, id
}
