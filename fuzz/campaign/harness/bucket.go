package harness

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
)

// framesKept is how many frames of a stack tell one cause from another. More
// would split one bug by the way to it, fewer would join two.
const framesKept = 6

// bucket names the cause of a failure: its kind and a digest of the normalised
// stack or, where an oracle spoke and no stack is of use, of the normalised text.
func bucket(kind Kind, text, stack string) string {
	frames := Frames(stack)
	if kind == KindHang || kind == KindMemory {
		frames = outermost(frames)
	}
	cause := strings.Join(frames[:min(len(frames), framesKept)], "\n")
	if cause == "" {
		cause = normalText(text)
	}
	sum := sha256.Sum256([]byte(string(kind) + "\n" + cause))
	return string(kind) + "-" + hex.EncodeToString(sum[:5])
}

// outermost returns the frames nearest to the fuzz function. Where in a loop
// that never ends it was interrupted, and which allocation was the last, is
// chance; how it got there is not.
func outermost(frames []string) []string {
	return frames[max(0, len(frames)-2):]
}

var (
	closure  = regexp.MustCompile(`(\.func\d+|\.\d+|\.gowrap\d+|-range\d+)+$`)
	generic  = regexp.MustCompile(`\[[^\]]*\]`)
	quoted   = regexp.MustCompile("\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`")
	variable = regexp.MustCompile(`\b(0x[0-9a-f]+|[0-9a-f]{8,}|\d+)\b|\[[\d ]*\]`)
)

// ownFrames are the functions between the runtime and the target, which every
// failure has.
var ownFrames = []string{"runtime.", "runtime/debug.", "panic", "testing.", "reflect.", "internal/fuzz.", "sealab/fuzz/campaign/harness.", "created by "}

// caller is the function that calls the target. What calls it differs between a
// campaign and a replay.
const caller = "sealab/fuzz/campaign/harness.observe("

// Frames returns the functions of the first goroutine of a stack trace, the
// innermost first, without arguments, type parameters and the numbers of
// closures, without the frames that every failure has, and a recursion once.
func Frames(stack string) []string {
	var frames []string
	_, stack, _ = strings.Cut(stack, "goroutine ")
	stack, _, _ = strings.Cut(stack, "\n\n")
	_, stack, _ = strings.Cut(stack, "\n")
	for line := range strings.Lines(stack) {
		if strings.HasPrefix(line, caller) {
			break
		}
		if strings.HasPrefix(line, "\t") || own(line) {
			continue
		}
		frame := normalFrame(strings.TrimSpace(line))
		if frame != "" && (len(frames) == 0 || frames[len(frames)-1] != frame) {
			frames = append(frames, frame)
		}
	}
	return frames
}

func own(line string) bool {
	for _, prefix := range ownFrames {
		if strings.HasPrefix(line, prefix) {
			return true
		}
	}
	return false
}

func normalFrame(line string) string {
	line = generic.ReplaceAllString(line, "")
	if at := strings.LastIndexByte(line, '('); at > 0 {
		line = line[:at]
	}
	return closure.ReplaceAllString(line, "")
}

// normalText leaves out of an error what differs from input to input.
func normalText(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	return variable.ReplaceAllString(quoted.ReplaceAllString(text, "Q"), "N")
}
