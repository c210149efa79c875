package cases

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// claimReplacement is a JSON text that replaces the value of a claim.
type claimReplacement struct{ name, doc, text string }

// claimReplacements returns the replacements for the JSON value was.
func claimReplacements(was string) []claimReplacement {
	vs := []claimReplacement{
		{"null", "null", "null"},
		{"true", "true", "true"},
		{"array", "the right value in an array", "[" + was + "]"},
		{"object", "an object", "{}"},
		{"empty", "the empty string", `""`},
	}
	if was[0] == '{' || was[0] == '[' {
		vs = append(vs, documentValues...)
	}
	if _, err := strconv.ParseFloat(was, 64); err == nil {
		return append(vs, numberReplacements(was)...)
	}
	if at, err := time.Parse(time.RFC3339, strings.Trim(was, `"`)); err == nil {
		vs = append(vs, isoTimeReplacements(at)...)
	}
	return append(vs,
		claimReplacement{"zero", "0", "0"},
		claimReplacement{"foreign", "with ! for its first character", foreignFirst(was)},
		claimReplacement{"unclosed", "with a letter for its last quotation mark", was[:len(was)-1] + "x"},
		claimReplacement{"bad-escape", "with an escape that does not exist", strings.TrimSuffix(was, `"`) + `\x"`},
		claimReplacement{"long-escape", "with a long escape of a line feed", strings.TrimSuffix(was, `"`) + `\u000a"`},
		claimReplacement{"invalid-utf-8", "with a byte that is not UTF-8", strings.TrimSuffix(was, `"`) + "\xff\""},
		claimReplacement{"longer", "one character longer", strings.TrimSuffix(was, `"`) + `x"`},
		claimReplacement{"upper", "in capitals", strings.ToUpper(was)},
		claimReplacement{"escaped", "spelled with an escape", escapeFirst(was)},
		claimReplacement{"surrogate", "a lone surrogate", `"\ud800"`},
		claimReplacement{"surrogate-letter", "a high surrogate and an escaped letter", `"\ud83d\u0041"`},
		claimReplacement{"alike-list", "a list with as many items as it has characters", "[" + strings.Repeat("1,", max(len(was)-3, 0)) + "1]"},
		claimReplacement{"alike-object", "an object with its length", fmt.Sprintf(`{"length":%d}`, len(was)-2)},
	)
}

// documentValues replace a value that is JSON from the application.
var documentValues = []claimReplacement{
	{"json-range", "a list with 1e400", "[1e400]"},
	{"json-range-member", "an object with 1e400", `{"s":1e400}`},
	{"json-overflow", "a list with 9e308", "[9e308]"},
	{"json-vast", "a list with an exponent of 11 digits", "[1e99999999999]"},
	{"json-long", "a list with an integer of 30 digits", "[123456789012345678901234567890]"},
	{"json-deep", "nested 130 deep", strings.Repeat("[", 130) + strings.Repeat("]", 130)},
	{"json-surrogate", "a list with a lone surrogate", `["\ud800"]`},
	{"json-surrogate-name", "an object with a lone surrogate for a name", `{"\ud800":1}`},
}

// timeDigits is the number of digits of a Unix time in seconds.
const timeDigits = 10

// secondReplacements returns the replacements for a Unix time in seconds.
func secondReplacements(whole string) []claimReplacement {
	vs := []claimReplacement{
		{"point-bare", "with a point and no digit behind it", whole + "."},
		{"trailing-zero", "with a zero behind its fraction", whole + ".50"},
		{"places-7-more", "with seven decimal places, one more", whole + ".1234568"},
		{"places-7-two-more", "with seven decimal places, two more", whole + ".1234569"},
		{"leading-zeros", "1.5 with nine zeros in front", "0000000001.5"},
		{"leading-zeros-places-7", "1.1234567 with nine zeros in front", "0000000001.1234567"},
	}
	for _, i := range []int{0, 8, 9} {
		vs = append(vs, claimReplacement{fmt.Sprintf("letter-%d", i), fmt.Sprintf("with a letter for digit %d", i), whole[:i] + "x" + whole[i+1:] + ".5"})
	}
	return vs
}

func foreignFirst(was string) string {
	if len(was) < 3 {
		return `"!"`
	}
	return was[:1] + "!" + was[2:]
}

// numberReplacements returns the replacements for the number was.
func numberReplacements(was string) []claimReplacement {
	whole, _, _ := strings.Cut(was, ".")
	var vs []claimReplacement
	if len(whole) == timeDigits {
		vs = secondReplacements(whole)
	}
	return append(vs, []claimReplacement{
		{"string", "the right number as a string", `"` + was + `"`},
		{"zero", "0", "0"},
		{"minus-zero", "-0", "-0"},
		{"one", "1", "1"},
		{"two", "2", "2"},
		{"negative", "negative", "-" + was},
		{"false", "false", "false"},
		{"whole", "the right number cut to an integer", whole},
		{"point", "the right number written with .0", whole + ".0"},
		{"half", "a half more", whole + ".5"},
		{"exponent", "the right number with an exponent", whole + "e0"},
		{"plus", "one more", addSeconds(whole, 1)},
		{"plus-60", "60 more", addSeconds(whole, 60)},
		{"plus-61", "61 more", addSeconds(whole, 61)},
		{"minus", "one less", addSeconds(whole, -1)},
		{"leading-zero", "written with a leading zero", "0" + was},
		{"leading-plus", "written with a plus sign", "+" + was},
		{"hex", "written in hex", "0x1"},
		{"2-31", "2^31", "2147483648"},
		{"2-53", "2^53+1", "9007199254740993"},
		{"minus-2-53", "-2^53-1", "-9007199254740993"},
		{"2-63", "2^63", "9223372036854775808"},
		{"1e21", "1e21", "1e21"},
		{"1e400", "1e400, which no double holds", "1e400"},
		{"minus-1e400", "-1e400", "-1e400"},
		{"huge", "an integer of 400 digits", "1" + strings.Repeat("0", 400)},
		{"nan", "NaN", "NaN"},
		{"infinity", "Infinity", "Infinity"},
		{"milliseconds", "a thousand times as large", whole + "000"},
	}...)
}

// isoTimeReplacements returns the replacements for a time in the form of ISO 8601.
func isoTimeReplacements(at time.Time) []claimReplacement {
	year, month, day, clock := at.Format("2006"), at.Format("2006-01"), at.Format("2006-01-02"), at.Format("15:04:05")
	var vs []claimReplacement
	for _, v := range []claimReplacement{
		{"day", "a day without a time", day},
		{"space", "written with a space for T", day + " " + clock + "Z"},
		{"small", "written in small letters", day + "t" + clock + "z"},
		{"local", "without a zone", day + "T" + clock},
		{"month-0", "in month 0", year + "-00-01T" + clock + "Z"},
		{"month-13", "in month 13", year + "-13-01T" + clock + "Z"},
		{"day-0", "on day 0", month + "-00T" + clock + "Z"},
		{"day-31", "on day 31 of a month of 30 days", year + "-11-31T" + clock + "Z"},
		{"day-32", "on day 32", month + "-32T" + clock + "Z"},
		{"hour-24", "at 24:00:00", day + "T24:00:00Z"},
		{"hour-24-second", "at 24:00:01", day + "T24:00:01Z"},
		{"hour-25", "at 25:00:00", day + "T25:00:00Z"},
		{"minute-60", "in minute 60", day + "T23:60:00Z"},
		{"second-60", "in second 60", day + "T23:59:60Z"},
		{"second-61", "in second 61", day + "T23:59:61Z"},
		{"fraction", "with a fraction of ten digits", day + "T" + clock + ".0000000001Z"},
		{"point", "with a point and no fraction", day + "T" + clock + ".Z"},
		{"zone", "in a zone", at.In(time.FixedZone("", 2*3600)).Format(time.RFC3339)},
		{"zone-minutes", "in a zone without a colon", at.In(time.FixedZone("", -9000)).Format("2006-01-02T15:04:05-0700")},
		{"zone-24", "in a zone of 24 hours", day + "T" + clock + "+24:00"},
		{"zone-26", "in a zone of 26 hours before", day + "T" + clock + "-25:60"},
		{"year-5", "in a year of five digits", "1" + day + "T" + clock + "Z"},
		{"year-minus", "in a year before 0", "-" + day + "T" + clock + "Z"},
		{"line", "with a line feed at its end", day + "T" + clock + `Z\n`},
		{"past", "a day before", at.Add(-24 * time.Hour).Format(time.RFC3339)},
	} {
		vs = append(vs, claimReplacement{"time-" + v.name, v.doc, `"` + v.text + `"`})
	}
	return append(vs,
		claimReplacement{"time-julian", "a day of the Julian calendar that is to come", "2999999"},
		claimReplacement{"time-julian-past", "a day of the Julian calendar that is past", "2400000"},
		claimReplacement{"time-julian-past-half", "a day of the Julian calendar that is past, with a fraction", "2400000.5"},
		claimReplacement{"time-julian-half", "a day of the Julian calendar with a fraction", "2999999.5"})
}

func addSeconds(whole string, by int64) string {
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return "1"
	}
	return strconv.FormatInt(n+by, 10)
}

func escapeFirst(was string) string {
	if len(was) < 3 || was[0] != '"' || was[1] == '\\' {
		return was
	}
	return fmt.Sprintf(`"\u%04x%s`, was[1], was[2:])
}
