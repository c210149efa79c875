package proof

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"sealab/fuzz/campaign"
)

// Supervised is a campaign.
type Supervised struct {
	Package, Replay string // as in campaign.Config
	Dir             string // where the binary is built, inside the module
	Now             func() time.Time
}

// Name implements Engine.
func (Supervised) Name() string { return "campaign" }

func (s Supervised) binary() string { return filepath.Join(s.Dir, "campaign.test") }

// cover is what is under test.
const cover = "sealab/codecs/..."

// Prepare implements Engine: what each campaign would build is built once.
func (s Supervised) Prepare(ctx context.Context) error {
	return campaign.Build(ctx, campaign.Config{Package: s.Package, Tags: tag, Cover: cover}, s.binary())
}

// slice is short, as a bug is seen when it is filed.
const slice = 10 * time.Second

// Begin implements Engine.
func (s Supervised) Begin(ctx context.Context, h Hunt) (Chase, error) {
	c, err := campaign.Open(ctx, campaign.Config{
		Dir: h.Dir, Package: s.Package, Replay: s.Replay, Tags: tag, Cover: cover, Built: s.binary(),
		Targets: []campaign.Target{{Name: h.Target.Name, Native: h.Target.NativeName()}},
		Workers: h.Workers, Slice: slice, Env: []string{h.environment()}, Now: s.Now,
	})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, found func()) (int64, error) {
		_, err := until(ctx, filepath.Join(h.Dir, "crashers", h.Target.Name, "*-*"), found, c.Run)
		if err := errors.Join(err, c.Close()); err != nil {
			return 0, err
		}
		return executions(h.Dir)
	}, nil
}

// executions returns how many the campaign in dir has recorded. Those after the
// last record, up to a few seconds, are not among them.
func executions(dir string) (n int64, err error) {
	status, err := campaign.ReadStatus(dir)
	for _, t := range status.Targets {
		n += t.Executions
	}
	return n, err
}
