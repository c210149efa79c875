package expiry

import (
	"cmp"
	"time"

	"sealab/codecs"
	"sealab/internal/broken/skeleton"
)

// Neighbors returns sound designs that resemble the controls of times and used tokens, by name.
func Neighbors() map[string]codecs.Design {
	return map[string]codecs.Design{
		"a list of used tokens":    skeleton.WithClaim(skeleton.NewWrappedScheme("nothing", "all handles have one list of used tokens", nil, nil, usesListed(keepUses)), codecs.SingleUse).Design,
		"a window of used numbers": skeleton.WithClaim(skeleton.NewWrappedScheme("nothing", "tokens are numbered, and the last 64 numbers are marked once used", nil, nil, inWindow(windowLength)), codecs.SingleUse).Design,
		"tokens without randomness, used once": skeleton.WithClaim(skeleton.WrapScheme(skeleton.NewScheme("nothing", "all handles have one list of used tokens, and equal states are one token", nil, nil, func(p *skeleton.SchemeParts) {
			p.Salt = func() []byte { return make([]byte, 16) }
		}), usesListed(keepUses)), codecs.SingleUse).Design,
		"an hour of skew": skeleton.NewScheme("nothing", "a time of issue may be an hour ahead", nil, nil, func(p *skeleton.SchemeParts) {
			p.Timely = func(c *skeleton.Claims, now time.Time) bool {
				return c.Issued != nil && *c.Issued <= skeleton.UnixSeconds(now.Add(time.Hour)) && c.ExpiresAfter(now)
			}
		}).Design,
		"a month to live": skeleton.NewScheme("nothing", "there is no time of issue, and an expiry may be a month ahead", nil, nil, func(p *skeleton.SchemeParts) {
			p.Issue = func(now time.Time, ttl time.Duration) (iat, exp float64) {
				return 0, skeleton.UnixSeconds(now.Add(ttl))
			}
			p.Timely = func(c *skeleton.Claims, now time.Time) bool {
				return c.ExpiresAfter(now) && *c.Expires <= skeleton.UnixSeconds(now.AddDate(0, 1, 0))
			}
		}).Design,
		"ten minutes by default": skeleton.NewScheme("nothing", "a time to live of zero is ten minutes", nil, nil, func(p *skeleton.SchemeParts) {
			dated, checked := p.Issue, p.Lifetime
			lifetime := func(ttl time.Duration) time.Duration { return cmp.Or(ttl, 10*time.Minute) }
			p.Lifetime = func(ttl time.Duration) error { return checked(lifetime(ttl)) }
			p.Issue = func(now time.Time, ttl time.Duration) (iat, exp float64) { return dated(now, lifetime(ttl)) }
		}).Design,
	}
}
