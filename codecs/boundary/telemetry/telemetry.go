// Package telemetry counts and traces a boundary with OpenTelemetry. It needs
// only the API (go.opentelemetry.io/otel/metric and /trace). The program
// chooses the SDK and the exporter.
//
//	observer, err := telemetry.New(otel.GetMeterProvider(), otel.GetTracerProvider())
//	policy := boundary.Policy{Secrets: ring, Observer: observer}
//
// # Metrics
//
// All metrics have the attributes operation ("mint" or "verify") and method
// (such as "tools/call"). The first also has outcome: "done", "used", "fault"
// or the stage of a refusal ("malformed", "unknown-key", "unauthentic",
// "misbound", "expired").
//
//	sealab.boundary.tokens           count
//	sealab.boundary.token.size       histogram, bytes
//	sealab.boundary.arguments.size   histogram, bytes
//	sealab.boundary.store.duration   histogram, seconds; single use only
//
// # Spans
//
// "requestState verify" and "requestState mint" are children of the request's
// span, with the attributes above. Neither metrics nor spans hold a token, a
// state, a principal or a target.
//
// # Queries for a dashboard
//
// In PromQL, with the metric names of the Prometheus exporter:
//
//	refusals by stage     sum by (outcome) (rate(sealab_boundary_tokens_total{operation="verify",outcome!="done"}[5m]))
//	share of refusals     sum(rate(sealab_boundary_tokens_total{operation="verify",outcome!="done"}[5m])) / sum(rate(sealab_boundary_tokens_total{operation="verify"}[5m]))
//	store, 99th per cent  histogram_quantile(0.99, sum by (le) (rate(sealab_boundary_store_duration_seconds_bucket[5m])))
//	faults                sum by (operation) (increase(sealab_boundary_tokens_total{outcome="fault"}[10m])) > 0
//	presented twice       sum(increase(sealab_boundary_tokens_total{outcome="used"}[1h]))
package telemetry

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"sealab/codecs/boundary"
)

const scope = "sealab/codecs/boundary"

type observer struct {
	tracer           trace.Tracer
	tokens           metric.Int64Counter
	token, arguments metric.Int64Histogram
	store            metric.Float64Histogram
}

// New returns an observer that writes to the given providers.
func New(meters metric.MeterProvider, tracers trace.TracerProvider) (boundary.Observer, error) {
	o := &observer{tracer: tracers.Tracer(scope)}
	m := meters.Meter(scope)
	var errs [4]error
	o.tokens, errs[0] = m.Int64Counter("sealab.boundary.tokens", metric.WithDescription("tokens minted and verified, by outcome"))
	o.token, errs[1] = m.Int64Histogram("sealab.boundary.token.size", metric.WithUnit("By"), metric.WithDescription("length of tokens"), buckets)
	o.arguments, errs[2] = m.Int64Histogram("sealab.boundary.arguments.size", metric.WithUnit("By"), metric.WithDescription("length of the arguments beside a token"), buckets)
	o.store, errs[3] = m.Float64Histogram("sealab.boundary.store.duration", metric.WithUnit("s"), metric.WithDescription("time of a call of the store of used tokens"),
		metric.WithExplicitBucketBoundaries(.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2))
	return o, errors.Join(errs[:]...)
}

var buckets = metric.WithExplicitBucketBoundaries(128, 256, 512, 1<<10, 4<<10, 16<<10, 64<<10, 256<<10, 1<<20)

// Start implements boundary.Observer.
func (o *observer) Start(ctx context.Context, op boundary.Operation, method string) (context.Context, func(boundary.Event)) {
	what := []attribute.KeyValue{attribute.String("operation", string(op)), attribute.String("method", method)}
	ctx, span := o.tracer.Start(ctx, "requestState "+string(op), trace.WithSpanKind(trace.SpanKindInternal), trace.WithAttributes(what...))
	return ctx, func(e boundary.Event) {
		outcome := attribute.String("outcome", string(e.Outcome))
		span.SetAttributes(outcome, attribute.Int("token.size", e.Token), attribute.Int("arguments.size", e.Arguments))
		if e.Outcome == boundary.Fault {
			span.SetStatus(codes.Error, "fault")
		}
		span.End()
		common := metric.WithAttributes(what...)
		o.tokens.Add(ctx, 1, common, metric.WithAttributes(outcome))
		if e.Token > 0 {
			o.token.Record(ctx, int64(e.Token), common)
		}
		o.arguments.Record(ctx, int64(e.Arguments), common)
		if e.Store > 0 {
			o.store.Record(ctx, e.Store.Seconds(), common)
		}
	}
}
