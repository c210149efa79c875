package generate

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"maps"
	"time"

	"sealab/codecs"
	"sealab/internal/atomicfile"
	"sealab/vectors/cases"
)

// DigestCounts are the numbers of inputs after which a digest is stored.
var DigestCounts = []int{100, 10_000, 1_000_000}

const (
	label    = "sealab-vectors/1 accumulate "
	lengths  = 97 // payloads are shorter than this
	alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	start    = 1795132800 // the first token is minted at this second
	lifetime = 10 * time.Minute
)

// Digests holds the digests of one design in hex, keyed by the number of
// inputs.
type Digests map[int]string

// Accumulate draws tokens from an endless derived stream and keeps one
// digest of all of them and of how they are judged: a million vectors in 32
// bytes. (The idea is CCTV's accumulated test vectors.)
//
// The stream (cases.Stream) is SHA-256(label || be64(0)) || SHA-256(label ||
// be64(1)) || ..., where the label is "sealab-vectors/1 accumulate " and the
// design's name. Each value below is its next bytes. For each input i, from 0:
//
//	n       = be16(2 bytes) mod 97
//	payload = n bytes; for a scheme, the state is these bytes in hex in quotation marks
//	seed    = as many bytes as the design takes
//	p, c    = be16(2 bytes), 1 byte
//	token   = the payload or state, sealed with the seed under k1
//	altered = token with the character at p mod len(token) replaced by number
//	          c mod 64 of the alphabet A-Z a-z 0-9 - _
//
// A scheme mints for method "tools/call", target "deploy", arguments {"n":i},
// principal "alice", audience "srv", at second 1795132800 + i, for 600 seconds,
// and verifies there. The digest is SHA-256 of one line per input, each ended
// by a line feed:
//
//	token SP hex of what the token releases SP judgement of altered
//
// where a judgement is "accept" or the stage of the refusal. An input that the
// design does not support is the line "unsupported".
//
// It returns the digests of a design for each of DigestCounts that is at most limit.
// secret is the key k1 of the design's vectors.
func Accumulate(d codecs.Design, secret []byte, limit int) (Digests, error) {
	r, err := newAccumulation(d, secret)
	if err != nil {
		return nil, err
	}
	digests := Digests{}
	done := 0
	for _, count := range DigestCounts {
		for ; done < count && count <= limit; done++ {
			if err := r.step(done); err != nil {
				return nil, fmt.Errorf("%s: input %d: %w", d.Name, done, err)
			}
		}
		if count <= limit {
			digests[count] = hex.EncodeToString(r.digest.Sum(nil))
		}
	}
	return digests, nil
}

// An accumulation is one pass over the stream.
type accumulation struct {
	subject *cases.Subject
	setting cases.Setting
	stream  *cases.Stream
	seed    int // bytes
	digest  hash.Hash
}

func newAccumulation(d codecs.Design, secret []byte) (*accumulation, error) {
	r := &accumulation{
		subject: cases.NewSubject(d, map[string][]byte{"k1": secret}),
		setting: cases.Setting{Keys: []string{"k1"}, TTL: lifetime, Context: codecs.Context{
			Method: "tools/call", Target: "deploy", Principal: new("alice"), Audience: new("srv"),
		}},
		stream: cases.NewStream(label + d.Name),
		digest: sha256.New(),
	}
	var err error
	r.seed, err = r.subject.SeedSize(r.setting)
	return r, err
}

// step adds the line of input i to the digest.
func (r *accumulation) step(i int) error {
	payload := r.stream.Bytes(int(r.stream.Uint16()) % lengths)
	if r.subject.Design.IsScheme() {
		payload = fmt.Appendf(nil, `"%x"`, payload)
		r.setting.Context.Arguments = json.RawMessage(fmt.Sprintf(`{"n":%d}`, i))
		r.setting.Context.Now = time.Unix(start+int64(i), 0)
	}
	seed := r.stream.Bytes(r.seed)
	place, other := int(r.stream.Uint16()), alphabet[int(r.stream.Bytes(1)[0])%len(alphabet)]
	token, err := r.subject.Seal(r.setting, seed, payload)
	if cases.Unsupported(err) {
		fmt.Fprintln(r.digest, "unsupported")
		return nil
	}
	if err != nil {
		return err
	}
	released, err := r.subject.Read(r.setting, token)
	if err != nil {
		return fmt.Errorf("unsealing a sealed token: %w", err)
	}
	fmt.Fprintf(r.digest, "%s %x ", token, released)
	token[place%len(token)] = other
	_, err = r.subject.Read(r.setting, token)
	switch refusal := codecs.Rejected(err); {
	case err == nil:
		fmt.Fprintln(r.digest, "accept")
	case refusal != nil:
		fmt.Fprintln(r.digest, refusal.Stage)
	default:
		return err
	}
	return nil
}

// DigestsPath is the committed file of all digests, relative to the module root.
const DigestsPath = "vectors/accumulated.json"

// A DigestFile maps the name of each design to its digests.
type DigestFile map[string]Digests

// ReadDigests reads the digests at path. If the file does not exist, it returns an
// empty DigestFile.
func ReadDigests(path string) (DigestFile, error) {
	f := DigestFile{}
	if err := atomicfile.ReadJSON(path, &f, "accumulated digests"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return f, nil
}

// Write writes the digests to path.
func (f DigestFile) Write(path string) error { return atomicfile.WriteJSON(path, f, " ") }

// Renew replaces the digests of a design by fresh ones. The first inputs of the stream are the same for
// every count. Digests of more inputs than fresh covers are therefore kept, unless another digest changed.
func (f DigestFile) Renew(design string, fresh Digests) {
	kept := maps.Clone(f[design])
	for count, digest := range fresh {
		if was, ok := kept[count]; ok && was != digest {
			f[design] = fresh
			return
		}
	}
	if kept == nil {
		kept = Digests{}
	}
	maps.Copy(kept, fresh)
	f[design] = kept
}

// Differs describes how fresh digests of a design differ from the file. It returns "" if the file contains
// them all.
func (f DigestFile) Differs(design string, fresh Digests) string {
	for count, digest := range fresh {
		if was := f[design][count]; was != digest {
			return fmt.Sprintf("%s: the digest over %d inputs is %s, committed is %q", design, count, digest, was)
		}
	}
	return ""
}
