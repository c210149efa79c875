package main

import (
	"bytes"
	"compress/flate"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"hash/adler32"
	"hash/crc64"
	"io"
	"math/big"
	weak "math/rand"
	"path"
	"slices"
	"strings"
	"time"

	"sealab/codecs"
)

var designs = map[string]design{
	// Bugs that show in a second call.
	"verdict_by_token":       {claims: schemeClaims, around: remembering(func(q asked) string { return string(q.in) })},
	"verdict_by_principal":   {claims: schemeClaims, around: remembering(func(q asked) string { return string(q.in) + string(optional(q.b.Principal)) })},
	"verdict_by_token_start": {claims: codecClaims, codec: true, around: remembering(func(q asked) string { return string(q.in[:min(64, len(q.in))]) })},
	"first_call_lenient": {claims: schemeClaims, around: func(w *instance) {
		verify, called := w.verify, false
		w.verify = func(q asked) ([]byte, error) {
			state, err := verify(q)
			if !called && err == expired {
				q.now -= 600e6
				state, err = verify(q)
			}
			called = true
			return state, err
		}
	}},
	"hundredth_call_unchecked": {claims: codecClaims, codec: true, around: func(w *instance) {
		verify, n := w.verify, 0
		w.verify = func(q asked) ([]byte, error) {
			plain, err := verify(q)
			if n++; n%100 == 0 && err == unauthentic && len(q.in) > 60 {
				sealed, _ := raw(string(q.in[4:]))
				return sealed[:len(sealed)-32], nil
			}
			return plain, err
		}
	}},
	"used_up_to_64": {claims: schemeClaims + secretClaims + " single-use", box: withNonce(fresh), around: func(w *instance) {
		verify, used := w.verify, []string{}
		w.verify = func(q asked) ([]byte, error) {
			if slices.Contains(used, string(q.in)) {
				return nil, expired
			}
			state, err := verify(q)
			if err == nil {
				used = append(used[max(0, len(used)-63):], string(q.in))
			}
			return state, err
		}
	}},
	"used_by_handle": {claims: schemeClaims + secretClaims + " single-use", box: withNonce(fresh), around: once(map[string]bool{}, true)},
	// Bugs in nonces.
	"nonce_seeded_by_time": {claims: codecClaims + secretClaims, codec: true, box: withNonce(func() func([]byte) []byte {
		r := weak.New(weak.NewSource(time.Now().Unix() / 60))
		return func([]byte) []byte { n := make([]byte, 12); r.Read(n); return n }
	})},
	"nonce_of_24_bits": {claims: codecClaims + secretClaims, codec: true, box: withNonce(func() func([]byte) []byte {
		start := random(9)
		return func([]byte) []byte { return slices.Concat(start, random(3)) }
	})},
	"nonce_of_1000": {claims: codecClaims + secretClaims, codec: true, box: withNonce(func() func([]byte) []byte {
		start, n := random(8), uint32(0)
		return func([]byte) []byte {
			n = (n + 1) % 1000
			return binary.BigEndian.AppendUint32(slices.Clone(start), n*2654435761)
		}
	})},
	// Bugs in tags.
	"tag_fnv": {claims: codecClaims, codec: true, box: withTag(4, func(key, plain []byte) []byte { return hash32(slices.Concat(key, plain)) })},
	"tag_adler": {claims: codecClaims, codec: true, box: withTag(4, func(key, plain []byte) []byte {
		return binary.BigEndian.AppendUint32(nil, adler32.Checksum(slices.Concat(key, plain)))
	})},
	"tag_crc64": {claims: codecClaims, codec: true, box: withTag(8, func(key, plain []byte) []byte {
		return binary.BigEndian.AppendUint64(nil, crc64.Checksum(slices.Concat(key, plain), crc64.MakeTable(crc64.ECMA)))
	})},
	"tag_cbcmac":        {claims: codecClaims, codec: true, box: withTag(16, blocks)},
	"tag_of_first_4096": {claims: codecClaims, codec: true, box: withTag(32, func(key, plain []byte) []byte { return mac(key, plain[:min(4096, len(plain))]) })},
	"tag_weak_for_second_key": {claims: codecClaims, codec: true, box: func(keys [][]byte) *box {
		b := tagged(keys)
		open := b.open
		b.open = func(key, sealed []byte) ([]byte, bool) {
			plain, ok := open(key, sealed)
			if !ok && len(keys) > 1 && len(sealed) >= 32 && &key[0] == &keys[1][0] {
				return plain, bytes.Equal(mac(key, plain)[:2], sealed[len(sealed)-32:][:2])
			}
			return plain, ok
		}
		return b
	}},
	"tag_length_in_token": {claims: codecClaims, codec: true, box: func(keys [][]byte) *box {
		b := tagged(keys)
		b.seal = func(key, plain []byte) []byte { return slices.Concat([]byte{32}, plain, mac(key, plain)) }
		b.open = func(key, sealed []byte) ([]byte, bool) {
			if len(sealed) < 1 || sealed[0] < 1 || sealed[0] > 32 || len(sealed) < 1+int(sealed[0]) {
				return nil, false
			}
			n := int(sealed[0])
			plain := sealed[1 : len(sealed)-n]
			return plain, hmac.Equal(mac(key, plain)[:n], sealed[len(sealed)-n:])
		}
		return b
	}},
	// Bugs in contexts and time.
	"principal_folded": {claims: schemeClaims, digest: changed(func(b *codecs.Context) { b.Principal = with(b.Principal, strings.ToLower) })},
	"target_cleaned":   {claims: schemeClaims, digest: changed(func(b *codecs.Context) { b.Target = path.Clean("/" + b.Target) })},
	"audience_slash": {claims: schemeClaims, digest: changed(func(b *codecs.Context) {
		b.Audience = with(b.Audience, func(s string) string { return strings.TrimSuffix(s, "/") })
	})},
	"principal_by_hash": {claims: schemeClaims, digest: changed(func(b *codecs.Context) {
		b.Principal = with(b.Principal, func(s string) string { return string(hash32([]byte(s))) })
	})},
	"absent_fields_left_out": {claims: schemeClaims, digest: func(b codecs.Context) []byte {
		parts := [][]byte{[]byte(b.Method), []byte(b.Target), arguments(b)}
		for _, p := range []*string{b.Principal, b.Audience} {
			if p != nil {
				parts = append(parts, []byte(*p))
			}
		}
		return mac([]byte("context"), parts...)
	}},
	"target_and_method_glued": {claims: schemeClaims, digest: changed(func(b *codecs.Context) { b.Method, b.Target = b.Method+" "+b.Target, "" })},
	"expiry_of_2038": {claims: schemeClaims, valid: func(issued, expires, now int64) bool {
		return int32(now/1e6) < int32(expires/1e6) && issued <= now+60e6
	}},
	"expiry_in_minutes": {claims: schemeClaims, valid: func(issued, expires, now int64) bool { return now/60e6 <= expires/60e6 && issued <= now+60e6 }},
	// Bugs in spelling, keys and work.
	"line_breaks_skipped": {claims: codecClaims, codec: true, box: spelling(nil, func(token string) ([]byte, error) {
		b, err := text.DecodeString(strings.TrimPrefix(token, "go1."))
		if err != nil || !strings.HasPrefix(token, "go1.") {
			return nil, malformed
		}
		return b, nil
	})},
	"space_around": {claims: codecClaims, codec: true, box: spelling(nil, func(token string) ([]byte, error) { return spelled(&box{}).read(strings.TrimSpace(token)) })},
	"ring_by_first_byte": {claims: codecClaims, codec: true, box: func(keys [][]byte) *box {
		b := tagged(keys)
		seal, open := b.seal, b.open
		b.seal = func(key, plain []byte) []byte {
			return append([]byte{key[0] & 3}, seal(key, slices.Concat([]byte{key[0] & 3}, plain))[1:]...)
		}
		b.open = func(key, sealed []byte) ([]byte, bool) {
			i := slices.IndexFunc(keys, func(k []byte) bool { return len(sealed) > 0 && k[0]&3 == sealed[0] })
			if i < 0 || !bytes.Equal(keys[i], key) {
				return nil, false
			}
			plain, ok := open(key, sealed)
			return bytes.TrimPrefix(plain, []byte{key[0] & 3}), ok
		}
		return b
	}},
	"ring_of_eight": {claims: codecClaims, codec: true, box: trying(func(keys [][]byte) [][]byte { return keys[:min(8, len(keys))] })},
	"panics_if_short": {claims: codecClaims, codec: true, box: spelling(nil, func(token string) ([]byte, error) {
		if b, err := spelled(&box{}).read(token); err != nil || b[len(b)-32] > 0 {
			return b, err
		}
		return raw(token[4:])
	})},
	"quadratic": {claims: codecClaims, codec: true, box: spelling(nil, func(token string) ([]byte, error) {
		seen := ""
		for _, c := range token {
			if c >= 0x80 {
				return nil, malformed
			}
			seen += string(c)
		}
		return spelled(&box{}).read(seen)
	})},
	"inflated_first": {claims: codecClaims, codec: true, box: spelling(func(sealed []byte) string {
		var b bytes.Buffer
		w, _ := flate.NewWriter(&b, flate.BestCompression)
		w.Write(sealed)
		w.Close()
		return "go1." + text.EncodeToString(b.Bytes())
	}, func(token string) ([]byte, error) {
		packed, err := spelled(&box{}).read(token)
		if err != nil {
			return nil, err
		}
		b, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
		if err != nil {
			return nil, malformed
		}
		return b, nil
	})},
	"principal_shown": {claims: schemeClaims + " unlinkable", box: withNonce(fresh), digest: digest, around: func(w *instance) {
		mint, verify := w.mint, w.verify
		w.mint = func(q asked) ([]byte, error) {
			t, err := mint(q)
			return append([]byte(text.EncodeToString(digest(codecs.Context{Principal: q.b.Principal})[:6])+"."), t...), err
		}
		w.verify = func(q asked) ([]byte, error) {
			head, rest, _ := strings.Cut(string(q.in), ".")
			if head != text.EncodeToString(digest(codecs.Context{Principal: q.b.Principal})[:6]) {
				return nil, misbound
			}
			q.in = []byte(rest)
			return verify(q)
		}
	}},

	// Sound designs.
	"sound_scheme":  {claims: schemeClaims},
	"sound_codec":   {claims: codecClaims, codec: true},
	"sound_gcm":     {claims: codecClaims + secretClaims, codec: true, box: withNonce(fresh)},
	"sound_sealed":  {claims: schemeClaims + secretClaims, box: withNonce(fresh)},
	"sound_single":  {claims: schemeClaims, single: true},
	"sound_once":    {claims: schemeClaims + secretClaims + " single-use", box: withNonce(fresh), around: once(map[string]bool{}, false)},
	"sound_counter": {claims: codecClaims + " confidentiality fresh-nonces", codec: true, box: withNonce(counted)},
	"sound_short":   {claims: codecClaims, codec: true, box: withTag(16, func(key, plain []byte) []byte { return mac(key, plain) })},
	"sound_number": {claims: codecClaims, codec: true, box: spelling(func(sealed []byte) string {
		return new(big.Int).SetBytes(append([]byte{1}, sealed...)).Text(62)
	}, func(token string) ([]byte, error) {
		if len(token) > 1<<14 {
			return nil, malformed
		}
		n, ok := new(big.Int).SetString(token, 62)
		if !ok || n.Sign() <= 0 || n.Text(62) != token || n.Bytes()[0] != 1 {
			return nil, malformed
		}
		return n.Bytes()[1:], nil
	})},
	"sound_base32": {claims: codecClaims, codec: true, box: spelling(func(sealed []byte) string { return base32.StdEncoding.EncodeToString(sealed) }, func(token string) ([]byte, error) {
		b, err := base32.StdEncoding.DecodeString(token)
		if err != nil || base32.StdEncoding.EncodeToString(b) != token {
			return nil, malformed
		}
		return b, nil
	})},
	"sound_second_tag": {claims: codecClaims, codec: true, box: withTag(32, func(key, plain []byte) []byte { return mac(mac(key, []byte("outer")), mac(key, plain)) })},
	"sound_masked":     {claims: codecClaims, codec: true, box: masked},
	"sound_cached": {claims: schemeClaims, around: remembering(func(q asked) string {
		sum := sha256.Sum256(slices.Concat(digest(q.b), binary.BigEndian.AppendUint64(nil, uint64(q.now)), q.in))
		return string(sum[:])
	})},
	"sound_swapped": {claims: codecClaims, codec: true, box: trying(func(keys [][]byte) [][]byte { r := slices.Clone(keys); slices.Reverse(r); return r })},
}
