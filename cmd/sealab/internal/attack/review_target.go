package attack

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"sealab/internal/rawmcp"
)

// target parses the server to review, and the consent to review it.
func (f *reviewFlags) target(args []string) error {
	switch {
	case f.stdio != "" && len(args) == 0:
		f.options.Target.Command = strings.Fields(f.stdio)
		return nil
	case f.stdio == "" && len(args) == 1:
		f.options.Target.URL = args[0]
		f.options.Target.Also = f.also
	default:
		return fmt.Errorf("want a URL, or --stdio and a command")
	}
	here := true
	for _, target := range []string{args[0], f.also} {
		if target == "" {
			continue
		}
		host, loopback, err := hostOf(target)
		if err != nil {
			return err
		}
		if here = here && loopback; !loopback && f.consent != host {
			return fmt.Errorf("%s is not this machine: add --consent %s if you may review it", host, host)
		}
	}
	if f.options.Rate == 0 && !here {
		f.options.Rate = 20
	}
	return nil
}

// hostOf returns the host of a URL and reports whether it is this machine.
func hostOf(target string) (host string, loopback bool, err error) {
	u, err := url.Parse(target)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", false, fmt.Errorf("target %q: want an http or https URL, such as http://127.0.0.1:8080/mcp; --stdio starts a command", target)
	}
	if port, err := strconv.ParseUint(cmp.Or(u.Port(), "80"), 10, 16); err != nil || port == 0 {
		return "", false, fmt.Errorf("target %q: want a port of 1 to 65535", target)
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname(), u.Hostname() == "localhost" || ip != nil && ip.IsLoopback(), nil
}

// credentials parses the headers of both users.
func (f *reviewFlags) credentials() error {
	for _, u := range []struct {
		given []string
		file  string
		into  *[]rawmcp.Header
	}{{f.headers, f.headerFile, &f.options.Target.Headers}, {f.second, f.secondFile, &f.options.Target.Second}, {f.foreign, f.foreignFile, &f.options.Target.Foreign}} {
		lines := slices.Clone(u.given)
		if u.file != "" {
			data, err := os.ReadFile(u.file)
			if err != nil {
				return fmt.Errorf("header file: %w", err)
			}
			lines = append(lines, strings.Split(strings.TrimRight(string(data), "\n"), "\n")...)
		}
		for i, line := range lines {
			name, value, ok := strings.Cut(line, ":")
			if name = strings.TrimSpace(name); !ok || name == "" || strings.ContainsAny(line, "\r\n") {
				return fmt.Errorf("header %d: want name: value on one line", i+1) // the error must not quote the value, which is secret
			}
			*u.into = append(*u.into, rawmcp.Header{Name: name, Value: strings.TrimSpace(value)})
		}
	}
	return nil
}

// setRestart makes the review restart the server with the command of --restart
// and wait until it answers.
func (f *reviewFlags) setRestart() error {
	words := strings.Fields(f.restart)
	if len(words) == 0 {
		return nil
	}
	client, err := rawmcp.NewHTTP(f.options.Target.URL, rawmcp.Limits{Time: time.Second})
	if err != nil {
		return err
	}
	f.options.Restart = func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		if out, err := exec.CommandContext(ctx, words[0], words[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%q: %w: %q", f.restart, err, out)
		}
		ticks := time.NewTicker(100 * time.Millisecond)
		defer ticks.Stop()
		for {
			if e := client.Do(ctx, rawmcp.Request{Verb: "GET", Path: client.Path(), Head: true, Headers: []rawmcp.Header{{Name: "Host", Value: client.Host()}}}); e.Status != 0 {
				return nil
			}
			select {
			case <-ticks.C:
			case <-ctx.Done():
				return fmt.Errorf("no answer within a minute after %q", f.restart)
			}
		}
	}
	return nil
}

// openRecord opens the file of --record.
func (f *reviewFlags) openRecord() (end func() error, err error) {
	if f.record == "" {
		return func() error { return nil }, nil
	}
	file, err := os.OpenFile(f.record, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	enc := json.NewEncoder(file)
	var failed error
	f.options.Record = func(e *rawmcp.Exchange) {
		line := map[string]any{"sent": string(e.Sent), "received": string(e.Received), "status": e.Status, "took_ms": e.Took.Milliseconds()}
		if e.Err != nil {
			line["error"] = e.Err.Error()
		}
		if err := enc.Encode(line); err != nil && failed == nil {
			failed = fmt.Errorf("record: %w", err)
		}
	}
	return func() error {
		if err := file.Close(); failed == nil && err != nil {
			failed = fmt.Errorf("record: %w", err)
		}
		return failed
	}, nil
}
