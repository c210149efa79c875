package vectors

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"time"
	"unicode/utf8"

	"sealab/codecs"
)

// BindingOf returns b in the form of the vectors. It reports false if a text of
// b is not UTF-8, because JSON cannot carry it.
func BindingOf(b codecs.Context) (*Binding, bool) {
	out := &Binding{Method: b.Method, Target: b.Target, Principal: b.Principal, Audience: b.Audience}
	if b.Arguments != nil {
		out.Arguments = new(string(b.Arguments))
	}
	return out, out.valid()
}

func (b *Binding) valid() bool {
	for _, s := range []*string{&b.Method, &b.Target, b.Arguments, b.Principal, b.Audience} {
		if s != nil && !utf8.ValidString(*s) {
			return false
		}
	}
	return true
}

// Codecs returns b as a codecs.Context. A nil binding gives the zero context.
func (b *Binding) Codecs() codecs.Context {
	if b == nil {
		return codecs.Context{}
	}
	out := codecs.Context{Method: b.Method, Target: b.Target, Principal: b.Principal, Audience: b.Audience}
	if b.Arguments != nil {
		out.Arguments = json.RawMessage(*b.Arguments)
	}
	return out
}

// Hex is bytes, which JSON encodes as lower-case hexadecimal digits.
type Hex []byte

// MarshalText implements encoding.TextMarshaler.
func (h Hex) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, h), nil }

// UnmarshalJSON implements json.Unmarshaler. It returns an error if a digit is
// upper-case, because bytes have one encoding.
func (h *Hex) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	b, err := hex.DecodeString(text)
	if err != nil || hex.EncodeToString(b) != text {
		return fmt.Errorf("%q is not lower-case hex", text)
	}
	*h = b
	return nil
}

// AsHex returns a pointer to b as Hex. The pointer is not nil, even if b is.
func AsHex(b []byte) *Hex {
	h := Hex(b)
	if h == nil {
		h = Hex{}
	}
	return &h
}

// Identify sets the id of t. The id is the design, the case and eight hex
// digits of a SHA-256. The hash covers every input of an implementation under
// test. If the inputs of a test change, its id changes too.
func (t *Test) Identify(design, name string) error {
	inputs := Test{
		Near: t.Near, Keys: t.Keys, Options: t.Options, Binding: t.Binding, Now: t.Now, TTL: t.TTL, Minted: t.Minted,
		Seed: t.Seed, Payload: t.Payload, State: t.State, Token: t.Token,
	}
	var err error
	t.ID, err = identify(design, name, inputs)
	return err
}

// Identify sets the id of r as Test.Identify does.
func (r *Ring) Identify(design, name string) error {
	var err error
	r.ID, err = identify(design, "ring/"+name, Ring{Secrets: r.Secrets, TTL: r.TTL})
	return err
}

func identify(design, name string, inputs any) (string, error) {
	data, err := marshal(inputs, "")
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return fmt.Sprintf("%s/%s/%s", design, name, hex.EncodeToString(sum[:4])), nil
}

// Seconds is a number of seconds as a decimal string with up to nine digits
// after the point. A string is never rounded by a reader. Each number has one
// spelling.
type Seconds string

// nanoDigits is the number of decimal digits of a nanosecond.
const nanoDigits = 9

// UnixSeconds returns t in seconds since 1970.
func UnixSeconds(t time.Time) Seconds {
	n := new(big.Int).Mul(big.NewInt(t.Unix()), big.NewInt(int64(time.Second)))
	return decimal(n.Add(n, big.NewInt(int64(t.Nanosecond()))))
}

// DurationSeconds returns d in seconds.
func DurationSeconds(d time.Duration) Seconds { return decimal(big.NewInt(int64(d))) }

func decimal(nanos *big.Int) Seconds {
	text := fmt.Sprintf("%0*d", nanoDigits+1, new(big.Int).Abs(nanos))
	whole, fraction := text[:len(text)-nanoDigits], strings.TrimRight(text[len(text)-nanoDigits:], "0")
	if fraction != "" {
		whole += "." + fraction
	}
	if nanos.Sign() < 0 {
		whole = "-" + whole
	}
	return Seconds(whole)
}

// Time returns the moment at s seconds since 1970.
func (s Seconds) Time() (time.Time, error) {
	nanos, err := s.nanos()
	if err != nil {
		return time.Time{}, err
	}
	whole, rest := new(big.Int).DivMod(nanos, big.NewInt(int64(time.Second)), new(big.Int))
	if !whole.IsInt64() {
		return time.Time{}, fmt.Errorf("%q seconds do not fit into a time", s)
	}
	return time.Unix(whole.Int64(), rest.Int64()), nil
}

// Duration returns s as a duration.
func (s Seconds) Duration() (time.Duration, error) {
	nanos, err := s.nanos()
	if err != nil {
		return 0, err
	}
	if !nanos.IsInt64() {
		return 0, fmt.Errorf("%q seconds do not fit into a duration", s)
	}
	return time.Duration(nanos.Int64()), nil
}

// nanos returns s in nanoseconds. It returns an error if s is not spelled as
// decimal writes it.
func (s Seconds) nanos() (*big.Int, error) {
	whole, fraction, _ := strings.Cut(string(s), ".")
	if len(fraction) > nanoDigits {
		return nil, fmt.Errorf("%q has more than %d digits after the point", s, nanoDigits)
	}
	n, ok := new(big.Int).SetString(whole+fraction+strings.Repeat("0", nanoDigits-len(fraction)), 10)
	if !ok || decimal(n) != s {
		return nil, fmt.Errorf("%q is not a decimal number of seconds", s)
	}
	return n, nil
}
