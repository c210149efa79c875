package mutate

// The reasons why vectors cannot guard a check.
const (
	infallible = "a call that cannot fail with what it is given here: a key that was derived, a point that was checked, a size that is constant"
	party      = "the keys of one party, which a program hands out and no token carries"
	noBytes    = "a text that does not decode leaves no bytes, and those are too few"
	again      = "what was decoded is encoded again and compared, which finds the same"
	noMembers  = "what did not parse, or is no object, has no members, and the next check misses them"
	compared   = "the strict reading writes the claims again and compares, which finds the same"
	utf8       = "bytes that are not UTF-8 cannot be written in a vector's binding, and inside claims a second check finds them"
	noDigest   = "the format has no digest of such arguments, so no token that it mints could match one"
	stuck      = "where the parser stopped, no document can go on, so the next step refuses"
	longEnough = "the layout refuses tokens that are too short before it opens them"
	tagFirst   = "the tag is verified as well, and sealing makes no such plaintext"
)

// Excuses maps Check.Key to the reason why vectors cannot guard the check. If
// such a check is disabled, no answer changes, or vectors cannot record the
// changed answer. Remove an entry if a vector guards its check or if the check
// is gone.
var Excuses = map[string]string{
	"codecs/aessiv/aessiv.go: newSIV: err != nil":            infallible,
	"codecs/cbchmac/cbchmac.go: newCBC: err != nil":          infallible,
	"codecs/aessiv/aessiv.go: Open: n < 0":                   longEnough,
	"codecs/ascon/ascon.go: Open: n < 0":                     longEnough,
	"codecs/chachasiv/chachasiv.go: Open: n < 0":             longEnough,
	"codecs/cbchmac/cbchmac.go: Open: n < aes.BlockSize":     longEnough,
	"codecs/cbchmac/cbchmac.go: Open: n%aes.BlockSize != 0":  tagFirst,
	"codecs/cbchmac/cbchmac.go: Open: !padded(last[:], pad)": tagFirst,
	"codecs/cbchmac/cbchmac.go: padded: pad < 1":             tagFirst,
	"codecs/cbchmac/cbchmac.go: padded: pad > len(block)":    tagFirst,
	"codecs/cbchmac/cbchmac.go: padded: int(b) != pad":       tagFirst,

	"codecs/internal/layouts/aead.go: NewDerived: err != nil":                   infallible,
	"codecs/internal/layouts/aead.go: key: err != nil":                          infallible,
	"codecs/internal/layouts/aead.go: key: a.NonceSize() != f.NonceSize":        infallible,
	"codecs/aesgcm/aesgcm.go: newGCM: err != nil":                               infallible,
	"codecs/hpkesession/hpkesession.go: newSession: err != nil":                 infallible,
	"codecs/hpkesession/token.go: meet: err != nil":                             infallible,
	"codecs/internal/keyring/keyring.go: Lookup: len(id) != len(Fingerprint{})": infallible,
	"codecs/mcpts/mint.go: appendClaims: err != nil":                            infallible,
	"codecs/internal/keyring/keyring.go: Index: err != nil":                     infallible,
	"codecs/mcpd/encrypted.go: newEncrypted: err != nil":                        infallible,
	"codecs/mcpd/mcpd.go: New: err != nil":                                      infallible,
	"codecs/mcppy/mcppy.go: newGCM: err != nil":                                 infallible,
	"codecs/mcprb/mcprb.go: New: err != nil":                                    infallible,
	"codecs/claims/design.go: Over: err != nil":                                 infallible,

	"codecs/internal/hpkekeys/keys.go: Encode: err != nil": party,

	"codecs/internal/layouts/aead.go: Unseal: !s.Decode(text)":                                    noBytes,
	"codecs/hmacsha256/hmacsha256.go: Unseal: !s.Decode(text)":                                    noBytes,
	"codecs/hpkepsk/parties.go: Unseal: !s.Decode(text)":                                          noBytes,
	"codecs/hpkesession/token.go: Unseal: !raw.Decode(text)":                                      noBytes,
	"codecs/mcpd/signed.go: open: !decoded":                                                       noBytes,
	"codecs/mcpd/encrypted.go: open: !decode(room, segment)":                                      noBytes,
	"codecs/mcpts/verify.go: authenticate: !s.decode(room, body)":                                 noBytes,
	"codecs/mcprb/verify.go: open: !s.decode(room, segment)":                                      noBytes,
	"codecs/mcprb/verify.go: decode: room.Decode(segment) || s.faithful && unpack(room, segment)": noBytes,

	"codecs/claims/verify.go: parse: err != nil":               noMembers,
	"codecs/claims/verify.go: parse: v.Kind != rawjson.Object": noMembers,
	"codecs/mcpd/verify.go: parse: err != nil":                 noMembers,
	"codecs/mcprb/verify.go: parse: err != nil":                noMembers,

	"codecs/mcpts/verify.go: isCanonical: payload == nil":             compared,
	"codecs/mcpts/verify.go: isCanonical: exp.Kind != rawjson.Number": compared,
	"codecs/mcpts/verify.go: isCanonical: err == nil":                 compared,
	"codecs/mcpts/verify.go: isCanonical: err != nil":                 compared,

	"codecs/internal/compactjson/compactjson.go: Parse: !rawjson.Valid(doc)": utf8,
	"codecs/mcprb/digest.go: parseUTF8: !utf8.Valid(raw)":                    utf8,
	"codecs/mcprb/verify.go: isCanonical: !utf8.Valid(text)":                 utf8,
	"codecs/mcpd/verify.go: parse: !utf8.Valid(text)":                        utf8,
	"codecs/internal/rawjson/text.go: ValidWTF8: r == invalid":               utf8,
	"codecs/internal/rawjson/text.go: ValidWTF8: isPair(last, r)":            utf8,

	"codecs/mcprb/digest.go: canonicalDigest: err != nil":                                noDigest,
	"codecs/mcprb/digest.go: canonicalDigest: !isPrintable(&v)":                          noDigest,
	"codecs/mcprb/digest.go: givenDigest: err != nil":                                    noDigest,
	"codecs/mcprb/digest.go: isPrintable: !math.IsInf(v.Float(), 0) || !isFloat(v.Text)": noDigest,
	"codecs/mcprb/digest.go: isPrintable: utf8.Valid(v.Text)":                            noDigest,
	"codecs/mcprb/digest.go: isPrintable: !isPrintable(&v.Items[i])":                     noDigest,
	"codecs/mcprb/digest.go: isPrintable: !utf8.Valid(v.Members[i].Name)":                noDigest,
	"codecs/mcprb/digest.go: isPrintable: !isPrintable(&v.Members[i].Value)":             noDigest,
	"codecs/mcpts/bind.go: bindToRequest: err != nil":                                    noDigest,

	"codecs/internal/rawjson/parse.go: document: !p.space()":               stuck,
	"codecs/internal/rawjson/parse.go: anyKind: p.array(v, room)":          stuck,
	"codecs/internal/rawjson/parse.go: anyKind: p.leave()":                 stuck,
	`codecs/internal/rawjson/parse.go: anyKind: p.word(v, Null, "null")`:   stuck,
	`codecs/internal/rawjson/parse.go: anyKind: p.word(v, True, "true")`:   stuck,
	`codecs/internal/rawjson/parse.go: anyKind: p.word(v, False, "false")`: stuck,
	"codecs/internal/rawjson/parse.go: space: p.spaces()":                  stuck,
	"codecs/internal/rawjson/parse.go: enter: p.space()":                   stuck,
	"codecs/internal/rawjson/parse.go: name: !p.text(&m.Name)":             stuck,
	"codecs/internal/rawjson/parse.go: name: !p.space()":                   stuck,
	"codecs/internal/rawjson/parse.go: name: p.space()":                    stuck,
	"codecs/internal/rawjson/parse.go: another: !p.space()":                stuck,

	"codecs/internal/rawjson/text.go: pairOf: !ok":                                   "what is not hexadecimal reads as 0, which is no low surrogate",
	"codecs/internal/keyring/keyring.go: clash: bytes.Equal(secrets[i], secrets[j])": "it chooses between two texts of one refusal",
	"codecs/mcpd/signed.go: open: bytes.Count(rest, separatorBytes) != 1":            "a dot is no character of base64url: the segments around it do not decode",
	"codecs/mcprb/mcprb.go: New: len(c.Secrets[0]) != keySize":                       "the contract compares the length with the row's KeySize first",
	"codecs/mcprb/verify.go: isOne: err == nil":                                      "a number that overflows is infinite, which is not 1",
	"codecs/claims/verify.go: checkPrincipal: r.principal.Kind != rawjson.String":    "no literal of another kind decodes to a salt and a digest",
}
