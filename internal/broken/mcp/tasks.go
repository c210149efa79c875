package mcp

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// A task is a call of a user in a session. It works until its result is requested.
type task struct {
	user, status string
	result       object
}

// shown returns a task for a client.
func (t *task) shown(id string) object { return object{"taskId": id, "status": t.status, "ttl": 60000} }

// task answers a call that runs as a task, and the methods of tasks (revision 2025-11-25), if the
// server has the choice. It reports whether it did.
func (s *Server) task(r request) (result object, fail *failure, is bool) {
	switch {
	case !s.has("tasks"):
		return nil, nil, false
	case r.method == "tools/call" && r.params["task"] != nil:
		if result, fail = s.handle(r); fail != nil {
			return nil, fail, true
		}
		id := hex.EncodeToString(randomBytes(16))
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.count++; s.has("counted tasks") {
			id = fmt.Sprintf("task-%08d", s.count)
		}
		s.tasks[id] = &task{r.user, "working", result}
		return object{"task": s.tasks[id].shown(id)}, nil, true
	case r.method == "tasks/list":
		return object{"tasks": s.taskList(r)}, nil, true
	case r.method == "tasks/get" || r.method == "tasks/result" || r.method == "tasks/cancel":
		result, fail = s.ofTask(r)
		return result, fail, true
	}
	return nil, nil, false
}

func (s *Server) taskList(r request) []object {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := []object{}
	for id, t := range s.tasks {
		if t.user == r.user || s.has("tasks/list of any user") {
			all = append(all, t.shown(id))
		}
	}
	return all
}

// ofTask answers a method for one task.
func (s *Server) ofTask(r request) (object, *failure) {
	var id string
	_ = json.Unmarshal(r.params["taskId"], &id) // no ID: an unknown task
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tasks[id]
	if t == nil || t.user != r.user && !s.has(r.method+" of any user") && !(t.status == "completed" && s.has("ended tasks of any user")) {
		return nil, invalidParams("unknown task")
	}
	switch {
	case r.method == "tasks/result" && t.status != "cancelled":
		t.status = "completed"
		return t.result, nil
	case r.method == "tasks/cancel" && t.status == "working":
		t.status = "cancelled"
	case r.method != "tasks/get":
		return nil, invalidParams("the task has ended")
	}
	return t.shown(id), nil
}
