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
	return s.round(r, r.placed("order"), fmt.Sprint(total), []string{"confirm"}, func(claims) object {
		responses, _ := s.responses(r) // read before
		given, ok := member(responses["confirm"]["content"], "total_cents").(float64)
		switch {
		case !ok || given < 1 || given > 1e8 || given != math.Trunc(given), int(given) != total && s.has("orders with changed totals refused"):
			return s.toolError("another total was ordered")
		case s.has("orders for any total", "orders for a suggested total"):
			return s.toolText("ordered, charged %s", inMoney(int(given)))
		}
		return s.toolText("ordered, charged %s", inMoney(total))
	})
}
