package mcp

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
)

// orderChoices are the choices for the tool order, whose question has a form with the total as a default. Only the
// first is a fault: it charges the total that comes back. The second charges its own, the third refuses another
// one, and with the last the user chooses what he pays.
var orderChoices = []string{"orders for any total", "orders for their total", "orders with changed totals refused", "orders for a suggested total"}

// enteredChoices are the choices for the tool list_orders, which lists those of the user. Only the first is a fault: it
// lists an order that is not confirmed. The last one lists it as one that waits.
var enteredChoices = []string{"orders entered with their question", "orders entered", "orders wait"}

// totalOf returns the total of an order in cents.
func totalOf(arguments json.RawMessage) int {
	var given struct{ Pieces int }
	_ = json.Unmarshal(arguments, &given) // validated before
	return 1290*given.Pieces + 490
}

// inMoney writes cents in EUR.
func inMoney(cents int) string { return fmt.Sprintf("%d.%02d EUR", cents/100, cents%100) }

// withTotal adds the total to the form of an order.
func (s *Server) withTotal(params string, p boundRequest, c claims) string {
	if p.target != "order" || c.Step != "confirm" {
		return params
	}
	total := totalOf(p.arguments)
	params = strings.Replace(params, `"ok":`, fmt.Sprintf(`"total_cents":{"type":"integer","default":%d,"minimum":1,"maximum":100000000},"ok":`, total), 1)
	params = strings.Replace(params, `["ok"]`, `["ok","total_cents"]`, 1)
	if s.has("orders for a suggested total") {
		return strings.Replace(params, "Go on?", "We suggest "+inMoney(total)+". How much do you pay?", 1)
	}
	return strings.Replace(params, "Go on?", "The total is "+inMoney(total)+". Go on?", 1)
}

// order charges the total of an order.
func (s *Server) order(r request) (object, *failure) {
	total := totalOf(r.params["arguments"])
	list, entry := "orders of "+r.user, inMoney(total)+"\n"
	switch first := r.params["requestState"] == nil; {
	case first && s.has("orders entered with their question"):
		s.said.add(list, entry)
	case first && s.has("orders wait"):
		s.said.add(list, "waits: "+entry)
	}
	return s.round(r, r.placed("order"), fmt.Sprint(total), []string{"confirm"}, func(claims) object {
		responses, _ := s.responses(r) // read before
		given, ok := member(responses["confirm"]["content"], "total_cents").(float64)
		switch {
		case !ok || given < 1 || given > 1e8 || given != math.Trunc(given), int(given) != total && s.has("orders with changed totals refused"):
			return s.toolError("another total was ordered")
		case s.has("orders entered"):
			s.said.add(list, entry)
		case s.has("orders wait"):
			s.said.change(list, func(old string) string { return strings.Replace(old, "waits: ", "", 1) })
		case s.has("orders for any total", "orders for a suggested total"):
			return s.toolText("ordered, charged %s", inMoney(int(given)))
		}
		return s.toolText("ordered, charged %s", inMoney(total))
	})
}

// basketChoices are the choices for the tools put, which adds a thing to the basket of the user, and checkout,
// which asks about its total and orders it. Only the first is a fault: it orders things that came after the
// question, at the total of the question. The next four order the things of the question.
var basketChoices = []string{"baskets at confirmed totals", "baskets as confirmed", "baskets as confirmed, the rest kept", "baskets as confirmed, the rest told",
	"baskets as confirmed, all things told", "changed baskets refused", "changed baskets asked about again"}

// pricesOfThings are in cents.
var pricesOfThings = map[string]int{"lamp": 890, "chair": 4500, "desk": 12900}

// put adds a thing to the basket of a user.
func (s *Server) put(user, thing string) object {
	s.said.add("basket of "+user, " "+thing)
	s.said.add("things of "+user, " "+thing)
	return s.toolText("done")
}

// basket returns the things in the basket of a user, and all that were in it, in the order of time. Each
// basket has a lamp.
func (s *Server) basket(user string) (now, ever string) {
	return "lamp" + s.said.get("basket of "+user), "lamp" + s.said.get("things of "+user)
}

// costOf returns the total of things in EUR.
func costOf(things string) string {
	cents := 0
	for _, thing := range strings.Fields(things) {
		cents += pricesOfThings[thing]
	}
	return inMoney(cents)
}

// ofBasket adds the total of the basket to a question, and its things to the state.
func (s *Server) ofBasket(params string, p boundRequest, c *claims) string {
	if p.target != "checkout" {
		return params
	}
	c.Past, _ = s.basket(p.user)
	return strings.Replace(params, "Go on?", "The total is "+costOf(c.Past)+". Go on?", 1)
}

// checkout orders the basket of a user.
func (s *Server) checkout(r request) (object, *failure) {
	p, again := r.placed("checkout"), false
	result, fail := s.round(r, p, "basket", []string{"confirm"}, func(c claims) object {
		now, ever := s.basket(r.user)
		things := c.Past
		rest := strings.TrimPrefix(now, c.Past)
		switch {
		case rest != "" && s.has("changed baskets refused"):
			return s.toolError("the basket has changed")
		case rest != "" && s.has("changed baskets asked about again"):
			again = true
			return object{}
		case s.has("baskets at confirmed totals"):
			things, rest = now, ""
		case !s.has("baskets as confirmed, the rest kept"):
			rest = ""
		}
		s.said.put("basket of "+r.user, rest)
		switch text := "ordered " + things + ", charged " + costOf(c.Past); {
		case s.has("baskets as confirmed, the rest told"):
			return s.toolText("%s, not ordered: %s", text, strings.TrimPrefix(now, c.Past))
		case s.has("baskets as confirmed, all things told"):
			return s.toolText("ordered for %s, of: %s", costOf(c.Past), ever)
		default:
			return s.toolText("%s", text)
		}
	})
	if again {
		return s.ask(r, p, claims{Step: "confirm", Env: "basket"})
	}
	return result, fail
}
