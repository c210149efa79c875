package encryption

import (
	"bytes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"slices"
	"sync"

	"sealab/codecs"
	"sealab/internal/broken/skeleton"
)

// cbcSealing replaces the cipher by AES-CBC with a random initialization vector.
func cbcSealing(p *skeleton.SealerParts) {
	p.NonceSize = 16
	p.Nonce = func(uint64, []byte, []byte) []byte { return skeleton.RandomBytes(16) }
	p.Encrypt = func(key, iv, text, _ []byte) []byte { return skeleton.SealCBC(key, iv, text) }
}

func openCBC(key, iv, sealed []byte) ([]byte, error) {
	if len(sealed) == 0 || len(sealed)%16 != 0 {
		return nil, skeleton.ErrMalformed
	}
	text := make([]byte, len(sealed))
	cipher.NewCBCDecrypter(skeleton.AESBlock(key), iv).CryptBlocks(text, sealed)
	if text = unpadChecked(text); text == nil {
		return nil, errPadding
	}
	return text, nil
}

func cbcCipher(p *skeleton.SealerParts) {
	cbcSealing(p)
	p.Decrypt = func(key, iv, sealed, _ []byte) ([]byte, error) { return openCBC(key, iv, sealed) }
}

func paddingOracle(p *skeleton.SealerParts) {
	tagBeforeCBC(p, skeleton.PadWithLength, unpadChecked)
	decrypt := p.Decrypt
	p.Decrypt = func(key, iv, sealed, data []byte) ([]byte, error) {
		if _, err := openCBC(key, iv, sealed); err != nil {
			return nil, err
		}
		return decrypt(key, iv, sealed, data)
	}
}

// paddingOracleOfShort refuses a text that is too short for the tag for another reason than wrong padding.
func paddingOracleOfShort(p *skeleton.SealerParts) {
	tagBeforeCBC(p, skeleton.PadWithLength, unpadChecked)
	decrypt := p.Decrypt
	p.Decrypt = func(key, iv, sealed, data []byte) ([]byte, error) {
		if text, err := openCBC(key, iv, sealed); err == nil && len(text) < sha256.Size {
			return nil, skeleton.ErrMalformed
		}
		return decrypt(key, iv, sealed, data)
	}
}

// tagBeforeCBC appends the tag to the text, pads both and encrypts them. It refuses in one way.
func tagBeforeCBC(p *skeleton.SealerParts, pad func(text []byte) []byte, unpad func(padded []byte) []byte) {
	cbcSealing(p)
	p.Encrypt = func(key, iv, text, data []byte) []byte {
		padded := pad(slices.Concat(text, skeleton.HMAC(key, slices.Concat(data, iv, text))))
		cipher.NewCBCEncrypter(skeleton.AESBlock(key), iv).CryptBlocks(padded, padded)
		return padded
	}
	p.Decrypt = func(key, iv, sealed, data []byte) ([]byte, error) {
		if len(sealed) < sha256.Size || len(sealed)%16 != 0 {
			return nil, skeleton.ErrUnauthentic
		}
		padded := make([]byte, len(sealed))
		cipher.NewCBCDecrypter(skeleton.AESBlock(key), iv).CryptBlocks(padded, sealed)
		text := unpad(padded)
		if len(text) < sha256.Size {
			return nil, skeleton.ErrUnauthentic
		}
		body, tag := text[:len(text)-sha256.Size], text[len(text)-sha256.Size:]
		return body, skeleton.Authentic(hmac.Equal(tag, skeleton.HMAC(key, slices.Concat(data, iv, body))))
	}
}

func padAtRandom(text []byte) []byte {
	n := 16 - len(text)%16
	return append(slices.Concat(text, skeleton.RandomBytes(n-1)), byte(n))
}

// unpadByLength removes as many bytes as the last byte says.
func unpadByLength(padded []byte) []byte {
	n := int(padded[len(padded)-1])
	if n > 16 {
		return nil
	}
	return padded[:len(padded)-n]
}

// unpadChecked removes padding if all of its bytes are right.
func unpadChecked(padded []byte) []byte {
	text := unpadByLength(padded)
	if !bytes.Equal(skeleton.PadWithLength(text), padded) {
		return nil
	}
	return text
}

// paddingOracleOfOldKeys appends a tag to the ciphertext. For tokens of old keys it checks the padding
// before the tag.
func paddingOracleOfOldKeys(p *skeleton.SealerParts) {
	cbcSealing(p)
	encrypt, lookup := p.Encrypt, p.Lookup
	var old sync.Map // addresses of keys that are not the first of their ring
	p.Lookup = func(r *skeleton.Ring, id []byte) *skeleton.Entry {
		e := lookup(r, id)
		if e != nil && e != r.Entries[0] {
			old.Store(&e.Key[0], true)
		}
		return e
	}
	p.Encrypt = func(key, iv, text, data []byte) []byte {
		sealed := encrypt(key, iv, text, nil)
		return append(sealed, skeleton.HMAC(key, slices.Concat(data, iv, sealed))...)
	}
	p.Decrypt = func(key, iv, sealed, data []byte) ([]byte, error) {
		cut := len(sealed) - sha256.Size
		if cut < 16 || cut%16 != 0 {
			return nil, skeleton.ErrUnauthentic
		}
		text, err := openCBC(key, iv, sealed[:cut])
		if _, isOld := old.Load(&key[0]); isOld && err != nil {
			return nil, err
		}
		if !hmac.Equal(sealed[cut:], skeleton.HMAC(key, slices.Concat(data, iv, sealed[:cut]))) {
			return nil, skeleton.ErrUnauthentic
		}
		return text, err
	}
}

// errPadding is the refusal that makes a padding oracle.
var errPadding = codecs.Reject(codecs.Malformed, "padding")
