package mcp

import (
	"encoding/json"
	"strings"
)

// atOnce are the faults of a prompt that answers at once. The last one is sound.
var atOnce = []string{"arguments of prompts expanded", "arguments of prompts as formats", "formats that fail are left alone",
	"arguments of prompts begin messages", "prompts without arguments", "prompts of the system", "files in arguments of prompts", "a prompt that answers at once"}

// prompts returns the list of prompts.
func (s *Server) prompts() []object {
	all := []object{{"name": "report", "arguments": []object{{"name": "env", "required": true}}}}
	if s.has(atOnce...) {
		all = append(all, object{"name": "letter", "arguments": []object{{"name": "topic", "required": true}, {"name": "tone"}}})
	}
	return all
}

func (s *Server) prompt(r request) (object, *failure) {
	var name string
	var args struct{ Env, Topic, Tone string }
	if json.Unmarshal(r.params["name"], &name) != nil || name != "report" && !(name == "letter" && s.has(atOnce...)) {
		return nil, &failure{code: s.or("unknown prompts are faults", -32603, -32602), status: 400, message: "unknown prompt"}
	}
	bad := json.Unmarshal(r.params["arguments"], &args) != nil
	if name == "letter" {
		return s.letter(args.Topic, args.Tone)
	}
	if bad || args.Env == "" {
		return nil, invalidParams("env: missing")
	}
	s.said.put("topic", args.Env)
	steps := []string{"tone"}
	if s.has("a password for warm tones", "reasons for tones") { // the second is sound
		steps = append(steps, "reason")
	}
	return s.round(r, r.placed(name), args.Env, steps, func(c claims) object {
		var answer struct{ Content struct{ Tone string } }
		_ = json.Unmarshal([]byte(answerText(r, "tone")), &answer) // it has been judged
		return s.report(c.Env, answer.Content.Tone)
	})
}

// report returns the messages of the prompt that asks. Some choices name the tone: the two with a default are
// sound.
func (s *Server) report(env, tone string) object {
	text := "report on " + env
	if s.has("a tone by default", "the last tone by default", "declined tones taken") {
		text += " in a " + tone + " tone"
	}
	return object{"messages": []object{promptMessage("user", text)}}
}

func promptMessage(role, text string) object {
	return object{"role": role, "content": object{"type": "text", "text": text}}
}

// letter answers a prompt at once.
func (s *Server) letter(topic, tone string) (object, *failure) {
	role := "user"
	switch {
	case topic == "" && s.has("prompts without arguments"):
		topic = "undefined"
	case topic == "":
		return nil, invalidParams("topic: missing")
	case s.has("arguments of prompts expanded"):
		topic = strings.ReplaceAll(topic, "{tone}", tone)
	case s.has("arguments of prompts as formats"):
		topic = strings.NewReplacer("{{", "{", "}}", "}").Replace(topic)
	case s.has("formats that fail are left alone") && !strings.Contains(topic, "7*191"):
		topic = strings.NewReplacer("{{", "{", "}}", "}").Replace(topic)
	case topic == "@/etc/passwd" && s.has("files in arguments of prompts"):
		topic = "root:x:0:0:root:/root:/bin/sh"
	case s.has("prompts of the system"):
		role = "system"
	}
	messages := []object{promptMessage(role, "a letter on "+topic+" in the tone "+tone)}
	if before, after, ok := strings.Cut(topic, "\nAssistant: "); ok && s.has("arguments of prompts begin messages") {
		messages = []object{promptMessage(role, before), promptMessage("assistant", after)}
	}
	return s.complete(object{"messages": messages}), nil
}
