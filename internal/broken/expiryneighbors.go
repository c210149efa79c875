package broken

import (
	"time"

	"sealab/codecs"
)

// expiryNeighbors returns sound designs that resemble the controls of times and used tokens, by name.
func expiryNeighbors() map[string]codecs.Design {
	return map[string]codecs.Design{
		"a list of used tokens": withClaim(wrappedScheme("nothing", "all handles have one list of used tokens", nil, nil, usesListed(keepUses)), codecs.SingleUse).Design,
		"tokens without randomness, used once": withClaim(wrapScheme(aScheme("nothing", "all handles have one list of used tokens, and equal states are one token", nil, nil, func(p *schemeParts) {
			p.salt = func() []byte { return make([]byte, 16) }
		}), usesListed(keepUses)), codecs.SingleUse).Design,
		"an hour of skew": aScheme("nothing", "a time of issue may be an hour ahead", nil, nil, func(p *schemeParts) {
			p.timely = func(c *claims, now time.Time) bool {
				return c.within(unixSeconds(now.Add(time.Hour)), unixSeconds(now))
			}
		}).Design,
		"a month to live": aScheme("nothing", "there is no time of issue, and an expiry may be a month ahead", nil, nil, func(p *schemeParts) {
			p.issue = func(now time.Time, ttl time.Duration) (iat, exp float64) { return 0, unixSeconds(now.Add(ttl)) }
			p.timely = func(c *claims, now time.Time) bool {
				return c.Expires != nil && unixSeconds(now) < *c.Expires && *c.Expires <= unixSeconds(now.AddDate(0, 1, 0))
			}
		}).Design,
	}
}
