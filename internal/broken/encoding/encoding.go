// Package encoding holds the negative controls of encodings: codecs that read a token in more than one
// spelling.
package encoding

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"sealab/codecs"
	"sealab/internal/broken/skeleton"
)

// Spellings returns controls that misread the text of a token.
func Spellings() []skeleton.Control {
	reader := func(name, doc, attack string, decode func(string) ([]byte, bool)) skeleton.Control {
		return skeleton.NewSigner(name, doc, []codecs.Property{codecs.Canonical}, []string{attack}, func(p *skeleton.SignerParts) { p.Decode = decode })
	}
	return []skeleton.Control{
		reader("unused-bits", "unused bits of the last character are ignored", "ENC-01", lenientBase64("\r\n")),
		reader("both-alphabets", "either base64 alphabet is read", "ENC-02",
			replacingDecoder(strings.NewReplacer("+", "-", "/", "_"))),
		reader("padding", "padding is stripped before it is read", "ENC-03",
			func(text string) ([]byte, bool) { return skeleton.DecodeCanonical(strings.TrimRight(text, "=")) }),
		reader("line-breaks", "the standard library's reader skips CR and LF", "ENC-04",
			func(text string) ([]byte, bool) {
				raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
				return raw, err == nil
			}),
		reader("white-space", "white space around a token is trimmed", "ENC-04",
			func(text string) ([]byte, bool) { return skeleton.DecodeCanonical(strings.TrimSpace(text)) }),
		reader("percent", "percent escapes are undone, as for a query", "ENC-05",
			func(text string) ([]byte, bool) {
				text, err := url.PathUnescape(text)
				if err != nil {
					return nil, false
				}
				return skeleton.DecodeCanonical(text)
			}),
		reader("nul", "the text ends at the first NUL, as a C string does", "ENC-06",
			func(text string) ([]byte, bool) {
				text, _, _ = strings.Cut(text, "\x00")
				return skeleton.DecodeCanonical(text)
			}),
		reader("junk", "characters outside the alphabet are dropped", "ENC-06",
			func(text string) ([]byte, bool) { return skeleton.DecodeCanonical(strings.Map(onlyText, text)) }),
		skeleton.NewSigner("wide-end", "full-width letters at the end of a token are read as ordinary ones", []codecs.Property{codecs.Canonical}, []string{"ENC-06"},
			func(p *skeleton.SignerParts) {
				p.Judged = func(token []byte) []byte {
					at := len(token) * 9 / 10
					return slices.Concat(token[:at], bytes.Map(narrowRune, token[at:]))
				}
			}),
		reader("query", "what follows an ampersand is another parameter", "ENC-08",
			func(text string) ([]byte, bool) {
				text, _, _ = strings.Cut(text, "&")
				return skeleton.DecodeCanonical(text)
			}),
		skeleton.NewSigner("quoted", "the token may come as a JSON text", []codecs.Property{codecs.Canonical}, []string{"ENC-07"},
			func(p *skeleton.SignerParts) { p.Judged = func(token []byte) []byte { return bytes.Trim(token, `"`) } }),
		skeleton.NewSigner("digit", "a version of digits of any script is read as a number, and one that is none ends the program", []codecs.Property{codecs.Total}, []string{"ENC-06"},
			func(p *skeleton.SignerParts) {
				p.Judged = func(token []byte) []byte {
					version, _, _ := strings.Cut(string(token), ".")
					if digits := strings.TrimPrefix(version, "fs"); digits != version && digits != "" && strings.TrimFunc(digits, unicode.IsNumber) == "" {
						if _, err := strconv.Atoi(digits); err != nil {
							panic("broken: " + err.Error())
						}
					}
					return token
				}
			}),
		skeleton.NewSigner("backtracking", "the program does not end if a thousand letters in front of another character do not match", []codecs.Property{codecs.Total}, []string{"RES-02"},
			func(p *skeleton.SignerParts) {
				p.Judged = func(token []byte) []byte {
					if other := strings.TrimLeft(string(token), base64URL+"."); other != "" && len(token)-len(other) >= 1000 {
						panic("broken: a regular expression backtracks")
					}
					return token
				}
			}),
		skeleton.NewSigner("backtracking-groups", "the program does not end if groups of letters, joined by tildes, end in two of them", []codecs.Property{codecs.Total}, []string{"RES-02"},
			func(p *skeleton.SignerParts) {
				p.Judged = func(token []byte) []byte {
					if groups, ok := strings.CutSuffix(string(token), "~~"); ok && len(groups)-strings.LastIndex(groups, "~") > 40 {
						panic("broken: a regular expression backtracks")
					}
					return token
				}
			}),
		skeleton.NewSigner("number-forms", "a length in front is read by a parser of numbers", []codecs.Property{codecs.Canonical}, []string{"ENC-05"}, lengthInFront),
		skeleton.NewSigner("hex-case", "hexadecimal in either case", []codecs.Property{codecs.Canonical}, []string{"ENC-05"}, hexEncoding),
	}
}

// narrowRune returns the ASCII form of a full-width character.
func narrowRune(r rune) rune {
	if r > 0xff00 && r < 0xff5f {
		return r - 0xfee0
	}
	return r
}

func lenientBase64(refused string) func(string) ([]byte, bool) {
	return func(text string) ([]byte, bool) {
		raw, err := base64.RawURLEncoding.DecodeString(text)
		return raw, err == nil && !strings.ContainsAny(text, refused)
	}
}

func replacingDecoder(r *strings.Replacer) func(string) ([]byte, bool) {
	return func(text string) ([]byte, bool) { return skeleton.DecodeCanonical(r.Replace(text)) }
}

// base64URL is the alphabet of base64url.
const base64URL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

func onlyText(r rune) rune {
	if strings.ContainsRune(base64URL, r) {
		return r
	}
	return -1
}

// hexEncoding writes and reads hexadecimal. The standard library's reader accepts both cases.
func hexEncoding(p *skeleton.SignerParts) {
	p.Encode = hex.EncodeToString
	p.Decode = func(text string) ([]byte, bool) {
		raw, err := hex.DecodeString(text)
		return raw, err == nil
	}
}

// lengthInFront writes the number of bytes in front, and reads it as number parsers do.
func lengthInFront(p *skeleton.SignerParts) {
	encode, decode := p.Encode, p.Decode
	p.Encode = func(raw []byte) string { return strconv.Itoa(len(raw)) + "." + encode(raw) }
	p.Decode = func(text string) ([]byte, bool) {
		count, rest, _ := strings.Cut(text, ".")
		n, err := strconv.Atoi(count)
		raw, ok := decode(rest)
		return raw, ok && err == nil && n == len(raw)
	}
}
