package serve

import (
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"

	"sealab/codecs"
	"sealab/codecs/boundary"
	"sealab/codecs/catalog"
	"sealab/codecs/keyfile"
	"sealab/internal/cli"
	"sealab/internal/lab"
)

// policy returns the policy that the flags select.
func (o serveOptions) policy(log *slog.Logger) (boundary.Policy, error) {
	p := boundary.Policy{Audience: o.audience, TTL: o.ttl, Logger: log, Now: time.Now}
	if err := o.check(); err != nil {
		return p, err
	}
	var err error
	if o.singleUse != 0 {
		if p.Store, err = boundary.NewMemory(o.singleUse, o.singleUse); err != nil {
			return p, err
		}
	}
	if p.Secrets, err = o.ring(log); err != nil {
		return p, err
	}
	if o.design == "" {
		return p, nil
	}
	return o.useDesign(p)
}

// ring returns the secrets of the key file, or a secret made for this process.
func (o serveOptions) ring(log *slog.Logger) ([][]byte, error) {
	if o.keys != "" {
		return keyfile.Read(o.keys)
	}
	log.Warn("requestState is sealed under a key of this process: its tokens end with the process, and other servers refuse them; give a key file with --keys")
	return [][]byte{lab.NewSecret()}, nil
}

// check refuses flags that would have no effect.
func (o serveOptions) check() error {
	switch {
	case o.ttl <= 0:
		return fmt.Errorf("serve: --ttl %v: want a positive duration", o.ttl)
	case o.design == "" && len(o.options) > 0:
		return fmt.Errorf("serve: --option needs --design")
	case o.design != "" && o.keys == "":
		return fmt.Errorf("serve: --design %s needs --keys", o.design)
	}
	for _, host := range o.hosts {
		if host == "" || net.ParseIP(host) == nil && strings.ContainsAny(host, ":/[]") {
			return fmt.Errorf("serve: --allow-host %q: want a host name without scheme and port", host)
		}
	}
	return nil
}

// useDesign sets the design of the policy and its options.
func (o serveOptions) useDesign(p boundary.Policy) (boundary.Policy, error) {
	d, err := catalog.Find(o.design)
	if err != nil {
		return p, err
	}
	options, err := cli.ParseOptions(o.options)
	if err != nil {
		return p, err
	}
	p.Design, p.Options = &d, options
	warn(p.Logger, d, options)
	return p, nil
}

// needed are the properties that a server relies on.
var needed = []codecs.Property{
	codecs.Integrity, codecs.Expiry, codecs.BindsMethod, codecs.BindsTarget, codecs.BindsArguments,
	codecs.BindsPrincipal, codecs.BindsAudience,
}

// warn logs the needed properties that the design lacks. If the design is a codec, warn checks it
// with claims around it, as the boundary uses it.
func warn(log *slog.Logger, d codecs.Design, options map[string]string) {
	if around, err := catalog.Find(d.Name + "-claims"); err == nil {
		d = around
	}
	if g, _ := d.Guarantee(codecs.Confidentiality, options); !g.Holds {
		log.Warn("clients can read the state in their tokens", "design", d.Name, "reason", g.Reason)
	}
	for _, p := range needed {
		if g, _ := d.Guarantee(p, options); !g.Holds {
			log.Warn("the design lacks a property that a server needs", "design", d.Name, "property", string(p), "reason", g.Reason)
		}
	}
}
