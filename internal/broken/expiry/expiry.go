// Package expiry holds the negative controls of expiry: schemes that misjudge times, or tokens that were
// used.
package expiry

import (
	"math"
	"sync/atomic"
	"time"

	"sealab/codecs"
	"sealab/internal/broken/skeleton"
)

// expiryControl returns a control with a mistake in the times of claims.
func expiryControl(name, doc, attack string, mistake func(*skeleton.SchemeParts)) skeleton.Control {
	return skeleton.NewScheme(name, doc, []codecs.Property{codecs.Expiry}, []string{attack}, mistake)
}

// Misjudged returns controls that misjudge the times of claims.
func Misjudged() []skeleton.Control {
	check := func(name, doc, attack string, timely func(c *skeleton.Claims, now time.Time) bool) skeleton.Control {
		return expiryControl(name, doc, attack, func(p *skeleton.SchemeParts) { p.Timely = timely })
	}
	return []skeleton.Control{
		check("never-expires", "the expiry is written and not read", "EXP-01", func(c *skeleton.Claims, now time.Time) bool {
			return c.IssuedBy(now)
		}),
		check("far-ahead", "a time of issue more than a month ahead is taken for none", "EXP-03", func(c *skeleton.Claims, now time.Time) bool {
			return c.Issued != nil && (c.IssuedBy(now) || *c.Issued > skeleton.UnixSeconds(now.AddDate(0, 1, 0))) && c.ExpiresAfter(now)
		}),
		check("seconds-for-milliseconds", "a skew of 60,000 milliseconds is taken for seconds", "EXP-03", func(c *skeleton.Claims, now time.Time) bool {
			return c.IssuedBy(now.Add(60_000*time.Second)) && c.ExpiresAfter(now)
		}),
		check("either-side", "the distance from the time of issue is compared, ahead of it too", "EXP-03", func(c *skeleton.Claims, now time.Time) bool {
			return c.Issued != nil && c.Expires != nil && math.Abs(skeleton.UnixSeconds(now)-*c.Issued) < *c.Expires-*c.Issued
		}),
		check("a-minute-late", "a minute of grace is given that nobody stated", "EXP-01", func(c *skeleton.Claims, now time.Time) bool {
			return c.IssuedBy(now) && c.ExpiresAfter(now.Add(-time.Minute))
		}),
		check("inclusive", "a token is taken at its expiry", "EXP-08", func(c *skeleton.Claims, now time.Time) bool {
			return c.IssuedBy(now) && c.Expires != nil && skeleton.UnixSeconds(now) <= *c.Expires
		}),
		check("early-if-empty", "the time of issue is not read if the state is empty", "EXP-07", func(c *skeleton.Claims, now time.Time) bool {
			return c.Issued != nil && (c.IssuedBy(now) || len(c.State) == 0) && c.ExpiresAfter(now)
		}),
		check("no-date", "a time behind the last Date of ECMAScript is no number, and later than none", "EXP-07", func(c *skeleton.Claims, now time.Time) bool {
			date := func(s float64) float64 {
				if math.Abs(s) > 8.64e12 {
					return math.NaN()
				}
				return s
			}
			return c.Issued != nil && c.Expires != nil && !(*c.Issued > date(skeleton.UnixSeconds(now.Add(skeleton.ClockSkew)))) && !(date(skeleton.UnixSeconds(now)) >= *c.Expires)
		}),
		check("without-sign", "times are compared as numbers without a sign", "EXP-07", func(c *skeleton.Claims, now time.Time) bool {
			return c.IssuedBy(now) && c.Expires != nil && uint64(int64(skeleton.UnixSeconds(now))) < uint64(int64(*c.Expires))
		}),
		check("zero-is-absent", "a time of zero is taken for an absent time, and not compared", "EXP-03", func(c *skeleton.Claims, now time.Time) bool {
			return c.Issued != nil && c.Expires != nil && (now.Unix() == 0 || c.IssuedBy(now) && c.ExpiresAfter(now))
		}),
		check("clock-not-set", "before 2020 a clock is taken for one that is not set, and the time of issue is not read", "EXP-03", func(c *skeleton.Claims, now time.Time) bool {
			return c.Issued != nil && (c.IssuedBy(now) || now.Year() < 2020) && c.ExpiresAfter(now)
		}),
		check("from-the-future", "the time of issue is not read", "EXP-03", func(c *skeleton.Claims, now time.Time) bool {
			return c.ExpiresAfter(now)
		}),
	}
}

// Miswritten returns controls that write wrong times into claims.
func Miswritten() []skeleton.Control {
	return []skeleton.Control{
		expiryControl("two-days-ahead", "times are counted from 2020, and a time of issue may be two days ahead", "EXP-03", func(p *skeleton.SchemeParts) {
			const epoch = 1577836800
			p.Issue = func(now time.Time, ttl time.Duration) (iat, exp float64) {
				return skeleton.UnixSeconds(now) - epoch, skeleton.UnixSeconds(now.Add(ttl)) - epoch
			}
			p.Timely = func(c *skeleton.Claims, now time.Time) bool {
				return within(c, skeleton.UnixSeconds(now.AddDate(0, 0, 2))-epoch, skeleton.UnixSeconds(now)-epoch)
			}
		}),
		lastLifetime(),
		expiryControl("next-second", "the expiry is rounded up to a whole second", "EXP-08", func(p *skeleton.SchemeParts) {
			p.Issue = func(now time.Time, ttl time.Duration) (iat, exp float64) {
				return skeleton.UnixSeconds(now), math.Ceil(skeleton.UnixSeconds(now.Add(ttl)))
			}
		}),
		expiryControl("milliseconds", "the expiry is written in milliseconds and read as seconds", "EXP-01", func(p *skeleton.SchemeParts) {
			p.Issue = func(now time.Time, ttl time.Duration) (iat, exp float64) {
				return skeleton.UnixSeconds(now), float64(now.Add(ttl).UnixMilli())
			}
		}),
		expiryControl("life-of-32-bits", "a time to live is milliseconds in 32 bits, and a negative one is no limit", "EXP-01", func(p *skeleton.SchemeParts) {
			p.Issue = func(now time.Time, ttl time.Duration) (iat, exp float64) {
				life := time.Duration(int32(ttl.Milliseconds())) * time.Millisecond
				if life < 0 {
					return skeleton.UnixSeconds(now), math.MaxInt32 * 1e6
				}
				return skeleton.UnixSeconds(now), skeleton.UnixSeconds(now.Add(life))
			}
		}),
		expiryControl("without-year", "times are counted from the beginning of the year", "EXP-07", countedFrom(func(year int) int { return year })),
		expiryControl("without-decade", "times are counted from the beginning of the decade", "EXP-07", countedFrom(func(year int) int { return year - year%10 })),
		expiryControl("week-years", "the year of an expiry is that of its week", "EXP-07", func(p *skeleton.SchemeParts) {
			p.Issue = func(now time.Time, ttl time.Duration) (iat, exp float64) {
				at := now.Add(ttl).UTC()
				year, _ := at.ISOWeek()
				return skeleton.UnixSeconds(now), skeleton.UnixSeconds(at.AddDate(max(0, year-at.Year()), 0, 0))
			}
		}),
		expiryControl("clock-on-the-wall", "an expiry is the time of a clock in Berlin, which is put back an hour", "EXP-07", func(p *skeleton.SchemeParts) {
			wall := func(now time.Time) float64 {
				if now.Before(time.Date(2026, 10, 25, 1, 0, 0, 0, time.UTC)) {
					return skeleton.UnixSeconds(now.Add(2 * time.Hour))
				}
				return skeleton.UnixSeconds(now.Add(time.Hour))
			}
			p.Issue = func(now time.Time, ttl time.Duration) (iat, exp float64) {
				return skeleton.UnixSeconds(now), wall(now.Add(ttl))
			}
			p.Timely = func(c *skeleton.Claims, now time.Time) bool {
				return c.IssuedBy(now) && c.Expires != nil && wall(now) < *c.Expires
			}
		}),
		expiryControl("zero-is-ever", "a time to live of zero is no limit", "EXP-06", func(p *skeleton.SchemeParts) {
			p.Lifetime = func(time.Duration) error { return nil }
			dated, timely := p.Issue, p.Timely
			p.Issue = func(now time.Time, ttl time.Duration) (iat, exp float64) {
				if ttl == 0 {
					return 0, 0
				}
				return dated(now, ttl)
			}
			p.Timely = func(c *skeleton.Claims, now time.Time) bool { return c.Expires == nil || timely(c, now) }
		}),
	}
}

// countedFrom counts times from the beginning of the year that the function start returns.
func countedFrom(start func(year int) int) func(*skeleton.SchemeParts) {
	counted := func(now time.Time) float64 {
		return skeleton.UnixSeconds(now) - skeleton.UnixSeconds(time.Date(start(now.UTC().Year()), 1, 1, 0, 0, 0, 0, time.UTC))
	}
	return func(p *skeleton.SchemeParts) {
		p.Issue = func(now time.Time, ttl time.Duration) (iat, exp float64) {
			return counted(now), counted(now) + ttl.Seconds()
		}
		p.Timely = func(c *skeleton.Claims, now time.Time) bool {
			return within(c, counted(now.Add(skeleton.ClockSkew)), counted(now))
		}
	}
}

// within reports whether both times are present, the issue is at most issued and the expiry is after
// expires.
func within(c *skeleton.Claims, issued, expires float64) bool {
	return c.Issued != nil && c.Expires != nil && *c.Issued <= issued && expires < *c.Expires
}

// Unchecked returns controls that check times too early, not always or not at all.
func Unchecked() []skeleton.Control {
	return []skeleton.Control{
		skeleton.NewWrappedScheme("grace-if-anonymous", "without a principal a token has five minutes more", []codecs.Property{codecs.Expiry}, []string{"EXP-07"},
			func(inner codecs.Scheme) codecs.Scheme { return graceScheme{inner} }),
		skeleton.NewScheme("expired-first", "the time is checked before the tag", []codecs.Property{codecs.UniformRefusal}, []string{"ORA-02"}, func(p *skeleton.SchemeParts) {
			p.Order = func(checks []func() error) []func() error { return []func() error{checks[1], checks[0], checks[2]} }
		}),
		skeleton.WithClaim(skeleton.NewScheme("stateless", "said to be for a single use, and nothing is stored", []codecs.Property{codecs.SingleUse}, []string{"EXP-05"}, func(*skeleton.SchemeParts) {}), codecs.SingleUse),
		skeleton.NewScheme("absent-claims", "claims are read without asking whether they are there", []codecs.Property{codecs.Total}, []string{"EXP-02", "PAY-01"}, func(p *skeleton.SchemeParts) {
			p.Timely = func(c *skeleton.Claims, now time.Time) bool {
				return *c.Issued <= skeleton.UnixSeconds(now.Add(skeleton.ClockSkew)) && skeleton.UnixSeconds(now) < *c.Expires
			}
			p.Derive = skeleton.RawKey
		}),
		skeleton.NewScheme("optional-expiry", "the expiry is checked where it is present", []codecs.Property{codecs.Expiry}, []string{"EXP-04", "EXP-02"}, func(p *skeleton.SchemeParts) {
			timely := p.Timely
			p.Timely = func(c *skeleton.Claims, now time.Time) bool { return c.Expires == nil || timely(c, now) }
			p.Derive = skeleton.RawKey
		}),
	}
}

// A graceScheme verifies a token without a principal as of five minutes earlier.
type graceScheme struct{ codecs.Scheme }

// Verify implements codecs.Scheme.
func (s graceScheme) Verify(dst, token []byte, b *codecs.Context) ([]byte, error) {
	out, err := s.Scheme.Verify(dst, token, b)
	if err == nil || b.Principal != nil {
		return out, err
	}
	return s.Scheme.Verify(dst, token, skeleton.Shifted(b, -5*time.Minute))
}

// lastLifetime returns a control that keeps one time to live for all handles, the last one.
func lastLifetime() skeleton.Control {
	var last atomic.Int64
	return expiryControl("last-lifetime", "the time to live of the last opened handle counts for all", "EXP-07", func(p *skeleton.SchemeParts) {
		check, issue := p.Lifetime, p.Issue
		p.Lifetime = func(ttl time.Duration) error {
			last.Store(int64(ttl))
			return check(ttl)
		}
		p.Issue = func(now time.Time, _ time.Duration) (iat, exp float64) { return issue(now, time.Duration(last.Load())) }
	})
}
