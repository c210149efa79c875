package telemetry_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"sealab/codecs/boundary"
	"sealab/codecs/boundary/telemetry"
)

// TestObserver drives a boundary through its outcomes and reads them back from
// the OpenTelemetry SDK.
func TestObserver(t *testing.T) {
	ctx := context.Background()
	reader, spans := metric.NewManualReader(), tracetest.NewSpanRecorder()
	observer, err := telemetry.New(metric.NewMeterProvider(metric.WithReader(reader)), trace.NewTracerProvider(trace.WithSpanProcessor(spans)))
	require.NoError(t, err)
	store, err := boundary.NewMemory(10, 10)
	require.NoError(t, err)
	b, err := boundary.New("svc", boundary.Policy{Secrets: [][]byte{[]byte("32 random bytes or more, in tests")}, Store: store, Observer: observer, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)

	principal := "secret-principal"
	request := boundary.Request{
		Method: boundary.CallTool, Target: "secret-target", ArgumentsSize: 2,
		Arguments: func() json.RawMessage { return json.RawMessage("{}") },
		Principal: func() (*string, error) { return &principal, nil },
	}
	request.Token, err = b.Begin(request).Seal(ctx, "secret-state")
	require.NoError(t, err)
	for i := range 3 {
		_, err = b.Begin(request).Open(ctx)
		require.Equal(t, i == 0, err == nil)
	}
	wrong := request
	wrong.Token = "secret-token"
	_, err = b.Begin(wrong).Open(ctx)
	require.Error(t, err)
	wrong.Principal = func() (*string, error) { return nil, errors.New("secret-error") }
	_, err = b.Begin(wrong).Open(ctx)
	require.Error(t, err)

	var data metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(ctx, &data))
	text, err := json.Marshal(data)
	require.NoError(t, err)
	require.NotContains(t, string(text), "secret-")
	got, histograms := map[string]int64{}, map[string]uint64{}
	for _, m := range data.ScopeMetrics[0].Metrics {
		switch d := m.Data.(type) {
		case metricdata.Sum[int64]:
			for _, p := range d.DataPoints {
				op, _ := p.Attributes.Value("operation")
				outcome, _ := p.Attributes.Value("outcome")
				got[op.AsString()+" "+outcome.AsString()] = p.Value
			}
		case metricdata.Histogram[int64]:
			for _, p := range d.DataPoints {
				histograms[m.Name] += p.Count
			}
		case metricdata.Histogram[float64]:
			for _, p := range d.DataPoints {
				histograms[m.Name] += p.Count
			}
		}
	}
	require.Equal(t, map[string]int64{"mint done": 1, "verify done": 1, "verify used": 2, "verify malformed": 1, "verify fault": 1}, got)
	require.Equal(t, map[string]uint64{"sealab.boundary.token.size": 6, "sealab.boundary.arguments.size": 6, "sealab.boundary.store.duration": 3}, histograms)
	require.Len(t, spans.Ended(), 6)
	for _, span := range spans.Ended() {
		require.Contains(t, []string{"requestState mint", "requestState verify"}, span.Name())
		for _, a := range span.Attributes() {
			require.NotContains(t, a.Value.String(), "secret-")
		}
	}
}
