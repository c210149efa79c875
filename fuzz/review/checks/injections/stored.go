package injections

import (
	"regexp"
	"slices"
	"strings"

	"sealab/fuzz/review"
	"sealab/fuzz/review/client"
	"sealab/fuzz/review/inputs"
)

// A lineKind is a kind of lines that servers write and read one by one.
type lineKind struct {
	name string
	// forged returns lines of the kind with a word, the longest first, if a view shows another word in such a
	// line, or none.
	forged func(v inputs.View, shown, word string) []string
	// stands reports whether the line with an index is one of the kind among others, of which the line before
	// holds a text. The lines hold shown if the view did so before.
	stands func(lines []string, at int, shown string) bool
}

var lineKinds = []lineKind{
	{"a header", forgedHeaders, isAmongHeaders},
	{"an entry of a log", forgedEntries, isAmongEntries},
}

// lineBreaks are the characters that end a line.
var lineBreaks = []string{"\n", "\r\n"}

// forgesLine reports whether a line break in a text begins a header of a message, or an entry of a log, that
// the client can read afterwards.
func forgesLine(t *review.T, x inputs.Writing) bool {
	x.Input.Send(t.Word()) // so that a log has two entries in a row
	word := t.Word()
	for _, v := range x.Send(word) {
		for _, kind := range lineKinds {
			for i := range kind.forged(v, word, word) {
				line := func() string { return kind.forged(v, word, t.Word())[i] }
				if forgesKind(t, x, kind, word, line) {
					return true
				}
			}
		}
	}
	return false
}

// forgesKind reports whether a line of a kind stands alone behind a line break in a text, twice, and does not
// without the line break. An earlier text had the word shown.
func forgesKind(t *review.T, x inputs.Writing, kind lineKind, shown string, line func() string) bool {
	for _, end := range lineBreaks {
		var where inputs.View
		var forged string
		a, stands := confirmedTwice(func(int) (client.Answer, bool) {
			text := t.Word()
			forged = line()
			for _, where = range x.Send(text + end + forged) {
				if standsBehind(kind, where.Text, text, forged, shown) {
					return where.Answer, true
				}
			}
			return where.Answer, false
		})
		if !stands {
			continue
		}
		text, same := t.Word(), line()
		if slices.ContainsFunc(x.Send(text+" "+same), func(v inputs.View) bool { return lineOf(linesOf(v.Text), same) >= 0 }) {
			return false
		}
		x.Refute(t, review.Warning, "a line break in the text begins "+kind.name+" of its own: "+client.Short(forged, 100)+" is a line of what "+where.Call.Method+" "+client.Short(where.Call.Target, 100)+" shows", "a forged line", a)
		return true
	}
	return false
}

// standsBehind reports whether a shown text has a forged line of a kind behind a line that ends with the text
// before the line break.
func standsBehind(kind lineKind, shownText, before, forged, shown string) bool {
	lines := linesOf(shownText)
	at := lineOf(lines, forged)
	return at > 0 && strings.HasSuffix(lines[at-1], before) && kind.stands(lines, at, shown)
}

// linesOf returns the lines of a text without their ends.
func linesOf(text string) []string {
	return strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
}

// lineOf returns the index of the first line that begins with a text, or -1.
func lineOf(lines []string, text string) int {
	return slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, text) })
}

// lineWith returns the index of the last line that contains a text, or -1.
func lineWith(lines []string, text string) int {
	for i, line := range slices.Backward(lines) {
		if strings.Contains(line, text) {
			return i
		}
	}
	return -1
}

var (
	// headerLine matches the beginning of a header with its name.
	headerLine = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9-]*):`)
	// usualHeader matches names of headers that messages have.
	usualHeader = regexp.MustCompile(`(?i)^(from|to|cc|bcc|subject|date|reply-to|sender|importance|priority|in-reply-to|references|return-path|received|user-agent|host|cookie|set-cookie|authorization|cache-control|accept(-[a-z]+)?|list-[a-z]+|` + technicalNames + `)$`)
	// technicalHeader matches those that no text for people has.
	technicalHeader = regexp.MustCompile(`(?i)^(` + technicalNames + `)$`)
	// startLine matches the first line of a request or response of HTTP.
	startLine = regexp.MustCompile(`^HTTP/\d|^[A-Z]+ \S+ HTTP/\d`)
)

// technicalNames are names of headers that texts for people do not have, as a part of a pattern.
const technicalNames = `content-[a-z-]+|mime-version|message-id|x-[a-z0-9-]+`

// forgedHeaders returns a header with a word if a view shows another one in a header of a message.
func forgedHeaders(v inputs.View, shown, word string) []string {
	lines := linesOf(v.Text)
	if at := lineWith(lines, shown); at < 0 || !isHeader(lines[at]) || !isMessage(headersAround(lines, at)) {
		return nil
	}
	return []string{"Bcc: " + word + "@example.com"}
}

// isAmongHeaders reports whether the line before the one with an index is a header, and the lines around are
// those of a message without it.
func isAmongHeaders(lines []string, at int, _ string) bool {
	return isHeader(lines[at-1]) && isMessage(headersAround(slices.Delete(slices.Clone(lines), at, at+1), at-1))
}

// isHeader reports whether a line is a header of a usual name.
func isHeader(line string) bool {
	m := headerLine.FindStringSubmatch(line)
	return m != nil && usualHeader.MatchString(m[1])
}

// headersAround returns the lines around one, up to the empty lines.
func headersAround(lines []string, at int) []string {
	from, to := at, at
	for from > 0 && lines[from-1] != "" {
		from--
	}
	for to < len(lines) && lines[to] != "" {
		to++
	}
	return lines[from:to]
}

// isMessage reports whether lines are the headers of a message and no text for people: all have usual names, and
// they are two with a technical name, or three.
func isMessage(lines []string) bool {
	if startLine.MatchString(lines[0]) {
		lines = lines[1:]
	}
	count, technical := 0, 0
	for _, line := range lines {
		switch {
		case strings.HasPrefix(line, " "), strings.HasPrefix(line, "\t"):
			continue // of the header before
		case !isHeader(line):
			return false
		case technicalHeader.MatchString(headerLine.FindStringSubmatch(line)[1]):
			technical++
		}
		count++
	}
	return count > 2 || count == 2 && technical > 0
}

var (
	// timeStamp matches a time at the beginning of a line.
	timeStamp = regexp.MustCompile(`^[\[(]?(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d([.,]\d+)?)?(Z|[+-]\d\d:?\d\d)?|\d{10}(\d{3})?\b|(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d \d\d:\d\d:\d\d)[\])]?`)
	// logName matches texts about logs with an entry per line, and freeName those about texts of people that
	// may have several lines.
	logName  = regexp.MustCompile(`(?i)\b(audit|logs?|trail|ledger)\b|\b(entry|event|record|action|change|one) per line\b`)
	freeName = regexp.MustCompile(`(?i)\b(chat|conversation|transcript|diary|journal|note|comment)s?\b`)
	// firstFields matches the first two fields behind a time stamp.
	firstFields = regexp.MustCompile(`^\s*\S+(\s+\S+)?\s`)
	// fieldText matches a part of a field.
	fieldText = regexp.MustCompile(`\pL`)
)

// maxFields is the length of the longest text that a forged entry has before its word.
const maxFields = 40

// forgedEntries returns entries with a word if a view is a log that shows another one behind fields of the server.
func forgedEntries(v inputs.View, shown, word string) []string {
	lines := linesOf(v.Text)
	at := lineWith(lines, shown)
	if at < 0 || !logName.MatchString(v.About) || freeName.MatchString(v.About) || !isLog(lines, at) {
		return nil
	}
	stamp := timeStamp.FindString(lines[at])
	before, _, _ := strings.Cut(lines[at], shown)
	fields := strings.TrimPrefix(before, stamp)
	if !fieldText.MatchString(fields) {
		return nil
	}
	all := []string{stamp + " " + word}
	if first := firstFields.FindString(fields); first != "" {
		fields = first
	}
	if len(fields) <= maxFields {
		all = append([]string{stamp + fields + word}, all...)
	}
	return all
}

// isLog reports whether the line with an index and one beside it begin with a time stamp. Earlier checks may have
// left other lines elsewhere.
func isLog(lines []string, at int) bool {
	stamped := func(i int) bool { return i >= 0 && i < len(lines) && timeStamp.MatchString(lines[i]) }
	return stamped(at) && (stamped(at-1) || stamped(at+1))
}

// isAmongEntries reports whether all lines from the one with an earlier text to the one with an index begin with a
// time stamp, and there are at least two without it.
func isAmongEntries(lines []string, at int, shown string) bool {
	from := lineWith(lines, shown)
	if from < 0 || from == at || !isLog(slices.Delete(slices.Clone(lines), at, at+1), at-1) {
		return false
	}
	between := lines[min(from, at-1) : max(from, at)+1]
	return !slices.ContainsFunc(between, func(line string) bool { return !timeStamp.MatchString(line) })
}

// fenceMark matches words that may be a mark around a text.
var fenceMark = regexp.MustCompile(`[A-Za-z0-9_-]{8,}`)

// instructsModel reports whether a text that another call stores becomes a part of the instructions to the
// model of the client, with its line feeds and quotation marks, twice. A text in a string of JSON has neither,
// and one between marks that change with each question cannot end them.
func instructsModel(t *review.T, x inputs.Input) bool {
	var prompts []string
	a, shown := confirmedTwice(func(int) (client.Answer, bool) {
		text := t.Word() + "\n\n\"" + t.Word() + "\"\n" + t.Word()
		a := x.Send(text)
		before, after, found := strings.Cut(inputs.SystemPrompts(a), text)
		prompts = append(prompts, before, after)
		return a, found
	})
	if !shown || isFenced(prompts[0], prompts[1], prompts[2]) {
		return false
	}
	x.Refute(t, review.Warning, "a stored text becomes a part of the instructions to the model, with its lines", "instructions of another user", a)
	return true
}

// isFenced reports whether the line before a text has a mark that comes again behind the text, and is none of
// those before another text.
func isFenced(before, after, other string) bool {
	before = strings.TrimSpace(before)
	for _, mark := range fenceMark.FindAllString(before[strings.LastIndexByte(before, '\n')+1:], -1) {
		if strings.Contains(after, mark) && !strings.Contains(other, mark) {
			return true
		}
	}
	return false
}
