package contents

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/fuzz/review/tokens"
)

// derivedKeys returns MACs under keys that can be derived: values that every client knows, hashes
// of these and of published keys, and the user's credential.
func derivedKeys(t *review.T) []tokens.Keyless {
	s, texts := t.Report.Server, tokens.Published()
	var all []tokens.Keyless
	for _, text := range []string{s.Name, s.Name + "-secret", s.Version, s.Name + s.Version, s.Name + "/" + s.Version, s.Name + "-" + s.Version, s.Name + ":" + s.Version, t.Options.Target.URL} {
		if text != "" {
			texts, all = append(texts, []byte(text)), append(all, tokens.HMACUnder([]byte(text)))
		}
	}
	if t.Client.HTTP != nil {
		texts = append(texts, []byte(t.Client.HTTP.Host()), []byte(t.Client.HTTP.Hostname()))
	}
	for _, text := range texts {
		sum := sha256.Sum256(text)
		digest := tokens.HMACUnder(sum[:])
		digest.Name = fmt.Sprintf("HMAC-SHA256 under SHA-256 of %+q", text)
		all = append(all, digest, tokens.HMACUnder([]byte(hex.EncodeToString(sum[:]))))
	}
	if _, secret := t.Options.Target.Authorization(); secret != "" {
		own := tokens.HMACUnder([]byte(secret))
		own.Name = "HMAC-SHA256 under the credential of the request"
		all = append(all, own)
	}
	return all
}

func checkKnownKeys(t *review.T) {
	f := t.Oracle.Flow
	other := f
	if f.Other != nil {
		other = f.With(f.Other)
	}
	findKnownKey(t, f, other)
	input := f.Offer.InputSchema()
	if args := jsondoc.WithText(f.Arguments, input, strings.Repeat("a", review.LongArgument)); args != nil && len(t.Findings) == 0 && t.Reason == "" {
		findKnownKey(t, f.With(args), f.With(jsondoc.WithText(f.Arguments, input, strings.Repeat("b", review.LongArgument)))) // long states may have another tag
	}
}

// findKnownKey looks for a known key under which the tags of two flows are valid.
func findKnownKey(t *review.T, f, another client.Flow) {
	token, _, err := t.Client.Mint(t.Context, f, t.Oracle.User)
	if err != nil {
		t.SkipUntried("control: %v", err)
		return
	}
	if len(tokens.Views(token)) == 0 {
		t.Skip("the state cannot be read, so that no tag can be computed")
		return
	}
	all := append(tokens.Keylesses(), derivedKeys(t)...)
	own := tokens.InToken(token)
	for _, place := range jsondoc.SortedKeys(own) {
		all = append(all, own[place]...)
	}
	for _, k := range all {
		if !k.Tags(token) {
			continue
		}
		// A tag of four bytes may match by chance, so another token must match as well.
		other, _, err := t.Client.Mint(t.Context, another, t.Oracle.User)
		if err == nil && (k.Tags(other) || slices.ContainsFunc(tokens.InToken(other)[k.Place], func(k tokens.Keyless) bool { return k.Tags(other) })) {
			t.Refute(review.Finding{Case: cmp.Or(k.Place, k.Name), Severity: review.Critical, Issue: k.Issue,
				Evidence: fmt.Sprintf("token %s, tag %s", client.Short(token, 160), k.Name), Want: "an unknown key", Got: "a known key"})
			return
		}
	}
	t.Trials++
}
