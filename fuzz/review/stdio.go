package review

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/internal/rawmcp"
)

// Process starts a process of the server for a check and sends it an honest request.
func (t *T) Process() *rawmcp.Process { return t.ProcessWithin(t.Client.Limits.Time) }

// ProcessWithin is like [T.Process] with a time limit for each answer. It skips the check and
// returns nil on failure.
func (t *T) ProcessWithin(limit time.Duration) *rawmcp.Process {
	limits := t.Client.Limits
	limits.Time = limit
	p, err := rawmcp.Start(t.Client.Target.Command, limits)
	if err != nil {
		t.Skip("%v", err)
		return nil
	}
	reason := ""
	if t.Client.Older != "" {
		if a := t.Client.Handshake(t.Context, p); a.Kind != client.Completed {
			reason = "initialize: " + a.String()
		}
	}
	if reason = cmp.Or(reason, t.Pings(p)); reason != "" {
		t.Skip("control: %s", reason)
		p.Stop(client.StopGrace)
		return nil
	}
	return p
}

// Pings sends an honest request to a process. It returns the reason why the process did not answer,
// or "" if it did.
func (t *T) Pings(p *rawmcp.Process) string {
	c := t.Client
	if err := c.Take(t.Context); err != nil {
		return err.Error()
	}
	body, id, err := c.NextBody(c.Idle())
	if err != nil {
		return err.Error()
	}
	e := p.Do(t.Context, body, client.IsAnswer(id))
	c.Keep(e)
	if a := client.ReadAnswer(e, id); a.Kind == client.Broken {
		return a.String()
	}
	return ""
}

// slowNumbers are the arguments of a slow call. The first that the schema allows is used.
var slowNumbers = []float64{1500, 150, 15, 5, 2, 1}

// SlowCall returns a call of the tool that --slow names. It skips the check and returns false if
// there is none.
func (t *T) SlowCall() (client.Call, bool) {
	for _, tool := range t.Report.Server.Tools {
		if tool.Name != t.Options.Slow || tool.Name == "" {
			continue
		}
		m := jsondoc.Members(t.Sample(tool))
		for name, s := range jsondoc.Fields(tool.Input) {
			kind := s.TypeOf()
			// 1500 milliseconds, or the first number that the schema allows.
			fits := slices.IndexFunc(slowNumbers, s.Allows)
			if (kind == "number" || kind == "integer") && fits >= 0 {
				m[name] = fmt.Append(nil, slowNumbers[fits])
			}
		}
		return client.Call{Method: "tools/call", Target: tool.Name, Arguments: jsondoc.Object(m)}, true
	}
	t.Skip("no slow tool is known; --slow names one that may be called and canceled")
	return client.Call{}, false
}
