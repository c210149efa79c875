package cases

import (
	"time"

	"sealab/codecs"
	"sealab/vectors/kit"
)

// times reads a sound token at other times. They surround its expiry in
// seconds, milliseconds and microseconds, and precede its issue.
func times(s *Scene) []Case {
	if !s.Design.IsScheme() {
		return nil
	}
	ttl := s.Base.TTL
	var cs []Case
	for _, m := range []struct {
		name, doc string
		after     time.Duration // since minting
		want      Want
	}{
		{"at-expiry-minus-2s", "two seconds before it expires", ttl - 2*time.Second, Recorded},
		{"at-expiry-minus-1s", "a second before it expires", ttl - time.Second, Recorded},
		{"at-expiry-minus-1ms", "a millisecond before it expires", ttl - time.Millisecond, Recorded},
		{"at-expiry-minus-fraction", "at the whole second before it expires", ttl - time.Duration(s.Base.Context.Now.Nanosecond()), Recorded},
		{"at-expiry", "at the moment it expires", ttl, Recorded},
		{"at-expiry-plus-1us", "a microsecond after it expires", ttl + time.Microsecond, Recorded},
		{"at-expiry-plus-1ms", "a millisecond after it expires", ttl + time.Millisecond, Recorded},
		{"at-expiry-plus-1s", "a second after it expires", ttl + time.Second, Recorded},
		{"at-expiry-plus-2s", "two seconds after it expires", ttl + 2*time.Second, Refused},
		{"an-hour-late", "an hour after it expires", ttl + time.Hour, Refused},
		{"a-century-late", "a century after it expires", ttl + 100*365*24*time.Hour, Refused},
		{"issued-1s-ahead", "a second before it was issued", -time.Second, Recorded},
		{"issued-59s-ahead", "59 seconds before it was issued", -59 * time.Second, Recorded},
		{"issued-60s-ahead", "60 seconds before it was issued", -60 * time.Second, Recorded},
		{"issued-60-001s-ahead", "60.001 seconds before it was issued", -60*time.Second - time.Millisecond, Recorded},
		{"issued-61s-ahead", "61 seconds before it was issued", -61 * time.Second, Recorded},
		{"issued-an-hour-ahead", "an hour before it was issued", -time.Hour, Refused},
	} {
		cs = append(cs, Case{
			Name: "read-" + m.name, Doc: "read " + m.doc, Flags: []string{flagExpiry},
			Read: func(set *kit.Setting) { set.Context.Now = set.Context.Now.Add(m.after) }, Want: m.want, Property: codecs.Expiry,
		})
	}
	return append(cs, Case{
		Name: "read-with-other-ttl", Doc: "read by a server that mints for twice as long", Flags: []string{flagExpiry},
		Read: func(set *kit.Setting) { set.TTL *= 2 },
	})
}
