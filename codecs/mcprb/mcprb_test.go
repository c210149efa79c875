package mcprb_test

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/codectest"
	"sealab/codecs/mcprb"
	"sealab/internal/lab"
	"sealab/internal/testenv"
)

func TestConformance(t *testing.T) { codectest.Run(t, mcprb.Design) }

var noon = time.Unix(1_795_132_800, 750_000_000)

func open(t *testing.T, d codecs.Design, options map[string]string) lab.SchemeAssembler {
	t.Helper()
	s, err := d.OpenScheme(codecs.Config{Secrets: [][]byte{[]byte("thirty-two bytes for tests only!")}, Options: options})
	require.NoError(t, err)
	return s.(lab.SchemeAssembler)
}

// mint returns a token whose claims are replaced by text.
func mint(t *testing.T, s lab.SchemeAssembler, text string) []byte {
	t.Helper()
	token, err := s.MintEdited(nil, make([]byte, s.SeedSize()), nil, codectest.At(nil, noon), func(step lab.Step, value []byte) []byte {
		if step == lab.StepClaims {
			return []byte(text)
		}
		return value
	})
	require.NoError(t, err)
	return token
}

// empty is the digest of absent arguments.
const empty = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"

// asSDK is the design under reading=sdk.
var asSDK = lab.With(mcprb.Design, map[string]string{"reading": "sdk"})

// TestClaims presents authentic claims. The reasons are those of the SDK.
func TestClaims(t *testing.T) {
	const tail = `"m":"","t":"","a":"` + empty + `","s":"s"}`
	audience := ""
	for _, c := range []struct {
		claims       string
		binding      codecs.Context
		want, strict string // "" if the token is accepted
	}{
		{`{"v":1,"exp":1795132800,` + tail, codecs.Context{}, "", ""},
		{`{"v":1,"exp":1795132799,` + tail, codecs.Context{}, "expired", "expired"},
		{`/* */ {"v":1.0,"exp":1795132800,` + tail, codecs.Context{}, "", "malformed claims"},
		{`{"v":1,"exp":99999999999999999999999,` + tail, codecs.Context{}, "", "malformed claims"},
		{`{"v":1,"exp":1795132800.0,` + tail, codecs.Context{}, "expired", "malformed claims"},
		{`{"v":1,"exp":"1795132800",` + tail, codecs.Context{}, "expired", "malformed claims"},
		{`{"v":1,` + tail, codecs.Context{}, "expired", "malformed claims"},
		{`{"v":true,"exp":1795132800,` + tail, codecs.Context{}, "unsupported version", "malformed claims"},
		{`{"v":2,"exp":1795132800,` + tail, codecs.Context{}, "unsupported version", "malformed claims"},
		{`{}`, codecs.Context{}, "unsupported version", "malformed claims"},
		{`[]`, codecs.Context{}, "malformed claims", "malformed claims"},
		{`null`, codecs.Context{}, "malformed claims", "malformed claims"},
		{``, codecs.Context{}, "malformed claims", "malformed claims"},
		{`{"v":1,"exp":1795132800,"aud":null,` + tail, codecs.Context{}, "", "malformed claims"},
		{`{"v":1,"exp":1795132800,"\udc00":0,` + tail, codecs.Context{}, "malformed claims", "malformed claims"},
		{`{"v":1,"exp":1795132800,"m":"","t":"","a":"` + empty + `","s":null}`, codecs.Context{}, "missing state", "malformed claims"},
		{`{"v":1,"exp":1795132800,` + tail, codecs.Context{Method: "x"}, "method mismatch", "method mismatch"},
		{`{"v":1,"exp":1795132800,` + tail, codecs.Context{Target: "x"}, "target mismatch", "target mismatch"},
		{`{"v":1,"exp":1795132800,` + tail, codecs.Context{Arguments: json.RawMessage("0")}, "arguments mismatch", "arguments mismatch"},
		{`{"v":1,"exp":1795132800,` + tail, codecs.Context{Arguments: json.RawMessage("{")}, "arguments mismatch", "arguments mismatch"},
		{`{"v":1,"exp":1795132800,` + tail, codecs.Context{Arguments: json.RawMessage("false")}, "", ""},
		{`{"v":1,"exp":1795132800,` + tail, codecs.Context{Audience: &audience}, "audience mismatch", "audience mismatch"},
	} {
		for _, r := range []struct {
			design codecs.Design
			want   string
		}{{asSDK, c.want}, {mcprb.Design, c.strict}} {
			s := open(t, r.design, nil)
			state, err := s.Verify(nil, mint(t, s, c.claims), codectest.At(&c.binding, noon))
			codectest.RequireReason(t, r.want, err, "%s", c.claims)
			if r.want == "" {
				require.Equal(t, "s", string(state))
			}
		}
	}
}

// TestGivenDigest checks the option digest=given.
func TestGivenDigest(t *testing.T) {
	s := open(t, mcprb.Design, map[string]string{"digest": "given"})
	token, err := s.Mint(nil, []byte("s"), codectest.At(&codecs.Context{Arguments: json.RawMessage(`"dg"`)}, noon))
	require.NoError(t, err)
	_, err = s.Verify(nil, token, codectest.At(&codecs.Context{Arguments: json.RawMessage(`"\u0064g"`)}, noon))
	require.NoError(t, err)
	_, err = s.Verify(nil, token, codectest.At(nil, noon))
	require.Error(t, err)
	_, err = s.Mint(nil, []byte("s"), codectest.At(&codecs.Context{Arguments: json.RawMessage(`{}`)}, noon))
	require.ErrorIs(t, err, codecs.ErrUnsupported)
}

func TestTTL(t *testing.T) {
	for _, ttl := range []time.Duration{0, -time.Second, 1500 * time.Millisecond} {
		_, err := mcprb.Design.OpenScheme(codecs.Config{Secrets: [][]byte{make([]byte, 32)}, TTL: &ttl})
		require.ErrorContains(t, err, "whole seconds")
	}
}

// canonical computes the SDK's digest of arguments in Ruby, as the SDK
// describes it.
const canonical = `
require "json"; require "digest"
def c(v)
  case v
  when Hash then "{" + v.map { |k, n| [k.to_s, n] }.sort_by(&:first).map { |k, n| "#{k.to_json}:#{c(n)}" }.join(",") + "}"
  when Array then "[" + v.map { |e| c(e) }.join(",") + "]"
  else v.to_json end
end
STDIN.each_line { |l| puts Digest::SHA256.hexdigest(c(JSON.parse(l, symbolize_names: true) || {})) }
`

// TestDigestAgainstRuby compares digests of arguments with those of Ruby.
func TestDigestAgainstRuby(t *testing.T) {
	ruby, err := exec.LookPath("ruby")
	if err != nil {
		testenv.Skip(t, "ruby is not on this machine, so digests of arguments were not compared with Ruby's")
	}
	documents := []string{
		`{}`, `null`, `false`, `[]`, `""`, `0`, `{"b":1,"a":[1,2.0,{"d":null,"c":true}]}`, `{"a":1,"a":2}`, `{"a":-1e400,"a":"\ud83d\ude00"}`, `{"é":1,"z":2,"A":3}`,
		`[1e15,1e14,123456789012345680.0,1234567890123456.0,1234567890123456.5,-4049766592747210.5,1000000000000000.1,999999999999999.9,0.0001,0.00012345,0.00001,1e22,5e-324,1.7976931348623157e308,-0.0,-0,0.1,100.0,1e2,1E-7]`,
		`["\u0000\u001f\u007f\u0080\u2028/<>&\"\\\b\f\n\r\t😀"]`, `[123456789012345678901234567890,-5]`, `{"":{"":[]}}`,
	}
	cmd := exec.Command(ruby, "-e", canonical)
	cmd.Stdin = strings.NewReader(strings.Join(documents, "\n"))
	cmd.Env = append(cmd.Environ(), "LC_ALL=C.UTF-8")
	out, err := cmd.Output()
	require.NoError(t, err)
	digests := strings.Fields(string(out))
	require.Len(t, digests, len(documents))
	s := open(t, mcprb.Design, nil)
	for i, doc := range documents {
		var claims string
		_, err := s.MintEdited(nil, make([]byte, 12), []byte("s"), codectest.At(&codecs.Context{Arguments: json.RawMessage(doc)}, noon),
			func(step lab.Step, value []byte) []byte {
				if step == lab.StepClaims {
					claims = string(value)
				}
				return value
			})
		require.NoError(t, err)
		require.Contains(t, claims, digests[i], doc)
	}
}
