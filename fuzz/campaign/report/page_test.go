package report

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"sealab/fuzz/campaign"
	"sealab/fuzz/campaign/harness"
	"sealab/internal/testenv"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// hostile is a crash text with markup and an escape sequence.
const hostile = "<script>document.title='marked up'</script> \x1b]0;title\a\x1b[2J\x00"

// example returns the folder of a campaign with a curve, a crasher with a hostile text, and an
// incomplete crasher.
func example(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run[1]")
	crashers := filepath.Join(dir, "crashers", "text")
	require.NoError(t, os.MkdirAll(crashers, 0o755))
	write(t, filepath.Join(dir, "campaign.json"), campaign.Manifest{Package: "sealab/fuzz/targets", Targets: []campaign.Target{{Name: "text", Native: "FuzzText"}}})
	journal, err := os.Create(filepath.Join(dir, "journal.jsonl"))
	require.NoError(t, err)
	for i := range 5 {
		require.NoError(t, json.NewEncoder(journal).Encode(campaign.Record{Time: noon.Add(time.Duration(i) * time.Minute), Event: campaign.EventProgress, Target: "text",
			Executions: 60_000, Seconds: 60, New: 4 - i, Coverage: 100 + 10*i}))
	}
	require.NoError(t, json.NewEncoder(journal).Encode(campaign.Record{Time: noon.Add(4 * time.Minute), Event: campaign.EventNotice, Text: "text: \x1b[2J"}))
	require.NoError(t, journal.Close())
	for _, f := range []*harness.Failure{
		{Kind: harness.KindPanic, Bucket: "panic-0123456789", Text: hostile, Design: "b", Stack: "goroutine 1 [running]:\nsealab/codecs/x.Open(0x1)\n\t/x.go:1\n"},
		{Kind: harness.KindPanic, Bucket: "panic-0123456789", Design: "a"},
		{Kind: harness.KindError, Bucket: "error-9876543210", Text: "a check fails"},
	} {
		require.NoError(t, harness.File(crashers, []byte("input"), nil, f))
	}
	write(t, filepath.Join(crashers, "panic-0123456789", "crasher.json"),
		campaign.Crasher{Target: "text", Bucket: "panic-0123456789", Kind: harness.KindPanic, Text: hostile, Found: noon, Size: 5, Minimized: 1, Alone: true})
	return dir
}

func write(t *testing.T, path string, value any) {
	t.Helper()
	data, err := json.Marshal(value)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, data, 0o644))
}

func now() time.Time { return noon.Add(10 * time.Minute) }

func TestPage(t *testing.T) {
	dir := example(t)
	w := httptest.NewRecorder()
	Handler(dir, now, noon.Add(11*time.Minute)).ServeHTTP(w, request(http.MethodGet, "/"))
	require.Equal(t, http.StatusOK, w.Code, w.Body)
	body := w.Body.String()
	for _, want := range []string{`<th scope="row">text</th><td class="number">300000</td><td class="number">1000</td>`, `<td class="number">140</td>`, ">7m0s<",
		"minutes of one core", "panic-0123456789, in a, b", "incomplete", "sealab/codecs/x.Open", "panic-0123456789", "&lt;script&gt;", "<dt>time left</dt><dd>1m0s</dd>"} {
		require.Contains(t, body, want)
	}
	require.Equal(t, 1, strings.Count(body, "<script>"), "the script of the page alone")

	w = httptest.NewRecorder()
	Handler(dir, now, noon.Add(11*time.Minute)).ServeHTTP(w, request(http.MethodGet, "/other"))
	require.Equal(t, http.StatusNotFound, w.Code)
	w = httptest.NewRecorder()
	Handler(filepath.Join(dir, "nowhere"), now, noon.Add(11*time.Minute)).ServeHTTP(w, request(http.MethodGet, "/"))
	require.Equal(t, http.StatusInternalServerError, w.Code)
}

// request returns a request to a server on this machine.
func request(method, path string) *http.Request {
	r := httptest.NewRequest(method, path, nil)
	r.Host = "127.0.0.1:8080"
	return r
}

// TestHandlerRefuses checks that other hosts, as in DNS rebinding, and methods that change
// state are refused.
func TestHandlerRefuses(t *testing.T) {
	h := Handler(example(t), now, noon.Add(11*time.Minute))
	answer := func(r *http.Request) int {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code
	}
	for _, path := range []string{"/", "/status.json"} {
		require.Equal(t, http.StatusOK, answer(request(http.MethodGet, path)))
		require.Equal(t, http.StatusOK, answer(request(http.MethodHead, path)))
		for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete} {
			require.Equal(t, http.StatusMethodNotAllowed, answer(request(method, path)), method)
		}
		rebound := request(http.MethodGet, path)
		rebound.Host = "rebound.evil.example"
		require.Equal(t, http.StatusForbidden, answer(rebound))
	}
}

func TestJSON(t *testing.T) {
	w := httptest.NewRecorder()
	Handler(example(t), now, noon.Add(11*time.Minute)).ServeHTTP(w, request(http.MethodGet, "/status.json"))
	var s Status
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &s))
	require.EqualValues(t, 300_000, s.Targets[0].Executions)
	require.Len(t, s.Targets[0].Crashers, 2)
	require.Equal(t, hostile, s.Targets[0].Crashers[1].Text)
}

// TestPageInABrowser loads the page in headless Chromium.
func TestPageInABrowser(t *testing.T) {
	testenv.SkipShort(t)
	browser := findBrowser()
	if browser == "" {
		testenv.Skip(t, "no Chromium here")
	}
	server := httptest.NewServer(Handler(example(t), now, noon.Add(11*time.Minute)))
	defer server.Close()
	out, err := exec.CommandContext(t.Context(), browser, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir="+t.TempDir(),
		"--dump-dom", server.URL).Output()
	require.NoError(t, err)
	dom := string(out)
	require.Contains(t, dom, "<title>Fuzz campaign</title>") // no script of a crasher ran
	require.Contains(t, dom, `class="js"`)
	require.Contains(t, dom, `<svg class="chart broad"`)
	require.Contains(t, dom, "sealab/codecs/x.Open")

	picture := filepath.Join(t.TempDir(), "page.png")
	err = exec.CommandContext(t.Context(), browser, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir="+t.TempDir(),
		"--screenshot="+picture, "--window-size=1200,900", server.URL).Run()
	require.NoError(t, err)
	info, err := os.Stat(picture)
	require.NoError(t, err)
	require.Greater(t, info.Size(), int64(1000))
}

func findBrowser() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome", "headless_shell"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}
