package codecs_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
)

func TestRefusalsHaveOneText(t *testing.T) {
	want := codecs.Reject(codecs.Malformed, "").Error()
	for _, stage := range codecs.Stages() {
		require.Equal(t, want, codecs.Reject(stage, "a reason").Error())
	}
}

func TestRejected(t *testing.T) {
	r := codecs.Reject(codecs.Expired, "expired")
	require.Same(t, r, codecs.Rejected(fmt.Errorf("verifying: %w", r)))
	require.Nil(t, codecs.Rejected(nil))
	require.Nil(t, codecs.Rejected(errors.New("a fault")))
	require.Nil(t, codecs.Rejected(codecs.ErrUnsupported))
}

func TestStageNames(t *testing.T) {
	for _, stage := range codecs.Stages() {
		parsed, err := codecs.ParseStage(stage.String())
		require.NoError(t, err)
		require.Equal(t, stage, parsed)
	}
	for _, s := range []codecs.Stage{0, codecs.Expired + 1} {
		_, err := codecs.ParseStage(s.String())
		require.Error(t, err)
	}
}

func TestPropertiesAreConsistent(t *testing.T) {
	names := map[codecs.Property]codecs.PropertyInfo{}
	for _, p := range codecs.Properties() {
		require.NotContains(t, names, p.Property, "listed twice")
		require.NotEmpty(t, p.Promise, p.Property)
		names[p.Property] = p
		parsed, err := codecs.ParseProperty(string(p.Property))
		require.NoError(t, err)
		require.Equal(t, p.Property, parsed)
	}
	for _, p := range names {
		for _, base := range p.RestsOn {
			require.Contains(t, names, base)
			require.False(t, names[base].SchemeOnly && !p.SchemeOnly, "%s rests on %s, which codecs lack", p.Property, base)
		}
	}
	_, err := codecs.ParseProperty("secure")
	require.Error(t, err)
}

// row returns a design that stores the Config that it is opened with in got.
func row(got *codecs.Config) codecs.Design {
	return codecs.Design{
		Name: "test", MaxKeys: 2, KeySize: 32,
		Options:  []codecs.Option{{Name: "mode", Values: []string{"signed", "encrypted"}}},
		NewCodec: func(c codecs.Config) (codecs.Codec, error) { *got = c; return nil, nil },
	}
}

func TestConfigIsChecked(t *testing.T) {
	var got codecs.Config
	d := row(&got)
	key := make([]byte, 32)
	for _, c := range []struct {
		name   string
		config codecs.Config
		want   string // part of the error; empty if no error is expected
	}{
		{"default", codecs.Config{Secrets: [][]byte{key}}, ""},
		{"chosen", codecs.Config{Secrets: [][]byte{key}, Options: map[string]string{"mode": "encrypted"}}, ""},
		{"unknown option", codecs.Config{Options: map[string]string{"mood": "x"}}, `no option "mood"`},
		{"unknown value", codecs.Config{Options: map[string]string{"mode": "x"}}, `"x" is not one of`},
		{"long ring", codecs.Config{Secrets: [][]byte{key, key, key}}, "takes 2 secret(s) and was given 3"},
		{"key size", codecs.Config{Secrets: [][]byte{key, key[:31]}}, "secret 2 of 2 has 31 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := d.OpenCodec(c.config)
			if c.want != "" {
				require.ErrorContains(t, err, c.want)
				return
			}
			require.NoError(t, err)
			require.Len(t, got.Options, 1)
		})
	}
	_, err := d.OpenCodec(codecs.Config{})
	require.NoError(t, err)
	require.Equal(t, "signed", got.Options["mode"], "the first value is the default")
	_, err = d.OpenScheme(codecs.Config{})
	require.ErrorIs(t, err, codecs.ErrUnsupported)
}

// TestRefusalsLookAlike checks that printing, encoding or logging a refusal
// never shows its stage or reason.
func TestRefusalsLookAlike(t *testing.T) {
	r := codecs.Reject(codecs.Expired, "the secret reason")
	want := r.Error()
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		require.Equal(t, want, fmt.Sprintf(verb, r), verb)
	}
	require.Equal(t, strconv.Quote(want), fmt.Sprintf("%q", r))
	inJSON, err := json.Marshal(map[string]any{"error": r})
	require.NoError(t, err)
	require.JSONEq(t, `{"error":"`+want+`"}`, string(inJSON))
	text, err := r.MarshalText()
	require.NoError(t, err)
	require.Equal(t, want, string(text))
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("refused", "error", r)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("refused", "error", r)
	require.NotContains(t, log.String(), "secret reason")
}
