package review

import (
	"encoding/json"
	"regexp"
	"slices"

	"sealab/fuzz/review/client"
	"sealab/fuzz/review/jsondoc"
)

// UserPairs are the two users in either order.
var UserPairs = [][2]client.User{{client.FirstUser, client.SecondUser}, {client.SecondUser, client.FirstUser}}

// Texts of tools that give or take rights, and names of arguments that name a user.
var (
	givingText = regexp.MustCompile(`(?i)\b(shar|grant|invit|allow|permit|publi|admit|members?\b|access\b|may (read|follow))`)
	takingText = regexp.MustCompile(`(?i)\b(unshar|unpubli|uninvit|revok|withdr|expel|forbid|private|takes?\b.*\bback|stops?\b.*\bshar|(remov|ends?\b|kick|block)\w*.*\b(members?|users?|access|rights?|shares?|guests?|readers?|followers?)\b)`)
	userName   = regexp.MustCompile(`(?i)^(user|member|guest|person|who|colleague|friend|reader|editor|follower|delegate)([_ ]?(name|id))?$`)
)

// TakesRights reports whether a tool, by its texts, takes rights from users.
func TakesRights(o client.Offer) bool { return takingText.MatchString(o.About()) }

// maxRightCalls is the number of calls that are tried to give or to take a right.
const maxRightCalls = 8

// RightCalls returns calls of tools that, by their texts, take rights from a user or give them. Tools that do
// both come last. Their arguments have those of a flow, the name of the user and the values of the schemas.
func (t *T) RightCalls(holder client.User, taking bool, like client.Flow) []client.Flow {
	var sure, both []client.Flow
	name := client.NameOf(t.Options.Target, holder)
	for _, o := range append(t.Changers(), t.Enders()...) {
		place := placeOfUser(o, name)
		takes := TakesRights(o) || place != "" && Ends(o)
		switch {
		case takes == taking && (takes || givingText.MatchString(o.About())):
			sure = append(sure, t.variedCalls(o, place, name, like)...)
		case place != "":
			both = append(both, t.variedCalls(o, place, name, like)...)
		}
	}
	all := append(sure, both...)
	return all[:min(len(all), maxRightCalls)]
}

// placeOfUser returns the required argument that takes the name of a user, or "".
func placeOfUser(o client.Offer, name string) string {
	schema := jsondoc.ParseSchema(o.Input)
	i := slices.IndexFunc(schema.Required, func(place string) bool {
		p := jsondoc.ParseSchema(schema.Properties[place])
		names := userName.MatchString(place) && p.AnyText()
		return name != "" && (names || slices.ContainsFunc(p.Values(), func(v json.RawMessage) bool { return string(v) == string(jsondoc.Quote(name)) }))
	})
	if i < 0 {
		return ""
	}
	return schema.Required[i]
}

// variedCalls returns the call of a tool for a user, and those with another value for one argument.
func (t *T) variedCalls(o client.Offer, place, name string, like client.Flow) []client.Flow {
	f := t.FlowOf(o)
	if i := slices.IndexFunc(t.Oracles, func(x *Oracle) bool { return x.Flow.Target == o.Name && x.Flow.Last != nil }); i >= 0 {
		f = t.Oracles[i].Flow
	}
	f = f.Sharing(like)
	if place != "" {
		f = f.WithArgument(place, jsondoc.Quote(name))
	}
	all := []client.Flow{f}
	schema := jsondoc.ParseSchema(o.Input)
	for _, argument := range schema.Required {
		values := jsondoc.ParseSchema(schema.Properties[argument]).Values()
		if name != "" && place == "" {
			values = append(values, jsondoc.Quote(name))
		}
		for _, v := range values {
			if g := f.WithArgument(argument, v); argument != place && g.Offer.Allows(g.Arguments) && !jsondoc.Same(f.Arguments, g.Arguments) {
				all = append(all, g)
			}
		}
	}
	return all
}
