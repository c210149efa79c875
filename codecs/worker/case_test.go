package worker_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"sealab/codecs"
	"sealab/codecs/worker"
	"sealab/internal/lab"
)

func TestCasesReplay(t *testing.T) {
	config := codecs.Config{Secrets: secrets()}
	rejected := lab.Answer{Err: codecs.Reject(codecs.Malformed, "prefix")}
	opened, err := worker.OpenCase(config, nil)
	require.NoError(t, err)
	judge := func(token string, v lab.Answer) worker.Case {
		c, err := opened.Judge(codecs.KindCodec, []byte(token), nil, v)
		require.NoError(t, err)
		return c
	}
	made, err := opened.Make(codecs.KindCodec, []byte("payload"), nil, nil)
	require.NoError(t, err)
	unmade, err := opened.Make(codecs.KindCodec, []byte("payload"), nil, codecs.ErrUnsupported)
	require.NoError(t, err)
	refused, err := worker.OpenCase(codecs.Config{Secrets: [][]byte{{1}}}, os.ErrInvalid)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		worker.Case
		agrees bool
	}{
		"accepted":        {judge("r.ba", lab.Answer{Payload: []byte("ab")}), true},
		"other payload":   {judge("r.ba", lab.Answer{Payload: []byte("ba")}), false},
		"forged":          {judge("r.ba", rejected), false},
		"refused":         {judge("q.ba", rejected), true},
		"other reason":    {judge("q.ba", lab.Answer{Err: codecs.Reject(codecs.Malformed, "tag")}), false},
		"other stage":     {judge("q.ba", lab.Answer{Err: codecs.Reject(codecs.Expired, "prefix")}), false},
		"fault":           {judge("q.ba", lab.Answer{Err: codecs.ErrFault}), false},
		"made":            {made, true},
		"not made":        {unmade, false},
		"taken":           {opened, true},
		"refused to open": {refused, true},
	} {
		line, err := json.Marshal(c.Case)
		require.NoError(t, err)
		var read worker.Case
		require.NoError(t, json.Unmarshal(line, &read))
		got, agrees, err := read.Replay(reverser)
		require.NoError(t, err, name)
		require.Equal(t, c.agrees, agrees, "%s: %v", name, got)
	}
}

func TestCasesThatCannotBeReplayed(t *testing.T) {
	opened, err := worker.OpenCase(codecs.Config{Secrets: secrets()}, nil)
	require.NoError(t, err)
	good, err := opened.Judge(codecs.KindCodec, []byte("r."), nil, lab.Answer{})
	require.NoError(t, err)
	for name, broken := range map[string]worker.Case{
		"no answer":        {Open: good.Open, Ask: good.Ask, Answer: []byte(`{}`)},
		"opens not":        {Open: []byte(`{"op":"open","keys_b64":["AA"]}`), Ask: good.Ask, Answer: good.Answer},
		"no open":          {Ask: good.Ask, Answer: good.Answer},
		"answer is a list": {Open: good.Open, Ask: good.Ask, Answer: []byte(`[]`)},
	} {
		_, _, err := broken.Replay(reverser)
		require.Error(t, err, name)
	}
	_, err = opened.Judge(codecs.KindCodec, []byte{0xFF}, nil, lab.Answer{})
	require.ErrorIs(t, err, codecs.ErrUnsupported)
}
