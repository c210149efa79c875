package mcp

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// remove removes an environment after a confirmation.
func (s *Server) remove(r request, args map[string]string) (object, *failure) {
	steps := []string{"confirm"}
	if s.has("drafts asked for", "drafts of any form", "forms for drafts") {
		steps = []string{"draft"}
	}
	if s.has(wishChoices...) {
		steps = []string{"tone"}
	}
	if s.has(resolvedChoices...) && slices.Contains(strings.Split(args["env"], "/"), "..") {
		return s.toolError("no path of this server"), nil
	}
	if s.has("paths resolved at once") {
		args["env"] = resolved(args["env"])
	}
	if s.isRemoved(args["env"]) {
		return s.toolError("there is no %s", args["env"]), nil
	}
	if result, done := s.early(r, args); done {
		return result, nil
	}
	if s.has("labels in queries") && strings.Count(args["labels"], "'")%2 == 1 {
		return nil, internalError()
	}
	if s.isTooMuch(args["amount"]) {
		return s.toolError("only up to 100"), nil
	}
	if r.params["requestState"] == nil {
		s.noteShelf(args["env"])
	}
	return s.round(r, r.placed("remove"), args["env"], steps, func(c claims) object {
		listed := s.takeFromShelf(&c)
		if s.Runs.Add(1); args["pieces"] == "0" && s.has("zero pieces end the server") {
			s.die()
		}
		if s.isOtherRemoval(c.Env) {
			return object{"isError": true, "content": textContent("something else was removed")}
		}
		if s.isNothingNew(c.Env) {
			return object{"content": textContent("nothing removed")}
		}
		if refusal := s.conflict(r, c.Env); refusal != "" {
			return object{"isError": true, "content": textContent("%s", refusal)}
		}
		if !s.markRemoved(r, c.Env) {
			return object{"isError": true, "content": textContent("there is no %s", c.Env)}
		}
		if s.has(editChoices...) {
			return s.published(c)
		}
		env := c.Env
		s.keepPlace(r.user, env)
		if s.has("results name users", "one user for calls at once", "results of the first user") {
			c.Env += " for " + s.beside(r, "one user for calls at once", r.user)
		}
		c.Env += s.wish(r)
		if s.has("removals as formats") {
			c.Env = strings.ReplaceAll(c.Env, "{env.__class__}", "<class 'str'>")
		}
		result := object{"content": textContent("removed %s%s%s%s%s", c.Env, listed, s.labeled(args["labels"]), s.noise(), s.writeLetter(r.user, env))}
		switch {
		case s.has(worthChoices...):
			result["content"] = textContent("removed %s for %s.00 EUR", c.Env, wholeOf(args["amount"]))
		case s.has("removals counted"):
			result["structuredContent"] = object{"count": 1}
		case s.has("removals counted in words"):
			result["structuredContent"] = object{"count": "one"}
		case s.has(quotaChoices...):
			return s.countedRemoval(r, env)
		case s.has(receiptChoices...):
			return s.receipt(r, args["reference"], env, result)
		case s.has("results of the first user"):
			return s.remembered("result of "+env, result)
		}
		return result
	})
}

// labeled returns the part of a result about labels, or "". Their order may have a meaning.
func (s *Server) labeled(labels string) string {
	var all []string
	if json.Unmarshal([]byte(labels), &all) != nil || len(all) == 0 || !s.has("labels told", "first labels lead") {
		return "" // absent, or of another form
	}
	text := " with " + strings.Join(all, ", ")
	if s.has("first labels lead") {
		text += " under " + all[0]
	}
	return text
}

// isRemoved reports whether remove removed an environment, if the server, rightly, removes it once.
func (s *Server) isRemoved(env string) bool { return s.said.get("removed "+env) != "" }

// markRemoved marks an environment as removed, and reports whether it was not. With a fault the two are
// apart.
func (s *Server) markRemoved(r request, env string) bool {
	isNew := !s.isRemoved(env)
	s.meet(r, "removals looked up before they are marked")
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.has("removals looked up before they are marked") {
		isNew = !s.isRemoved(env)
	}
	if s.has("removals once") {
		s.said.put("removed "+env, "removed")
	}
	return isNew
}

// isNothingNew marks an environment as removed and reports whether it was before, if the server, rightly,
// then says the same as after an answer that is no.
func (s *Server) isNothingNew(env string) bool {
	times := len(s.said.add("gone "+env, "x"))
	return times > 1 && s.has("removals for nothing")
}

// isOtherRemoval reports whether something else was removed first, if the server, rightly, has one
// removal for an idempotency key.
func (s *Server) isOtherRemoval(env string) bool {
	return s.said.first("first", env) != env && s.has("removals of one place")
}

// conflict keeps removals for the user who removed first, and returns the refusal of the others. With
// a fault it shows the latest removal, unless that is public.
func (s *Server) conflict(r request, env string) string {
	if !s.has("conflicts", "conflicts told", "conflicts in public") {
		return ""
	}
	switch {
	case s.said.first("holder", r.user) == r.user:
		s.said.put("held", env)
		return ""
	case s.has("conflicts"):
		return "held by another user"
	}
	return "held for " + s.said.get("held")
}

// removalFor returns the latest removal if the user may read it, or "".
func (s *Server) removalFor(r request) string {
	if s.has(receiptChoices[2:]...) {
		return strings.Join(knownPlaces[r.user], ", ")
	}
	if s.has(receiptChoices...) {
		return s.said.get("removed by " + r.user)
	}
	if s.said.get("holder") == r.user || s.has("conflicts in public") {
		return s.said.get("held")
	}
	return ""
}

// worthChoices are the choices for removals with an amount. The first is sound.
var worthChoices = []string{"worths", "worths read twice"}

// wholeOf returns an amount without the separators of thousands.
func wholeOf(amount string) string { return cmp.Or(strings.ReplaceAll(amount, ".", ""), "5") }

// isTooMuch reports whether an amount is over the limit. With a fault it reads separators as decimal points.
func (s *Server) isTooMuch(amount string) bool {
	if !s.has(worthChoices...) {
		return false
	}
	if !s.has("worths read twice") {
		amount = wholeOf(amount)
	}
	n, err := strconv.ParseFloat(cmp.Or(amount, "5"), 64)
	return err != nil || n > 100
}

// receiptChoices are the choices for results that are kept under a reference. The second and the last are
// sound. The last two know the places of their users, and want a reference.
var receiptChoices = []string{"receipts of any user", "receipts of users", "receipts of known places", "receipts of users and known places"}

// knownPlaces are the places of each user.
var knownPlaces = map[string][]string{"alice": {"prod", "test"}, "bob": {"home"}}

// early returns the result of a call that needs no question: one that is kept, or a refusal of a place that
// the user does not have.
func (s *Server) early(r request, args map[string]string) (object, bool) {
	if refusal := s.overQuota(r); refusal != nil {
		return refusal, true
	}
	if !s.has(receiptChoices[2:]...) {
		return nil, false
	}
	switch key := s.receiptKey(r, args["reference"]); {
	case s.said.get(key) != "":
		return s.complete(s.remembered(key, nil)), true
	case !slices.Contains(knownPlaces[r.user], args["env"]):
		return s.toolError("you have no such place"), true
	}
	return nil, false
}

func (s *Server) receiptKey(r request, reference string) string {
	return "receipt " + cmp.Or(s.orUser("receipts of users", r), s.orUser("receipts of users and known places", r)) + " " + reference
}

// receipt returns the first result of a user for a reference. With a fault it may be that of another user.
func (s *Server) receipt(r request, reference, env string, result object) object {
	key := s.receiptKey(r, reference)
	if s.said.get(key) == "" {
		s.said.put("removed by "+r.user, env)
	}
	if reference == "" {
		return result
	}
	return s.remembered(key, result)
}
