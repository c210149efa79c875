package sessions

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
	"sealab/fuzz/review/tokens"
)

// taskChecks is the check of calls that run as tasks (revision 2025-11-25).
var taskChecks = []review.Check{
	{
		ID: "S-TASK", Name: "a task of another user", Over: "http", Era: "legacy", Effects: true, Severity: review.Critical, Category: "security",
		Sent: "in a session of the first user, calls of a tool that may run as a task; tasks/get, tasks/result, " +
			"tasks/cancel and tasks/list in a session of the second user, while the task runs and after its " +
			"end; without users, the check compares the ids of the tasks",
		Want: "refuses the task of another user like one that does not exist, and does not list it; without users, " +
			"issues ids that do not follow from a counter",
		Source: "revision 2025-11-25, basic/utilities/tasks, MUST bind tasks to the authorization context; CWE-639",
		Impact: "a user reads the results of another one, or ends the work",
		Fix:    "compare the owner of the task with the user of the request, in each method",
		Run:    checkOtherUsersTask,
	},
}

// A taskMethod is a method that takes the ID of a task, or lists the tasks. The task has ended
// before if ended is set.
type taskMethod struct {
	name  string
	ended bool
}

var taskMethods = []taskMethod{{"tasks/get", false}, {"tasks/list", false}, {"tasks/cancel", false}, {"tasks/result", false}, {"tasks/get", true}, {"tasks/list", true}, {"tasks/result", true}}

// taskSessions are the sessions of both users, the call that runs as a task, and the IDs of the
// tasks so far.
type taskSessions struct {
	*review.T
	own, other client.Session
	tool       client.Offer
	ids        []string
}

func checkOtherUsersTask(t *review.T) {
	s := taskSessions{T: t}
	var ok bool
	if s.own, ok = openLiveSession(t); !ok {
		return
	}
	if s.tool, ok = taskTool(t, s.own); !ok {
		t.Skip("no tool that only reads, or that --tool or --slow names, may run as a task")
		return
	}
	if s.start(); len(s.ids) == 0 {
		t.Skip("%s gives no task", s.tool.Name)
		return
	}
	if len(t.Options.Target.Headers) == 0 {
		s.checkIDs()
		return
	}
	if !knowsSecondUser(t, s.own) {
		return
	}
	if s.other, ok = openSession(t, client.Older, client.SecondUser); ok {
		s.checkMethods()
	}
}

// taskIDs is the number of task IDs that are compared.
const taskIDs = 4

// checkIDs records a finding if the IDs of tasks count up. They alone protect the tasks of a server
// without users.
func (s *taskSessions) checkIDs() {
	for len(s.ids) < taskIDs {
		if s.start() == "" {
			return
		}
	}
	if tokens.CountUp(s.ids) {
		s.Refute(review.Finding{Case: "ids", Severity: review.Warning, Issue: "the ids of tasks count up, and no user is needed to reach a task", Evidence: strings.Join(s.ids, ", "),
			Want: "random ids", Got: "a counter"})
	}
}

// taskTool returns a tool that may be called and may run as a task, one that only reads if there is
// one.
func taskTool(t *review.T, s client.Session) (client.Offer, bool) {
	listed, _ := client.OffersIn(inSession(t, s, client.FirstUser, t.Client.ListBody()), "tools")
	may := slices.DeleteFunc(append(listed, t.Report.Server.Tools...), func(o client.Offer) bool {
		_, named := t.Options.Tools[o.Name]
		return o.Execution.Task != "optional" && o.Execution.Task != "required" || !o.IsReadOnly() && !named && o.Name != t.Options.Slow
	})
	if len(may) == 0 {
		return client.Offer{}, false
	}
	return may[max(0, slices.IndexFunc(may, client.Offer.IsReadOnly))], true
}

// send sends a request in the session of a user.
func (s *taskSessions) send(as client.User, method, params string) client.Answer {
	in := map[client.User]client.Session{client.FirstUser: s.own, client.SecondUser: s.other}[as]
	return inSession(s.T, in, as, s.Client.SessionBody(method, params))
}

// start starts a task of the first user and returns its ID, or "".
func (s *taskSessions) start() string {
	a := s.send(client.FirstUser, "tools/call", fmt.Sprintf(`"name":%s,"arguments":%s,"task":{"ttl":60000}`, jsondoc.Quote(s.tool.Name), s.Sample(s.tool)))
	var created struct{ Task struct{ TaskID string } }
	if json.Unmarshal(a.Result, &created) != nil || created.Task.TaskID == "" {
		return ""
	}
	s.Trials++
	s.ids = append(s.ids, created.Task.TaskID)
	return created.Task.TaskID
}

// checkMethods records a finding for each method by which the second user reaches a task of the
// first one, twice.
func (s *taskSessions) checkMethods() {
	for _, m := range taskMethods {
		if !s.Selected(m.name) || s.HasFinding(m.name) {
			continue
		}
		a, is := s.reaches(m)
		if is {
			a, is = s.reaches(m)
		}
		if is {
			s.Refute(review.Finding{Case: m.name, Severity: review.Critical, Issue: "the second user reaches a task of the first one by " + m.name,
				Evidence: review.ExchangeText(a), Want: "refused, as for an unknown task", Got: "reached"})
		}
	}
}

// reaches reports whether the second user reaches a new task of the first one. A task with a
// made-up ID must be refused.
func (s *taskSessions) reaches(m taskMethod) (a client.Answer, is bool) {
	id := s.start()
	if id == "" {
		return a, false
	}
	params := `"taskId":` + string(jsondoc.Quote(id))
	defer s.send(client.FirstUser, "tasks/cancel", params) // its answer does not matter
	if m.ended && s.send(client.FirstUser, "tasks/result", params).Kind != client.Completed {
		return a, false
	}
	if m.name == "tasks/list" {
		a = s.Tried(s.send(client.SecondUser, m.name, ""))
		return a, a.Kind == client.Completed && strings.Contains(string(a.Result), string(jsondoc.Quote(id)))
	}
	none := s.send(client.SecondUser, m.name, `"taskId":`+string(jsondoc.Quote(madeUpID(id))))
	if a = s.Tried(s.send(client.SecondUser, m.name, params)); a.Kind != client.Completed || !none.Refused() {
		return a, false
	}
	return a, m.name != "tasks/cancel" || strings.Contains(string(s.send(client.FirstUser, "tasks/get", params).Result), `"cancelled"`)
}
