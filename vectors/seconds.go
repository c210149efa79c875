package vectors

import (
	"fmt"
	"math/big"
	"strings"
	"time"
)

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
